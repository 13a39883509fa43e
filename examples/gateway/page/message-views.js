/** The elements of a conversation's messages: texts, thoughts, tool cards, terminals. */

import { mediaView } from "./view-media.js";
import { Terminals } from "./view-terminal.js";
import { TextView } from "./view-text.js";
import { ThoughtView } from "./view-thought.js";
import { ToolView } from "./view-tool.js";

/** @import { Message } from "./thread.js" */
/** @import { TurnView } from "./view-turn.js" */

/**
 * @typedef {object} MessageParts
 * @property {import("./announcer.js").Announcer} announcer
 * @property {import("./markdown.js").Markdown} markdown
 * @property {() => TurnView} currentTurn Returns the turn of new elements.
 * @property {(toolCallId: string) => void} buildFor Builds the earlier turn with a tool call.
 */

/** Elements by the ids of their messages. */
export class MessageViews {
  /** Whether the messages are not announced, because the conversation had them before. */
  areOld = false;
  #parts;
  /** Texts without an end. @type {Map<string, TextView | ThoughtView>} */
  #texts = new Map();
  /** @type {Map<string, ToolView>} */
  #tools = new Map();
  #terminals = new Terminals();

  /** @param {MessageParts} parts */
  constructor(parts) {
    this.#parts = parts;
  }

  clear() {
    for (const held of [this.#texts, this.#tools, this.#terminals]) held.clear();
  }

  /** Ends all texts. */
  endTexts() {
    for (const view of this.#texts.values()) view.end();
    this.#texts.clear();
  }

  /** Ends all texts and tool cards with their run. */
  endRun() {
    this.endTexts();
    for (const tool of this.#tools.values()) tool.endRun();
  }

  /**
   * @param {Message} message
   * @param {string} delta
   */
  showText(message, delta) {
    if (delta === "") return;
    const { announcer, markdown, currentTurn } = this.#parts;
    let view = this.#texts.get(message.id);
    if (view === undefined) {
      const thought = message.role === "reasoning";
      view = thought ? new ThoughtView(markdown) : new TextView(message.role === "user" ? "user-text" : "agent-text", markdown);
      this.#texts.set(message.id, view);
      currentTurn().add(view.element);
      if (thought && !this.areOld) announcer.say("The agent is thinking.");
    }
    view.append(delta);
    if (message.role !== "reasoning" && !this.areOld) announcer.stream(delta);
  }

  /** @param {Message} message */
  endText(message) {
    this.#texts.get(message.id)?.end();
    this.#texts.delete(message.id);
    this.#parts.announcer.flush();
  }

  /**
   * Returns the card of a tool call, if there is one.
   *
   * @param {string | undefined} toolCallId
   */
  findTool(toolCallId) {
    return this.#tools.get(toolCallId ?? "");
  }

  /**
   * Returns the card of a tool call; creates it in the current turn if it is missing.
   *
   * @param {string} toolCallId
   */
  tool(toolCallId) {
    const { buildFor, currentTurn } = this.#parts;
    if (!this.#tools.has(toolCallId)) buildFor(toolCallId);
    let tool = this.#tools.get(toolCallId);
    if (tool === undefined) {
      tool = new ToolView(toolCallId, this.#terminals);
      this.#tools.set(toolCallId, tool);
      currentTurn().add(tool.element);
    }
    return tool;
  }

  /** @param {string} toolCallId A call of which the card is no longer in the page. */
  forgetTool(toolCallId) {
    this.#tools.delete(toolCallId);
  }

  /** @param {Message} message A message of role `tool`. */
  showResult(message) {
    const tool = this.tool(message.toolCallId ?? message.id);
    tool.setResult(message.content, message.error !== undefined);
    if (!this.areOld) this.#parts.announcer.say(`${tool.title}: ${tool.statusName.toLowerCase()}.`);
  }

  /** @param {Message} message A message of role `activity`. */
  showActivity(message) {
    const turn = this.#parts.currentTurn;
    if (message.activityType === "PLAN") turn().updatePlan(message);
    else if (message.activityType === "acp.tool") this.tool(String(message.content.toolCallId ?? message.id)).update(message.content);
    else if (message.activityType === "acp.terminal") this.#terminals.update(message.content);
    else if (message.activityType === "acp.content") turn().add(mediaView(message.content.part));
  }

  /** @param {Message} message A complete message. */
  show(message) {
    if (message.role === "user") {
      this.#parts.currentTurn().addUser(message);
    } else if (message.role === "assistant" || message.role === "reasoning") {
      this.showText(message, typeof message.content === "string" ? message.content : "");
      this.endText(message);
      for (const call of message.toolCalls ?? []) {
        this.tool(call.id).start(call);
        this.tool(call.id).setArguments(call);
      }
    } else if (message.role === "tool") {
      this.showResult(message);
    } else if (message.role === "activity") {
      this.showActivity(message);
    }
  }
}
