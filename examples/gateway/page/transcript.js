/** The conversation on the page. It applies changes by adding elements. */

import { ChangeQueue } from "./change-queue.js";
import { MessageViews } from "./message-views.js";
import { QuestionViews } from "./question-views.js";
import { fromCustom } from "./questions.js";
import { TurnList } from "./turn-list.js";
import { Undrawn } from "./undrawn.js";
import { noticeView } from "./view-notice.js";
import { decisionView } from "./view-permission.js";

/** @import { Answer, Question } from "./questions.js" */
/** @import { Change } from "./reduce.js" */
/** @import { Message, Thread } from "./thread.js" */
/** @import { TurnView } from "./view-turn.js" */

/**
 * @typedef {object} OwnParts
 * @property {Thread} thread The thread to show after a reset.
 * @property {import("./markdown.js").Markdown} markdown
 */

/** @typedef {OwnParts & Omit<import("./view-turn.js").TurnParts, "undrawn"> & import("./question-views.js").QuestionParts} TranscriptParts */

/** The notice of a turn with a part that cannot be shown. */
const INCOMPLETE = {
  severity: "error",
  title: "A part of this answer cannot be shown",
  description: "The rest follows. Reload the page; if that does not help, report the error in the browser's console.",
};

/** All turns of a thread. */
export class Transcript {
  #parts;
  #turns;
  /** @type {TurnView | null} */
  #turn = null;
  #messages;
  #questions;
  /** Turns with a part that cannot be shown. @type {WeakSet<TurnView>} */
  #incomplete = new WeakSet();
  #undrawn = new Undrawn((error) => this.#failed(error));
  #changes = new ChangeQueue({ show: (change) => this.#show(change), failed: (error) => this.#failed(error), shown: (isFrame) => this.#shown(isFrame) });

  /**
   * @param {Element} root
   * @param {TranscriptParts} parts
   */
  constructor(root, parts) {
    this.#parts = parts;
    this.#questions = new QuestionViews(parts);
    const { announcer, lines, markdown } = parts;
    this.#turns = new TurnList(root, (turn, messages) => this.#build(turn, messages), { ...parts, undrawn: this.#undrawn });
    const buildFor = (/** @type {string} */ toolCallId) => this.#turns.buildFor(toolCallId);
    this.#messages = new MessageViews({ announcer, lines, markdown, undrawn: this.#undrawn, currentTurn: () => this.#currentTurn, buildFor });
  }

  /** Whether there is no turn, not even one with a message that was withdrawn. */
  get isEmpty() {
    return this.#turns.isEmpty;
  }

  /** @param {Message} message What the user said. */
  startTurn(message) {
    this.flush();
    this.#turn?.settle();
    this.#openTurn().addUser(message);
    this.#turns.trim();
    this.#parts.scroller.toEnd();
  }

