/** The steps of a turn of which the messages are known. They are built when they are shown. */

import { el } from "./dom.js";

/** @import { Message } from "./thread.js" */

/** One step, or several that cannot be told apart by their order: calls at the same time, the steps of a subagent. */
export class OldStep {
  #messages;
  #build;
  /** @type {HTMLElement | null} */
  #element = null;

  /**
   * @param {Message[]} messages
   * @param {(messages: Message[]) => HTMLElement[]} build
   */
  constructor(messages, build) {
    this.#messages = messages;
    this.#build = build;
  }

  get element() {
    return this.build();
  }

  /** Builds the step, unless it is built or being built. */
  build() {
    if (this.#element !== null) return this.#element;
    const all = (this.#element = el("div", { class: "steps" }));
    const elements = this.#build(this.#messages);
    if (elements.length === 1) this.#element = elements[0];
    else all.append(...elements);
    this.#element.hidden = elements.length === 0;
    return this.#element;
  }

  get weight() {
    return this.#messages.length;
  }

  get hasPlan() {
    return this.#messages.some(({ activityType }) => activityType === "PLAN");
  }

  /** The ids of its tool calls. */
  get calls() {
    return callsIn(this.#messages);
  }
}

/**
 * Returns the ids of the tool calls that messages begin.
 *
 * @param {Message[]} messages
 */
export function callsIn(messages) {
  /** @type {string[]} */
  const ids = [];
  for (const { toolCalls } of messages) for (const { id } of toolCalls ?? []) ids.push(id);
  return ids;
}

/**
 * Splits the messages of a turn into steps. Messages about the same call or subagent, and those between them, stay together.
 *
 * @param {Message[]} messages
 */
export function stepsOf(messages) {
  const subjects = messages.map(subjectsOf);
  /** The last message about each call and subagent. @type {Record<"calls" | "runs", Map<string, number>>} */
  const last = { calls: new Map(), runs: new Map() };
  subjects.forEach(({ calls, runs }, at) => {
    for (const id of calls) last.calls.set(id, at);
    for (const id of runs) last.runs.set(id, at);
  });
  /** @type {Message[][]} */
  const steps = [];
  let end = -1;
  messages.forEach((message, at) => {
    if (at > end) steps.push([message]);
    else steps.at(-1)?.push(message);
    const { calls, runs } = subjects[at];
    for (const id of calls) end = Math.max(end, last.calls.get(id) ?? at);
    for (const id of runs) end = Math.max(end, last.runs.get(id) ?? at);
  });
  return steps;
}

/**
 * Returns the ids of the calls and of the runs of subagents that a message is about.
 *
 * @param {Message} message
 */
function subjectsOf({ role, content, toolCalls, toolCallId, subagentRunId, metadata }) {
  const calls = [toolCallId, parentIn(metadata)];
  const runs = [subagentRunId];
  for (const call of toolCalls ?? []) calls.push(call.id, parentIn(call.metadata));
  if (role === "activity") {
    calls.push(content?.toolCallId, content?.parentToolCallId);
    runs.push(content?.subagentRunId, content?.parentSubagentRunId);
  }
  return { calls: calls.filter(isId), runs: runs.filter(isId) };
}

/**
 * @param {string | undefined} id
 * @returns {id is string}
 */
const isId = (id) => id !== undefined;

/**
 * Returns the call of the subagent that a call or a text belongs to, if the agent reports it. A text has the agent's own `_meta`.
 *
 * @param {any} metadata
 * @returns {string | undefined}
 */
export function parentIn(metadata) {
  const parent = metadata?.acp?.parentToolCallId ?? metadata?.acp?._meta?.claudeCode?.parentToolUseId;
  return typeof parent === "string" ? parent : undefined;
}
