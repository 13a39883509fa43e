/** Suggestions for the word at the cursor of the message box. */

import { el, visible } from "./dom.js";

/** @typedef {{name: string, detail?: string, text: string}} Suggestion `text` replaces the word. */

/**
 * @typedef {object} Source
 * @property {string} name The plural name of the suggestions.
 * @property {RegExp} pattern Matches the text before the cursor; its first group is the query behind one character.
 * @property {(query: string) => Suggestion[] | Promise<Suggestion[]>} find
 */

/** A list above the message box, moved through by the arrow keys while the focus stays in the box. */
export class Suggestions {
  #input;
  #list;
  #sources;
  #say;
  /** @type {Suggestion[]} */
  #items = [];
  #selected = 0;
  /** The start of the word. */
  #start = 0;
  /** Number of the last search; a result of an earlier one is not shown. */
  #asked = 0;

  /**
   * @param {HTMLTextAreaElement} input
   * @param {HTMLElement} list
   * @param {Source[]} sources
   * @param {(sentence: string) => void} say
   */
  constructor(input, list, sources, say) {
    this.#input = input;
    this.#list = list;
    this.#sources = sources;
    this.#say = say;
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-haspopup", "listbox");
    input.setAttribute("aria-controls", list.id);
    input.addEventListener("blur", () => this.close());
  }

  get isOpen() {
    return !this.#list.hidden;
  }

  /** Searches for the word at the cursor. */
  async update() {
    const asked = (this.#asked += 1);
    const before = this.#input.value.slice(0, this.#input.selectionStart);
    for (const { name, pattern, find } of this.#sources) {
      const query = pattern.exec(before)?.[1];
      if (query === undefined) continue;
      const items = await find(query);
      if (asked !== this.#asked) return;
      this.#start = before.length - query.length - 1;
      return this.#show(name, items);
    }
    this.close();
  }

  close() {
    this.#asked += 1;
    this.#list.hidden = true;
    this.#input.removeAttribute("aria-activedescendant");
  }

  /**
   * Handles a key of the message box.
   *
   * @param {KeyboardEvent} event
   * @returns {boolean} Whether the list took the key.
   */
  handleKey(event) {
    if (!this.isOpen || event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return false;
    if (event.key === "Escape") this.close();
    else if (event.key === "ArrowDown") this.#select(this.#selected + 1);
    else if (event.key === "ArrowUp") this.#select(this.#selected - 1);
    else if ((event.key === "Enter" && !event.shiftKey && !this.#isTyped()) || event.key === "Tab") this.#choose(this.#selected);
    else return false;
    event.preventDefault();
    return true;
  }

  /** Whether the selected suggestion is written already. */
  #isTyped() {
    const { value, selectionStart } = this.#input;
    return value.slice(this.#start, selectionStart) === this.#items[this.#selected]?.text.trim();
  }

  /**
   * @param {string} name
   * @param {Suggestion[]} items
   */
  #show(name, items) {
    if (items.length === 0) return this.close();
    const wasOpen = this.isOpen;
    this.#items = items;
    this.#list.setAttribute("aria-label", name);
    this.#list.replaceChildren(...items.map((item, at) => this.#row(item, at)));
    this.#list.hidden = false;
    this.#select(0);
    if (!wasOpen) this.#say(`${items.length} ${name.toLowerCase()}. Choose with the arrow keys and Enter.`);
  }

  /**
   * @param {Suggestion} item
   * @param {number} at
   */
  #row({ name, detail }, at) {
    const about = detail === undefined ? null : el("span", { class: "suggestion-detail" }, visible(detail));
    const row = el("li", { role: "option", id: `${this.#list.id}-${at}` }, el("span", { class: "suggestion-name" }, visible(name)), " ", about);
    // The focus stays in the message box.
    row.addEventListener("mousedown", (event) => event.preventDefault());
    row.addEventListener("click", () => this.#choose(at));
    return row;
  }

  /** @param {number} at */
  #select(at) {
    this.#selected = (at + this.#items.length) % this.#items.length;
    [...this.#list.children].forEach((row, index) => row.setAttribute("aria-selected", String(index === this.#selected)));
    const row = this.#list.children[this.#selected];
    row.scrollIntoView({ block: "nearest" });
    this.#input.setAttribute("aria-activedescendant", row.id);
  }

  /** @param {number} at */
  #choose(at) {
    this.#input.setRangeText(this.#items[at].text, this.#start, this.#input.selectionStart, "end");
    this.close();
    this.#input.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
