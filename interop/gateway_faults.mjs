// Clock changes of running gateways, with and without a shared Redis server: timeouts must not depend on the time of day.
// libfaketime replaces the clock by one with an offset, which is read from a file.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, Place, Program, check, within } from "./harness.mjs";

const LIBRARY = execFileSync("dpkg", ["-L", "libfaketime"], { encoding: "utf8" }).match(/^.*libfaketimeMT\.so\.1$/m)[0];
const [START_SECONDS, TURN_SECONDS, EXIT_SECONDS] = [15, 60, 15];
const LEASE_SECONDS = 6;
const DAY = 86_400;

/** A gateway with a clock that can be set. */
class Gateway {
  static async start(place, variables = {}) {
    const gateway = new Gateway();
    gateway.file = join(place.root, `clock-${randomUUID()}`);
    gateway.set(0);
    const clock = {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: gateway.file,
      FAKETIME_NO_CACHE: "1",
      DONT_FAKE_MONOTONIC: "1",
    };
    const options = ["--no-auth", "--listen", "127.0.0.1:0", "--cwd", place.workspace];
    gateway.program = new Program(join(BIN, "gateway"), options, { ...place.env, ...clock, ...variables });
    [, gateway.url] = await gateway.program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, START_SECONDS);
    return gateway;
  }

  /** Sets the clock's offset in seconds. */
  set(seconds) {
    writeFileSync(this.file, `${seconds < 0 ? "" : "+"}${seconds}s`);
  }

  /** Returns the year of the gateway's clock, by a tool of the model. */
  async year() {
    const events = await this.run("time", { agent: "hybrid" });
    const told = events.find(({ type }) => type === "TOOL_CALL_RESULT").content;
    return Number(told.match(/\d{4}/)[0]);
  }

  /** Runs an input, and returns the events. `onEvent` receives each event on arrival. */
  async run(word, { agent = "demo", threadId = randomUUID(), runId = randomUUID(), onEvent = () => {}, ...more } = {}) {
    const messages = more.messages ?? [{ id: "u", role: "user", content: word }];
    const response = await fetch(`${this.url}/api/ai/agents/${agent}/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ protocolVersion: "1.0", threadId, runId, ...more, messages }),
      signal: AbortSignal.timeout(TURN_SECONDS * 1000),
    });
    assert.equal(response.status, 200, response.ok ? "" : await response.text());
    return read(response, onEvent);
  }

  async follow(runId) {
    const signal = AbortSignal.timeout(TURN_SECONDS * 1000);
    return read(await fetch(`${this.url}/api/ai/chat/runs/${runId}/events`, { signal }));
  }
}

async function read(response, onEvent = () => {}) {
  const events = [];
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + chunk).split("\n\n");
    rest = frames.pop();
    for (const data of frames.map((frame) => frame.match(/^data: (.*)$/m)?.[1]).filter(Boolean)) {
      events.push(JSON.parse(data));
      await onEvent(events.at(-1), events.length);
    }
  }
  return events;
}

const end = (events) => events.at(-1).outcome?.type ?? events.at(-1).code;

/** Runs `body` in a new place for gateways, and checks that no process is left. */
async function inPlace(body) {
  const place = new Place();
  let left;
  try {
    await body(place);
  } finally {
    left = place.leave();
  }
  assert.deepEqual([...left.values()], [], "processes left behind");
}

async function stopped(...gateways) {
  for (const { program } of gateways) assert.equal(await program.stop(EXIT_SECONDS), 0, program.stderr);
}

for (const days of [400, -400]) {
  await check(`faults: the clock is changed by ${days} days during a run`, () =>
    inPlace(async (place) => {
      const gateway = await Gateway.start(place);
      const year = await gateway.year();
      const set = (_, count) => count === 10 && gateway.set(days * DAY);
      assert.equal(end(await gateway.run("slow", { onEvent: set })), "success");
      assert.ok(Math.abs((await gateway.year()) - year) >= 1, "the clock was set");
      assert.equal(end(await gateway.run("hello")), "success");
      await stopped(gateway);
    }),
  );

  await check(`faults: the clock is changed by ${days} days during a question`, () =>
    inPlace(async (place) => {
      const gateway = await Gateway.start(place);
      const threadId = randomUUID();
      const permission = await gateway.run("edit", { threadId });
      const flight = await gateway.run("book", { agent: "hybrid", threadId });
      assert.deepEqual([end(permission), end(flight)], ["interrupt", "interrupt"]);
      gateway.set(days * DAY);
      const resume = (asked, payload) => {
        const [{ id }] = asked.at(-1).outcome.interrupts;
        return { threadId, resume: [{ interruptId: id, status: "resolved", payload }] };
      };
      const allowed = await gateway.run("edit", resume(permission, { optionId: "allow-once" }));
      assert.equal(end(allowed), "success", JSON.stringify(allowed.at(-1)));
      const [{ metadata, toolCallId }] = flight.at(-1).outcome.interrupts;
      const content = { flightId: metadata["x-model-context"].flights[0].id };
      const called = { id: toolCallId, type: "function", function: { name: "book_flight", arguments: "{}" } };
      const messages = [
        { id: "u", role: "user", content: "book" },
        { id: "a", role: "assistant", toolCalls: [called] },
      ];
      const more = { agent: "hybrid", messages, ...resume(flight, { action: "accept", content }) };
      const seat = await gateway.run("", more);
      assert.equal(end(seat), "interrupt", JSON.stringify(seat.at(-1)));
      await stopped(gateway);
    }),
  );

  await check(`faults: the clock of one of two gateways is changed by ${days} days during a run`, () =>
    inPlace(async (place) => {
      const shared = {
        GATEWAY_STORE: process.env.REDIS_URL,
        GATEWAY_REPLICAS_PREFIX: randomUUID(),
        GATEWAY_REPLICAS_LEASE: `${LEASE_SECONDS}`,
      };
      const [one, other] = [await Gateway.start(place, shared), await Gateway.start(place, shared)];
      const [threadId, runId] = [randomUUID(), randomUUID()];
      let elsewhere;
      const set = (_, count) => {
        if (count !== 10) return;
        one.set(days * DAY);
        elsewhere = other.follow(runId);
      };
      const here = await one.run("slow", { threadId, runId, onEvent: set });
      assert.equal(end(here), "success", JSON.stringify(here.at(-1)));
      assert.deepEqual(await within(TURN_SECONDS, "the run at the other gateway", elsewhere), here);
      const next = await other.run("hello", { threadId });
      assert.equal(end(next), "success");
      assert.ok(!next.some(({ name }) => name === "acp.notice"), "the session is the same");
      await stopped(one, other);
    }),
  );
}
