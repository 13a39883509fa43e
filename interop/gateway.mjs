// The gateway with real agents and the `HttpAgent` of two generations of `@ag-ui/client`.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AGENTS, BIN, INTEROP, Place, Program, SCENARIOS, check, prompt, within } from "./harness.mjs";

const START_SECONDS = 15;
const TURN_SECONDS = 60;
const ANSWER_SECONDS = 10;
const EXIT_SECONDS = 10;
const VERSIONS = ["1.0.0", "0.0.59"];

/** A gateway with one agent, and a client with one thread. */
class Chat {
  static async open(agent, version, options = [], connection) {
    const chat = new Chat();
    chat.agent = agent;
    chat.version = version;
    chat.place = new Place();
    const login = agent.authenticate ? ["--authenticate", agent.authenticate] : [];
    connection ??= ["--agent", chat.place.agentCommand(agent)];
    const place = ["--no-auth", "--listen", "127.0.0.1:0", "--cwd", chat.place.workspace, "--disconnect-grace", "0"];
    if (!options.includes("--permission")) place.push("--permission", "ask-in-stream");
    chat.gateway = new Program(join(BIN, "gateway"), [...place, ...connection, ...login, ...options], chat.place.env);
    try {
      [, chat.url] = await chat.gateway.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, START_SECONDS);
    } catch (error) {
      chat.place.leave();
      throw error;
    }
    const { HttpAgent } = await import(`ag-ui-client-${version}`);
    chat.client = new HttpAgent({ url: `${chat.url}/api/ai/chat`, threadId: randomUUID() });
    return chat;
  }

  post(path, body) {
    return fetch(`${this.url}/api/ai/chat/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body ?? {}),
      signal: AbortSignal.timeout(ANSWER_SECONDS * 1000),
    });
  }

  /**
   * Runs a turn. Returns the client's events and the agent's lines. `onEvent` receives each event with the run's id. A
   * rejected promise or a warning of the client is a failure.
   */
  async turn(scenario, onEvent = () => {}) {
    const before = this.client.messages.length;
    const lines = this.place.tapped("out").length;
    const runId = randomUUID();
    const events = [];
    const warnings = [];
    const { warn, error } = console;
    console.warn = console.error = (...words) => warnings.push(words.map(String).join(" "));
    try {
      this.client.addMessage({ id: randomUUID(), role: "user", content: prompt(this.agent, scenario) });
      const answers = [];
      const subscriber = {
        onEvent: ({ event }) => {
          events.push(event);
          answers.push(onEvent(event, runId));
        },
      };
      await within(TURN_SECONDS, `the ${scenario} turn`, this.client.runAgent({ runId }, subscriber));
      await Promise.all(answers);
    } finally {
      Object.assign(console, { warn, error });
    }
    assert.deepEqual(warnings, [], "warnings of the client");
    assert.equal(events[0]?.type, "RUN_STARTED");
    assert.equal(events[0].runId, runId);
    const thread = this.client.messages;
    const wire = this.place.tapped("out").slice(lines);
    const messages = thread.slice(before + 1);
    return { version: this.version, events, last: events.at(-1), messages, thread, wire };
  }

  /** Runs a slow turn that is cancelled by request after its first text. */
  cancelledTurn() {
    let cancelled;
    return this.turn("slow", async (event, runId) => {
      if (event.type !== "TEXT_MESSAGE_CONTENT" || cancelled) return;
      cancelled = true;
      assert.equal((await this.post(`runs/${runId}/cancel`)).status, 202);
    });
  }

  /** Answers each permission request with the option of this kind. */
  answering(kind) {
    return async (event) => {
      if (event.type !== "CUSTOM" || event.name !== "acp.permission.requested") return;
      const { interruptId, options } = event.value;
      const { optionId } = options.find((option) => option.kind === kind);
      const answer = await this.post(`interrupts/${interruptId}`, { optionId });
      assert.equal(answer.status, 202, "the answer to a permission request");
      assert.equal((await this.post(`interrupts/${interruptId}`, { optionId })).status, 409, "a second answer");
    };
  }

  /** Ends the gateway, and checks that no process of the agent is left. */
  async close() {
    try {
      assert.ok(this.place.processes().size > 1, "the agent was not running before the end");
      assert.equal(await this.gateway.stop(EXIT_SECONDS), 0, "the exit status of the gateway");
    } finally {
      this.left = this.place.leave();
    }
    assert.deepEqual([...this.left.values()], [], "processes left behind");
  }
}

/** Returns the content of a turn in the agent's lines: text, tool calls with arguments and results, the last plan. */
function told(wire) {
  const facts = { text: "", thought: "", plan: undefined, tools: new Map(), asked: [] };
  const tool = (id) => facts.tools.get(id) ?? facts.tools.set(id, { content: [] }).get(id);
  const merge = (fields, asking) => {
    const call = tool(fields.toolCallId);
    if (fields.rawInput != null && !call.begun) call.input = fields.rawInput;
    if (asking || ["in_progress", "completed", "failed"].includes(fields.status)) call.begun = true;
    if (fields.content != null) call.content = fields.content;
    if (fields.rawOutput != null) call.output = fields.rawOutput;
    for (const name of ["title", "kind", "status"]) if (fields[name] != null) call[name] = fields[name];
  };
  for (const { method, params } of wire) {
    if (method === "session/request_permission") {
      facts.asked.push(params.toolCall.toolCallId);
      merge(params.toolCall, true);
    }
    const update = method === "session/update" ? params.update : {};
    const words = update.content?.type === "text" ? update.content.text : "";
    if (update.sessionUpdate === "agent_message_chunk") facts.text += words;
    if (update.sessionUpdate === "agent_thought_chunk") facts.thought += words;
    if (update.sessionUpdate === "plan") facts.plan = update.entries;
    if (update.sessionUpdate?.startsWith("tool_call")) merge(update, false);
  }
  return facts;
}

/** Checks that the result of a finished call contains its text blocks, or its raw output without such blocks. */
function expectResult(message, call) {
  const texts = call.content.filter((item) => item.type === "content" && item.content.type === "text");
  const diffs = call.content.filter((item) => item.type === "diff");
  const expected = [...texts.map((item) => item.content.text), ...diffs.flatMap((item) => item.newText.trim().split("\n"))];
  for (const text of expected) assert.ok(message.content.includes(text), `${message.content} lacks ${text}`);
  if (call.content.length > 0 || call.output === undefined) return;
  const blocks = Array.isArray(call.output) ? call.output : call.output?.content;
  if (typeof call.output === "string") assert.equal(message.content, call.output);
  else if (Array.isArray(blocks) && blocks.length > 0 && blocks.every((block) => block.type === "text")) {
    for (const { text } of blocks) assert.ok(message.content.includes(text), `${message.content} lacks ${text}`);
  } else if (typeof call.output?.formatted_output === "string") {
    // Codex describes a command by an object.
    const { formatted_output: wrote, exit_code: code } = call.output;
    assert.equal(message.content, code ? `${wrote}${wrote.endsWith("\n") || !wrote ? "" : "\n"}[exit code ${code}]` : wrote);
  } else assert.deepEqual(JSON.parse(message.content), call.output);
}

/** Checks the client's messages after a turn against the agent's lines. */
function expectMessages({ version, events, messages, thread, wire }) {
  const facts = told(wire);
  const of = (role) => messages.filter((message) => message.role === role);
  const calls = of("assistant").flatMap((message) => message.toolCalls ?? []);
  assert.equal(of("assistant").map((message) => message.content ?? "").join(""), facts.text);
  assert.equal(of("reasoning").map((message) => message.content).join(""), facts.thought);
  assert.deepEqual(calls.map((call) => call.id), [...facts.tools.keys()]);
  for (const call of calls) {
    const fact = facts.tools.get(call.id);
    assert.ok(call.function.name, "a tool call without a name");
    assert.deepEqual(JSON.parse(call.function.arguments), fact.input ?? {}, `arguments of ${call.id}`);
    const results = of("tool").filter((message) => message.toolCallId === call.id);
    assert.equal(results.length, 1, `results of ${call.id}`);
    if (["completed", "failed"].includes(fact.status)) expectResult(results[0], fact);
  }
  assert.equal(of("tool").length, calls.length);
  const activities = (type) => thread.filter((it) => it.activityType === type).map((it) => it.content);
  if (version === "1.0.0") {
    for (const [id, { title, kind = "other" }] of facts.tools) {
      const [card, ...others] = activities("acp.tool").filter((content) => content.toolCallId === id);
      assert.deepEqual([card?.title, card?.kind, others], [title, kind, []], `the activity of ${id}`);
    }
    if (facts.plan) assert.deepEqual(activities("PLAN"), [{ entries: facts.plan }]);
  } else if (facts.plan) {
    const plan = events.findLast((event) => event.name === "acp.plan");
    assert.deepEqual(plan?.value, { entries: facts.plan });
  }
  return facts;
}

function expectFinished(turn) {
  assert.equal(turn.last.type, "RUN_FINISHED", JSON.stringify(turn.last));
  assert.notEqual(turn.last.outcome?.type, "cancelled");
}

function expectCancelled(turn, version) {
  if (version === "1.0.0") assert.equal(turn.last.outcome?.type, "cancelled", JSON.stringify(turn.last));
  else assert.equal(turn.last.code, "CANCELLED", JSON.stringify(turn.last));
}

const words = (scenario) => SCENARIOS[scenario].map((round) => round.text).join("");

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
    const { result } = turn.wire.findLast((line) => line.result?.stopReason);
    if (result.stopReason === "cancelled") expectCancelled(turn, version);
    else expectFinished(turn);
    assert.ok(!existsSync(file("made.txt")), "the command ran");
  });
  await check(title("an error of the agent"), async () => {
    const turn = await chat.turn("error");
    assert.equal(turn.last.type, "RUN_ERROR");
    const { error } = turn.wire.findLast((line) => line.error);
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
await agentThatIsNotThere();
await policy("allow", true);
await policy("reject", false);
