/** A question that the agent waits for: may it do this? */

import { button, el, focus, visible } from "./dom.js";
import { factsOf } from "./tool-arguments.js";
import { argumentsView } from "./view-arguments.js";
import { LongView } from "./view-long.js";

/** The kinds of options, in the order of their buttons; agents have different orders. Others follow. */
const ORDER = ["allow_once", "allow_always", "reject_once", "reject_always"];

/** Number of options with a key. */
const MAX_KEYS = 9;

/** @import { Answer, Question } from "./questions.js" */
/** @import { ToolView } from "./view-tool.js" */
/** @typedef {Question["options"][number]} PermissionOption */

/** A question with its buttons, and later its answer. */
export class PermissionView {
  element;
  #title;
  #buttons = el("div", { class: "permission-buttons" });
  #note = el("p", { class: "permission-note", role: "status" });
  /** @type {PermissionOption[]} */
  #options;
  #answer;
  #resolved = false;

  /**
   * @param {Question} question
   * @param {ToolView | undefined} tool The card above, with its title.
   * @param {(answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
   */
  constructor(question, tool, answer) {
    const title = visible(question.title);
    const isShown = title === tool?.facts.title;
    this.#title = isShown ? "" : title;
    this.#answer = answer;
    const place = (/** @type {PermissionOption} */ { kind }) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
    this.#options = question.options
      .map((option) => ({ ...option, name: visible(String(option.name ?? option.optionId)) }))
      .sort((one, other) => place(one) - place(other));
    this.#options.forEach((option, at) => {
      const shown = button(option.name, option.kind === "allow_once" ? "primary" : "secondary", () => this.#choose(option));
      if (at < MAX_KEYS) {
        shown.append(el("kbd", { "aria-hidden": "true" }, String(at + 1)));
        shown.setAttribute("aria-keyshortcuts", String(at + 1));
      }
      this.#buttons.append(shown);
    });
    const asked = el("p", { class: "permission-question" }, el("strong", {}, "The agent asks for permission"));
    if (this.#title !== "") asked.append(el("span", { class: "permission-title" }, this.#title));
    const isRemembered = this.#options.some(({ kind }) => kind.endsWith("_always"));
    const keys = Math.min(this.#options.length, MAX_KEYS);
    const hints = [keys > 1 ? `Keys 1 to ${keys} answer while this question has the focus.` : "", isRemembered ? "An answer for always is remembered by the agent, which decides what it covers." : ""];
    this.element = el(
      "div",
      { class: "permission", role: "group", tabindex: -1, "aria-label": `Permission: ${title}` },
      asked,
      tool === undefined ? null : factsView(tool),
      this.#buttons,
      el("p", { class: "permission-hint" }, hints.join(" ").trim()),
      this.#note,
    );
    this.element.addEventListener("keydown", (event) => this.#press(event));
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

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const shown = /^[1-9]$/.test(event.key) ? this.#buttons.querySelectorAll("button")[Number(event.key) - 1] : undefined;
    if (shown === undefined) return;
    event.preventDefault();
    shown.click();
  }

  /** @param {PermissionOption} option */
  async #choose(option) {
    // A disabled button cannot have the focus.
    if (this.element.contains(document.activeElement)) this.focus();
    this.#setDisabled(true);
    this.#note.textContent = "Sending…";
    const { ok, status, message } = await this.#answer({ optionId: option.optionId });
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
 * Shows what would happen: the command, files and addresses of a call, else all of its arguments.
 *
 * @param {ToolView} tool
 */
function factsView({ facts: { call } }) {
  const shown = factsOf(call);
  if (shown.length === 0) return call.input === undefined ? null : argumentsView(call.input);
  const rows = shown.flatMap(([name, text]) => {
    const long = new LongView(el("pre", {}, visible(text)));
    long.update(text);
    return [el("dt", {}, name), el("dd", {}, long.element)];
  });
  return el("dl", { class: "permission-facts" }, ...rows);
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
