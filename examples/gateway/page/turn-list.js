/** The turns of a conversation. Turns outside of the page are built on demand. */

import { Tail } from "./tail.js";
import { TurnView } from "./view-turn.js";

/** @import { TurnParts } from "./view-turn.js" */
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

  /**
   * Replaces all turns.
   *
   * @param {Message[]} messages
   * @returns {TurnView | null} The last turn, which may be active.
   */
  replaceAll(messages) {
    const turns = turnsOf(messages).map((said, at) => new OldTurn(said, () => new TurnView(at + 1, this.#parts, null), this.#build));
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
   * Builds the turn with a tool call, unless it is in the page.
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

  /** The user's message. */
  get message() {
    return this.#messages.find(({ role }) => role === "user") ?? null;
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
