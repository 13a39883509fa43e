/** Open questions of the agent, beside the cards of their tool calls. */

import { focus } from "./dom.js";
import { FormView } from "./view-form.js";
import { PermissionView } from "./view-permission.js";
import { unfoldAround } from "./view-subagent.js";

/** @import { Answer, Question } from "./questions.js" */
/** @import { ToolView } from "./view-tool.js" */
/** @import { TurnView } from "./view-turn.js" */

/**
 * @typedef {object} QuestionParts
 * @property {import("./announcer.js").Announcer} announcer
 * @property {import("./markdown.js").Markdown} markdown
 * @property {(interruptId: string, answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
 * @property {() => boolean} mayTakeFocus Whether a question may take the keyboard's focus.
 * @property {() => void} returnFocus Called when the focused question is removed.
 */

/** Questions by id. */
export class QuestionViews {
  #parts;
  /** @type {Map<string, {view: PermissionView | FormView, tool?: ToolView}>} */
  #open = new Map();

  /** @param {QuestionParts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  /** The ids of the open questions. */
  get ids() {
    return [...this.#open.keys()];
  }

  clear() {
    this.#open.clear();
  }

  /**
   * Shows a question.
   *
   * @param {Question} question
   * @param {ToolView | undefined} tool The card of its tool call.
   * @param {TurnView} turn
   */
  ask(question, tool, turn) {
    const answer = (/** @type {Answer} */ said) => this.#parts.answer(question.id, said);
    const view = question.kind === "permission" ? new PermissionView(question, tool, this.#parts.markdown, answer) : new FormView(question, answer);
    this.#open.set(question.id, { view, tool });
    if (tool === undefined) turn.add(view.element);
    else tool.ask(view.element);
    unfoldAround(view.element);
    turn.setAsking(true);
    this.#parts.announcer.say(`The agent asks${question.kind === "permission" ? " for permission" : ""}: ${question.title}`);
    if (this.#parts.mayTakeFocus()) view.focus();
  }

  /**
   * Shows the answer of a question.
   *
   * @param {string} id
   * @param {Answer} answer
   * @param {TurnView | null} turn
   */
  resolve(id, answer, turn) {
    const asked = this.#open.get(id);
    if (asked === undefined) return;
    this.#open.delete(id);
    const focused = asked.view.element.contains(document.activeElement);
    asked.view.resolve(answer);
    asked.tool?.setAsking([...this.#open.values()].some((open) => open.tool === asked.tool));
    turn?.setAsking(this.#open.size > 0);
    if (focused) this.#parts.returnFocus();
  }

  /**
   * Shows the question of a tool of the page.
   *
   * @param {HTMLElement} question
   * @param {ToolView} tool
   * @param {TurnView} turn
   */
  askForTool(question, tool, turn) {
    tool.ask(question);
    turn.setAsking(true);
    this.#parts.announcer.say(`The agent asks: ${question.getAttribute("aria-label") ?? tool.facts.title}`);
    if (this.#parts.mayTakeFocus()) focus(question);
  }

  /**
   * Ends the question of a tool of the page, before its result is shown.
   *
   * @param {ToolView} tool
   * @param {TurnView | null} turn
   */
  endForTool(tool, turn) {
    const focused = tool.element.contains(document.activeElement);
    tool.setAsking(false);
    turn?.setAsking(false);
    if (focused) this.#parts.returnFocus();
  }
}
