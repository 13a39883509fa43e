/** The card of a tool call. */

import { el } from "./dom.js";
import { ToolFacts } from "./tool-facts.js";
import { ToolBody } from "./view-tool-body.js";

/**
 * @typedef {import("./view-tool-body.js").BodyParts & {undrawn: import("./undrawn.js").Undrawn}} ToolParts
 */

/** A card. Its body is built when it is drawn. */
export class ToolView {
  element;
  facts;
  #below = el("div", { class: "tool-below" });
  /** @type {ToolBody | null} */
  #body = null;
  #isAsking = false;
  #parts;

  /**
   * @param {string} toolCallId
   * @param {ToolParts} parts
   */
  constructor(toolCallId, parts) {
    this.#parts = parts;
    this.facts = new ToolFacts(toolCallId, () => parts.undrawn.add(this));
    this.element = el("article", { class: "tool card" }, this.#below);
    parts.undrawn.add(this);
  }

  /** Shows all changes. */
  draw() {
    const status = this.#isAsking ? "asking" : this.facts.status;
    this.element.setAttribute("aria-label", `Tool: ${this.facts.title}`);
    this.element.dataset.status = status;
    this.#built.draw(status);
  }

  get #built() {
    if (this.#body === null) {
      this.#body = new ToolBody(this.facts, this.#parts);
      this.#below.before(this.#body.element);
    }
    return this.#body;
  }

  /** @param {Element} question Shown beside the card, also if the card is folded. */
  ask(question) {
    this.note(question);
    this.#built.element.open = true;
    this.setAsking(true);
  }

  /** @param {boolean} asking Whether the agent is waiting for the user. */
  setAsking(asking) {
    this.#isAsking = asking;
    this.#parts.undrawn.add(this);
  }

  /** @param {Element} note */
  note(note) {
    this.#below.append(note);
  }
}
