// The checks of the table of agents. Each has a thread of its own, or continues the one before.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expectCancelled, expectFinished, expectMessages, words } from "../chat.mjs";
import { within } from "../harness.mjs";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP436BAEmIY1TCqYfhqAAB/VJ8Q/1k3SQAAAABJRU5ErkJggg==";
const MAX_ROUNDS = 8;
const LOGIN_SECONDS = 25;
// The gateway waits 10 s for an own call of the agent that does not begin.
const STALL_MS = 9_000;
const NOTE = {
  name: "show_note",
  description: "Shows a note on the page.",
  parameters: { type: "object", properties: { note: { type: "string" } }, required: ["note"] },
};
const ANSWER = "The note is on the page.";
const REASON = /auth|log ?in|sign ?in|credential|api.?key|provider|\b401\b/i;

const textOf = (turn) => turn.messages.filter(({ role }) => role === "assistant").map(({ content }) => content ?? "").join("");
const prompted = (chat, scenario) => `Please do this: scenario:${scenario} in ${chat.agent.root ?? chat.place.workspace}`;
const results = (turn) => turn.messages.filter(({ role }) => role === "tool").map(({ content }) => content);
const sessions = (chat) => chat.place.tapped("in").filter(({ method }) => method === "session/new").length;

/** Sends a message, answers questions by allowing them and calls of the page's tool, and returns the turn with all its runs. */
async function complete(chat, content, tools) {
  const before = chat.client.messages.length;
  const lines = chat.place.tapped("out").length;
  const runs = [await chat.send(content, undefined, { tools })];
  while (runs.length < MAX_ROUNDS) {
    const { interrupts = [], pendingToolCallIds = [] } = runs.at(-1).last.outcome ?? {};
    if (interrupts.length + pendingToolCallIds.length === 0) break;
    const { params } = chat.place.tapped("out").findLast(({ method }) => method === "session/request_permission") ?? {};
    const resume = interrupts.map(({ id }) => {
      const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
      return { interruptId: id, status: "resolved", payload: { optionId } };
    });
    for (const toolCallId of pendingToolCallIds) {
      chat.client.addMessage({ id: `answer-${toolCallId}`, role: "tool", toolCallId, content: ANSWER });
    }
    runs.push(await chat.run(undefined, { tools, ...(resume.length > 0 && { resume }) }));
  }
  const thread = chat.client.messages;
  const messages = thread.slice(before + 1);
  const wire = chat.place.tapped("out").slice(lines);
  const events = runs.flatMap((run) => run.events);
  return { version: chat.version, events, last: runs.at(-1).last, runs, messages, thread, wire };
}

/** A text of the agent. */
async function chatCell(chat) {
  const turn = await complete(chat, prompted(chat, "text"));
  expectFinished(turn);
  expectMessages(turn);
  assert.ok(textOf(turn).includes(words("text")), textOf(turn));
}

/** A turn with a tool in the same session. */
async function secondTurn(chat) {
  const before = sessions(chat);
  const turn = await complete(chat, prompted(chat, "read"));
  expectFinished(turn);
  const { tools } = expectMessages(turn);
  assert.ok(textOf(turn).includes("The file has one line."), textOf(turn));
  assert.ok(tools.size > 0, "a tool call of the agent");
  assert.ok(results(turn).some((content) => content.includes("This file has one line.")), results(turn).join());
  assert.equal(sessions(chat), before, "sessions of the thread");
}

/** A question whether a tool may run, answered by a run that resumes, with the effect on the disk. */
async function permission(chat) {
  const scenario = chat.agent.asks ?? "shell";
  const turn = await complete(chat, prompted(chat, scenario));
  expectFinished(turn);
  const { asked } = expectMessages(turn);
  assert.ok(results(turn).every((content) => !content.startsWith("[terminal ")), results(turn).join());
  assert.ok(asked.length > 0, "the agent has not asked");
  assert.ok(turn.runs.some(({ last }) => last.outcome?.type === "interrupt"), "no run ended with an interrupt");
  const file = (name) => join(chat.place.workspace, name);
  if (scenario === "edit") return assert.equal(readFileSync(file("greeting.txt"), "utf8"), "hello, world\n");
  assert.ok(existsSync(file("made.txt")), "the command did not run");
}

/** A turn that is cancelled after its first text, and another one after it. */
async function cancel(chat) {
  let cancelled;
  const content = prompted(chat, "slow");
  const turn = await chat.send(content, async (event, runId) => {
    if (event.type !== "TEXT_MESSAGE_CONTENT" || cancelled) return;
    cancelled = true;
    assert.equal((await chat.post(`runs/${runId}/cancel`)).status, 202);
  });
  expectCancelled(turn, chat.version);
  const next = await complete(chat, prompted(chat, "text"));
  expectFinished(next);
  assert.ok(textOf(next).includes(words("text")), textOf(next));
}

