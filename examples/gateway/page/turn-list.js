/** The turns of a conversation: the last ones are in the page, those before come into it when they are asked for. */

import { button, focus } from "./dom.js";
import { TurnView } from "./view-turn.js";

/** @import { Message } from "./thread.js" */

/** How many turns come into the page at once. */
const STEP = 50;

/** How many are in the page before the oldest leave it again. */
const MOST = 2 * STEP;

/**
 * @typedef {object} TurnListParts
 * @property {(turn: TurnView, messages: Message[]) => void} build Shows messages in a turn.
 * @property {import("./scroller.js").Scroller} scroller
 * @property {import("./announcer.js").Announcer} announcer
 */

/** Turns, counted from 1. */
export class TurnList {
  #root;
  #parts;
  /** Those before the ones in the page: as they were, or what they are to show. @type {(TurnView | Message[])[]} */
  #before = [];
  /** Those in the page. @type {TurnView[]} */
  #shown = [];
  #earlier = button("", "secondary earlier", () => this.#showEarlier());

  /**
   * @param {Element} root
   * @param {TurnListParts} parts
   */
  constructor(root, parts) {
    this.#root = root;
    this.#parts = parts;
  }

  /** Adds a turn, which goes on. */
  open() {
    const turn = new TurnView(this.#before.length + this.#shown.length + 1);
    this.#shown.push(turn);
    this.#root.append(turn.element);
    return turn;
  }

  /**
   * Puts turns in the place of all there are.
   *
   * @param {Message[]} messages
   * @returns {TurnView | null} The last one, which may go on.
   */
  replaceAll(messages) {
    this.#before = turnsOf(messages);
    this.#shown = [];
    this.#root.replaceChildren();
    const last = this.#take().at(-1) ?? null;
    for (const turn of this.#shown) if (turn !== last) turn.close();
    return last;
  }

  /** Takes turns out of the page when there are many; they come back as they were. */
  trim() {
    if (this.#shown.length <= MOST) return;
    const leaving = this.#shown.splice(0, this.#shown.length - STEP);
    for (const turn of leaving) turn.element.remove();
    this.#before.push(...leaving);
    this.#showCount();
  }

  /**
   * Builds the turn that is not in the page yet and has a call of a tool.
   *
   * @param {string} toolCallId
   */
  buildFor(toolCallId) {
    const has = (/** @type {Message} */ message) => message.toolCalls?.some((call) => call.id === toolCallId) ?? false;
    const at = this.#before.findIndex((turn) => Array.isArray(turn) && turn.some(has));
    if (at >= 0) this.#build(at);
  }

  /** @param {number} at */
  #build(at) {
    const built = this.#before[at];
    if (!Array.isArray(built)) return built;
    const turn = new TurnView(at + 1);
    this.#before[at] = turn;
    this.#parts.build(turn, built);
    return turn;
  }

  /** Brings the next earlier turns into the page. */
  #take() {
    const from = Math.max(0, this.#before.length - STEP);
    const turns = this.#before.slice(from).map((_, at) => this.#build(from + at));
    this.#before.length = from;
    this.#earlier.remove();
    this.#root.prepend(...turns.map((turn) => turn.element));
    this.#shown.unshift(...turns);
    this.#showCount();
    return turns;
  }

  #showCount() {
    const count = this.#before.length;
    this.#earlier.textContent = `Show earlier turns (${count})`;
    if (count === 0) this.#earlier.remove();
    else this.#root.prepend(this.#earlier);
  }

  #showEarlier() {
    this.#parts.scroller.hold(() => {
      const turns = this.#take();
      for (const turn of turns) turn.close();
      // The reader goes on backwards from where one was.
      const last = turns.at(-1)?.element;
      if (last === undefined) return;
      last.tabIndex = -1;
      focus(last);
      this.#parts.announcer.say(`${turns.length} earlier turns are shown.`);
    });
  }
}

/**
 * A turn begins with what the user says.
 *
 * @param {Message[]} messages
 */
function turnsOf(messages) {
  /** @type {Message[][]} */
  const turns = [];
  for (const message of messages) {
    const turn = turns.at(-1);
    if (message.role === "user" || turn === undefined) turns.push([message]);
    else turn.push(message);
  }
  return turns;
}
