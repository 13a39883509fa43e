/** A thought of the agent, folded. */

import { el } from "./dom.js";
import { duration } from "./view-notice.js";
import { TextView } from "./view-text.js";

/** A thought in `<details>` with its duration. */
export class ThoughtView {
  element;
  #label;
  #text;
  #ended;
  #since = performance.now();
  #isOver = false;

  /**
   * @param {import("./markdown.js").Markdown} markdown
   * @param {(line: string) => void} ended Called with the text of the duration.
   */
  constructor(markdown, ended) {
    this.#text = new TextView("thought-text", markdown);
    this.#ended = ended;
    this.#label = el("span", { class: "pulse" }, "Thinking");
    this.element = el("details", { class: "thought" }, el("summary", {}, this.#label), this.#text.element);
  }

  /** @param {string} delta */
  append(delta) {
    this.#text.append(delta);
  }

  end() {
    const milliseconds = performance.now() - this.#since;
    this.#show(milliseconds < 1000 ? "Thought for a moment" : `Thought for ${duration(milliseconds)}`);
  }

  /** @param {string | undefined} line The text of the duration, if an earlier page has measured it. */
  endEarlier(line) {
    this.#show(line ?? "Thought");
  }

  /** @param {string} line */
  #show(line) {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#text.end();
    this.#label.className = "";
    this.#label.textContent = line;
    this.#ended(line);
  }
}
