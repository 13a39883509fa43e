/** The plan of the agent, as a checklist. */

import { el } from "./dom.js";

/** Names of entry states; an unknown state is shown as it is. */
const STATUS_NAMES = new Map([
  ["pending", "To do"],
  ["in_progress", "In progress"],
  ["completed", "Done"],
  ["cancelled", "Dropped"],
]);

/** A checklist that shows the plan's newest state. */
export class PlanView {
  element;
  #count = el("span", { class: "plan-count" });
  #list = el("ol", { class: "plan-entries" });
  /** @type {EntryView[]} */
  #entries = [];

  constructor() {
    const title = el("h3", {}, "Plan");
    this.element = el("section", { class: "plan card", "aria-label": "Plan" }, el("header", {}, title, this.#count), this.#list);
  }

  /** @param {any} content The content of a `PLAN` activity. */
  update(content) {
    /** @type {any[]} */
    const entries = Array.isArray(content.entries) ? content.entries : [];
    while (this.#entries.length > entries.length) this.#entries.pop()?.element.remove();
    entries.forEach((entry, at) => {
      if (this.#entries[at] === undefined) {
        this.#entries[at] = new EntryView();
        this.#list.append(this.#entries[at].element);
      }
      this.#entries[at].update(entry);
    });
    const done = entries.filter((entry) => entry?.status === "completed").length;
    this.#count.textContent = `${done} of ${entries.length} done`;
    this.element.classList.toggle("is-done", entries.length > 0 && done === entries.length);
  }
}

class EntryView {
  #mark = el("span", { class: "plan-mark", role: "img" });
  #text = el("span", { class: "plan-text" });
  element = el("li", {}, this.#mark, this.#text);

  /** @param {any} entry */
  update(entry) {
    const status = String(entry?.status ?? "pending");
    if (this.element.dataset.status !== status) {
      this.element.dataset.status = status;
      this.#mark.setAttribute("aria-label", STATUS_NAMES.get(status) ?? status);
    }
    const text = String(entry?.content ?? "");
    if (this.#text.textContent !== text) this.#text.textContent = text;
    this.element.classList.toggle("is-important", entry?.priority === "high");
  }
}
