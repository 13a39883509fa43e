/** The page's tools in a conversation: calls during a run, and calls that end one. */

import { newId } from "./ids.js";
import { PageCalls } from "./page-calls.js";
import { tellResult } from "./requests.js";
import { runTool } from "./tools.js";

/** @import { ActiveRun } from "./active-run.js" */
/** @import { Message, Thread, ToolCall } from "./thread.js" */

/** Maximum number of consecutive runs that start with results of the page's tools. */
const MAX_ROUNDS = 25;

/**
 * @typedef {object} PageToolParts
 * @property {import("./access.js").Send} send
 * @property {(toolCallId: string, element: HTMLElement) => void} show Shows an element beside the call's card.
 * @property {(title: string) => void} setTitle
 * @property {(run: ActiveRun) => boolean} isActive
 * @property {(message: Message) => void} reported Called with the result of a call during a run.
 * @property {(message: Message) => void} answered Called with the result of a call that ended a run.
 * @property {() => void} next Starts the run with the results.
 * @property {(why: string) => void} failed Called instead of `next` after too many runs.
 */

/** Calls of the page's tools. */
export class PageTools {
  #thread;
  #parts;
  /** Calls that ended a run; the next run carries their results. @type {PageCalls | null} */
  #calls = null;
  /** Number of runs with such results since the last message of the user. */
  #rounds = 0;

  /**
   * @param {Thread} thread
   * @param {PageToolParts} parts
   */
  constructor(thread, parts) {
    this.#thread = thread;
    this.#parts = parts;
  }

  /** Calls that ended a run and have no result. */
  get open() {
    return this.#calls?.open ?? [];
  }

  /** Whether the next run waits for results. */
  get isWaiting() {
    return this.#calls !== null;
  }

  /** Ends all calls without a result with an error. */
  leave() {
    const calls = this.#calls;
    this.#calls = null;
    calls?.leave();
  }

  /** Begins to count the runs of another message of the user. */
  restart() {
    this.leave();
    this.#rounds = 0;
  }

  /**
   * Runs tools that ended a run.
   *
   * @param {string[]} ids
   */
  begin(ids) {
    const { show, setTitle, answered, next, failed } = this.#parts;
    const done = () => {
      if (this.#calls !== calls) return;
      this.#calls = null;
      this.#rounds += 1;
      if (this.#rounds <= MAX_ROUNDS) next();
      else failed(`The agent called tools of this page ${MAX_ROUNDS} times in a row.`);
    };
    const calls = new PageCalls(this.#thread, ids, { show, setTitle, answered, done });
    this.#calls = calls;
    calls.begin();
  }

  /**
   * Runs a tool during the agent's turn.
   *
   * @param {ActiveRun} run
   * @param {ToolCall} call
   */
  async runAtOnce(run, call) {
    const { send, show, setTitle, isActive, reported } = this.#parts;
    const result = await runTool(call, { show: (element) => show(call.id, element), setTitle, signal: run.signal });
    if (!isActive(run) || this.#thread.isAnswered(call.id)) return;
    /** @type {Message} */
    const message = { id: newId("tool"), role: "tool", toolCallId: call.id, ...result };
    this.#thread.addAnswer(message);
    reported(message);
    // The result of an acknowledged call is not awaited, and that of a call that took too long goes with the next run.
    await tellResult(run.id, call.id, result, send);
  }
}
