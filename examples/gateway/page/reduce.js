/**
 * Applies the events of a run to a thread.
 *
 * Spec: [AG-UI events](https://docs.ag-ui.com/concepts/events)
 */

import { applyPatch, PatchError } from "./json-patch.js";
import { subagentError, subagentFinished, subagentStarted } from "./subagents.js";

/** @import { AgUiEvent } from "./events.js" */
/** @import { Message, Thread, ToolCall } from "./thread.js" */

/**
 * The effect of an event, for a view that only adds.
 *
 * @typedef {{kind: "message", message: Message}
 *   | {kind: "text", message: Message, delta: string}
 *   | {kind: "message-end", message: Message}
 *   | {kind: "tool-call", message: Message, call: ToolCall}
 *   | {kind: "tool-arguments", call: ToolCall}
 *   | {kind: "tool-result", message: Message}
 *   | {kind: "activity", message: Message}
 *   | {kind: "custom", name: string, value: any}
 *   | {kind: "reset"}
 *   | {kind: "ignored", type: string, reason: "unknown" | "misplaced"}} Change
 */

/**
 * Applies one event to the thread.
 *
 * An event of an unknown type, or one that refers to a missing object, changes nothing and is
 * reported as `ignored`.
 *
 * @param {Thread} thread
 * @param {AgUiEvent} event
 * @returns {Change[]}
 */
export function reduce(thread, event) {
  const reducer = REDUCERS.get(event.type);
  if (reducer === undefined) return [{ kind: "ignored", type: event.type, reason: "unknown" }];
  return reducer(thread, event) ?? [{ kind: "ignored", type: event.type, reason: "misplaced" }];
}

/** @typedef {(thread: Thread, event: AgUiEvent) => Change[] | null} Reducer Returns `null` for a misplaced event. */

/** @type {Map<string, Reducer>} */
const REDUCERS = new Map([
  ["RUN_STARTED", runStarted],
  ["RUN_FINISHED", () => []],
  ["RUN_ERROR", () => []],
  ["TEXT_MESSAGE_START", (thread, event) => messageStart(thread, event, event.role ?? "assistant", "text")],
  ["TEXT_MESSAGE_CONTENT", (thread, event) => messageContent(thread, event, "text")],
  ["TEXT_MESSAGE_END", (thread, event) => messageEnd(thread, event, "text")],
  ["REASONING_START", () => []],
  ["REASONING_MESSAGE_START", (thread, event) => messageStart(thread, event, "reasoning", "reasoning")],
  ["REASONING_MESSAGE_CONTENT", (thread, event) => messageContent(thread, event, "reasoning")],
  ["REASONING_MESSAGE_END", (thread, event) => messageEnd(thread, event, "reasoning")],
  ["REASONING_END", () => []],
  ["TOOL_CALL_START", toolCallStart],
  ["TOOL_CALL_ARGS", toolCallArgs],
  ["TOOL_CALL_END", toolCallEnd],
  ["TOOL_CALL_RESULT", toolCallResult],
  ["ACTIVITY_SNAPSHOT", activitySnapshot],
  ["ACTIVITY_DELTA", activityDelta],
  ["SUBAGENT_STARTED", subagentStarted],
  ["SUBAGENT_FINISHED", subagentFinished],
  ["SUBAGENT_ERROR", subagentError],
  ["STATE_SNAPSHOT", stateSnapshot],
  ["STATE_DELTA", stateDelta],
  ["MESSAGES_SNAPSHOT", messagesSnapshot],
  ["CUSTOM", (_thread, event) => [{ kind: "custom", name: event.name, value: event.value }]],
  ["RAW", () => []],
]);

/** @type {Reducer} */
function runStarted(thread, event) {
  thread.open.clear();
  /** @type {Message[]} */
  const messages = event.input?.messages ?? [];
  const added = messages.filter((message) => thread.find(message.id) === undefined);
  for (const message of added) thread.add(message);
  return added.map((message) => ({ kind: "message", message }));
}

/**
 * @param {Thread} thread
 * @param {AgUiEvent} event
 * @param {string} role
 * @param {string} family
 * @returns {Change[] | null}
 */
function messageStart(thread, event, role, family) {
  const held = thread.find(event.messageId);
  const name = `${family} ${event.messageId}`;
  if (thread.open.has(name) || held?.role === "activity") return null;
  thread.open.add(name);
  if (held !== undefined) {
    mergeMetadata(held, event);
    return [];
  }
  /** @type {Message} */
  const message = { id: event.messageId, role, content: "" };
  if (event.name !== undefined) message.name = event.name;
  if (event.subagentRunId !== undefined) message.subagentRunId = event.subagentRunId;
  mergeMetadata(message, event);
  thread.add(message);
  return [{ kind: "message", message }];
}

/**
 * @param {Thread} thread
 * @param {AgUiEvent} event
 * @param {string} family
 * @returns {Change[] | null}
 */
function messageContent(thread, event, family) {
  const message = thread.find(event.messageId);
  if (message === undefined || !thread.open.has(`${family} ${event.messageId}`)) return null;
  message.content = (typeof message.content === "string" ? message.content : "") + event.delta;
  mergeMetadata(message, event);
  return [{ kind: "text", message, delta: event.delta }];
}

