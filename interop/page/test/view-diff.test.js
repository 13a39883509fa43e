import assert from "node:assert/strict";
import { test } from "node:test";
import { plainChange } from "../../../examples/gateway/page/view-diff.js";

test("a plain change has the removed and the added lines", () => {
  const rows = [
    ["", "a\nb\n", "+a\n+b"],
    ["a\nb\n", "", "-a\n-b"],
    ["a\nb\nc\n", "a\nB\nc\n", "-b\n+B"],
    ["a\na\n", "a\n", "-a"],
    ["a", "a", ""],
  ];
  for (const [before, after, expected] of rows) assert.equal(plainChange(before, after), expected);
});
