/** The conversation on the page. It applies changes by adding elements. */

import { focus } from "./dom.js";
import { mediaView } from "./view-media.js";
import { fromCustom } from "./questions.js";
import { FormView } from "./view-form.js";
import { decisionView, PermissionView } from "./view-permission.js";
import { noticeView } from "./view-notice.js";
import { Terminals } from "./view-terminal.js";
import { TextView } from "./view-text.js";
import { ThoughtView } from "./view-thought.js";
import { ToolView } from "./view-tool.js";
import { TurnList } from "./turn-list.js";

/** @import { Announcer } from "./announcer.js" */
/** @import { Answer, Question } from "./questions.js" */
/** @import { Change } from "./reduce.js" */
/** @import { Message, Thread } from "./thread.js" */
/** @import { TurnView } from "./view-turn.js" */

/**
 * @typedef {object} TranscriptParts
 * @property {Thread} thread The thread to show after a reset.
 * @property {import("./scroller.js").Scroller} scroller
 * @property {Announcer} announcer
 * @property {import("./markdown.js").Markdown} markdown
 * @property {(interruptId: string, answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
 * @property {() => boolean} mayTakeFocus Whether a question may take the keyboard's focus.
 * @property {() => void} returnFocus Called when the focused question is removed.
 */

/** All turns of a thread. */
export class Transcript {
  #parts;
  #turns;
  /** Whether old messages are being shown. */
  #isOld = false;
  /** @type {TurnView | null} */
  #turn = null;
  /** @type {Map<string, TextView | ThoughtView>} */
  #texts = new Map();
  /** @type {Map<string, ToolView>} */
  #tools = new Map();
  #terminals = new Terminals();
  /** Open questions with their tool cards. @type {Map<string, {view: PermissionView | FormView, tool?: ToolView}>} */
  #questions = new Map();
  /** Changes that the next frame shows. @type {Change[]} */
  #waiting = [];
  #scheduled = false;

  /**
   * @param {Element} root
   * @param {TranscriptParts} parts
   */
  constructor(root, parts) {
    this.#parts = parts;
    const { scroller, announcer } = parts;
    this.#turns = new TurnList(root, (turn, messages) => this.#build(turn, messages), { scroller, announcer });
  }

  /** @param {Message} message What the user said. */
  startTurn(message) {
    this.flush();
    this.#turn?.settle();
    this.#openTurn().addUser(message);
    this.#turns.trim();
    this.#parts.scroller.toEnd();
  }

  /** Continues the last turn: its message is sent again. */
  continueTurn() {
    this.flush();
    this.#turn?.reopen();
    this.#parts.scroller.toEnd();
  }

  /**
   * Shows the whole thread.
   *
   * @param {boolean} running Whether its last turn is active.
   */
  restore(running) {
    this.#showAgain();
    if (!running) this.#turn?.close();
    this.#parts.scroller.toEnd();
  }

  /** @param {boolean} lost Whether the connection to the run broke. */
  setConnection(lost) {
    this.#turn?.setConnection(lost);
  }