/**
 * @param {Thread} thread
 * @param {AgUiEvent} event
 * @param {string} family
 * @returns {Change[] | null}
 */
function messageEnd(thread, event, family) {
  const message = thread.find(event.messageId);
  if (message === undefined || !thread.open.delete(`${family} ${event.messageId}`)) return null;
  mergeMetadata(message, event);
  return [{ kind: "message-end", message }];
}

/** @type {Reducer} */
function toolCallStart(thread, event) {
  const name = `call ${event.toolCallId}`;
  if (thread.open.has(name)) return null;
  thread.open.add(name);
  const held = thread.findCall(event.toolCallId);
  if (held !== undefined) {
    held.call.function.name = event.toolCallName;
    mergeMetadata(held.call, event);
    return [];
  }
  /** @type {Change[]} */
  const changes = [];
  const parent = thread.find(event.parentMessageId);
  let owner = parent;
  if (owner?.role !== "assistant") {
    const own = parent !== undefined || event.parentMessageId === undefined;
    owner = { id: own ? event.toolCallId : event.parentMessageId, role: "assistant" };
    if (event.subagentRunId !== undefined) owner.subagentRunId = event.subagentRunId;
    thread.add(owner);
    changes.push({ kind: "message", message: owner });
  }
  /** @type {ToolCall} */
  const call = { id: event.toolCallId, type: "function", function: { name: event.toolCallName, arguments: "" } };
  mergeMetadata(call, event);
  thread.addCall(owner, call);
  changes.push({ kind: "tool-call", message: owner, call });
  return changes;
}

/** @type {Reducer} */
function toolCallArgs(thread, event) {
  const held = thread.findCall(event.toolCallId);
  if (held === undefined || !thread.open.has(`call ${event.toolCallId}`)) return null;
  held.call.function.arguments += event.delta;
  mergeMetadata(held.call, event);
  return [];
}

/** @type {Reducer} */
function toolCallEnd(thread, event) {
  const held = thread.findCall(event.toolCallId);
  if (held === undefined || !thread.open.delete(`call ${event.toolCallId}`)) return null;
  mergeMetadata(held.call, event);
  return [{ kind: "tool-arguments", call: held.call }];
}

/** @type {Reducer} */
function toolCallResult(thread, event) {
  /** @type {Message} */
  const message = { id: event.messageId, role: "tool", toolCallId: event.toolCallId, content: event.content };
  mergeMetadata(message, event);
  thread.addAnswer(message);
  return [{ kind: "tool-result", message }];
}

/** @type {Reducer} */
function activitySnapshot(thread, event) {
  const held = thread.find(event.messageId);
  if (held === undefined) {
    /** @type {Message} */
    const message = { id: event.messageId, role: "activity", activityType: event.activityType, content: event.content };
    if (event.subagentRunId !== undefined) message.subagentRunId = event.subagentRunId;
    mergeMetadata(message, event);
    thread.add(message);
    return [{ kind: "activity", message }];
  }
  if (held.role !== "activity") return null;
  mergeMetadata(held, event);
  if (event.replace === false) return [];
  held.activityType = event.activityType;
  held.content = event.content;
  return [{ kind: "activity", message: held }];
}

/** @type {Reducer} */
function activityDelta(thread, event) {
  const held = thread.find(event.messageId);
  if (held?.role !== "activity") return null;
  const patched = tryPatch(held.content, event.patch);
  if (patched === null) return null;
  held.activityType = event.activityType;
  held.content = patched.document;
  mergeMetadata(held, event);
  return [{ kind: "activity", message: held }];
}

/** @type {Reducer} */
function stateSnapshot(thread, event) {
  thread.state = event.snapshot;
  return [];
}

/** @type {Reducer} */
function stateDelta(thread, event) {
  const patched = tryPatch(thread.state, event.delta);
  if (patched === null) return null;
  thread.state = patched.document;
  return [];
}

/** @type {Reducer} */
function messagesSnapshot(thread, event) {
  /** @type {Message[]} */
  const snapshot = event.messages;
  const incoming = new Map(snapshot.map((message) => [message.id, message]));
  const staysBeside = (/** @type {string} */ role) =>
    (role === "activity" || role === "reasoning") && !snapshot.some((message) => message.role === role);
  const kept = thread.messages.filter((held) => incoming.has(held.id) || staysBeside(held.role));
  const keptIds = new Set(kept.map((held) => held.id));
  thread.replaceAll([
    ...kept.map((held) => incoming.get(held.id) ?? held),
    ...snapshot.filter((message) => !keptIds.has(message.id)),
  ]);
  return [{ kind: "reset" }];
}

/**
 * @param {unknown} document
 * @param {import("./json-patch.js").Operation[]} operations
 * @returns {{document: unknown} | null} `null` if an operation does not apply.
 */
function tryPatch(document, operations) {
  try {
    return { document: applyPatch(document, operations) };
  } catch (error) {
    if (error instanceof PatchError) return null;
    throw error;
  }
}

/**
 * Merges an event's metadata; the last value of each key wins.
 *
 * @param {Message | ToolCall} target
 * @param {AgUiEvent} event
 */
function mergeMetadata(target, event) {
  if (event.metadata !== undefined) target.metadata = { ...target.metadata, ...event.metadata };
}
