/** Changes of a conversation that wait for the next frame. */

/** @import { Change } from "./reduce.js" */

/** Collects changes, so that a frame shows many at once. */
export class ChangeQueue {
  /** @type {Change[]} */
  #waiting = [];
  #scheduled = false;
  #show;

  /** @param {(changes: Change[]) => void} show Shows at least one change. */
  constructor(show) {
    this.#show = show;
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
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    if (document.hidden) setTimeout(() => this.flush());
    else requestAnimationFrame(() => this.flush());
  }

  /** Shows all changes at once. */
  flush() {
    this.#scheduled = false;
    if (this.#waiting.length === 0) return;
    const changes = this.#waiting;
    this.#waiting = [];
    this.#show(changes);
  }
}
