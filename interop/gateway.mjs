// The gateway with real agents and the `HttpAgent` of two generations of `@ag-ui/client`.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Chat, EXIT_SECONDS, START_SECONDS, ending, expectCancelled, expectFinished, expectMessages, words } from "./chat.mjs";
import { AGENTS, BIN, INTEROP, Program, check, prompt, within } from "./harness.mjs";

const VERSIONS = ["1.0.0", "0.0.59"];

async function conversation(agent, version) {
  const title = (what) => `gateway × ${agent.name} × @ag-ui/client ${version}: ${what}`;
  let chat;
  await check(title("start"), async () => (chat = await Chat.open(agent, version)));
  if (!chat) return;
  const file = (name) => join(chat.place.workspace, name);

  await check(title("text"), async () => {
    const turn = await chat.turn("text");
    expectFinished(turn);
    const facts = expectMessages(turn);
    if (!agent.prompts) assert.equal(facts.text, words("text"));
    assert.ok(facts.thought, "the turn has no thought");
  });
  await check(title("a tool, in the same thread"), async () => {
    const turn = await chat.turn("read");
    expectFinished(turn);
    const facts = expectMessages(turn);
    if (!agent.prompts) assert.equal(facts.text, words("read"));
    assert.equal(facts.tools.size, 1);
    const sessions = chat.place.tapped("in").filter(({ method }) => method === "session/new");
    assert.equal(sessions.length, 1, "sessions of one thread");
  });
  await check(title("a granted permission"), async () => {
    const turn = await chat.turn("edit", chat.answering("allow_once"));
    expectFinished(turn);
    const facts = expectMessages(turn);
    assert.equal(facts.asked.length, 1, "permission requests of the agent");
    const resolved = turn.events.filter((event) => event.name === "acp.permission.resolved");
    assert.deepEqual(resolved.map((event) => event.value.outcome), ["selected"]);
    if (!agent.prompts) assert.equal(readFileSync(file("greeting.txt"), "utf8"), "hello, world\n");
  });
  await check(title("a refused permission"), async () => {
    const turn = await chat.turn("shell", chat.answering("reject_once"));
    const { asked } = expectMessages(turn);
    assert.equal(asked.length, 1, "permission requests of the agent");
    if (ending(turn.wire).stopReason === "cancelled") expectCancelled(turn, version);
    else expectFinished(turn);
    assert.ok(!existsSync(file("made.txt")), "the command ran");
  });
  await check(title("an error of the agent"), async () => {
    const turn = await chat.turn("error");
    assert.equal(turn.last.type, "RUN_ERROR");
    const { error } = ending(turn.wire);
    assert.ok(turn.last.message.includes(error.message), `${turn.last.message} lacks ${error.message}`);
    assert.equal(turn.last.code, error.code === -32603 ? "ACP_INTERNAL_ERROR" : "ACP_ERROR");
  });
  await check(title("cancellation by request"), async () => {
    expectCancelled(await chat.cancelledTurn(), version);
    assert.equal((await chat.post(`runs/${randomUUID()}/cancel`)).status, 404, "cancellation of an unknown run");
  });
  await check(title("a turn after a cancelled turn"), async () => {
    const turn = await chat.turn("text");
    expectFinished(turn);
    expectMessages(turn);
  });
  await check(title("a disconnected client cancels its run"), async () => {
    const cancels = () => chat.place.tapped("in").filter(({ method }) => method === "session/cancel").length;
    const before = cancels();
    await chat.turn("slow", (event) => {
      if (event.type === "TEXT_MESSAGE_CONTENT") chat.client.abortRun();
    });
    await chat.place.until("session/cancel after the disconnection", 10, () => cancels() === before + 1);
  });
  await check(title("SIGTERM ends the gateway, without remaining processes"), () => chat.close());
}

/** The example agent of the Python SDK: an echo without tools. */
async function officialExample(version) {
  await check(`gateway × sdk-example × @ag-ui/client ${version}: two turns, and the end`, async () => {
    const chat = await Chat.open({ name: "sdk-example" }, version);
    try {
      for (const scenario of ["text", "read"]) {
        const turn = await chat.turn(scenario);
        expectFinished(turn);
        expectMessages(turn);
        const { content } = turn.messages.findLast(({ role }) => role === "assistant");
        assert.equal(content, `Client sent:${prompt(chat.agent, scenario)}`);
      }
    } finally {
      await chat.close();
    }
  });
}

/** The server of the official SDK. A socket has no tap, so the expected values come from the scenarios. */
async function overNetwork(version, scheme) {
  await check(`gateway × sdk-agent over ${scheme} × @ag-ui/client ${version}`, async () => {
    const server = new Program(process.execPath, [join(INTEROP, "agents/sdk-agent.mjs"), "--listen"], process.env);
    let chat;
    try {
      const [, address] = await server.said(/listening on ws:(\S+)\n/, START_SECONDS);
      chat = await Chat.open(AGENTS[0], version, [], ["--agent-url", `${scheme}:${address}`]);
      for (const scenario of ["text", "edit"]) {
        const turn = await chat.turn(scenario, chat.answering("allow_once"));
        expectFinished(turn);
        const said = turn.messages.filter(({ role }) => role === "assistant");
        assert.equal(said.map(({ content }) => content ?? "").join(""), words(scenario));
        assert.equal(turn.messages.filter(({ role }) => role === "tool").length, scenario === "edit" ? 1 : 0);
      }
      assert.equal(readFileSync(join(chat.place.workspace, "greeting.txt"), "utf8"), "hello, world\n");
      expectCancelled(await chat.cancelledTurn(), version);
      assert.equal(await chat.gateway.stop(EXIT_SECONDS), 0);
    } finally {
      server.child.kill("SIGKILL");
      chat?.place.leave();
    }
  });
}

