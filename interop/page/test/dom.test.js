import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "../../../examples/gateway/page/dom.js";

test("control characters and changes of direction are shown", () => {
  assert.equal(visible("rm -rf \u202e txt.exe"), "rm -rf [U+202E] txt.exe");
  assert.equal(visible("Read\r\u001b[2K\u007f\u0085"), "Read\u240d\u241b[2K\u2421[U+0085]");
  assert.equal(visible("\u2066\u200f\u061c"), "[U+2066][U+200F][U+061C]");
});

test("characters without a width are shown", () => {
  assert.equal(visible("git\u200b status\ufeff\u2028\u2060"), "git[U+200B] status[U+FEFF][U+2028][U+2060]");
  assert.equal(visible("ls\u{e0072}\u{e006d}"), "ls[U+E0072][U+E006D]");
});

test("letters of all scripts, tabs and lines stay", () => {
  const text = "Read\tשלום — naïve 文字 👩‍💻\nnext";
  assert.equal(visible(text), text);
});
