/** A question that the agent waits for: may it do this? */

import { button, el, focus, visible } from "./dom.js";

/** Styles of answers, by the kind of the option. */
const BUTTON_CLASSES = new Map([
  ["allow_once", "primary"],
  ["allow_always", "secondary"],
  ["reject_once", "secondary"],
  ["reject_always", "secondary"],
]);

/** @import { Answer, Question } from "./questions.js" */
/** @typedef {Question["options"][number]} PermissionOption */

/** A question with its buttons, and later its answer. */
export class PermissionView {
  element;
  #title;
  #buttons = el("div", { class: "permission-buttons" });
  #note = el("p", { class: "permission-note", role: "status" });
  /** @type {PermissionOption[]} */
  #options;
  #resolved = false;

  /**
   * @param {Question} question
   * @param {string} shownTitle The title that is already shown above.
   * @param {(answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
   */
  constructor(question, shownTitle, answer) {
    const title = visible(question.title);
    this.#title = title === shownTitle ? "" : title;
    this.#options = question.options.map((option) => ({ ...option, name: visible(String(option.name ?? option.optionId)) }));
    for (const option of this.#options) {
      const { name } = option;
      this.#buttons.append(button(name, BUTTON_CLASSES.get(option.kind) ?? "secondary", () => this.#choose(option, answer)));
    }
    const asked = el("p", { class: "permission-question" }, el("strong", {}, "The agent asks for permission"));
    if (this.#title !== "") asked.append(el("span", { class: "permission-title" }, this.#title));
    this.element = el(
      "div",
      { class: "permission", role: "group", tabindex: -1, "aria-label": `Permission: ${title}` },
      asked,
      this.#buttons,
      this.#note,
    );
  }

  /** Moves the focus to the question, not to an answer. */
  focus() {
    focus(this.element);
  }

  /** @param {Answer} answer */
  resolve(answer) {
    if (this.#resolved) return;
    this.#resolved = true;
    const optionId = "optionId" in answer ? answer.optionId : null;
    const option = this.#options.find((candidate) => candidate.optionId === optionId);
    const word = optionId === null ? "Not answered" : `Your answer: ${option?.name ?? optionId}`;
    const allowed = option?.kind.startsWith("allow") ?? false;
    this.element.classList.add("is-resolved", allowed ? "is-allowed" : "is-rejected");
    this.element.replaceChildren(answerLine(allowed ? "✓" : "✕", this.#title === "" ? word : `${this.#title} · ${word}`));
  }

  /**
   * @param {PermissionOption} option
   * @param {(answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
   */
  async #choose(option, answer) {
    // A disabled button cannot have the focus.
    if (this.element.contains(document.activeElement)) this.focus();
    this.#setDisabled(true);
    this.#note.textContent = "Sending…";
    const { ok, status, message } = await answer({ optionId: option.optionId });
    if (this.#resolved) return;
    if (ok) {
      this.#note.textContent = `Answered: ${option.name}`;
    } else if (status === 409) {
      this.#note.textContent = "This question was already answered.";
    } else if (status === 404) {
      this.#note.textContent = "The agent is no longer waiting for this answer.";
    } else {
      this.#note.textContent = `The answer could not be sent: ${message || `HTTP ${status}`}`;
      this.#setDisabled(false);
    }
  }

  /** @param {boolean} disabled */
  #setDisabled(disabled) {
    for (const element of this.#buttons.querySelectorAll("button")) element.disabled = disabled;
  }
}

/**
 * Shows a decision of the gateway.
 *
 * @param {any} decision The value of `acp.permission`.
 */
export function decisionView(decision) {
  const chosen = decision?.outcome === "selected" ? String(decision.optionId ?? "") : "not answered";
  return el("div", { class: "permission is-resolved" }, answerLine("•", `Decided by the gateway: ${chosen}`));
}

/**
 * @param {string} mark
 * @param {string} text
 */
function answerLine(mark, text) {
  return el("p", { class: "permission-answer" }, el("span", { class: "permission-mark", "aria-hidden": "true" }, mark), text);
}
