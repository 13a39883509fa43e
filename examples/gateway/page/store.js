/** The conversation of this tab, kept over a reload of the page. */

/** @import { Message } from "./thread.js" */

const KEY = "spanwire.conversation.2";

/**
 * A conversation at the start or the end of its last run.
 *
 * @typedef {object} Held
 * @property {string} threadId
 * @property {Message[]} messages
 * @property {any} state
 * @property {any[]} interrupts
 * @property {string[]} pending Calls of the page's tools without a result.
 * @property {string | null} agent
 * @property {string | null} title
 * @property {string | null} runId The active run.
 * @property {string[]} [runs] The runs of the last turn.
 * @property {string | null} [nextId] The id of the next message of the user, if it replaces a removed one.
 * @property {string | null} [branchOf] The conversation that this one branches off from.
 * @property {boolean} [isAtGateway] Whether the messages are at the gateway, and not here.
 */

/**
 * Stores a conversation, unless it is too large for the browser.
 *
 * @param {Held} held
 * @param {Storage} [storage]
 */
export function keep(held, storage = sessionStorage) {
  try {
    storage.setItem(KEY, JSON.stringify(held));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    storage.removeItem(KEY);
  }
}

/**
 * @param {Storage} [storage]
 * @returns {Held | null}
 */
export function held(storage = sessionStorage) {
  const text = storage.getItem(KEY);
  return text === null ? null : JSON.parse(text);
}

/** Forgets what is known of agents. @param {Storage} [storage] */
export function forgetAgents(storage = localStorage) {
  for (const key of Object.keys(storage)) if (key.startsWith("spanwire.")) storage.removeItem(key);
}

/** @param {Storage} [storage] */
export function forget(storage = sessionStorage) {
  storage.removeItem(KEY);
}
