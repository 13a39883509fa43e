/** The header of the page: the conversation's title, mode and usage. */

import { UsageView } from "./view-usage.js";

const DEFAULT_TITLE = "New conversation";

/** Longest title from a prompt, in characters, as in the history. */
const MAX_TITLE = 80;

/** Values of the active conversation. */
export class HeaderView {
  #page;
  #title;
  #mode;
  #usage;
  /** @type {string | null} */
  #ownTitle = null;
  /** The title of a conversation that has none: its first prompt. */
  #prompt = "";

  /** @param {Document} page */
  constructor(page) {
    this.#page = page;
    this.#title = /** @type {HTMLElement} */ (page.getElementById("title"));
    this.#mode = /** @type {HTMLElement} */ (page.getElementById("mode"));
    this.#usage = new UsageView(page);
  }

  /** Removes the values of a conversation. */
  clear() {
    this.#prompt = "";
    this.setTitle(null);
    this.#setMode(null);
    this.#usage.clear();
  }

  /** The title, if the conversation has one. */
  get title() {
    return this.#ownTitle;
  }

  /** @param {string | null} title */
  setTitle(title) {
    this.#ownTitle = title;
    const shown = title ?? this.#prompt;
    this.#title.textContent = shown === "" ? DEFAULT_TITLE : shown;
    this.#page.title = shown === "" ? "Spanwire" : `${shown} · Spanwire`;
  }

  /** @param {string | undefined} prompt The first prompt. */
  setPrompt(prompt = "") {
    const line = prompt.trim().split(/\s+/).join(" ");
    const characters = Array.from(line);
    this.#prompt = characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 1).join("")}…` : line;
    this.setTitle(this.#ownTitle);
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
