/** The header of the page: the conversation's title, mode and usage. */

import { UsageView } from "./view-usage.js";

const DEFAULT_TITLE = "New conversation";

/** Values of the active conversation. */
export class HeaderView {
  #page;
  #title;
  #mode;
  #usage;
  /** @type {string | null} */
  #shownTitle = null;

  /** @param {Document} page */
  constructor(page) {
    this.#page = page;
    this.#title = /** @type {HTMLElement} */ (page.getElementById("title"));
    this.#mode = /** @type {HTMLElement} */ (page.getElementById("mode"));
    this.#usage = new UsageView(page);
  }

  /** Removes the values of a conversation. */
  clear() {
    this.setTitle(null);
    this.#setMode(null);
    this.#usage.clear();
  }

  /** The title, if the conversation has one. */
  get title() {
    return this.#shownTitle;
  }

  /** @param {string | null} title */
  setTitle(title) {
    this.#shownTitle = title;
    this.#title.textContent = title ?? DEFAULT_TITLE;
    this.#page.title = title === null ? "Spanwire" : `${title} · Spanwire`;
  }

  /** @param {string | null} mode */
  #setMode(mode) {
    this.#mode.hidden = mode === null;
    this.#mode.textContent = mode === null ? "" : `mode: ${mode}`;
  }

  /**
   * Shows the value of a custom event.
   *
   * @param {string} name
   * @param {any} value
   */
  update(name, value) {
    if (name === "acp.usage") this.#usage.update(value);
    else if (name === "acp.session_info") this.setTitle(typeof value?.title === "string" ? value.title : null);
    else if (name === "acp.mode") this.#setMode(typeof value?.currentModeId === "string" ? value.currentModeId : null);
  }
}
