/** The plan of the agent, as a checklist. */

import { el, focus } from "./dom.js";
import { TextView } from "./view-text.js";

/** Names of entry states; an unknown state is shown as it is. */
const STATUS_NAMES = new Map([
  ["pending", "To do"],
  ["in_progress", "In progress"],
  ["completed", "Done"],
  ["cancelled", "Dropped"],
]);

/** A folded checklist with the plan's newest state. It is pinned outside of its turn while the turn is active. */
export class PlanView {
  /** The place in the turn. */
  place = el("div", { class: "plan-place" });
  #count = el("span", { class: "plan-count" });
  #now = el("span", { class: "plan-now" });
  #list = el("ol", { class: "plan-entries" });
  /** A plan in Markdown. @type {TextView | null} */
  #text = null;
  #shownText = "";
  #markdown;
  #details;
  #element;
  /** @type {EntryView[]} */
  #entries = [];

  /** @param {import("./markdown.js").Markdown} markdown */
  constructor(markdown) {
    this.#markdown = markdown;
    const summary = el("summary", {}, el("h3", {}, "Plan"), this.#count, this.#now);
    this.#details = el("details", { open: true }, summary, this.#list);
    this.#element = el("section", { class: "plan card", "aria-label": "Plan" }, this.#details);
    this.place.append(this.#element);
  }

  /** @param {HTMLElement} pinned Where the plan is shown until the end of its turn. */
  pin(pinned) {
    this.#details.open = false;
    pinned.append(this.#element);
  }

  /** Shows the plan in its turn. */
  unpin() {
    if (this.place.contains(this.#element)) return;
    const focused = /** @type {HTMLElement | null} */ (this.#element.contains(document.activeElement) ? document.activeElement : null);
    this.#details.open = true;
    this.place.append(this.#element);
    if (focused !== null) focus(focused);
  }

  /** @param {any} content The content of a `PLAN` activity. */
  update(content) {
    /** @type {any[]} */
    const entries = Array.isArray(content.entries) ? content.entries : [];
    this.#element.hidden = content.removed === true;
    this.#showText(typeof content.markdown === "string" ? content.markdown : "");
    while (this.#entries.length > entries.length) this.#entries.pop()?.element.remove();
    entries.forEach((entry, at) => {
      if (this.#entries[at] === undefined) {
        this.#entries[at] = new EntryView();
        this.#list.append(this.#entries[at].element);
      }
      this.#entries[at].update(entry);
    });
    const done = entries.filter((entry) => entry?.status === "completed").length;
    this.#count.textContent = entries.length === 0 ? "" : `${done} of ${entries.length}`;
    this.#now.textContent = String(entries.find((entry) => entry?.status === "in_progress")?.content ?? "");
    this.#element.classList.toggle("is-done", entries.length > 0 && done === entries.length);
  }

  /** @param {string} markdown */
  #showText(markdown) {
    if (markdown === this.#shownText) return;
    this.#shownText = markdown;
    this.#text?.element.remove();
    this.#text = markdown === "" ? null : new TextView("plan-text-all", this.#markdown);
    if (this.#text === null) return;
    this.#details.append(this.#text.element);
    this.#text.append(markdown);
    this.#text.end();
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
