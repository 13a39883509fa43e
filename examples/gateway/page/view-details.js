/** Details for developers, folded: counters of events, identifiers, and the timeline of the last turn. */

import { el } from "./dom.js";

/** The fold below the message box. */
export class DetailsView {
  #events = el("dd", { id: "debug" });
  #conversation = el("dd");
  #runs = el("dd");
  #timeline;

  /**
   * @param {HTMLElement} root The place of the rows.
   * @param {import("./view-timeline.js").TimelineView} timeline
   */
  constructor(root, timeline) {
    this.#timeline = timeline;
    const rows = [el("dt", {}, "Events"), this.#events, el("dt", {}, "Conversation"), this.#conversation, el("dt", {}, "Runs of the last turn"), this.#runs];
    root.append(el("dl", { class: "details-rows" }, ...rows));
  }

  /**
   * @param {string} line The counters of events.
   * @param {string} threadId
   */
  show(line, threadId) {
    const { runs } = this.#timeline;
    this.#events.textContent = line;
    // Equal text stays, so that a selection survives.
    for (const [row, text] of /** @type {[HTMLElement, string][]} */ ([[this.#conversation, threadId], [this.#runs, runs.length === 0 ? "None" : runs.join(", ")]])) {
      if (row.textContent !== text) row.textContent = text;
    }
  }
}
