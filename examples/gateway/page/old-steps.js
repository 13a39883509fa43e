/** The steps of a turn of which the messages are known. They are built when they are shown. */

import { el } from "./dom.js";

/** @import { Message } from "./thread.js" */

/** One step, or several that cannot be told apart by their order: calls at the same time, the steps of a subagent. */
export class OldStep {
  #messages;
  #build;
  #isBuilt = false;
  /** @type {HTMLElement} */
  #element = el("div", { class: "steps" });

  /**
   * @param {Message[]} messages
   * @param {(messages: Message[]) => HTMLElement[]} build
   */
  constructor(messages, build) {
    this.#messages = messages;
    this.#build = build;
  }

  get element() {
    this.build();
    return this.#element;
  }

  /** Builds the step, unless it is built or being built. */
  build() {
    if (this.#isBuilt) return;
    this.#isBuilt = true;
    const elements = this.#build(this.#messages);
    if (elements.length === 1) this.#element = elements[0];
    else this.#element.append(...elements);
    this.#element.hidden = elements.length === 0;
  }

  get weight() {
    return this.#messages.length;
  }

  get hasPlan() {
    return this.#messages.some(({ activityType }) => activityType === "PLAN");
  }

  /** The ids of its tool calls. */
  get calls() {
    return this.#messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id));
  }
}

/**
 * Splits the messages of a turn into steps. Messages about the same call or subagent, and those between them, stay together.
 *
 * @param {Message[]} messages
 */
export function stepsOf(messages) {
  const names = messages.map(namesIn);
  /** The last message with each name. @type {Map<string, number>} */
  const last = new Map();
  names.forEach((list, at) => list.forEach((name) => last.set(name, at)));
  /** @type {Message[][]} */
  const steps = [];
  let end = -1;
  messages.forEach((message, at) => {
    if (at > end) steps.push([message]);
    else steps.at(-1)?.push(message);
    for (const name of names[at]) end = Math.max(end, last.get(name) ?? at);
  });
  return steps;
}

/**
 * Returns the names of the calls and subagents that a message is about.
 *
 * @param {Message} message
 */
function namesIn({ role, content, toolCalls = [], toolCallId, subagentRunId, metadata }) {
  const calls = [toolCallId, parentIn(metadata), ...toolCalls.flatMap((call) => [call.id, parentIn(call.metadata)])];
  const runs = [subagentRunId];
  if (role === "activity") {
    calls.push(content?.toolCallId, content?.parentToolCallId);
    runs.push(content?.subagentRunId, content?.parentSubagentRunId);
  }
  const named = (/** @type {string} */ kind, /** @type {unknown[]} */ ids) => ids.filter((id) => id !== undefined).map((id) => `${kind} ${id}`);
  return [...named("call", calls), ...named("run", runs)];
}

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