  /**
   * @param {import("./run.js").RunEnd} end
   * @param {(() => void) | null} retry
   * @param {HTMLElement | null} [next] The next step of the user, instead of the failure.
   */
  endTurn(end, retry, next = null) {
    this.flush();
    for (const view of this.#texts.values()) view.end();
    this.#texts.clear();
    for (const tool of this.#tools.values()) tool.endRun();
    for (const id of [...this.#questions.keys()]) this.resolve(id, { cancelled: true });
    this.#turn?.end(end, retry, next);
    this.#parts.scroller.follow();
  }

  /**
   * Shows the questions of an interrupted run; their answers continue the turn.
   *
   * @param {Question[]} questions
   */
  suspendTurn(questions) {
    this.flush();
    for (const view of this.#texts.values()) view.end();
    this.#texts.clear();
    for (const question of questions) this.#ask(question);
    this.#parts.scroller.follow();
  }

  /**
   * Shows the question of a tool of the page.
   *
   * @param {string} toolCallId
   * @param {HTMLElement} question
   */
  askForTool(toolCallId, question) {
    const tool = this.#tool(toolCallId);
    tool.ask(question);
    this.#currentTurn.setAsking(true);
    this.#parts.scroller.follow();
    this.#parts.announcer.say(`The agent asks: ${question.getAttribute("aria-label") ?? tool.title}`);
    if (this.#parts.mayTakeFocus()) focus(question);
  }

  /**
   * Shows the result of a tool of the page.
   *
   * @param {Message} message A message of role `tool`.
   */
  answerForTool(message) {
    const tool = this.#tool(message.toolCallId ?? message.id);
    const focused = tool.element.contains(document.activeElement);
    tool.setAsking(false);
    this.#showResult(message);
    this.#turn?.setAsking(false);
    if (focused) this.#parts.returnFocus();
  }

  /**
   * Shows changes with the next frame, or soon if the page is hidden.
   *
   * @param {Change[]} changes
   */
  enqueue(changes) {
    for (const change of changes) {
      const last = this.#waiting.at(-1);
      if (change.kind === "text" && last?.kind === "text" && last.message === change.message) last.delta += change.delta;
      else this.#waiting.push(change);
    }
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    if (document.hidden) setTimeout(() => this.flush());
    else requestAnimationFrame(() => this.flush());
  }

  /** Shows all waiting changes at once. */
  flush() {
    this.#scheduled = false;
    if (this.#waiting.length === 0) return;
    const changes = this.#waiting;
    this.#waiting = [];
    for (const change of changes) this.#show(change);
    if (this.#parts.scroller.isFollowing) this.#turn?.trim();
    this.#parts.scroller.follow();
  }

  #openTurn() {
    this.#turn = this.#turns.open();
    return this.#turn;
  }

  get #currentTurn() {
    return this.#turn ?? this.#openTurn();
  }

  /** @param {Change} change */
  #show(change) {
    switch (change.kind) {
      case "text":
        return this.#showText(change.message, change.delta);
      case "message-end":
        return this.#endText(change.message);
      case "tool-call":
        return this.#tool(change.call.id).start(change.call);
      case "tool-arguments":
        return this.#tool(change.call.id).setArguments(change.call);
      case "tool-result":
        return this.#showResult(change.message);
      case "activity":
        return this.#showActivity(change.message);
      case "custom":
        return this.#showCustom(change.name, change.value);
      case "reset":
        return this.#showAgain();
    }
  }

  /**
   * @param {Message} message
   * @param {string} delta
   */
  #showText(message, delta) {
    if (delta === "") return;
    let view = this.#texts.get(message.id);
    if (view === undefined) {
      const thought = message.role === "reasoning";
      const { markdown } = this.#parts;
      view = thought ? new ThoughtView(markdown) : new TextView(message.role === "user" ? "user-text" : "agent-text", markdown);
      this.#texts.set(message.id, view);
      this.#currentTurn.add(view.element);
      if (thought && !this.#isOld) this.#parts.announcer.say("The agent is thinking.");
    }
    view.append(delta);
    if (message.role !== "reasoning" && !this.#isOld) this.#parts.announcer.stream(delta);
  }

  /** @param {Message} message */
  #endText(message) {
    this.#texts.get(message.id)?.end();
    this.#texts.delete(message.id);
    this.#parts.announcer.flush();
  }

  /** @param {string} toolCallId */
  #tool(toolCallId) {
    if (!this.#tools.has(toolCallId)) this.#turns.buildFor(toolCallId);
    let tool = this.#tools.get(toolCallId);
    if (tool === undefined) {
      tool = new ToolView(toolCallId, this.#terminals);
      this.#tools.set(toolCallId, tool);
      this.#currentTurn.add(tool.element);
    }
    return tool;
  }

  /** @param {Message} message A message of role `tool`. */
  #showResult(message) {
    const tool = this.#tool(message.toolCallId ?? message.id);
    tool.setResult(message.content, message.error !== undefined);
    if (!this.#isOld) this.#parts.announcer.say(`${tool.title}: ${tool.statusName.toLowerCase()}.`);
  }

  /** @param {Message} message A message of role `activity`. */
  #showActivity(message) {
    if (message.activityType === "PLAN") this.#currentTurn.updatePlan(message);
    else if (message.activityType === "acp.tool") this.#tool(String(message.content.toolCallId ?? message.id)).update(message.content);
    else if (message.activityType === "acp.terminal") this.#terminals.update(message.content);
    else if (message.activityType === "acp.content") this.#currentTurn.add(mediaView(message.content.part));
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  #showCustom(name, value) {
    if (name === "acp.permission.requested" || name === "acp.elicitation.requested") this.#ask(fromCustom(value));
    else if (name === "acp.permission.resolved") this.resolve(value?.interruptId, value?.outcome === "selected" ? { optionId: value.optionId } : { cancelled: true });
    else if (name === "acp.elicitation.resolved") this.resolve(value?.interruptId, value?.action === "cancel" ? { cancelled: true } : { action: value?.action });
    else if (name === "acp.permission") this.#tool(String(value?.toolCallId)).note(decisionView(value));
    else if (name === "acp.tool_call.args_changed") this.#tool(String(value?.toolCallId)).changeArguments(value?.arguments);
    else if (name === "acp.notice") this.#currentTurn.add(noticeView(value));
  }

  /** @param {Question} question */
  #ask(question) {
    const tool = this.#tools.get(question.toolCallId ?? "");
    const answer = (/** @type {Answer} */ said) => this.#parts.answer(question.id, said);
    const view = question.kind === "permission" ? new PermissionView(question, tool?.title ?? "", answer) : new FormView(question, answer);
    this.#questions.set(question.id, { view, tool });
    if (tool === undefined) this.#currentTurn.add(view.element);
    else tool.ask(view.element);
    this.#currentTurn.setAsking(true);
    this.#parts.announcer.say(`The agent asks${question.kind === "permission" ? " for permission" : ""}: ${question.title}`);
    if (this.#parts.mayTakeFocus()) view.focus();
  }

  /**
   * Shows the answer of a question.
   *
   * @param {string} id
   * @param {Answer} answer
   */
  resolve(id, answer) {
    const asked = this.#questions.get(id);
    if (asked === undefined) return;
    this.#questions.delete(id);
    const focused = asked.view.element.contains(document.activeElement);
    asked.view.resolve(answer);
    asked.tool?.setAsking([...this.#questions.values()].some((open) => open.tool === asked.tool));
    this.#turn?.setAsking(this.#questions.size > 0);
    if (focused) this.#parts.returnFocus();
  }

  /** Rebuilds the transcript from the messages of the thread. */
  #showAgain() {
    for (const held of [this.#texts, this.#tools, this.#terminals, this.#questions]) held.clear();
    this.#turn = this.#turns.replaceAll(this.#parts.thread.messages);
  }

  /**
   * Shows messages in a turn of their own.
   *
   * @param {TurnView} turn
   * @param {Message[]} messages
   */
  #build(turn, messages) {
    const [current, wasOld] = [this.#turn, this.#isOld];
    [this.#turn, this.#isOld] = [turn, true];
    for (const message of messages) this.#showMessage(message);
    [this.#turn, this.#isOld] = [current, wasOld];
  }

  /** @param {Message} message */
  #showMessage(message) {
    if (message.role === "user") {
      this.#currentTurn.addUser(message);
    } else if (message.role === "assistant" || message.role === "reasoning") {
      this.#showText(message, typeof message.content === "string" ? message.content : "");
      this.#endText(message);
      for (const call of message.toolCalls ?? []) {
        this.#tool(call.id).start(call);
        this.#tool(call.id).setArguments(call);
      }
    } else if (message.role === "tool") {
      this.#showResult(message);
    } else if (message.role === "activity") {
      this.#showActivity(message);
    }
  }
}