/** A message with an image, which reaches the model. */
async function image(chat) {
  const source = { type: "data", value: PIXEL, mimeType: "image/png" };
  const turn = await complete(chat, [
    { type: "text", text: prompted(chat, "image") },
    { type: "image", source },
  ]);
  expectFinished(turn);
  assert.ok(textOf(turn).includes("I see the image."), textOf(turn));
}

/** A message that is changed and sent again, without the messages after it. */
async function edit(chat) {
  const before = sessions(chat);
  const { messages } = chat.client;
  const changed = messages.findLastIndex(({ role }) => role === "user");
  chat.client.setMessages(messages.slice(0, changed));
  const turn = await complete(chat, prompted(chat, "read"));
  expectFinished(turn);
  assert.ok(textOf(turn).includes("The file has one line."), textOf(turn));
  assert.equal(sessions(chat), before + 1, "a new session");
}

/** A tool of the page, in a thread of its own. */
async function pageTool(chat) {
  await chat.newThread();
  // Some agents connect to MCP servers while they answer.
  expectFinished(await complete(chat, prompted(chat, "text"), [NOTE]));
  const began = performance.now();
  const turn = await complete(chat, prompted(chat, "page"), [NOTE]);
  assert.ok(performance.now() - began < STALL_MS, "the run waited for a call that it did not recognize");
  expectFinished(turn);
  const calls = turn.messages.flatMap(({ toolCalls = [] }) => toolCalls).filter((call) => call.function.name === NOTE.name);
  assert.deepEqual(calls.map((call) => JSON.parse(call.function.arguments)), [{ note: "from the agent" }]);
  assert.ok(textOf(turn).includes("The page has answered."), textOf(turn));
}

/** Returns the choices of a session's settings that differ from the present ones. */
function choicesOf({ modes, configOptions = [] }) {
  const selects = configOptions.filter(({ type }) => type === "select");
  const choices = selects.map(({ id, category, name, currentValue, options }) => {
    const values = options.flatMap((option) => option.options ?? [option]).map(({ value }) => value);
    const others = values.filter((value) => value !== currentValue);
    // Other models of some agents are on the network.
    const value = others.find((value) => value.includes("scripted")) ?? others[0];
    return { name: category ?? name, value, change: { configId: id, value } };
  });
  const mode = modes?.availableModes.map(({ id }) => id).find((id) => id !== modes.currentModeId);
  return [...choices, { name: "mode", value: mode, change: { modeId: mode } }].filter(({ value }) => value !== undefined);
}

/** A setting that is chosen before the first message of a thread, which has the same session. */
async function firstChoice(chat) {
  await chat.newThread();
  const before = sessions(chat);
  const { agents } = await (await fetch(`${chat.url}/api/ai/agents`)).json();
  const thread = `${chat.url}/api/ai/agents/${agents[0].name}/threads/${chat.client.threadId}`;
  const post = async (path, body) => {
    const signal = AbortSignal.timeout(LOGIN_SECONDS * 1000);
    const response = await fetch(`${thread}/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
    const text = await response.text();
    assert.equal(response.status, 200, `${path}: ${text}`);
    return JSON.parse(text);
  };
  const choices = choicesOf(await post("session", {}));
  const wanted = chat.agent.firstChoice ?? "model";
  const choice = choices.find(({ name }) => name === wanted) ?? choices[0];
  if (choice) await post("settings", choice.change);
  const turn = await complete(chat, prompted(chat, "text"));
  expectFinished(turn);
  assert.equal(sessions(chat), before + 1, "sessions of the thread");
  if (!choice) return "none offered";
  const methods = chat.place.tapped("in").map(({ method, params }) => [method, params]).filter(([method]) => /^session\/(set_|prompt)/.test(method));
  const [[set, { modeId, value }], [prompt]] = methods.slice(-2);
  assert.deepEqual([modeId ?? value, prompt], [choice.value, "session/prompt"], set);
  return choice.name;
}

/** Without a key: the error of the run has its own code, or the reason of the agent. */
async function login(chat) {
  const turn = await within(LOGIN_SECONDS, "the end of the run without a key", chat.send(prompted(chat, "text")));
  assert.equal(turn.last.type, "RUN_ERROR", JSON.stringify(turn.last));
  if (turn.last.code === "ACP_AUTH_REQUIRED") return turn.last.code;
  assert.match(turn.last.message, REASON);
  return turn.last.code;
}

/** The cells of a row: the name, the check, and whether the agent has a key. */
export const CELLS = [
  { name: "chat", run: chatCell },
  { name: "second turn", run: secondTurn },
  { name: "permission", run: permission },
  { name: "cancel", run: cancel },
  { name: "edit", run: edit },
  { name: "image", run: image },
  { name: "page tool", run: pageTool },
  { name: "first choice", run: firstChoice },
  { name: "login refused", run: login, isWithoutKey: true },
];
