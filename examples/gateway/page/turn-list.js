/** The turns of a conversation. Turns outside of the page are built on demand. */

import { callsIn } from "./old-steps.js";
import { Tail } from "./tail.js";
import { TurnView } from "./view-turn.js";

/** @import { TurnParts } from "./view-turn.js" */
/** @import { Message } from "./thread.js" */

/** Weight of a long turn. */
const MOST_OF_TURN = 100;

/** @typedef {(turn: TurnView, messages: Message[]) => void} Build Shows messages in a turn. */

/** Turns, counted from 1. */
export class TurnList {
  #root;
  #build;
  #parts;
  /** @type {Tail<TurnView | OldTurn>} */
  #turns;
  /** The turns of an earlier page by their tool calls. @type {Map<string, OldTurn>} */
  #turnOf = new Map();

  /**
   * @param {Element} root
   * @param {Build} build
   * @param {TurnParts} parts
   */
  constructor(root, build, parts) {
    this.#root = root;
    this.#build = build;
    this.#parts = parts;
    this.#turns = new Tail("turns", (element) => root.append(element), parts);
  }

  /** Adds an active turn. */
  open() {
    const turn = new TurnView(this.#turns.length + 1, this.#parts, performance.now());
    this.#turns.add(turn);
    return turn;
  }

  get isEmpty() {
    return this.#turns.length === 0;
  }

  /**
   * Replaces all turns.
   *
   * @param {Message[]} messages
   * @returns {TurnView | null} The last turn, which may be active.
   */
  replaceAll(messages) {
    const turns = turnsOf(messages).map((said, at) => new OldTurn(said, () => new TurnView(at + 1, this.#parts, null), this.#build));
    this.#turnOf = new Map();
    for (const turn of turns) for (const id of turn.calls) this.#turnOf.set(id, turn);
    for (const element of [this.#root, this.#parts.pinned]) element.replaceChildren();
    this.#turns.replaceAll(turns);
    const last = turns.at(-1);
    for (const turn of turns) if (turn !== last) turn.close();
    return last?.view ?? null;
  }

  /** @param {Message} message The user's message of the first turn to remove. */
  cut(message) {
    this.#turns.cut((turn) => turn.message === message);
  }

  trim() {
    this.#turns.trim();
  }

  /**
   * Builds the card of a tool call in a turn of an earlier page.
   *
   * @param {string} toolCallId
   */
  buildFor(toolCallId) {
    this.#turnOf.get(toolCallId)?.view.buildFor(toolCallId);
  }

  /** @param {string} toolCallId A call that was removed with its turn. */
  forget(toolCallId) {
    this.#turnOf.delete(toolCallId);
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
      if (this.#isOver) this.#view.close();
    }
    return this.#view;
  }

  get element() {
    return this.view.element;
  }

  /** A long turn shows its last steps only. */
  get weight() {
    return Math.min(this.#messages.length, MOST_OF_TURN);
  }

  /** The user's message. */
  get message() {
    return this.#messages.find(({ role }) => role === "user") ?? null;
  }

  close() {
    this.#isOver = true;
    this.#view?.close();
  }

  /** The ids of its tool calls. */
  get calls() {
    return callsIn(this.#messages);
  }
}

/**
 * Splits messages into turns. A turn starts with a message of the user.
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
