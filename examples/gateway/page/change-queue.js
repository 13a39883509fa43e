/** Changes of a conversation that wait for the next frame. */

import { Pace } from "./pace.js";

/** @import { Change } from "./reduce.js" */

/** Number of changes after which they are shown before there are more. */
const MAX_WAITING = 1000;

/**
 * @typedef {object} QueueParts
 * @property {(change: Change) => void} show
 * @property {(error: unknown) => void} failed Called for a change that could not be shown. It is not shown again.
 * @property {(isFrame: boolean) => void} shown Called after changes were shown, with a frame or before it.
 */

/** Collects changes, so that a frame shows many at once, but does not last long. */
export class ChangeQueue {
  /** @type {Change[]} */
  #waiting = [];
  #scheduled = false;
  /** Whether tasks between the frames show the changes. The frames then only lay them out. */
  #isInTasks = false;
  #pace = new Pace();
  #parts;

  /** @param {QueueParts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /**
   * Shows changes with the next frame, or soon if the page is hidden.
   *
   * @param {Change[]} changes
   */
  add(changes) {
    for (const change of changes) {
      const last = this.#waiting.at(-1);
      if (change.kind === "text" && last?.kind === "text" && last.message === change.message) last.delta += change.delta;
      else this.#waiting.push(change);
    }
    // A reset shows the thread as it is now. Later changes are shown after it, not as a part of it.
    if (changes.some(({ kind }) => kind === "reset")) this.flush();
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    const show = (/** @type {boolean} */ isFrame) => {
      this.#scheduled = false;
      if (this.#isInTasks) return;
      this.#pace.begin();
      this.#showSome(isFrame);
      this.#schedule();
    };
    if (document.hidden) setTimeout(() => show(false));
    else requestAnimationFrame(() => show(true));
  }

  /**
   * Returns what to wait for before the next change, so that many changes do not block the page; `null` if there is no need.
   *
   * @returns {Promise<void> | null}
   */
  rest() {
    const isFull = this.#waiting.length >= MAX_WAITING && !document.hidden;
    return isFull || this.#pace.isDue ? this.#showInTasks() : null;
  }

  async #showInTasks() {
    this.#isInTasks = true;
    do {
      await this.#pace.rest();
      this.#showSome(false);
    } while (this.#waiting.length > 0);
    this.#isInTasks = false;
  }

  /** Shows all changes in tasks, and waits for another task. */
  async drain() {
    await this.#showInTasks();
    await this.#pace.rest();
  }

  /** @param {boolean} isFrame */
  #showSome(isFrame) {
    if (this.#waiting.length === 0) return;
    let shown = 0;
    do {
      this.#showOne(this.#waiting[shown]);
      shown += 1;
    } while (shown < this.#waiting.length && !this.#pace.isDue);
    this.#waiting.splice(0, shown);
    this.#parts.shown(isFrame);
  }

  /** Shows a change. The others follow even if it cannot be shown. @param {Change} change */
  #showOne(change) {
    try {
      this.#parts.show(change);
    } catch (error) {
      this.#parts.failed(error);
    }
  }

  /** Shows all changes at once. */
  flush() {
    if (this.#waiting.length === 0) return;
    const changes = this.#waiting;
    this.#waiting = [];
    for (const change of changes) this.#showOne(change);
    this.#parts.shown(false);
  }
}
