/** A change to a file. */

import { diffLines, withGaps } from "./diff.js";
import { el } from "./dom.js";

/** Maximum number of shown rows of a diff. */
const MAX_ROWS = 1000;

/**
 * Shows the changes of a file.
 *
 * @param {{path?: unknown, oldText?: unknown, newText?: unknown}} diff A `diff` of a tool call's content.
 */
export function diffView(diff) {
  const path = String(diff.path ?? "");
  const oldText = typeof diff.oldText === "string" ? diff.oldText : "";
  const lines = diffLines(oldText, String(diff.newText ?? ""));
  const added = lines.filter((line) => line.kind === "added").length;
  const removed = lines.filter((line) => line.kind === "removed").length;
  const shown = withGaps(lines);
  const rows = el("tbody", {}, ...shown.slice(0, MAX_ROWS).map(row));
  if (shown.length > MAX_ROWS) rows.append(gapRow(`${shown.length - MAX_ROWS} more lines`));

  const isNew = typeof diff.oldText !== "string";
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
