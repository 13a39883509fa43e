/** A form that the agent asks to fill in, or a page that it asks to visit. */

import { button, el, focus } from "./dom.js";

import { questionComponent } from "./components.js";

/** @import { Answer, Question } from "./questions.js" */

/** Kinds of input fields, by the format of a string. */
const INPUT_TYPES = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["date-time", "datetime-local"],
]);

/**
 * One field: its element and its value, `undefined` if it is empty.
 *
 * @typedef {{element: HTMLElement, value: () => unknown}} Field
 */

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
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#answer({ action: "accept", ...this.#content() }, answer);
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

/**
 * @param {string} id
 * @param {string} name
 * @param {any} schema
 * @param {boolean} required
 * @returns {Field}
 */
function fieldOf(id, name, schema, required) {
  const title = typeof schema.title === "string" ? schema.title : name;
  const hint = typeof schema.description === "string" ? el("span", { class: "form-hint" }, schema.description) : null;
  const label = required ? `${title} (required)` : title;
  if (schema.type === "boolean") {
    const box = el("input", { type: "checkbox", id, checked: schema.default === true });
    return { element: el("label", { class: "form-check" }, box, label, hint), value: () => box.checked };
  }
  if (schema.type === "array") return choices(label, hint, schema, required);
  const labelled = (/** @type {HTMLElement} */ input) => el("label", { class: "form-field" }, el("span", {}, label), input, hint);
  const options = optionsOf(schema);
  if (options.length > 0) {
    const none = required ? [] : [el("option", { value: "" }, "–")];
    const list = options.map(({ value, title }) => el("option", { value, selected: value === schema.default }, title));
    const select = el("select", { id, required }, ...none, ...list);
    return { element: labelled(select), value: () => (select.value === "" ? undefined : select.value) };
  }
  const isNumber = schema.type === "number" || schema.type === "integer";
  const input = el("input", {
    id,
    type: isNumber ? "number" : (INPUT_TYPES.get(schema.format) ?? "text"),
    required,
    value: schema.default,
    min: schema.minimum,
    max: schema.maximum,
    step: schema.type === "number" ? "any" : undefined,
    minlength: schema.minLength,
    maxlength: schema.maxLength,
    pattern: typeof schema.pattern === "string" ? anywhere(schema.pattern) : undefined,
  });
  const value = () => {
    if (input.value === "") return undefined;
    if (isNumber) return input.valueAsNumber;
    return schema.format === "date-time" ? new Date(input.value).toISOString() : input.value;
  };
  return { element: labelled(input), value };
}

/**
 * A field for several values of a list.
 *
 * @param {string} label
 * @param {HTMLElement | null} hint
 * @param {any} schema
 * @param {boolean} required
 * @returns {Field}
 */
function choices(label, hint, schema, required) {
  const chosen = new Set(Array.isArray(schema.default) ? schema.default : []);
  const boxes = optionsOf(schema.items ?? {}).map(({ value, title }) => {
    const box = el("input", { type: "checkbox", value, checked: chosen.has(value) });
    return { box, element: el("label", { class: "form-check" }, box, title) };
  });
  const values = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
  const element = el("fieldset", { class: "form-choices" }, el("legend", {}, label), ...boxes.map(({ element }) => element), hint);
  const check = () => boxes.at(0)?.box.setCustomValidity(wrongCount(values().length, schema, required));
  element.addEventListener("change", check);
  check();
  // An optional field may be absent; a required one may be an empty list.
  return { element, value: () => (values().length === 0 && !required ? undefined : values()) };
}

/**
 * Returns the error for a number of chosen values, if any.
 *
 * @param {number} count
 * @param {any} schema
 * @param {boolean} required
 */
function wrongCount(count, { minItems, maxItems }, required) {
  if (typeof minItems === "number" && count < minItems && (required || count > 0)) return `Choose ${minItems} or more.`;
  if (typeof maxItems === "number" && count > maxItems) return `Choose no more than ${maxItems}.`;
  return "";
}

/**
 * Converts a pattern of JSON Schema, which may match anywhere, to one of HTML, which must match the whole value.
 *
 * @param {string} pattern
 */
function anywhere(pattern) {
  return `[^]*(?:${pattern})[^]*`;
}

/**
 * @param {any} schema
 * @returns {{value: string, title: string}[]}
 */
function optionsOf(schema) {
  const titled = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(titled)) return titled.map((option) => ({ value: String(option.const), title: String(option.title ?? option.const) }));
  if (!Array.isArray(schema.enum)) return [];
  return schema.enum.map((/** @type {unknown} */ value, /** @type {number} */ at) => ({
    value: String(value),
    title: String(schema.enumNames?.[at] ?? value),
  }));
}