async function policy(option, happened) {
  const agent = AGENTS[0];
  await check(`gateway --permission ${option}`, async () => {
    const chat = await Chat.open(agent, VERSIONS[0], ["--permission", option]);
    try {
      const turn = await chat.turn("shell");
      expectFinished(turn);
      expectMessages(turn);
      assert.equal(existsSync(join(chat.place.workspace, "made.txt")), happened);
    } finally {
      await chat.close();
    }
  });
}

/** Other words of the demo agent: each kind of update, invalid lines, unusual ends. */
async function vocabulary(version) {
  const title = (what) => `gateway × demo-agent × @ag-ui/client ${version}: ${what}`;
  const agent = AGENTS.find(({ name }) => name === "demo-agent");
  let chat;
  await check(title("start for other words"), async () => {
    chat = await Chat.open(agent, version, ["--permission", "allow"]);
  });
  if (!chat) return;
  for (const word of ["hello", "plan", "run", "usage", "image", "odd", "noise", "max", "refuse", "tour"]) {
    await check(title(`the word ${word}`), async () => {
      const turn = await chat.turn(word);
      assert.equal(turn.last.type, word === "refuse" ? "RUN_ERROR" : "RUN_FINISHED", JSON.stringify(turn.last));
      expectMessages(turn);
    });
  }
  await check(title("the end after other words"), () => chat.close());
}

async function agentThatDies(version) {
  await check(`gateway × @ag-ui/client ${version}: an agent that is killed during a turn`, async () => {
    const chat = await Chat.open(AGENTS[0], version);
    try {
      const turn = await chat.turn("slow", (event) => {
        if (event.type !== "TEXT_MESSAGE_CONTENT") return;
        for (const [pid, command] of chat.place.processes()) {
          if (command.includes("sdk-agent.mjs")) process.kill(pid, "SIGKILL");
        }
      });
      assert.equal(turn.last.type, "RUN_ERROR", JSON.stringify(turn.last));
      assert.equal(turn.last.code, "AGENT_EXITED");
    } finally {
      await chat.gateway.stop(EXIT_SECONDS);
      assert.deepEqual([...chat.place.leave().values()], [], "processes left behind");
    }
  });
}

async function agentThatEndsAtOnce(version) {
  await check(`gateway × @ag-ui/client ${version}: an agent that exits before a turn`, async () => {
    const chat = await Chat.open({ name: "sdk-agent" }, version, [], ["--agent", "sh -c 'exit 3'"]);
    try {
      const turn = await chat.turn("text");
      assert.equal(turn.last.type, "RUN_ERROR", JSON.stringify(turn.last));
      assert.equal(turn.last.code, "AGENT_UNAVAILABLE");
      assert.match(turn.last.message, /exit status: 3/);
    } finally {
      await chat.gateway.stop(EXIT_SECONDS);
      chat.place.leave();
    }
  });
}

/** The example of the documentation, with the address and the thread of a chat: it opens the conversation. */
async function documentedPage(version) {
  await check(`gateway × @ag-ui/client ${version}: the documented page opens a conversation`, async () => {
    const chat = await Chat.open(AGENTS.find(({ name }) => name === "demo-agent"), version);
    try {
      for (const word of ["hello", "plan"]) expectFinished(await chat.turn(word));
      const documentation = readFileSync(join(INTEROP, "../examples/gateway/docs/http.md"), "utf8");
      const [, example] = /```js\n(import [^]*?)```/.exec(documentation);
      const own = [
        ["@ag-ui/client", import.meta.resolve(`ag-ui-client-${version}`)],
        ["http://127.0.0.1:8787", chat.url],
        ["agents/demo/", "agents/agent/"],
        ['"t1"', JSON.stringify(chat.client.threadId)],
      ].reduce((text, [from, to]) => text.replace(from, to), example);
      const { agent } = await import(`data:text/javascript,${encodeURIComponent(`${own}\nexport { agent };`)}`);
      assert.deepEqual(agent.messages, chat.client.messages);
      assert.deepEqual(agent.state, chat.client.state);
    } finally {
      await chat.close();
    }
  });
}

async function agentThatIsNotThere() {
  await check("gateway: a missing agent", async () => {
    const options = ["--no-auth", "--listen", "127.0.0.1:0", "--agent", "no-such-agent --acp"];
    const gateway = new Program(join(BIN, "gateway"), options, process.env);
    const ended = within(EXIT_SECONDS, "the exit without an agent", gateway.exited);
    const status = await ended.finally(() => gateway.child.kill("SIGKILL"));
    assert.ok(status > 0, `status ${status}`);
    assert.match(gateway.stderr, /no-such-agent/);
  });
}

for (const agent of AGENTS) for (const version of VERSIONS) await conversation(agent, version);
for (const version of VERSIONS) {
  await officialExample(version);
  await vocabulary(version);
  await overNetwork(version, "ws");
  await overNetwork(version, "http");
  await agentThatDies(version);
  await agentThatEndsAtOnce(version);
}
await documentedPage("1.0.0");
await agentThatIsNotThere();
await policy("allow", true);
await policy("reject", false);
