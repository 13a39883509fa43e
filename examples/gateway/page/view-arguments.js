/** The arguments of a tool call. */

import { el, visible } from "./dom.js";
import { LongView } from "./view-long.js";

/**
 * Shows the members of an object as a table, and any other value as JSON.
 *
 * @param {unknown} value
 */
export function argumentsView(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return valueView(value);
  const rows = Object.entries(value).map(([name, member]) => el("tr", {}, el("th", { scope: "row" }, visible(name)), el("td", {}, valueView(member))));
  return el("table", { class: "arguments" }, el("tbody", {}, ...rows));
}

/**
 * Parses JSON; returns other text unchanged.
 *
 * @param {string} json
 * @returns {unknown}
 */
export function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}

/** @param {unknown} value */
function valueView(value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const long = new LongView(el("pre", {}, visible(text)));
  long.update(text);
  return long.element;
}
