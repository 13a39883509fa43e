/** A turn: the user's message, and the agent's work for it. */

import { fileView } from "./attachments.js";
import { button, el } from "./dom.js";
import { turnActions } from "./turn-actions.js";
import { draftOf } from "./user-content.js";
import { OldStep, stepsOf } from "./old-steps.js";
import { Tail } from "./tail.js";
import { endLine, endOf, failure, failureView } from "./view-notice.js";
import { PlanView } from "./view-plan.js";
import { plainText } from "./view-media.js";

/**
 * @typedef {object} OwnTurnParts
 * @property {import("./turn-actions.js").TurnActions} actions
 * @property {import("./recorded-lines.js").RecordedLines} lines
 * @property {import("./markdown.js").Markdown} markdown
 * @property {HTMLElement} pinned The place of the plan of an active turn.
 */

/** @typedef {import("./tail.js").TailParts & OwnTurnParts} TurnParts */

/** A section of the conversation. */
export class TurnView {
  element;
  #working = el("p", { class: "working pulse" }, "Working");
  /** @type {Map<string, PlanView>} */
  #plans = new Map();
  #since;
  /** @type {HTMLButtonElement | null} */
  #retry = null;
  /** @type {Tail<{element: HTMLElement}>} */
  #steps;
  /** The steps of an earlier page by their tool calls. @type {Map<string, OldStep>} */
  #stepOf = new Map();
  /** The elements of the step that is being built, if one is. @type {HTMLElement[] | null} */
  #built = null;
  #isAsking = false;
  /** @type {HTMLElement | null} */
  #actions = null;
  #parts;
  /** The user's message. @type {import("./thread.js").Message | null} */
  message = null;

  /**
   * @param {number} number Counted from 1.
   * @param {TurnParts} parts
   * @param {number | null} since The time of the start, unless an earlier page has seen it.
   */
  constructor(number, parts, since) {
    this.#since = since;
    this.#parts = parts;
    const heading = el("h2", { class: "visually-hidden" }, `Turn ${number}`);
    this.element = el("section", { class: "turn", "aria-label": `Turn ${number}` }, heading, this.#working);
    this.#steps = new Tail("steps", (element) => this.#working.before(element), parts);
  }

  /** @param {HTMLElement} element */
  add(element) {
    if (this.#built === null) this.#steps.add({ element });
    else this.#built.push(element);
  }

  /**
   * Shows the last steps of an earlier page. Earlier ones are built on demand.
   *
   * @param {import("./thread.js").Message[]} messages
   * @param {(messages: import("./thread.js").Message[]) => void} show
   */
  restore(messages, show) {
    const build = (/** @type {import("./thread.js").Message[]} */ said) => {
      /** @type {HTMLElement[]} */
      const built = [];
      const outer = this.#built;
      this.#built = built;
      show(said);
      this.#built = outer;
      return built;
    };
    this.element.classList.add("is-restored");
    const steps = stepsOf(messages).map((said) => new OldStep(said, build));
    for (const step of steps) for (const id of step.calls) this.#stepOf.set(id, step);
    this.#steps.replaceAll(steps);
    // The plan of an active turn is pinned in any case.
    for (const step of steps) if (step.hasPlan) step.build();
  }

  /**
   * Builds the step with a tool call, if it is one of an earlier page.
   *
   * @param {string} toolCallId
   */
  buildFor(toolCallId) {
    this.#stepOf.get(toolCallId)?.build();
  }

  /** Removes the oldest of many steps from the page, unless one has an open question. */
  trim() {
    if (!this.#isAsking) this.#steps.trim();
  }

  /** @param {import("./thread.js").Message} message */
  addUser(message) {
    this.message = message;
    if (this.#since !== null) this.#parts.lines.set(message.id, { since: Date.now() });
    const { text, files } = draftOf(message.content);
    const shown = files.length === 0 ? plainText(message.content) : text;
    const said = shown === "" ? null : el("div", { class: "user-text" }, shown);
    const list = files.length === 0 ? null : el("ul", { class: "user-files", "aria-label": "Attached files" }, ...files.map((file) => el("li", {}, fileView(file))));
    this.#working.before(el("article", { class: "user", "aria-label": "You" }, list, said));
  }

  /**
   * A plan of an earlier turn stays unchanged; this turn gets its own.
   *
   * @param {import("./thread.js").Message} message
   */
  updatePlan(message) {
    let plan = this.#plans.get(message.id);
    if (plan === undefined) {
      plan = new PlanView(this.#parts.markdown);
      this.#plans.set(message.id, plan);
      this.add(plan.place);
      if (!this.element.classList.contains("is-over")) plan.pin(this.#parts.pinned);
    }
    plan.update(message.content);
  }

  /** @param {boolean} asking Whether the agent is waiting for the user. */
  setAsking(asking) {
    this.#isAsking = asking;
    this.#working.textContent = asking ? "Waiting for your answer" : "Working";
    this.#working.classList.toggle("pulse", !asking);
  }

  /** @param {boolean} lost */
  setConnection(lost) {
    this.#working.textContent = lost ? "Reconnecting" : "Working";
  }

  /** Ends the turn of an earlier page. */
  close() {
    const line = this.message === null ? null : this.#parts.lines.get(this.message.id);
    if (line?.text !== undefined) this.add(endLine(line));
    this.#over();
  }

  /** @param {boolean} [isWaiting] Whether the message waits for a next step of the user. */
  #over(isWaiting = false) {
    for (const plan of this.#plans.values()) plan.unpin();
    this.#actions = this.message === null || isWaiting ? null : turnActions(this.message, this.#parts.actions);
    this.#working.replaceWith(...(this.#actions === null ? [] : [this.#actions]));
    this.element.classList.add("is-over");
  }

  /**
   * Continues the ended turn.
   *
   * @param {import("./thread.js").Message} message The user's message, which is sent again.
   */
  reopen(message) {
    this.message = message;
    this.#since = performance.now();
    this.#parts.lines.set(message.id, { since: Date.now() });
    this.setAsking(false);
    this.#actions?.remove();
    this.element.append(this.#working);
    this.element.classList.remove("is-over");
  }

  /** Removes the button to retry, because another turn follows. */
  settle() {
    this.#retry?.remove();
  }

  /**
   * @param {import("./run.js").RunEnd} end
   * @param {(() => void) | null} retry
   * @param {HTMLElement | null} next The next step of the user, instead of the failure.
   */
  end(end, retry, next) {
    const failed = failure(end);
    if (next !== null) this.add(next);
    else if (failed !== null) {
      this.#retry = retry === null ? null : button("Try again", "secondary", retry);
      this.add(failureView(failed, this.#retry));
    }
    if (next === null) this.add(endLine(this.#record(end)));
    this.#over(next !== null);
  }

  /**
   * Returns the line of an end, and stores it for later pages.
   *
   * @param {import("./run.js").RunEnd} end
   */
  #record(end) {
    const { lines } = this.#parts;
    const known = this.message === null ? null : lines.get(this.message.id);
    // An earlier page has seen the end.
    if (this.#since === null && known?.text !== undefined) return known;
    const began = known?.since === undefined ? null : Date.now() - known.since;
    const line = endOf(end, this.#since === null ? began : performance.now() - this.#since);
    if (this.message !== null) lines.set(this.message.id, line);
    return line;
  }
}
