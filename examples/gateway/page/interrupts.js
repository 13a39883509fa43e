/** The interrupts of a conversation's last run, with their answers so far. */

import { resumeEntry, sessionOf } from "./questions.js";

/** @import { Answer } from "./questions.js" */

/** Interrupts for the next run to answer. */
export class Interrupts {
  /** @type {any[]} */
  #open = [];
  /** @type {Map<string, Answer>} */
  #answers = new Map();

  /** @param {any[]} interrupts The interrupts of a run that has ended. */
  open(interrupts) {
    this.#open = interrupts;
    this.#answers.clear();
  }

  /** The interrupts that the next run answers. */
  get all() {
    return this.#open;
  }

  /** Whether the next run has an interrupt to answer. */
  get isOpen() {
    return this.#open.length > 0;
  }

  /**
   * @param {string} id
   * @returns {boolean} Whether the interrupt is open.
   */
  has(id) {
    return this.#open.some((interrupt) => interrupt.id === id);
  }

  /**
   * @param {string} id
   * @param {Answer} answer
   * @returns {boolean} Whether each interrupt has an answer.
   */
  answer(id, answer) {
    this.#answers.set(id, answer);
    return this.#open.every((interrupt) => this.#answers.has(interrupt.id));
  }

  /**
   * Returns the interrupts of a tool's session.
   *
   * @param {string} sessionId
   * @returns {string[]}
   */
  ofSession(sessionId) {
    return this.#open.filter((interrupt) => sessionOf(interrupt) === sessionId).map(({ id }) => id);
  }

  /**
   * Closes all interrupts; those without an answer are cancelled.
   *
   * @param {(id: string, answer: Answer) => void} resolved Called for each interrupt.
   * @returns {any[]} The entries of the next run's `resume`.
   */
  take(resolved) {
    const answers = this.#answers;
    const entries = this.#open.map(({ id }) => {
      const answer = answers.get(id) ?? { cancelled: /** @type {true} */ (true) };
      resolved(id, answer);
      return resumeEntry(id, answer);
    });
    this.open([]);
    return entries;
  }
}
