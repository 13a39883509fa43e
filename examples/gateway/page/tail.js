/** A growing list with its end in the page. Earlier items are added to the page on demand. */

import { button, focus } from "./dom.js";

/** Number of items that are added to the page at once. */
const STEP = 50;

/** Maximum number of items in the page. */
const MOST = 2 * STEP;

/**
 * @typedef {object} TailParts
 * @property {import("./scroller.js").Scroller} scroller
 * @property {import("./announcer.js").Announcer} announcer
 */

/**
 * A list of items with one element each.
 *
 * @template {{element: HTMLElement}} T
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

  /** Items that are not in the page. */
  get before() {
    return this.#before;
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
    const from = Math.max(0, items.length - STEP);
    this.#before = items.slice(0, from);
    this.#shown = [];
    for (const item of items.slice(from)) this.add(item);
    this.#showCount();
  }

  /** Removes the oldest items from the page if it has too many and none has the focus. They return unchanged. */
  trim() {
    if (this.#shown.length <= MOST) return;
    const leaving = this.#shown.slice(0, -STEP);
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
      const items = this.#before.splice(-STEP);
      this.#earlier.before(...items.map((item) => item.element));
      this.#shown.unshift(...items);
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
