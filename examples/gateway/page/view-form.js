/** A form that the agent asks to fill in, or a page that it asks to visit. */

import { questionComponent } from "./components.js";
import { button, el, focus } from "./dom.js";
import { fieldOf } from "./form-fields.js";

/** @import { Field } from "./form-fields.js" */
/** @import { Answer, Question } from "./questions.js" */

/** A question with its fields, and later its answer. */
export class FormView {
  element;
  #question;
  #form = el("form", { class: "form" });
  #note = el("p", { class: "permission-note", role: "status" });
  /** @type {Map<string, Field>} */
  #fields = new Map();
  /** The component that replaces the fields. */
  #component;
  #resolved = false;

  /**
   * @param {Question} question
   * @param {(answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
   */
  constructor(question, answer) {
    this.#question = question;
    const required = new Set(question.schema.required ?? []);
    const title = question.schema.title;
    if (typeof title === "string" && title !== question.title && question.component === undefined) this.#form.append(el("p", { class: "form-title" }, title));
    this.#component = questionComponent(question);
    // The message lists the choices after its first line, for pages without a component.
    const [asked = question.title] = this.#component === null ? [] : question.title.split("\n");
    if (this.#component !== null) this.#form.append(this.#component.element);
    for (const [name, schema] of Object.entries(this.#component === null ? (question.schema.properties ?? {}) : {})) {
      const field = fieldOf(`${question.id}-${name}`, name, schema, required.has(name));
      this.#fields.set(name, field);
      this.#form.append(field.element);
    }
    const send = el("button", { type: "submit", class: "primary" }, this.#component?.submit ?? (question.kind === "page" ? "Done" : "Send"));
    const decline = button("Decline", "secondary", () => this.#answer({ action: "decline" }, answer));
    const cancel = button("Not now", "secondary", () => this.#answer({ cancelled: true }, answer));
    this.#form.append(el("div", { class: "permission-buttons" }, send, decline, cancel));
    // The browser would show one problem at a time, and only for a moment. Components leave the check to it.
    this.#form.noValidate = this.#component === null;
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#isValid()) this.#answer({ action: "accept", ...this.#content() }, answer);
    });
    this.element = el(
      "div",
      { class: "permission", role: "group", tabindex: -1, "aria-label": `Question: ${asked}` },
      el("p", { class: "permission-question" }, el("strong", {}, asked)),
      question.kind === "page" ? pageLink(question.url) : null,
      this.#form,
      this.#note,
    );
  }

  /** Moves the focus to the question. */
  focus() {
    focus(this.element);
  }

  /** @param {Answer} answer */
  resolve(answer) {
    if (this.#resolved) return;
    this.#resolved = true;
    const accepted = "action" in answer && answer.action === "accept";
    const word = accepted ? "Answered" : "action" in answer ? "Declined" : "Not answered";
    this.element.classList.add("is-resolved", accepted ? "is-allowed" : "is-rejected");
    const mark = el("span", { class: "permission-mark", "aria-hidden": "true" }, accepted ? "✓" : "✕");
    this.element.replaceChildren(el("p", { class: "permission-answer" }, mark, `${this.#question.title} · ${word}`));
  }

  /** Returns whether all values are valid. Each field shows its problem, and the first of these has the focus. */
  #isValid() {
    const wrong = [...this.#fields.values()].filter((field) => !field.check());
    wrong[0]?.focus();
    if (wrong.length > 0) this.#note.textContent = `Not sent: ${wrong.length === 1 ? "a field needs" : `${wrong.length} fields need`} another value.`;
    return wrong.length === 0;
  }

  /** @returns {{content?: Record<string, unknown>}} */
  #content() {
    if (this.#question.kind === "page") return {};
    if (this.#component !== null) return { content: this.#component.value() };
    /** @type {Record<string, unknown>} */
    const content = {};
    for (const [name, { value }] of this.#fields) {
      const said = value();
      if (said !== undefined) content[name] = said;
    }
    return { content };
  }

  /**
   * @param {Answer} said
   * @param {(answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
   */
  async #answer(said, answer) {
    if (this.element.contains(document.activeElement)) this.focus();
    this.#setDisabled(true);
    this.#note.textContent = "Sending…";
    const { ok, status, message } = await answer(said);
    if (this.#resolved) return;
    this.#note.textContent = ok ? "Answered" : `The answer was rejected: ${message || `HTTP ${status}`}`;
    this.#setDisabled(ok);
  }

  /** @param {boolean} disabled */
  #setDisabled(disabled) {
    for (const element of this.#form.elements) {
      /** @type {HTMLInputElement} */ (element).disabled = disabled;
    }
  }
}

/** @param {string} url */
function pageLink(url) {
  // Only web addresses are linked; others are shown as text.
  if (!/^https?:\/\//i.test(url)) return el("p", { class: "form-hint" }, url);
  return el("p", {}, el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, url));
}
