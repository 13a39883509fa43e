import assert from "node:assert/strict";
import { test } from "node:test";
import { reduce } from "../../../examples/gateway/page/reduce.js";
import { Thread } from "../../../examples/gateway/page/thread.js";

/**
 * @param {any[]} events
 * @param {Thread} [thread]
 */
function apply(events, thread = new Thread("t")) {
  const changes = events.flatMap((event) => reduce(thread, event));
  return { thread, changes, kinds: changes.map((change) => change.kind) };
}

const text = (/** @type {string} */ id, /** @type {string[]} */ ...deltas) => [
  { type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" },
  ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: id, delta })),
  { type: "TEXT_MESSAGE_END", messageId: id },
];

const call = (/** @type {string} */ id, /** @type {object} */ extra = {}) => [
  { type: "TOOL_CALL_START", toolCallId: id, toolCallName: "read", ...extra },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: '{"path":' },
  { type: "TOOL_CALL_ARGS", toolCallId: id, delta: '"a"}' },
  { type: "TOOL_CALL_END", toolCallId: id },
];

const madeCall = (/** @type {string} */ id) => ({ id, type: "function", function: { name: "read", arguments: '{"path":"a"}' } });

test("joins streamed text", () => {
  const { thread, kinds } = apply(text("m1", "Hel", "", "lo"));
  assert.deepEqual(thread.messages, [{ id: "m1", role: "assistant", content: "Hello" }]);
  assert.deepEqual(kinds, ["message", "text", "text", "text", "message-end"]);
});

test("keeps reasoning as a separate message", () => {
  const { thread } = apply([
    { type: "REASONING_START", messageId: "s" },
    { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "hm" },
    { type: "REASONING_MESSAGE_END", messageId: "r" },
    { type: "REASONING_END", messageId: "s" },
  ]);
  assert.deepEqual(thread.messages, [{ id: "r", role: "reasoning", content: "hm" }]);
});

test("appends to a reopened message", () => {
  const { thread } = apply([...text("m1", "a"), ...text("m2", "x"), ...text("m1", "b")]);
  assert.deepEqual(thread.messages.map((message) => message.content), ["ab", "x"]);
});

test("adds a tool call to the message that it names", () => {
  const { thread } = apply([...text("m1", "look"), ...call("c1", { parentMessageId: "m1" })]);
  assert.deepEqual(thread.messages, [{ id: "m1", role: "assistant", content: "look", toolCalls: [madeCall("c1")] }]);
});

