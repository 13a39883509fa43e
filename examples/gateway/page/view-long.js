/** Long content, folded. */

import { button, el } from "./dom.js";

/** Number of lines, and of characters, above which content is folded. */
const MAX_LINES = 20;
const MAX_CHARACTERS = 4000;

/** Content that shows its beginning, or its end, until its button is pressed. */
export class LongView {
  element;
  #button = button("", "quiet long-button", () => this.#toggle());
  #lines = 0;
  #characters = 0;
  #isWhole = false;

  /** @param {Element} content */
  constructor(content) {
    this.element = el("div", { class: "long" }, content);
  }

  /** @param {string} text The text of the content. */
  update(text) {
    this.#characters = text.length;
    this.#lines = text.trimEnd().split("\n").length;
    this.#show();
  }

  #toggle() {
    this.#isWhole = !this.#isWhole;
    this.#show();
  }

  #show() {
    const hasLines = this.#lines > MAX_LINES;
    const isLong = hasLines || this.#characters > MAX_CHARACTERS;
    const all = hasLines ? `${this.#lines.toLocaleString("en")} lines` : `${this.#characters.toLocaleString("en")} characters`;
    this.element.classList.toggle("is-folded", isLong && !this.#isWhole);
    this.#button.textContent = this.#isWhole ? "Show less" : `Show all ${all}`;
    this.#button.setAttribute("aria-expanded", String(this.#isWhole));
    if (isLong) this.element.append(this.#button);
    else this.#button.remove();
  }
}
