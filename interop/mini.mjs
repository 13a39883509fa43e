// mini-gateway with the demo agent and the `HttpAgent` of two generations of `@ag-ui/client`.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { BIN, Place, Program, check, within } from "./harness.mjs";

const START_SECONDS = 15;
const TURN_SECONDS = 60;
const EXIT_SECONDS = 10;
const VERSIONS = ["1.0.0", "0.0.59"];
const AGENT = { name: "demo-agent" };

const kinds = (events) => events.map(({ type }) => type);
const text = (events) =>
  events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta).join("");

/** The gateway, with a tap between it and its agent. */
class Mini {
  static async open() {
    const mini = new Mini();
    mini.place = new Place();
    const words = mini.place.agentCommand(AGENT).split(" ").map((word) => word.slice(1, -1));
    const args = ["--listen", "127.0.0.1:0", "--", ...words];
    const options = { cwd: mini.place.workspace };
    mini.program = new Program(join(BIN, "mini-gateway"), args, mini.place.env, options);
    try {
      [, mini.url] = await mini.program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, START_SECONDS);
    } catch (error) {
      mini.place.leave();
      throw error;
    }
    return mini;
  }

  async thread(version) {
    const { HttpAgent } = await import(`ag-ui-client-${version}`);
    return new HttpAgent({ url: `${this.url}/`, threadId: randomUUID() });
  }

  post(path, body, headers = { "content-type": "application/json" }) {
    return fetch(this.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** Runs a turn of a thread. A warning of the client is a failure. */
  async run(client, words, parameters = {}, onEvent = () => {}) {
    const runId = randomUUID();
    const events = [];
    const answers = [];
    const warnings = [];
    const { warn, error } = console;
    console.warn = console.error = (...said) => warnings.push(said.map(String).join(" "));
    try {
      if (words) client.addMessage({ id: randomUUID(), role: "user", content: words });
      const subscriber = {
        onEvent: ({ event }) => {
          events.push(event);
          answers.push(onEvent(event, runId));
        },
      };
      await within(TURN_SECONDS, `the turn of ${words}`, client.runAgent({ runId, ...parameters }, subscriber));
      await Promise.all(answers);
    } finally {
      Object.assign(console, { warn, error });
    }
    assert.deepEqual(warnings, [], "warnings of the client");
    assert.equal(events[0]?.type, "RUN_STARTED");
    return events;
  }

  async close() {
    try {
      this.program.child.kill("SIGINT");
      assert.equal(await within(EXIT_SECONDS, "the exit after SIGINT", this.program.exited), 0);
      // The agent exits at the end of its input.
      for (let left = 100; this.place.processes().size > 0 && left > 0; left--) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    } finally {
      this.left = this.place.leave();
    }
    assert.deepEqual([...this.left.values()], [], "processes left behind");
  }
}

async function conversation(mini, version) {
  const title = (what) => `mini-gateway × demo-agent × @ag-ui/client ${version}: ${what}`;
  const client = await mini.thread(version);
  const tapped = (method) => mini.place.tapped("in").filter((line) => line.method === method);

  await check(title("text, and a second turn in the same session"), async () => {
    const before = tapped("session/new").length;
    assert.match(text(await mini.run(client, "hello")), /^Hello! I am a scripted agent/);
    const events = await mini.run(client, "think");
    assert.equal(events.at(-1).type, "RUN_FINISHED");
    assert.ok(kinds(events).includes("REASONING_MESSAGE_CONTENT"), kinds(events).join());
    assert.equal(tapped("session/new").length, before + 1);
  });
  await check(title("a permission as an interrupt, and its resume"), async () => {
    const asked = await mini.run(client, "edit");
    const [interrupt] = asked.at(-1).outcome?.interrupts ?? [];
    assert.ok(interrupt, JSON.stringify(asked.at(-1)));
    const payload = { optionId: "allow-once" };
    const resume = [{ interruptId: interrupt.id, status: "resolved", payload }];
    const resumed = await mini.run(client, undefined, { resume });
    assert.equal(resumed.at(-1).type, "RUN_FINISHED", JSON.stringify(resumed.at(-1)));
    assert.equal(resumed.filter(({ type }) => type === "TOOL_CALL_RESULT").length, 1);
    const answer = mini.place.tapped("in").findLast((line) => line.result?.outcome);
    assert.deepEqual(answer.result.outcome, { outcome: "selected", optionId: "allow-once" });
  });
  await check(title("cancellation by request"), async () => {
    let cancelled;
    const events = await mini.run(client, "slow", {}, async (event, runId) => {
      if (event.type !== "TEXT_MESSAGE_CONTENT" || cancelled) return;
      cancelled = true;
      assert.equal((await mini.post("/cancel", { threadId: client.threadId, runId })).status, 202);
    });
    const end = events.at(-1);
    assert.equal(version === "1.0.0" ? end.outcome?.type : end.code?.toLowerCase(), "cancelled", JSON.stringify(end));
    assert.equal((await mini.post("/cancel", { threadId: client.threadId, runId: "none" })).status, 404);
  });
  await check(title("a disconnected client cancels its run"), async () => {
    const before = tapped("session/cancel").length;
    await mini.run(client, "slow", {}, (event) => {
      if (event.type === "TEXT_MESSAGE_CONTENT") client.abortRun();
    });
    await mini.place.until("session/cancel", 10, () => tapped("session/cancel").length === before + 1);
  });
  await check(title("two concurrent threads"), async () => {
    const [slow, quick] = [await mini.thread(version), await mini.thread(version)];
    let begun;
    const saysSomething = new Promise((resolve) => (begun = resolve));
    let ended = false;
    const slowRun = mini.run(slow, "slow", {}, (event) => {
      if (event.type === "TEXT_MESSAGE_CONTENT") begun();
    });
    void slowRun.then(() => (ended = true));
    await saysSomething;
    assert.match(text(await mini.run(quick, "hello")), /^Hello!/);
    assert.ok(!ended, "the slow thread ended before the quick one");
    assert.equal((await slowRun).at(-1).type, "RUN_FINISHED");
  });
}

let mini;
await check("mini-gateway: start", async () => (mini = await Mini.open()));
if (mini) {
  for (const version of VERSIONS) await conversation(mini, version);
  await check("mini-gateway: requests without a JSON body or without messages are refused", async () => {
    const input = { threadId: "t", runId: "r", messages: [{ id: "u", role: "user", content: "Hi" }] };
    assert.equal((await mini.post("/", input, { "content-type": "text/plain" })).status, 415);
    assert.equal((await mini.post("/", { ...input, messages: [] })).status, 400);
  });
  await check("mini-gateway: a crashed agent is restarted", async () => {
    const client = await mini.thread("1.0.0");
    const crashed = await mini.run(client, "crash").catch(() => undefined);
    assert.equal(crashed?.at(-1).code ?? "AGENT_EXITED", "AGENT_EXITED");
    assert.match(text(await mini.run(await mini.thread("1.0.0"), "hello")), /^Hello!/);
  });
  await check("mini-gateway: no remaining process", () => mini.close());
}
