import assert from "node:assert/strict";
import { test } from "node:test";
import { diffLines, MAX_CELLS, readPatch, withGaps } from "../../../examples/gateway/page/diff.js";

const SIGNS = { same: " ", removed: "-", added: "+" };

/**
 * @param {string} oldText
 * @param {string} newText
 */
const diff = (oldText, newText) => diffLines(oldText, newText).map((line) => SIGNS[line.kind] + line.text);

test("finds changed lines", () => {
  assert.deepEqual(diff("a\nb\nc\n", "a\nB\nc\n"), [" a", "-b", "+B", " c"]);
  assert.deepEqual(diff("", "a\nb\n"), ["+a", "+b"]);
  assert.deepEqual(diff("a\n", ""), ["-a"]);
  assert.deepEqual(diff("a", "a"), [" a"]);
  assert.deepEqual(diff("a\r\nb", "a\nb"), [" a", " b"]);
  assert.deepEqual(diff("a\na\n", "a\n"), [" a", "-a"]);
  assert.deepEqual(diff("x\na\ny\nb\nz", "a\nb\nc"), ["-x", " a", "-y", " b", "-z", "+c"]);
});

test("reads patches by file", () => {
  const shown = (/** @type {string} */ text) =>
    readPatch(text).map(({ path, isNew, lines }) => [path, isNew, lines.map((line) => (line.kind === "gap" ? `~${line.lines}` : SIGNS[line.kind] + line.text))]);
  // A patch that replaces all lines shows those that differ.
  const whole = "diff --git /w/f /w/f\n--- /w/f\n+++ /w/f\n@@ -1,2 +1,3 @@\n-a\n-b\n+a\n+x\n+b\n";
  assert.deepEqual(shown(whole), [["/w/f", false, [" a", "+x", " b"]]]);
  const hunks = "diff --git /w/f /w/f\n--- /w/f\n+++ /w/f\n@@ -3,2 +3,2 @@\n c\n-a\n+b\n@@ -9 +9 @@ f()\n-y\n+z\n\\ No newline at end of file\n";
  assert.deepEqual(shown(hunks), [["/w/f", false, ["~2", " c", "-a", "+b", "~4", "-y", "+z"]]]);
  const several = "diff --git /w/n /w/n\nnew file mode 100644\n--- /dev/null\n+++ /w/n\n@@ -0,0 +1,2 @@\n+-- a\n+\ndiff --git /w/o /w/o\ndeleted file mode 100644\n--- /w/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-o\n";
  assert.deepEqual(shown(several), [["/w/n", true, ["+-- a", "+"]], ["/w/o", false, ["-o"]]]);
  for (const odd of ["", "@@ -1 +1 @@\n-a\n+b", "diff --git", "diff --git a a\n@@ -1,9 +1,9 @@\n-a"]) readPatch(odd);
});

test("keeps gaps", () => {
  const lines = readPatch("diff --git f f\n--- f\n+++ f\n@@ -5,2 +5,1 @@\n a\n-b\n")[0].lines;
  assert.deepEqual(withGaps(lines, 0).map((line) => (line.kind === "gap" ? line.lines : line.text)), [5, "b"]);
});

/** @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test("contains both texts, for any texts", () => {
  const next = random(7);
  for (let round = 0; round < 300; round += 1) {
    const lines = () => Array.from({ length: Math.floor(next() * 12) }, () => "abc"[Math.floor(next() * 3)]);
    const [a, b] = [lines(), lines()];
    const all = diffLines(a.join("\n"), b.join("\n"));
    assert.deepEqual(all.filter((line) => line.kind !== "added").map((line) => line.text), a);
    assert.deepEqual(all.filter((line) => line.kind !== "removed").map((line) => line.text), b);
  }
});

test("shows changes too large to compare as removed and added", () => {
  const count = Math.ceil(Math.sqrt(MAX_CELLS)) + 1;
  const lines = (/** @type {string} */ letter) => Array.from({ length: count }, (_, at) => `${letter}${at}`).join("\n");
  const shared = (/** @type {string} */ letter) => `${lines(letter)}\nshared\n${letter}`;
  const kinds = diffLines(shared("a"), shared("b")).map((line) => line.kind);
  assert.deepEqual(kinds, [...Array(count + 2).fill("removed"), ...Array(count + 2).fill("added")]);
});

test("omits lines far from a change", () => {
  const lines = Array.from({ length: 20 }, (_, at) => `${at}`);
  const changed = lines.with(10, "new");
  const shown = withGaps(diffLines(lines.join("\n"), changed.join("\n")));
  assert.deepEqual(shown[0], { kind: "gap", lines: 7 });
  assert.deepEqual(shown.slice(1, -1).map((line) => (line.kind === "gap" ? "" : line.text)), ["7", "8", "9", "10", "new", "11", "12", "13"]);
  assert.deepEqual(shown.at(-1), { kind: "gap", lines: 6 });
  assert.deepEqual(withGaps(diffLines("a\nb", "a\nb")), [{ kind: "gap", lines: 2 }]);
});
