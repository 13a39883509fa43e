/** A thought of the agent, folded. */

import { el } from "./dom.js";
import { TextView } from "./view-text.js";

/** A thought in `<details>` with its duration. */
export class ThoughtView {
  element;
  #label;
  #text;
  #since = performance.now();

  /** @param {import("./markdown.js").Markdown} markdown */
  constructor(markdown) {
    this.#text = new TextView("thought-text", markdown);
    this.#label = el("span", { class: "pulse" }, "Thinking");
    this.element = el("details", { class: "thought" }, el("summary", {}, this.#label), this.#text.element);
  }

  /** @param {string} delta */
  append(delta) {
    this.#text.append(delta);
  }

  end() {
    this.#text.end();
    const seconds = Math.round((performance.now() - this.#since) / 1000);
    this.#label.className = "";
    this.#label.textContent = seconds < 1 ? "Thought for a moment" : `Thought for ${seconds} s`;
  }
}
