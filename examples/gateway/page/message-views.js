/** The elements of a conversation's messages: texts, thoughts, tool cards, terminals. */

import { parentIn } from "./old-steps.js";
import { SUBAGENT } from "./subagents.js";
import { mediaView } from "./view-media.js";
import { SubagentView } from "./view-subagent.js";
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
 * @property {import("./recorded-lines.js").RecordedLines} lines
 * @property {import("./undrawn.js").Undrawn} undrawn
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
  #terminals;
  /** @type {Map<string, SubagentView>} */
  #subagents = new Map();

  /** @param {MessageParts} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#terminals = new Terminals(parts.markdown);
  }

  clear() {
    for (const held of [this.#texts, this.#tools, this.#terminals, this.#subagents]) held.clear();
  }

  /** Ends all texts. */
  endTexts() {
    for (const view of this.#texts.values()) view.end();
    this.#texts.clear();
  }

  /** Ends all texts, tool cards and subagents with their run. */
  endRun() {
    this.endTexts();
    for (const view of this.#subagents.values()) view.endRun();
    for (const { facts } of this.#tools.values()) facts.endRun();
  }

  /**
   * @param {Message} message
   * @param {string} delta
   */
  showText(message, delta) {
    if (delta === "") return;
    const { announcer, lines, markdown } = this.#parts;
    let view = this.#texts.get(message.id);
    if (view === undefined) {
      const thought = message.role === "reasoning";
      view = thought ? new ThoughtView(markdown, (line) => lines.set(message.id, { text: line })) : new TextView(message.role === "user" ? "user-text" : "agent-text", markdown);
      this.#texts.set(message.id, view);
      const above = this.findTool(parentIn(message.metadata));
      if (above === undefined) this.#placeOf(message.subagentRunId).add(view.element);
      else above.note(view.element);
      if (thought && !this.areOld) announcer.say("The agent is thinking.");
    }
    view.append(delta);
    if (message.role !== "reasoning" && !this.areOld) announcer.stream(delta);
  }

  /** @param {Message} message */
  endText(message) {
    const view = this.#texts.get(message.id);
    if (view instanceof ThoughtView && this.areOld) view.endEarlier(this.#parts.lines.get(message.id)?.text);
    else view?.end();
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
   * Returns the card of a tool call; creates it in the current turn, or in its subagent, if it is missing.
   *
   * @param {string} toolCallId
   * @param {Message} [owner] The message of the call.
   */
  tool(toolCallId, owner) {
    const { buildFor, markdown, undrawn } = this.#parts;
    if (!this.#tools.has(toolCallId)) buildFor(toolCallId);
    let tool = this.#tools.get(toolCallId);
    if (tool === undefined) {
      tool = new ToolView(toolCallId, { terminals: this.#terminals, markdown, undrawn });
      this.#tools.set(toolCallId, tool);
      const parent = parentOf(owner, toolCallId);
      const above = parent === toolCallId ? undefined : this.findTool(parent);
      if (above === undefined) this.#placeOf(owner?.subagentRunId).add(tool.element);
      else above.note(tool.element);
    }
    return tool;
  }

  /** @param {string} toolCallId A call of which the card is no longer in the page. */
  forget(toolCallId) {
    this.#tools.delete(toolCallId);
  }

  /** @param {Message} message A message of role `tool`. */
  showResult(message) {
    const { facts } = this.tool(message.toolCallId ?? message.id);
    facts.setResult(message.content, message.error !== undefined);
    if (!this.areOld) this.#parts.announcer.say(`${facts.title}: ${facts.statusName.toLowerCase()}.`);
  }

  /**
   * Returns the place of a subagent's steps, or the current turn.
   *
   * @param {string | undefined} subagentRunId
   */
  #placeOf(subagentRunId) {
    return subagentRunId === undefined ? this.#parts.currentTurn() : this.#subagent(subagentRunId, {});
  }

  /**
   * Returns the view of a subagent; creates it if it is missing.
   *
   * @param {string} subagentRunId
   * @param {{parentToolCallId?: string, parentSubagentRunId?: string}} content
   */
  #subagent(subagentRunId, { parentToolCallId, parentSubagentRunId }) {
    let view = this.#subagents.get(subagentRunId);
    if (view === undefined) {
      view = new SubagentView();
      this.#subagents.set(subagentRunId, view);
      const tool = this.findTool(parentToolCallId);
      if (tool === undefined) this.#placeOf(parentSubagentRunId === subagentRunId ? undefined : parentSubagentRunId).add(view.element);
      else tool.note(view.element);
    }
    return view;
  }

  /** @param {any} content The content of a `subagent` activity. */
  #showSubagent(content) {
    const isNew = !this.#subagents.has(content.subagentRunId);
    this.#subagent(content.subagentRunId, content).update(content);
    if (this.areOld || (content.status === "running" && !isNew)) return;
    this.#parts.announcer.say(`Subagent ${content.name}: ${content.status === "running" ? "working" : content.status}.`);
  }

  /** @param {Message} message A message of role `activity`. */
  showActivity(message) {
    const turn = this.#parts.currentTurn;
    if (message.activityType === "PLAN") turn().updatePlan(message);
    else if (message.activityType === "acp.tool") this.tool(String(message.content.toolCallId ?? message.id)).facts.update(message.content);
    else if (message.activityType === "acp.terminal") this.#terminals.update(message.content);
    else if (message.activityType === "acp.content") this.#placeOf(message.subagentRunId).add(mediaView(message.content.part));
    else if (message.activityType === SUBAGENT) this.#showSubagent(message.content);
  }

  /** @param {Message} message A complete message. */
  show(message) {
    if (message.role === "user") {
      this.#parts.currentTurn().addUser(message);
    } else if (message.role === "assistant" || message.role === "reasoning") {
      this.showText(message, typeof message.content === "string" ? message.content : "");
      this.endText(message);
      for (const call of message.toolCalls ?? []) {
        const { facts } = this.tool(call.id, message);
        facts.start(call);
        facts.setArguments(call);
      }
    } else if (message.role === "tool") {
      this.showResult(message);
    } else if (message.role === "activity") {
      this.showActivity(message);
    }
  }
}

/**
 * Returns the call of the tool that made a call, if the agent reports it.
 *
 * @param {Message | undefined} owner
 * @param {string} toolCallId
 */
function parentOf(owner, toolCallId) {
  return parentIn(owner?.toolCalls?.find(({ id }) => id === toolCallId)?.metadata);
}
