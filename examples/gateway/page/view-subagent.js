/** A subagent: its name, its task and its steps, below the tool call that started it. */

import { el, visible } from "./dom.js";
import { sentence } from "./next-steps.js";

/** Names of states; an unknown state is shown as it is. */
const STATUS_NAMES = new Map([
  ["running", "Working"],
  ["completed", "Done"],
  ["failed", "Failed"],
  ["suspended", "Paused"],
]);

/** The work of a subagent, folded at its end. */
export class SubagentView {
  element;
  #name = el("span", { class: "subagent-name" }, "Subagent");
  #task = el("span", { class: "subagent-task" });
  #status = el("span", { class: "subagent-status" });
  #problem = el("p", { class: "subagent-problem", hidden: true });
  #steps = el("div", { class: "subagent-steps" });
  /** Whether the user folded or unfolded it. */
  #touched = false;

  constructor() {
    const summary = el("summary", {}, this.#name, this.#task, this.#status);
    summary.addEventListener("click", () => (this.#touched = true));
    this.element = el("details", { class: "subagent", open: true }, summary, this.#problem, this.#steps);
  }

  /** @param {HTMLElement} element A step of the subagent. */
  add(element) {
    this.#steps.append(element);
  }

  /** @param {any} content The content of a `subagent` activity. */
  update({ name, description, status, message }) {
    this.#name.textContent = visible(typeof name === "string" && name !== "" ? name : "Subagent");
    this.#task.textContent = visible(typeof description === "string" ? description : "");
    this.#status.textContent = STATUS_NAMES.get(status) ?? String(status);
    this.#status.classList.toggle("pulse", status === "running");
    this.element.dataset.status = String(status);
    this.#problem.hidden = typeof message !== "string" || message === "";
    this.#problem.textContent = typeof message === "string" ? sentence(visible(message)) : "";
    if (!this.#touched) this.element.open = status !== "completed";
  }

  /** Ends the subagent with its run. */
  endRun() {
    if (this.element.dataset.status === "running") this.update({ name: this.#name.textContent, description: this.#task.textContent, status: "suspended" });
  }
}

/**
 * Unfolds the subagents around an element, so that the user sees it.
 *
 * @param {Element} element
 */
export function unfoldAround(element) {
  for (let it = element.closest("details.subagent"); it !== null; it = it.parentElement?.closest("details.subagent") ?? null) {
    /** @type {HTMLDetailsElement} */ (it).open = true;
  }
}
