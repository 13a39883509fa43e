/** The active run of a conversation, which the user can stop. */

import { cancelRun } from "./requests.js";
import { follow, open, run } from "./run.js";

/** @import { AgUiEvent } from "./events.js" */
/** @import { RunEnd } from "./run.js" */

/** The time for an agent to stop, after which the user may disconnect instead. */
const STOP_MS = 2000;

/** @typedef {"running" | "stopping" | "stuck"} RunState */

/**
 * @typedef {object} RunParts
 * @property {import("./access.js").Send} send
 * @property {string | null} agent The agent of the run; by default that of the gateway.
 * @property {(event: AgUiEvent) => void} onEvent
 * @property {() => Promise<void> | null} rest Returns what to wait for before the next event, if anything.
 * @property {(lost: boolean) => void} onConnection Called when the connection is lost, and when it is restored.
 * @property {(state: RunState) => void} onState Called when the user stops the run.
 */

/** A run from its request to its end. */
export class ActiveRun {
  /** @type {RunState} */
  #state = "running";
  #isLeft = false;
  #abort = new AbortController();
  #parts;

  /**
   * @param {string} id
   * @param {any[]} asked The interrupts that the run answers.
   * @param {RunParts} parts
   */
  constructor(id, asked, parts) {
    this.id = id;
    this.asked = asked;
    this.#parts = parts;
  }

  /** Aborts with the connection of this page. */
  get signal() {
    return this.#abort.signal;
  }

  /**
   * Starts the run.
   *
   * @param {ReturnType<typeof import("./run.js").runInput>} input
   * @returns {Promise<RunEnd>}
   */
  start(input) {
    return run(input, this.#onEvent, this.signal, this.#options);
  }

  /**
   * Reads the run of an earlier page.
   *
   * @param {string} threadId
   * @returns {Promise<RunEnd>}
   */
  follow(threadId) {
    return follow({ threadId, runId: this.id }, this.#onEvent, this.signal, this.#options);
  }

  /**
   * Reads the conversation of an earlier page, and its last run.
   *
   * @param {string} threadId
   * @returns {Promise<RunEnd>}
   */
  open(threadId) {
    return open({ threadId, runId: this.id }, this.#onEvent, this.signal, this.#options);
  }

  /** Ends the connection, and reports no more. The run continues for a while, for readers that return. */
  leave() {
    this.#isLeft = true;
    this.#abort.abort();
  }

  /** Ends the reports of the run after its end. */
  end() {
    this.#isLeft = true;
  }

  /** Asks the gateway to stop the agent. A call after the time to stop ends the connection. */
  async stop() {
    if (this.#state === "stuck") this.#abort.abort();
    if (this.#state !== "running") return;
    this.#enter("stopping");
    setTimeout(() => this.#enter("stuck"), STOP_MS);
    const { ok } = await cancelRun(this.id, this.#parts.send);
    // If the gateway does not know the run yet, or is gone, only the connection can be ended.
    if (!ok && !this.#isLeft) this.#abort.abort();
  }

  #onEvent = (/** @type {AgUiEvent} */ event) => {
    if (event.type === "RUN_STARTED") this.id = event.runId;
    if (!this.#isLeft) this.#parts.onEvent(event);
  };

  get #options() {
    const { agent, send } = this.#parts;
    const onConnection = (/** @type {boolean} */ lost) => this.#isLeft || this.#parts.onConnection(lost);
    const rest = () => (this.#isLeft ? null : this.#parts.rest());
    return { agent, send, onConnection, rest };
  }

  /** @param {RunState} state */
  #enter(state) {
    if (this.#isLeft) return;
    this.#state = state;
    this.#parts.onState(state);
  }
}
