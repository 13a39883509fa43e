// Cards with changes that are not shown yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTask } from "node:timers/promises";
import { Undrawn } from "../../../examples/gateway/page/undrawn.js";

/** A card that counts how often it is drawn. */
const card = (isConnected = true) => ({ element: { isConnected }, drawn: 0, draw() { this.drawn += 1; } });
const fail = (error) => assert.fail(String(error));

/** Runs the frames of a page that is shown, and returns their number. */
function page({ hidden = false } = {}) {
  const frames = [];
  globalThis.document = { hidden };
  globalThis.requestAnimationFrame = (frame) => frames.push(frame);
  return () => frames.splice(0).map((frame) => frame()).length;
}

test("a card with many changes is drawn once, with the next frame", () => {
  const runFrames = page();
  const undrawn = new Undrawn(fail);
  const one = card();
  for (let change = 0; change < 3; change += 1) undrawn.add(one);
  assert.equal(one.drawn, 0);
  assert.equal(runFrames(), 1);
  assert.equal(one.drawn, 1);
  undrawn.add(one);
  undrawn.draw();
  assert.equal(one.drawn, 2);
  runFrames();
  assert.equal(one.drawn, 2);
});

test("a card of a hidden page, which has no frames, is drawn soon", async () => {
  const runFrames = page({ hidden: true });
  const undrawn = new Undrawn(fail);
  const one = card();
  undrawn.add(one);
  assert.equal(one.drawn, 0);
  for (let task = 0; task < 1_000 && one.drawn === 0; task += 1) await nextTask();
  assert.deepEqual([one.drawn, runFrames()], [1, 0]);
});

test("a card outside of the page waits until it is in it", () => {
  const runFrames = page();
  const undrawn = new Undrawn(fail);
  const [away, shown] = [card(false), card()];
  for (const one of [away, shown]) undrawn.add(one);
  runFrames();
  assert.deepEqual([away.drawn, shown.drawn], [0, 1]);
  away.element.isConnected = true;
  undrawn.draw();
  assert.deepEqual([away.drawn, shown.drawn], [1, 1]);
});

test("a card that cannot be drawn does not keep the others from being drawn", () => {
  const runFrames = page();
  const errors = [];
  const undrawn = new Undrawn((error) => errors.push(error.message));
  const broken = { element: { isConnected: true }, draw() { throw new Error("no"); } };
  const other = card();
  for (const one of [broken, other]) undrawn.add(one);
  runFrames();
  assert.deepEqual(errors, ["no"]);
  assert.equal(other.drawn, 1);
});

test("cards of a conversation that is left are not drawn", () => {
  const runFrames = page();
  const undrawn = new Undrawn(fail);
  const one = card();
  undrawn.add(one);
  undrawn.clear();
  runFrames();
  assert.equal(one.drawn, 0);
});