test("creates the missing message of a tool call, with the id of the protocol", () => {
  const { thread } = apply([
    ...call("c1", { parentMessageId: "minted" }),
    ...call("c2", { parentMessageId: "minted" }),
    ...call("c3"),
    { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" },
    { type: "REASONING_MESSAGE_END", messageId: "r" },
    ...call("c4", { parentMessageId: "r" }),
  ]);
  assert.deepEqual(
    thread.messages.map((message) => [message.id, message.role, message.toolCalls?.map((made) => made.id)]),
    [
      ["minted", "assistant", ["c1", "c2"]],
      ["c3", "assistant", ["c3"]],
      ["r", "reasoning", undefined],
      ["c4", "assistant", ["c4"]],
    ],
  );
});

test("places results after their calls, in any order of arrival", () => {
  const result = (/** @type {string} */ id) => ({ type: "TOOL_CALL_RESULT", messageId: `res-${id}`, toolCallId: id, content: id });
  const { thread } = apply([...call("c1", { parentMessageId: "m" }), ...call("c2", { parentMessageId: "m" }), ...text("after", "x"), result("c2"), result("c1"), result("stranger")]);
  assert.deepEqual(thread.messages.map((message) => message.id), ["m", "res-c2", "res-c1", "after", "res-stranger"]);
  assert.deepEqual(thread.messages[1], { id: "res-c2", role: "tool", toolCallId: "c2", content: "c2" });
});

test("replaces, keeps and patches activities, and omits them from run inputs", () => {
  const snapshot = (/** @type {object} */ content, /** @type {object} */ extra = {}) => ({ type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "PLAN", content, ...extra });
  const { thread, changes } = apply([
    snapshot({ entries: [{ status: "pending" }] }),
    snapshot({ entries: [] }, { replace: false }),
    { type: "ACTIVITY_DELTA", messageId: "a", activityType: "PLAN", patch: [{ op: "replace", path: "/entries/0/status", value: "completed" }] },
    { type: "ACTIVITY_DELTA", messageId: "a", activityType: "PLAN", patch: [{ op: "remove", path: "/nothing" }] },
    { type: "ACTIVITY_DELTA", messageId: "unknown", activityType: "PLAN", patch: [] },
  ]);
  assert.deepEqual(thread.messages, [{ id: "a", role: "activity", activityType: "PLAN", content: { entries: [{ status: "completed" }] } }]);
  assert.deepEqual(thread.history(), []);
  assert.deepEqual(changes.slice(2).map((change) => change.kind), ["ignored", "ignored"]);
});

test("keeps the state after an invalid patch", () => {
  const { thread } = apply([
    { type: "STATE_SNAPSHOT", snapshot: { a: 1 } },
    { type: "STATE_DELTA", delta: [{ op: "add", path: "/b", value: 2 }] },
    { type: "STATE_DELTA", delta: [{ op: "replace", path: "/a", value: 9 }, { op: "remove", path: "/c" }] },
  ]);
  assert.deepEqual(thread.state, { a: 1, b: 2 });
});

test("replaces the messages by a snapshot", () => {
  const { thread } = apply([
    ...text("old", "gone"),
    ...text("m1", "before"),
    { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "PLAN", content: {} },
    { type: "MESSAGES_SNAPSHOT", messages: [{ id: "new", role: "user", content: "hi" }, { id: "m1", role: "assistant", content: "after" }] },
    ...text("m1", "!"),
  ]);
  assert.deepEqual(thread.messages.map((message) => [message.id, message.content]), [["m1", "after!"], ["a", {}], ["new", "hi"]]);
});

test("adds messages that RUN_STARTED repeats only once", () => {
  const thread = new Thread("t");
  thread.add({ id: "u1", role: "user", content: "hi" });
  const input = { messages: [{ id: "u1", role: "user", content: "hi" }, { id: "u0", role: "system", content: "be kind" }] };
  apply([{ type: "RUN_STARTED", threadId: "t", runId: "r", input }], thread);
  assert.deepEqual(thread.messages.map((message) => message.id), ["u1", "u0"]);
});

test("merges metadata, with the last value of each key", () => {
  const { thread } = apply([
    { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "n", metadata: { a: 1, b: 1 } },
    { type: "TOOL_CALL_END", toolCallId: "c", metadata: { b: 2 } },
    { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: "", metadata: { c: 3 } },
  ]);
  assert.deepEqual(thread.messages[0].toolCalls?.[0].metadata, { a: 1, b: 2 });
  assert.deepEqual(thread.messages[1].metadata, { c: 3 });
});

const MISPLACED = [
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "x" },
  { type: "TEXT_MESSAGE_END", messageId: "m" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "m", delta: "x" },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: "x" },
  { type: "TOOL_CALL_END", toolCallId: "c" },
];

for (const event of MISPLACED) {
  test(`ignores ${event.type} without its start`, () => {
    const { thread, changes } = apply([event]);
    assert.deepEqual(changes, [{ kind: "ignored", type: event.type, reason: "misplaced" }]);
    assert.deepEqual(thread.messages, []);
  });
}

test("ignores text that is closed, of another kind, or started twice", () => {
  const { changes } = apply([
    ...text("m", "a"),
    { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "late" },
    { type: "TEXT_MESSAGE_START", messageId: "n" },
    { type: "TEXT_MESSAGE_START", messageId: "n" },
    { type: "REASONING_MESSAGE_CONTENT", messageId: "n", delta: "other" },
    { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "PLAN", content: {} },
    { type: "TEXT_MESSAGE_START", messageId: "a" },
  ]);
  assert.equal(changes.filter((change) => change.kind === "ignored").length, 4);
});

test("counts unknown events", () => {
  const { changes } = apply([{ type: "FROM_THE_FUTURE", x: 1 }, { type: "constructor" }]);
  assert.deepEqual(changes, [
    { kind: "ignored", type: "FROM_THE_FUTURE", reason: "unknown" },
    { kind: "ignored", type: "constructor", reason: "unknown" },
  ]);
});

test("forwards custom events", () => {
  assert.deepEqual(apply([{ type: "CUSTOM", name: "acp.usage", value: { used: 1 } }]).changes, [
    { kind: "custom", name: "acp.usage", value: { used: 1 } },
  ]);
});

test("removes a message that was not sent", () => {
  const thread = new Thread("t");
  const message = { id: "u", role: "user", content: "x" };
  thread.add(message);
  thread.remove(message);
  assert.deepEqual(thread.messages, []);
  assert.equal(thread.find("u"), undefined);
});
