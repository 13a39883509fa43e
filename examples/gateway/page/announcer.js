/** Announces changes to screen readers, in whole sentences instead of letters. */

import { el } from "./dom.js";

/** Maximum number of announcements in the page. */
const MAX_KEPT = 30;

/** The end of a sentence or a line. */
const BREAK = /[.!?:…]\s|\n/g;

/** Writes into a polite live region. */
export class Announcer {
  #region;
  #rest = "";

  /** @param {Element} region */
  constructor(region) {
    this.#region = region;
  }

  /** @param {string} text */
  say(text) {
    const trimmed = text.trim();
    if (trimmed === "") return;
    this.#region.append(el("p", {}, trimmed));
    while (this.#region.childElementCount > MAX_KEPT) this.#region.firstElementChild?.remove();
  }

  /**
   * Announces the sentences that the text completes, and keeps the rest.
   *
   * @param {string} delta
   */
  stream(delta) {
    this.#rest += delta;
    let end = 0;
    for (const found of this.#rest.matchAll(BREAK)) end = found.index + found[0].length;
    if (end === 0) return;
    this.say(this.#rest.slice(0, end));
    this.#rest = this.#rest.slice(end);
  }

  /** Announces the rest. */
  flush() {
    this.say(this.#rest);
    this.#rest = "";
  }
}
