/** A change to a file, compared and highlighted by the gateway. */

import { el, visible } from "./dom.js";
import { nodesOf } from "./view-markup.js";

/** @import { Markdown } from "./markdown.js" */

/** The changes that results contain as text. */
const UNIFIED = /^--- .*\n\+\+\+ .*\n?(?:@@ .*\n?(?:[ +\-\\].*(?:\n|$))*)*/gm;

/**
 * Shows the changes of a file.
 *
 * @param {any} diff A `diff` of a tool call's content: texts, or a patch of several files.
 * @param {Markdown} markdown
 */
export function diffView(diff, markdown) {
  const path = visible(pathsOf(diff).join(", "));
  const patch = patchOf(diff);
  const text = patch ?? String(diff.newText ?? "");
  const isNew = patch === undefined && typeof diff.newText === "string" && typeof diff.oldText !== "string";
  const caption = el("figcaption", {}, el("span", { class: "path" }, path), isNew ? el("span", { class: "tag" }, "new file") : null);
  const box = el("div", { class: "diff-scroll", tabindex: 0, role: "group", "aria-label": `Changes to ${path}` });
  const figure = el("figure", { class: "diff" }, caption, box);
  const omitted = typeof diff.omittedBytes === "number" ? `The change is too long to be shown: ${diff.omittedBytes.toLocaleString("en")} bytes.` : "";
  if (omitted !== "" || (patch === undefined && typeof diff.newText !== "string")) {
    box.append(el("p", { class: "diff-note" }, omitted || "The agent does not send the changed lines."));
    return figure;
  }
  const before = typeof diff.oldText === "string" ? diff.oldText : "";
  // The change is plain until the gateway has compared it: a permission must not be answered before it is shown.
  box.append(el("pre", {}, visible(patch ?? plainChange(before, text))));
  const source = patch === undefined ? { format: "diff", text, before, name: path } : { format: "patch", text };
  void markdown.render({ ...source, isComplete: true }, (rendered) => {
    if (rendered === null) return;
    const nodes = rendered.blocks.flatMap(({ html }) => nodesOf(html));
    caption.append(...nodes.filter((node) => node instanceof HTMLSpanElement));
    const table = nodes.map((node) => node instanceof Element && node.querySelector("table")).find((found) => found instanceof Element);
    box.replaceChildren(...(table ? [table] : nodes));
  });
  return figure;
}

/**
 * Returns the lines that a change removes and adds, without equal ones at its beginning and end.
 *
 * @param {string} before
 * @param {string} after
 */
export function plainChange(before, after) {
  const lines = (/** @type {string} */ text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
  const [old, fresh] = [lines(before), lines(after)];
  const shorter = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shorter && old[start] === fresh[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1;
  const marked = (/** @type {string} */ mark, /** @type {string[]} */ all) => all.slice(start, all.length - end).map((line) => mark + line);
  return [...marked("-", old), ...marked("+", fresh)].join("\n");
}

/**
 * Returns the files of a change.
 *
 * @param {any} diff
 * @returns {string[]}
 */
function pathsOf(diff) {
  /** @type {any[]} */
  const changes = Array.isArray(diff.changes) ? diff.changes : [diff];
  return changes.map((change) => [change?.oldPath, change?.path].filter((path) => typeof path === "string").join(" → "));
}

/**
 * Returns a result without the changes in it that are shown otherwise.
 *
 * @param {string} result
 * @param {any[]} diffs
 */
export function withoutDiffs(result, diffs) {
  if (diffs.length === 0) return result;
  let rest = result;
  for (const patch of diffs.map(patchOf)) if (patch !== undefined) rest = rest.replace(patch.trimEnd(), () => "");
  return rest.replace(UNIFIED, "");
}

/**
 * @param {any} diff
 * @returns {string | undefined}
 */
function patchOf(diff) {
  return typeof diff.patch?.text === "string" ? diff.patch.text : undefined;
}
