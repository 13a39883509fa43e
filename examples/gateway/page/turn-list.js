/** The turns of a conversation; those that are not in the page are not built before they are to be. */

import { Tail } from "./tail.js";
import { TurnView } from "./view-turn.js";

/** @import { TailParts } from "./tail.js" */
/** @import { Message } from "./thread.js" */

/** @typedef {(turn: TurnView, messages: Message[]) => void} Build Shows messages in a turn. */

/** Turns, counted from 1. */
export class TurnList {
  #root;
  #build;
  #parts;
  /** @type {Tail<TurnView | OldTurn>} */
  #turns;

  /**
   * @param {Element} root
   * @param {Build} build
   * @param {TailParts} parts
   */
  constructor(root, build, parts) {
    this.#root = root;
    this.#build = build;
    this.#parts = parts;
    this.#turns = new Tail("turns", (element) => root.append(element), parts);
  }

  /** Adds a turn, which goes on. */
  open() {
    const turn = new TurnView(this.#turns.length + 1, this.#parts);
    this.#turns.add(turn);
    return turn;
  }

  /**
   * Puts turns in the place of all there are.
   *
   * @param {Message[]} messages
   * @returns {TurnView | null} The last one, which may go on.
   */
  replaceAll(messages) {
    const turns = turnsOf(messages).map((said, at) => new OldTurn(said, () => new TurnView(at + 1, this.#parts), this.#build));
    this.#root.replaceChildren();
    this.#turns.replaceAll(turns);
    const last = turns.at(-1);
    for (const turn of turns) if (turn !== last) turn.close();
    return last?.view ?? null;
  }

  trim() {
    this.#turns.trim();
  }

  /**
   * Builds the turn that is not in the page yet and has a call of a tool.
   *
   * @param {string} toolCallId
   */
  buildFor(toolCallId) {
    for (const turn of this.#turns.before) if (turn instanceof OldTurn && turn.calls(toolCallId)) return turn.view;
  }
}

/** A turn of which the messages are known. */
class OldTurn {
  #messages;
  #open;
  #build;
  /** @type {TurnView | null} */
  #view = null;
  #isOver = false;

  /**
   * @param {Message[]} messages
   * @param {() => TurnView} open
   * @param {Build} build
   */
  constructor(messages, open, build) {
    this.#messages = messages;
    this.#open = open;
    this.#build = build;
  }

  get view() {
    if (this.#view === null) {
      this.#view = this.#open();
      this.#build(this.#view, this.#messages);
      this.#view.trim();
      if (this.#isOver) this.#view.close();
    }
    return this.#view;
  }

  get element() {
    return this.view.element;
  }

  close() {
    this.#isOver = true;
    this.#view?.close();
  }

  /** @param {string} toolCallId */
  calls(toolCallId) {
    return this.#view === null && this.#messages.some(({ toolCalls = [] }) => toolCalls.some((call) => call.id === toolCallId));
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
