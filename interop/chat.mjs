// A chat of an `HttpAgent` of `@ag-ui/client` with an agent behind the gateway, and checks of its messages.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { BIN, Place, Program, SCENARIOS, prompt, within } from "./harness.mjs";

export const START_SECONDS = 15;
export const EXIT_SECONDS = 10;
const TURN_SECONDS = 60;
const ANSWER_SECONDS = 10;

/** A gateway with one agent, and a client with one thread. */
export class Chat {
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
    await chat.newThread();
    return chat;
  }

  /** Continues with a new thread. */
  async newThread() {
    const { HttpAgent } = await import(`ag-ui-client-${this.version}`);
    this.client = new HttpAgent({ url: `${this.url}/api/ai/chat`, threadId: randomUUID() });
  }

  post(path, body) {
    return fetch(`${this.url}/api/ai/chat/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body ?? {}),
      signal: AbortSignal.timeout(ANSWER_SECONDS * 1000),
    });
  }

  /** Runs a turn with a scenario. */
  turn(scenario, onEvent) {
    return this.send(prompt(this.agent, scenario), onEvent);
  }

  /** Adds a message of the user, and runs. */
  send(content, onEvent, parameters) {
    this.client.addMessage({ id: randomUUID(), role: "user", content });
    return this.run(onEvent, parameters);
  }

  /**
   * Runs with the thread as it is. Returns the client's events and the agent's lines. `onEvent` receives each event with the
   * run's id. A rejected promise or a warning of the client is a failure.
   */
  async run(onEvent = () => {}, parameters = {}) {
    const before = this.client.messages.length;
    const lines = this.place.tapped("out").length;
    const runId = randomUUID();
    const events = [];
    const warnings = [];
    const { warn, error } = console;
    console.warn = console.error = (...words) => warnings.push(words.map(String).join(" "));
    try {
      const answers = [];
      const subscriber = {
        onEvent: ({ event }) => {
          events.push(event);
          answers.push(onEvent(event, runId));
        },
      };
      await within(TURN_SECONDS, "the end of the run", this.client.runAgent({ runId, ...parameters }, subscriber));
      await Promise.all(answers);
    } finally {
      Object.assign(console, { warn, error });
    }
    assert.deepEqual(warnings, [], "warnings of the client");
    assert.equal(events[0]?.type, "RUN_STARTED");
    assert.equal(events[0].runId, runId);
    const thread = this.client.messages;
    const wire = this.place.tapped("out").slice(lines);
    const messages = thread.slice(before);
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

/**
 * Returns the content of a turn in the agent's lines, of either version: text, tool calls with arguments and results, the last
 * plan.
 */
function told(wire) {
  const facts = { text: "", thought: "", plan: undefined, tools: new Map(), asked: [] };
  const tool = (id) => facts.tools.get(id) ?? facts.tools.set(id, { content: [] }).get(id);
  const merge = (fields, asking) => {
    const call = tool(fields.toolCallId);
    if (fields.rawInput != null && !call.begun) call.input = fields.rawInput;
    if (asking || ["in_progress", "completed", "failed"].includes(fields.status)) call.begun = true;
    if (fields.content != null) Object.assign(call, { content: fields.content, isQuestion: asking });
    if (fields.rawOutput != null) call.output = fields.rawOutput;
    for (const name of ["title", "kind", "status"]) if (fields[name] != null) call[name] = fields[name];
  };
  for (const { method, params } of wire) {
    if (method === "session/request_permission") {
      const call = params.toolCall ?? params.subject.toolCall;
      facts.asked.push(call.toolCallId);
      merge(call, true);
    }
    const update = method === "session/update" ? params.update : {};
    const words = update.content?.type === "text" ? update.content.text : "";
    if (update.sessionUpdate === "agent_message_chunk") facts.text += words;
    if (update.sessionUpdate === "agent_thought_chunk") facts.thought += words;
    if (update.sessionUpdate === "plan") facts.plan = { entries: update.entries };
    if (update.sessionUpdate === "plan_update") {
      const { entries, planId } = update.plan;
      facts.plan = { entries, planId };
    }
    if (update.sessionUpdate?.startsWith("tool_call")) merge(update, false);
  }
  return facts;
}

/** Returns the lines of a file after a change, in version 2 those that its patch adds. */
function added({ newText, patch }) {
  if (patch === undefined) return newText.trim().split("\n");
  return patch.text.split("\n").filter((line) => /^\+(?!\+\+)/.test(line)).map((line) => line.slice(1));
}

/** Returns the end of the turn in the agent's lines: the response to the prompt, in version 2 the idle state. */
export function ending(wire) {
  const ends = wire.flatMap((line) => [line.result, line.error && { error: line.error }, line.params?.update]);
  return ends.findLast((end) => end?.stopReason ?? end?.error);
}

/** Checks that the result of a finished call contains its text blocks, or its raw output without such blocks. */
function expectResult(message, call) {
  // What a question shows is no result of a call that has one.
  const content = call.isQuestion && call.output !== undefined ? [] : call.content;
  const texts = content.filter((item) => item.type === "content" && item.content.type === "text");
  const diffs = content.filter((item) => item.type === "diff");
  const expected = [...texts.map((item) => item.content.text), ...diffs.flatMap(added)];
  for (const text of expected) assert.ok(message.content.includes(text), `${message.content} lacks ${text}`);
  if (content.length > 0 || call.output === undefined) return;
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
export function expectMessages({ version, events, messages, thread, wire }) {
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
    if (facts.plan) assert.deepEqual(activities("PLAN"), [facts.plan]);
  } else if (facts.plan) {
    const plan = events.findLast((event) => event.name === "acp.plan");
    assert.deepEqual(plan?.value, facts.plan);
  }
  return facts;
}

export function expectFinished(turn) {
  assert.equal(turn.last.type, "RUN_FINISHED", JSON.stringify(turn.last));
  assert.notEqual(turn.last.outcome?.type, "cancelled");
}

export function expectCancelled(turn, version) {
  if (version === "1.0.0") assert.equal(turn.last.outcome?.type, "cancelled", JSON.stringify(turn.last));
  else assert.equal(turn.last.code, "CANCELLED", JSON.stringify(turn.last));
}

export const words = (scenario) => SCENARIOS[scenario].map((round) => round.text).join("");
