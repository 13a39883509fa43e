import assert from "node:assert/strict";
import { test } from "node:test";
import { ChangeQueue } from "../../../examples/gateway/page/change-queue.js";

/** @import { Change } from "../../../examples/gateway/page/reduce.js" */

/** @param {string} name @returns {Change} */
const change = (name) => ({ kind: "custom", name, value: null });

/** Shows changes, of which one cannot be shown, in frames that are run here. */
function queue() {
  /** @type {(() => void)[]} */
  const frames = [];
  const page = /** @type {any} */ (globalThis);
  page.document = { hidden: false };
  page.requestAnimationFrame = (/** @type {() => void} */ frame) => frames.push(frame);
  /** @type {string[]} */
  const shown = [];
  /** @type {unknown[]} */
  const failures = [];
  const show = (/** @type {any} */ { name }) => {
    if (name === "poison") throw new Error("a display that fails");
    shown.push(name);
  };
  const changes = new ChangeQueue({ show, failed: (error) => failures.push(error), shown: () => {} });
  return { changes, frames, shown, failures };
}

test("a change that cannot be shown is reported once, and the others follow in order", () => {
  const { changes, frames, shown, failures } = queue();
  changes.add(["a", "poison", "b"].map(change));
  while (frames.length > 0) frames.shift()?.();
  assert.deepEqual(shown, ["a", "b"]);
  assert.deepEqual(failures.map(String), ["Error: a display that fails"]);
  changes.add([change("c")]);
  while (frames.length > 0) frames.shift()?.();
  assert.deepEqual([shown.at(-1), failures.length], ["c", 1]);
});

test("showing all at once passes a change that cannot be shown", () => {
  const { changes, shown, failures } = queue();
  changes.add(["poison", "a", "poison", "b"].map(change));
  changes.flush();
  assert.deepEqual([shown, failures.length], [["a", "b"], 2]);
});

test("changes that tasks show are not shown by a frame as well", async () => {
  const { changes, frames, shown } = queue();
  const names = Array.from({ length: 2_000 }, (_, at) => String(at));
  changes.add(names.map(change));
  const rest = changes.rest();
  for (const frame of frames.splice(0)) frame();
  assert.deepEqual(shown, [], "the frame lays out only");
  await rest;
  assert.deepEqual(shown, names);
  changes.add([change("next")]);
  for (const frame of frames.splice(0)) frame();
  assert.equal(shown.at(-1), "next");
});

test("waiting changes are shown before the end, in another task", async () => {
  const { changes, shown } = queue();
  changes.add(["a", "b"].map(change));
  const drained = changes.drain();
  assert.deepEqual(shown, []);
  await drained;
  assert.deepEqual(shown, ["a", "b"]);
});
