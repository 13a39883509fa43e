/** The fields of a form, from the properties of its schema. A field with an invalid value says what is wrong. */

import { el } from "./dom.js";

/** Kinds of input fields, by the format of a string. */
const INPUT_TYPES = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["date-time", "datetime-local"],
]);

/** Values that are expected, by the kind of the input field. */
const EXPECTED = new Map([
  ["email", "Write an email address, such as name@example.org."],
  ["url", "Write a whole address, such as https://example.org/."],
  ["date", "Choose a date."],
  ["datetime-local", "Choose a date and a time."],
  ["number", "Write a number."],
]);

/**
 * One field: its element and its value, `undefined` if it is empty.
 *
 * @typedef {object} Field
 * @property {HTMLElement} element
 * @property {() => unknown} value
 * @property {() => boolean} check Returns whether the value is valid; shows below the field what is wrong.
 * @property {() => void} focus
 */

/**
 * The part of a field that takes the value.
 *
 * @typedef {object} Control
 * @property {HTMLElement} element
 * @property {HTMLInputElement | HTMLSelectElement} input
 * @property {HTMLElement} [group] The element that the problem describes, unless it is the input.
 * @property {() => unknown} value
 */

/**
 * Returns the field of a property.
 *
 * @param {string} id
 * @param {string} name
 * @param {any} schema
 * @param {boolean} required
 * @returns {Field}
 */
export function fieldOf(id, name, schema, required) {
  const { element, input, value, group = input } = inputOf(id, name, schema, required);
  const problem = el("p", { class: "form-problem", id: `${id}-problem`, hidden: true });
  element.append(problem);
  const check = () => {
    const isValid = input.checkValidity();
    problem.hidden = isValid;
    problem.textContent = isValid ? "" : problemOf(input, schema);
    input.ariaInvalid = isValid ? null : "true";
    if (isValid) group.removeAttribute("aria-describedby");
    else group.setAttribute("aria-describedby", problem.id);
    return isValid;
  };
  // A value that is still written is not called wrong.
  element.addEventListener("change", check);
  element.addEventListener("input", () => problem.hidden || check());
  return { element, value, check, focus: () => input.focus() };
}

/**
 * @param {string} id
 * @param {string} name
 * @param {any} schema
 * @param {boolean} required
 * @returns {Control}
 */
function inputOf(id, name, schema, required) {
  const title = typeof schema.title === "string" ? schema.title : name;
  const hint = typeof schema.description === "string" ? el("span", { class: "form-hint" }, schema.description) : null;
  const label = required ? `${title} (required)` : title;
  if (schema.type === "boolean") {
    const box = el("input", { type: "checkbox", id, checked: schema.default === true });
    return { element: el("div", {}, el("label", { class: "form-check" }, box, label, hint)), input: box, value: () => box.checked };
  }
  if (schema.type === "array") return choices(label, hint, schema, required);
  const labelled = (/** @type {HTMLElement} */ input) => el("div", {}, el("label", { class: "form-field" }, el("span", {}, label), input, hint));
  const options = optionsOf(schema);
  if (options.length > 0) {
    const none = required ? [] : [el("option", { value: "" }, "–")];
    const list = options.map(({ value, title }) => el("option", { value, selected: value === schema.default }, title));
    const select = el("select", { id, required }, ...none, ...list);
    return { element: labelled(select), input: select, value: () => (select.value === "" ? undefined : select.value) };
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
  return { element: labelled(input), input, value };
}

/**
 * A field for several values of a list.
 *
 * @param {string} label
 * @param {HTMLElement | null} hint
 * @param {any} schema
 * @param {boolean} required
 * @returns {Control}
 */
function choices(label, hint, schema, required) {
  const chosen = new Set(Array.isArray(schema.default) ? schema.default : []);
  const boxes = optionsOf(schema.items ?? {}).map(({ value, title }) => {
    const box = el("input", { type: "checkbox", value, checked: chosen.has(value) });
    return { box, element: el("label", { class: "form-check" }, box, title) };
  });
  const values = () => boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
  const group = el("fieldset", { class: "form-choices" }, el("legend", {}, label), ...boxes.map(({ element }) => element), hint);
  // A list without choices has no wrong number of them.
  const input = boxes.at(0)?.box ?? el("input", { type: "checkbox" });
  const check = () => input.setCustomValidity(wrongCount(values().length, schema, required));
  group.addEventListener("change", check);
  check();
  // An optional field may be absent; a required one may be an empty list.
  return { element: el("div", {}, group), input, group, value: () => (values().length === 0 && !required ? undefined : values()) };
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

/**
 * Returns what is wrong with a value, and what to write instead.
 *
 * @param {HTMLInputElement | HTMLSelectElement} input
 * @param {any} schema
 */
function problemOf(input, schema) {
  const { validity, type } = input;
  if (validity.customError) return input.validationMessage;
  if (validity.badInput || validity.typeMismatch) return EXPECTED.get(type) ?? input.validationMessage;
  if (validity.valueMissing) return type === "select-one" ? "Choose one." : "Fill in this field.";
  if (validity.rangeUnderflow || validity.rangeOverflow) return `Write a number, ${between(schema.minimum, schema.maximum)}.`;
  if (validity.tooShort || validity.tooLong) return `Write ${between(schema.minLength, schema.maxLength)} characters.`;
  if (validity.patternMismatch) return `Write a value that matches ${schema.pattern}.`;
  return validity.stepMismatch ? "Write a whole number." : input.validationMessage;
}

/**
 * Returns the words for a range.
 *
 * @param {unknown} least
 * @param {unknown} most
 */
function between(least, most) {
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  return least === undefined ? `at most ${most}` : `at least ${least}`;
}
