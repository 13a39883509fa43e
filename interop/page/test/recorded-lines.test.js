import assert from "node:assert/strict";
import test from "node:test";
import { RecordedLines } from "../../../examples/gateway/page/recorded-lines.js";

/** A storage in memory with a limit of entries. */
function storage(limit = Infinity) {
  const held = new Map();
  return {
    held,
    getItem: (key) => held.get(key) ?? null,
    removeItem: (key) => held.delete(key),
    setItem(key, value) {
      if (!held.has(key) && held.size >= limit) throw new DOMException("full", "QuotaExceededError");
      held.set(key, value);
    },
  };
}

test("lines are kept by conversation and message", () => {
  const kept = storage();
  new RecordedLines("a", kept).set("m", { text: "Done" });
  new RecordedLines("b", kept).set("m", { text: "Stopped", state: "is-stopped" });
  assert.deepEqual(new RecordedLines("a", kept).get("m"), { text: "Done" });
  assert.deepEqual(new RecordedLines("b", kept).get("m"), { text: "Stopped", state: "is-stopped" });
  assert.equal(new RecordedLines("a", kept).get("n"), null);
});

test("the number of conversations and of lines is bounded", () => {
  const kept = storage();
  for (let at = 0; at < 120; at += 1) new RecordedLines(`t${at}`, kept).set("m", { text: `${at}` });
  assert.equal(kept.held.size, 51, "50 conversations and their list");
  assert.equal(new RecordedLines("t69", kept).get("m"), null);
  assert.deepEqual(new RecordedLines("t70", kept).get("m"), { text: "70" });
  const long = new RecordedLines("long", kept);
  for (let at = 0; at < 600; at += 1) long.set(`m${at}`, { text: `${at}` });
  assert.equal(new RecordedLines("long", kept).get("m99"), null);
  assert.deepEqual(new RecordedLines("long", kept).get("m100"), { text: "100" });
});

test("a full storage and invalid entries change nothing else", () => {
  const full = storage(0);
  const lines = new RecordedLines("a", full);
  lines.set("m", { text: "Done" });
  assert.deepEqual(lines.get("m"), { text: "Done" });
  const broken = storage();
  for (const value of ["{", "1", "null", '{"a":1}']) {
    broken.setItem("spanwire.lines", value);
    broken.setItem("spanwire.lines.a", value);
    new RecordedLines("a", broken).set("m", { text: "Done" });
    assert.deepEqual(new RecordedLines("a", broken).get("m"), { text: "Done" });
  }
});