  /** @param {Message} message The message of the last turn, which is sent again. */
  continueTurn(message) {
    this.flush();
    this.#turn?.reopen(message);
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

  /**
   * Removes turns.
   *
   * @param {Message} first The user's message of the first one.
   * @param {Message[]} removed All their messages.
   */
  cut(first, removed) {
    this.flush();
    this.#turns.cut(first);
    this.#turn = null;
    for (const { toolCalls = [] } of removed) for (const { id } of toolCalls) for (const held of [this.#turns, this.#messages]) held.forget(id);
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
    this.#messages.endRun();
    for (const id of this.#questions.ids) this.resolve(id, { cancelled: true });
    this.#turn?.end(end, retry, next);
    this.#follow();
  }

  /**
   * Shows the questions of an interrupted run; their answers continue the turn.
   *
   * @param {Question[]} questions
   */
  suspendTurn(questions) {
    this.flush();
    this.#messages.endTexts();
    for (const question of questions) this.#ask(question);
    this.#follow();
  }

  /**
   * Shows the question of a tool of the page.
   *
   * @param {string} toolCallId
   * @param {HTMLElement} question
   */
  askForTool(toolCallId, question) {
    this.#questions.askForTool(question, this.#messages.tool(toolCallId), this.#currentTurn);
    this.#follow();
  }

  /**
   * Shows the result of a tool of the page.
   *
   * @param {Message} message A message of role `tool`.
   */
  answerForTool(message) {
    const tool = this.#messages.tool(message.toolCallId ?? message.id);
    this.#messages.showResult(message);
    this.#questions.endForTool(tool, this.#turn);
  }

  /**
   * Shows changes with the next frame, or soon if the page is hidden.
   *
   * @param {Change[]} changes
   */
  enqueue(changes) {
    this.#changes.add(changes);
  }

  /** Returns what to wait for before the next change, if anything. */
  rest() {
    return this.#changes.rest();
  }

  /** Shows all waiting changes in short tasks. */
  drain() {
    return this.#changes.drain();
  }

  /** Shows all waiting changes at once. */
  flush() {
    this.#changes.flush();
  }

  /** @param {boolean} isFrame */
  #shown(isFrame) {
    const { scroller } = this.#parts;
    if (scroller.isFollowing) this.#turn?.trim();
    this.#undrawn.draw();
    if (isFrame) scroller.follow();
    else scroller.followSoon();
  }

  #follow() {
    this.#undrawn.draw();
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
        return this.#messages.showText(change.message, change.delta);
      case "message-end":
        return this.#messages.endText(change.message);
      case "tool-call":
        return this.#messages.tool(change.call.id, change.message).facts.start(change.call);
      case "tool-arguments":
        return this.#messages.tool(change.call.id).facts.setArguments(change.call);
      case "tool-result":
        return this.#messages.showResult(change.message);
      case "activity":
        return this.#messages.showActivity(change.message);
      case "custom":
        return this.#showCustom(change.name, change.value);
      case "reset":
        return this.#showAgain();
    }
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  #showCustom(name, value) {
    if (name === "acp.permission.requested" || name === "acp.elicitation.requested") this.#ask(fromCustom(value));
    else if (name === "acp.permission.resolved") this.resolve(value?.interruptId, value?.outcome === "selected" ? { optionId: value.optionId } : { cancelled: true });
    else if (name === "acp.elicitation.resolved") this.resolve(value?.interruptId, value?.action === "cancel" ? { cancelled: true } : { action: value?.action });
    else if (name === "acp.permission") this.#messages.tool(String(value?.toolCallId)).note(decisionView(value));
    else if (name === "acp.tool_call.args_changed") this.#messages.tool(String(value?.toolCallId)).facts.changeArguments(value?.arguments);
    else if (name === "acp.notice") this.#currentTurn.add(noticeView(value));
  }

  /** @param {Question} question */
  #ask(question) {
    this.#questions.ask(question, this.#messages.findTool(question.toolCallId), this.#currentTurn);
  }

  /**
   * Shows the answer of a question.
   *
   * @param {string} id
   * @param {Answer} answer
   */
  resolve(id, answer) {
    this.#questions.resolve(id, answer, this.#turn);
  }

  /** Rebuilds the transcript from the messages of the thread. */
  #showAgain() {
    for (const held of [this.#messages, this.#questions, this.#undrawn]) held.clear();
    this.#turn = this.#turns.replaceAll(this.#parts.thread.messages);
  }

  /**
   * Shows messages in a turn of their own.
   *
   * @param {TurnView} turn
   * @param {Message[]} messages
   */
  #build(turn, messages) {
    const show = (/** @type {Message[]} */ said) => {
      const [current, wereOld] = [this.#turn, this.#messages.areOld];
      [this.#turn, this.#messages.areOld] = [turn, true];
      for (const message of said) {
        try {
          this.#messages.show(message);
        } catch (error) {
          this.#failed(error);
        }
      }
      [this.#turn, this.#messages.areOld] = [current, wereOld];
    };
    const isOfTurn = (/** @type {Message} */ { role, activityType }) => role === "user" || activityType === "acp.terminal";
    show(messages.filter(isOfTurn));
    turn.restore(messages.filter((message) => !isOfTurn(message)), show);
  }

  /** Reports once in a turn that a part of it cannot be shown. @param {unknown} error */
  #failed(error) {
    console.error(error);
    const turn = this.#currentTurn;
    if (this.#incomplete.has(turn)) return;
    this.#incomplete.add(turn);
    turn.add(noticeView(INCOMPLETE));
    this.#parts.announcer.say(INCOMPLETE.title);
  }
}
