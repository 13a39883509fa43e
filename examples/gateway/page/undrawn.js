/** Cards with changes that the page does not show yet. */

/**
 * @typedef {object} Drawn
 * @property {Element} element
 * @property {() => void} draw Shows all changes.
 */

/** Draws cards once after many changes, and those outside of the page when they are in it. */
export class Undrawn {
  /** @type {Set<Drawn>} */
  #cards = new Set();
  #isScheduled = false;
  #failed;

  /** @param {(error: unknown) => void} failed Called for a card that could not be drawn. */
  constructor(failed) {
    this.#failed = failed;
  }

  clear() {
    this.#cards.clear();
  }

  /** Draws a card with the next frame, or soon if the page is hidden, unless it is drawn before. @param {Drawn} card */
  add(card) {
    this.#cards.add(card);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (document.hidden) setTimeout(() => this.draw());
    else requestAnimationFrame(() => this.draw());
  }

  /** Draws the cards that are in the page. */
  draw() {
    this.#isScheduled = false;
    for (const card of this.#cards) {
      if (!card.element.isConnected) continue;
      this.#cards.delete(card);
      try {
        card.draw();
      } catch (error) {
        this.#failed(error);
      }
    }
  }
}
