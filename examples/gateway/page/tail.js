/** A growing list with its end in the page. Earlier items are added to the page on demand. */

import { button, focus } from "./dom.js";

/** Number of items that are added to the page, or removed from it, at once. */
const STEP = 50;

/** Maximum number of items in the page. */
const MOST = 2 * STEP;

/** Maximum weight of the items that are added to the page at once, unless one alone has more. */
const MAX_WEIGHT = 100;

/**
 * @typedef {object} TailParts
 * @property {import("./scroller.js").Scroller} scroller
 * @property {import("./announcer.js").Announcer} announcer
 * @property {import("./undrawn.js").Undrawn} undrawn
 */

/**
 * A list of items with one element each. The weight of an item is about the number of its cards and texts.
 *
 * @template {{element: HTMLElement, weight?: number}} T
 */
export class Tail {
  #name;
  #append;
  #parts;
  /** Items before those in the page. @type {T[]} */
  #before = [];
  /** Items in the page. @type {T[]} */
  #shown = [];
  #earlier = button("", "secondary earlier", () => this.#showEarlier());

  /**
   * @param {string} name The plural name of the items.
   * @param {(element: HTMLElement) => void} append Adds the next element to the page.
   * @param {TailParts} parts
   */
  constructor(name, append, parts) {
    this.#name = name;
    this.#append = append;
    this.#parts = parts;
  }

  get length() {
    return this.#before.length + this.#shown.length;
  }

  /** @param {T} item */
  add(item) {
    this.#shown.push(item);
    this.#append(item.element);
  }

  /**
   * Removes an item in the page, and those after it.
   *
   * @param {(item: T) => boolean} isFirst
   */
  cut(isFirst) {
    const at = this.#shown.findIndex(isFirst);
    if (at === -1) return;
    for (const { element } of this.#shown.splice(at)) element.remove();
    this.#showCount();
  }

  /**
   * Replaces all items; the old elements are no longer in the page.
   *
   * @param {T[]} items
   */
  replaceAll(items) {
    const from = items.length - lastOf(items);
    this.#before = items.slice(0, from);
    this.#shown = [];
    for (const item of items.slice(from)) this.add(item);
    this.#showCount();
  }

  /**
   * Removes the oldest items from the page if it has too many and none has the focus: as few steps of items as possible, so that
   * it does not matter how many are added between two calls. They return unchanged.
   */
  trim() {
    if (this.#shown.length <= MOST) return;
    const leaving = this.#shown.slice(0, Math.ceil((this.#shown.length - MOST) / STEP) * STEP);
    if (leaving.some(({ element }) => element.contains(document.activeElement))) return;
    this.#shown.splice(0, leaving.length);
    for (const { element } of leaving) element.remove();
    for (const item of leaving) this.#before.push(item);
    this.#showCount();
  }

  #showCount() {
    const count = this.#before.length;
    this.#earlier.textContent = `Show earlier ${this.#name} (${count})`;
    if (count === 0) this.#earlier.remove();
    else this.#shown[0]?.element.before(this.#earlier);
  }

  #showEarlier() {
    this.#parts.scroller.hold(() => {
      const items = this.#before.splice(-lastOf(this.#before));
      this.#earlier.before(...items.map((item) => item.element));
      this.#shown.unshift(...items);
      this.#parts.undrawn.draw();
      this.#showCount();
      // The reader continues backwards from the last position.
      const last = items.at(-1)?.element;
      if (last === undefined) return;
      last.tabIndex = -1;
      focus(last);
      this.#parts.announcer.say(`${items.length} earlier ${this.#name} are shown.`);
    });
  }
}

/**
 * Returns the number of items at the end that are shown at once.
 *
 * @param {{weight?: number}[]} items
 */
function lastOf(items) {
  let weight = 0;
  const last = items.slice(-STEP).reverse();
  const over = last.findIndex((item) => (weight += item.weight ?? 1) > MAX_WEIGHT);
  return over === -1 ? last.length : Math.max(over, 1);
}
