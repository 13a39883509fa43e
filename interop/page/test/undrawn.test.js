// Cards with changes that are not shown yet.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Undrawn } from "../../../examples/gateway/page/undrawn.js";

/** A card that counts how often it is drawn. */
const card = (isConnected = true) => ({ element: { isConnected }, drawn: 0, draw() { this.drawn += 1; } });
const fail = (error) => assert.fail(String(error));

test("a card with many changes is drawn once, at the end of the task", async () => {
  const undrawn = new Undrawn(fail);
  const one = card();
  for (let change = 0; change < 3; change += 1) undrawn.add(one);
  assert.equal(one.drawn, 0);
  await null;
  assert.equal(one.drawn, 1);
  undrawn.add(one);
  undrawn.draw();
  assert.equal(one.drawn, 2);
  await null;
  assert.equal(one.drawn, 2);
});

test("a card outside of the page waits until it is in it", async () => {
  const undrawn = new Undrawn(fail);
  const [away, shown] = [card(false), card()];
  for (const one of [away, shown]) undrawn.add(one);
  await null;
  assert.deepEqual([away.drawn, shown.drawn], [0, 1]);
  away.element.isConnected = true;
  undrawn.draw();
  assert.deepEqual([away.drawn, shown.drawn], [1, 1]);
});

test("a card that cannot be drawn does not keep the others from being drawn", () => {
  const errors = [];
  const undrawn = new Undrawn((error) => errors.push(error.message));
  const broken = { element: { isConnected: true }, draw() { throw new Error("no"); } };
  const other = card();
  for (const one of [broken, other]) undrawn.add(one);
  undrawn.draw();
  assert.deepEqual(errors, ["no"]);
  assert.equal(other.drawn, 1);
});

test("cards of a conversation that is left are not drawn", async () => {
  const undrawn = new Undrawn(fail);
  const one = card();
  undrawn.add(one);
  undrawn.clear();
  await null;
  assert.equal(one.drawn, 0);
});
