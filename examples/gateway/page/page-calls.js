/** Calls of this page's tools that ended a run. */

import { newId } from "./ids.js";
import { runTool } from "./tools.js";

/** @import { Message, Thread } from "./thread.js" */

/**
 * @typedef {object} CallActions
 * @property {(toolCallId: string, element: HTMLElement) => void} show
 * @property {(title: string) => void} setTitle
 * @property {(message: Message) => void} answered
 * @property {() => void} done Called when all calls have results.
 */

/** A set of calls; each gets one result. */
export class PageCalls {
  #thread;
  #actions;
  /** @type {Set<string>} */
  #open;
  #abort = new AbortController();

  /**
   * @param {Thread} thread
   * @param {string[]} ids
   * @param {CallActions} actions
   */
  constructor(thread, ids, actions) {
    this.#thread = thread;
    this.#open = new Set(ids);
    this.#actions = actions;
  }

  /** The calls without a result. */
  get open() {
    return [...this.#open];
  }

  begin() {
    for (const id of this.open) void this.#run(id);
  }

  /** Stops waiting: calls without a result get an error. */
  leave() {
    for (const id of this.open) this.#answer(id, { content: "The user did not answer.", error: "not answered" });
    this.#abort.abort();
  }

  /** @param {string} id */
  async #run(id) {
    const call = this.#thread.findCall(id)?.call;
    if (call === undefined) return;
    const { show, setTitle } = this.#actions;
    const result = await runTool(call, { show: (element) => show(id, element), setTitle, signal: this.#abort.signal });
    if (!this.#open.has(id)) return;
    this.#answer(id, result);
    if (this.#open.size === 0) this.#actions.done();
  }

  /**
   * @param {string} id
   * @param {{content: string, error?: string}} result
   */
  #answer(id, result) {
    this.#open.delete(id);
    /** @type {Message} */
    const message = { id: newId("tool"), role: "tool", toolCallId: id, ...result };
    this.#thread.addAnswer(message);
    this.#actions.answered(message);
  }
}
