/** Line-by-line differences between two texts. */

/** Unchanged lines shown before and after a change. */
export const CONTEXT_LINES = 3;

/** Maximum number of cells of the comparison table; larger changes are shown as removed and added whole. */
export const MAX_CELLS = 4_000_000;

/**
 * @typedef {object} DiffLine
 * @property {"same" | "removed" | "added"} kind
 * @property {string} text
 */

/**
 * @typedef {object} DiffGap
 * @property {"gap"} kind
 * @property {number} lines The number of omitted unchanged lines.
 */

/**
 * Compares two texts.
 *
 * @param {string} oldText
 * @param {string} newText
 * @returns {DiffLine[]} Every line of both, in order.
 */
export function diffLines(oldText, newText) {
  const a = splitLines(oldText);
  const b = splitLines(newText);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;

  /** @type {DiffLine[]} */
  const lines = [];
  /** @type {(kind: DiffLine["kind"]) => (text: string) => void} */
  const put = (kind) => (text) => lines.push({ kind, text });
  a.slice(0, head).forEach(put("same"));
  lines.push(...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)));
  a.slice(a.length - tail).forEach(put("same"));
  return lines;
}

/**
 * Omits unchanged lines that are far from any change. Gaps are kept.
 *
 * @param {(DiffLine | DiffGap)[]} lines
 * @param {number} [context]
 * @returns {(DiffLine | DiffGap)[]}
 */
export function withGaps(lines, context = CONTEXT_LINES) {
  const near = new Array(lines.length).fill(false);
  lines.forEach((line, at) => {
    if (line.kind === "same" || line.kind === "gap") return;
    near.fill(true, Math.max(0, at - context), at + context + 1);
  });
  /** @type {(DiffLine | DiffGap)[]} */
  const shown = [];
  lines.forEach((line, at) => {
    if (near[at] && line.kind !== "gap") {
      shown.push(line);
      return;
    }
    const lines = line.kind === "gap" ? line.lines : 1;
    const last = shown.at(-1);
    if (last?.kind === "gap") last.lines += lines;
    else shown.push({ kind: "gap", lines });
  });
  return shown;
}

/**
 * @typedef {object} FilePatch
 * @property {string} path
 * @property {boolean} isNew
 * @property {(DiffLine | DiffGap)[]} lines
 */

/**
 * Reads a patch in Git's format, with absolute paths and without prefixes.
 *
 * @param {string} text
 * @returns {FilePatch[]} The changed files, in order.
 */
export function readPatch(text) {
  /** @type {FilePatch[]} */
  const files = [];
  /** @type {{old: string[], fresh: string[], left: number[]} | null} */
  let hunk = null;
  let at = 1;
  const endHunk = () => {
    const text = (/** @type {string[]} */ lines) => lines.map((line) => `${line}\n`).join("");
    if (hunk !== null) files.at(-1)?.lines.push(...diffLines(text(hunk.old), text(hunk.fresh)));
    hunk = null;
  };
  for (const line of text.split("\n")) {
    if (hunk !== null && (hunk.left[0] > 0 || hunk.left[1] > 0)) {
      const [sign, rest] = [line[0] ?? " ", line.slice(1)];
      if (sign !== "+" && sign !== "\\") {
        hunk.old.push(rest);
        hunk.left[0] -= 1;
      }
      if (sign !== "-" && sign !== "\\") {
        hunk.fresh.push(rest);
        hunk.left[1] -= 1;
      }
      continue;
    }
    endHunk();
    const file = files.at(-1);
    const [, from, lines = "1", , fresh = "1"] = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (line.startsWith("diff --git ")) {
      files.push({ path: line.slice(line.lastIndexOf(" ") + 1), isNew: false, lines: [] });
      at = 1;
    } else if (file === undefined) continue;
    else if (line.startsWith("new file ")) file.isNew = true;
    else if (line.startsWith("+++ ") && line !== "+++ /dev/null") file.path = line.slice(4);
    else if (line.startsWith("--- ") && line !== "--- /dev/null") file.path = line.slice(4);
    else if (from !== undefined) {
      if (Number(from) > at) file.lines.push({ kind: "gap", lines: Number(from) - at });
      at = Number(from) + Number(lines);
      hunk = { old: [], fresh: [], left: [Number(lines), Number(fresh)] };
    }
  }
  endHunk();
  return files;
}

/** @param {string} text */
function splitLines(text) {
  if (text === "") return [];
  const lines = text.split(/\r\n|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/**
 * The shortest edit from `a` to `b`, along their longest common subsequence.
 *
 * @param {string[]} a
 * @param {string[]} b
 * @returns {DiffLine[]}
 */
function middle(a, b) {
  /** @type {DiffLine[]} */
  const lines = [];
  let i = 0;
  let j = 0;
  if (a.length * b.length <= MAX_CELLS) {
    const width = b.length + 1;
    const longest = longestCommon(a, b);
    while (i < a.length && j < b.length) {
      if (a[i] === b[j]) {
        lines.push({ kind: "same", text: a[i] });
        i += 1;
        j += 1;
      } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
        lines.push({ kind: "removed", text: a[i] });
        i += 1;
      } else {
        lines.push({ kind: "added", text: b[j] });
        j += 1;
      }
    }
  }
  for (const text of a.slice(i)) lines.push({ kind: "removed", text });
  for (const text of b.slice(j)) lines.push({ kind: "added", text });
  return lines;
}

/**
 * The length of the longest common subsequence of each two tails, row by row.
 *
 * @param {string[]} a
 * @param {string[]} b
 */
function longestCommon(a, b) {
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      longest[at] = a[i] === b[j] ? longest[at + width + 1] + 1 : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  return longest;
}
