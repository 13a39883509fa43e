/** The card of a tool call. */

import { el, visible } from "./dom.js";
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
  /** Called when all changes are shown. @type {(() => void)[]} */
  #waiting = [];
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
    try {
      this.#built.draw(status);
    } catch (error) {
      const { call, blocks } = this.facts;
      this.note(el("pre", {}, visible(JSON.stringify({ ...call, content: blocks }, null, 2))));
      throw error;
    } finally {
      for (const drawn of this.#waiting.splice(0)) drawn();
    }
  }

  /** @param {() => void} drawn Called when the changes so far are shown, or all facts as JSON if they cannot be shown. */
  whenDrawn(drawn) {
    this.#waiting.push(drawn);
    this.#parts.undrawn.add(this);
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
