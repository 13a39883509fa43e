/** A conversation: its messages, as AG-UI writes them. */

import { newId } from "./ids.js";
import { draftOf } from "./user-content.js";

/**
 * @typedef {object} ToolCall
 * @property {string} id
 * @property {"function"} type
 * @property {{name: string, arguments: string}} function
 * @property {Record<string, unknown>} [metadata]
 */

/**
 * A message in the protocol's form, without other members.
 *
 * @typedef {object} Message
 * @property {string} id
 * @property {string} role `user`, `assistant`, `tool`, `reasoning`, `activity`, `system` or `developer`.
 * @property {any} [content] Text, parts of a message, or the object of an activity.
 * @property {string} [name]
 * @property {ToolCall[]} [toolCalls]
 * @property {string} [toolCallId]
 * @property {string} [error] The error of a tool's result.
 * @property {string} [activityType]
 * @property {string} [subagentRunId] The subagent of the message.
 * @property {Record<string, unknown>} [metadata]
 */

/** Maximum size of the messages of a request, in characters. The gateway accepts requests of 4 MiB. */
const MAX_HISTORY = 4 * 1024 * 1024 - 64 * 1024;

/** The messages of a thread in order, and the state that its runs share. */
export class Thread {
  /** @type {Message[]} */
  messages = [];
  /** The application state, any JSON. @type {unknown} */
  state;
  /** Names of the steps that are open in this run. @type {Set<string>} */
  open = new Set();
  /** The id of a removed message, which the message in its place gets: the gateway and the agent see that it was changed. @type {string | null} */
  #nextId;
  /** @type {Map<string, Message>} */
  #byId = new Map();
  /** @type {Map<string, {owner: Message, call: ToolCall}>} */
  #calls = new Map();

  /**
   * @param {string} id
   * @param {Pick<import("./store.js").Held, "messages" | "state" | "nextId" | "branchOf"> | null} [held] Its content so far.
   */
  constructor(id, held = null) {
    this.id = id;
    this.state = held?.state ?? {};
    this.#nextId = held?.nextId ?? null;
    /** The thread that this one branches off from, until the agent has answered here. */
    this.branchOf = held?.branchOf ?? null;
    this.replaceAll(held?.messages ?? []);
  }

  /** The parts that a reload keeps. */
  get held() {
    return { threadId: this.id, messages: this.messages, state: this.state, nextId: this.#nextId, branchOf: this.branchOf };
  }

  /** The texts of the user's messages. */
  get prompts() {
    return this.messages.filter(({ role }) => role === "user").map(({ content }) => draftOf(content).text).filter((text) => text !== "");
  }

  /** Whether the agent may have a session for the thread. */
  get hasBegun() {
    return this.messages.length > 0;
  }

  /** @param {string} messageId */
  find(messageId) {
    return this.#byId.get(messageId);
  }

  /** @param {string} toolCallId */
  findCall(toolCallId) {
    return this.#calls.get(toolCallId);
  }

  /**
   * Whether a call has its result.
   *
   * @param {string} toolCallId
   */
  isAnswered(toolCallId) {
    return this.messages.some((message) => message.role === "tool" && message.toolCallId === toolCallId);
  }

  /** @param {Message} message */
  add(message) {
    this.messages.push(message);
    this.#index(message);
  }

  /**
   * @param {Message} owner A message of this thread.
   * @param {ToolCall} call
   */
  addCall(owner, call) {
    (owner.toolCalls ??= []).push(call);
    this.#calls.set(call.id, { owner, call });
  }

  /**
   * Inserts a tool's result after the message with the call and the results already there.
   *
   * @param {Message} answer A message of role `tool`.
   */
  addAnswer(answer) {
    const owner = this.#calls.get(answer.toolCallId ?? "")?.owner;
    if (owner === undefined) {
      this.add(answer);
      return;
    }
    let at = this.messages.lastIndexOf(owner) + 1;
    while (this.messages[at]?.role === "tool") at += 1;
    this.messages.splice(at, 0, answer);
    this.#index(answer);
  }

  /**
   * Adds a message of the user.
   *
   * @param {any} content
   */
  say(content) {
    const message = { id: this.#nextId ?? newId("user"), role: "user", content };
    this.#nextId = null;
    this.add(message);
    return message;
  }

  /**
   * Removes a message that never reached the agent.
   *
   * @param {Message} message
   */
  remove(message) {
    this.messages = this.messages.filter((held) => held !== message);
    this.#byId.delete(message.id);
    this.#nextId = message.id;
  }

  /**
   * The messages from one to the next one of the user.
   *
   * @param {Message} message A message of the user.
   */
  turnOf(message) {
    const from = this.messages.slice(this.messages.indexOf(message));
    const next = from.findIndex(({ role }, at) => at > 0 && role === "user");
    return next === -1 ? from : from.slice(0, next);
  }

  /**
   * The messages up to the end of a turn; all without a message that was withdrawn.
   *
   * @param {Message} message The message of the user.
   */
  upTo(message) {
    const at = this.messages.indexOf(message);
    return at === -1 ? [...this.messages] : this.messages.slice(0, at + this.turnOf(message).length);
  }

  /**
   * Removes a message and those after it.
   *
   * @param {Message} message
   * @returns {Message[]} The removed messages.
   */
  cut(message) {
    const at = this.messages.indexOf(message);
    if (at === -1) return [];
    this.#nextId = message.id;
    const removed = this.messages.slice(at);
    this.replaceAll(this.messages.slice(0, at));
    return removed;
  }

  /** @param {Message[]} messages */
  replaceAll(messages) {
    this.messages = messages;
    this.#byId.clear();
    this.#calls.clear();
    for (const message of messages) this.#index(message);
  }

  /**
   * Whether a request can have a further message.
   *
   * @param {any} content
   */
  hasRoomFor(content) {
    return JSON.stringify([...this.history(), content]).length <= MAX_HISTORY;
  }

  /** The messages for a run's input: all except activities. */
  history() {
    return this.messages.filter((message) => message.role !== "activity");
  }

  /** @param {Message} message */
  #index(message) {
    this.#byId.set(message.id, message);
    for (const call of message.toolCalls ?? []) this.#calls.set(call.id, { owner: message, call });
  }
}
