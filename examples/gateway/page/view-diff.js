/** A change to a file. */

import { diffLines, readPatch, withGaps } from "./diff.js";
import { el } from "./dom.js";

/** Maximum number of shown rows of a diff. */
const MAX_ROWS = 1000;

/**
 * Shows the changes of a diff, by file.
 *
 * @param {any} diff A `diff` of a tool call's content: the texts of one file, or in version 2 changes with a patch.
 * @returns {HTMLElement[]}
 */
export function diffViews(diff) {
  if (!Array.isArray(diff.changes)) {
    const isNew = typeof diff.oldText !== "string";
    const lines = diffLines(isNew ? "" : diff.oldText, String(diff.newText ?? ""));
    return [fileView({ path: String(diff.path ?? ""), isNew, lines })];
  }
  const patched = diff.patch?.format === "git_patch" ? readPatch(String(diff.patch.text)) : [];
  const shown = new Set(patched.map(({ path }) => path));
  const others = diff.changes.filter((/** @type {any} */ change) => !shown.has(change?.path));
  return [...patched.map(fileView), ...others.map(changeView)];
}

/** @param {import("./diff.js").FilePatch} file */
function fileView({ path, isNew, lines }) {
  const added = lines.filter((line) => line.kind === "added").length;
  const removed = lines.filter((line) => line.kind === "removed").length;
  const shown = withGaps(lines);
  const rows = el("tbody", {}, ...shown.slice(0, MAX_ROWS).map(row));
  if (shown.length > MAX_ROWS) rows.append(gapRow(`${shown.length - MAX_ROWS} more lines`));

  const caption = el(
    "figcaption",
    {},
    el("span", { class: "path" }, path),
    isNew ? el("span", { class: "tag" }, "new file") : null,
    el("span", { class: "diff-added-count" }, `+${added}`),
    el("span", { class: "diff-removed-count" }, `−${removed}`),
  );
  const table = el("table", { "aria-label": `Changes to ${path}` }, rows);
  return el("figure", { class: "diff" }, caption, el("div", { class: "diff-scroll", tabindex: 0, role: "group", "aria-label": path }, table));
}

/**
 * Shows a change without its lines.
 *
 * @param {any} change
 */
function changeView(change) {
  const tag = change?.operation === "add" ? "new file" : String(change?.operation ?? "modify");
  const path = [change?.oldPath, change?.path].filter((path) => typeof path === "string").join(" → ");
  const caption = el("figcaption", {}, el("span", { class: "path" }, path), el("span", { class: "tag" }, tag));
  return el("figure", { class: "diff" }, caption);
}

/** @param {import("./diff.js").DiffLine | import("./diff.js").DiffGap} line */
function row(line) {
  if (line.kind === "gap") return gapRow(line.lines === 1 ? "1 unchanged line" : `${line.lines} unchanged lines`);
  const sign = { added: "+", removed: "−", same: " " }[line.kind];
  const code = { added: el("ins"), removed: el("del"), same: el("span") }[line.kind];
  code.append(line.text);
  return el(
    "tr",
    { class: `diff-${line.kind}` },
    el("td", { class: "sign", "aria-hidden": "true" }, sign),
    el("td", { class: "line" }, code),
  );
}

/** @param {string} text */
function gapRow(text) {
  return el("tr", { class: "diff-gap" }, el("td", { colspan: 2 }, text));
}
