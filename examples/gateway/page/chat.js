/** The conversation: sends messages, reads runs, stops and retries them. */

import { ActiveRun } from "./active-run.js";
import { EventCounter } from "./event-counter.js";
import { newId } from "./ids.js";
import { Interrupts } from "./interrupts.js";
import { PageTools } from "./page-tools.js";
import { fromInterrupt } from "./questions.js";
import { RecordedLines } from "./recorded-lines.js";
import { reduce } from "./reduce.js";
import { answerInterrupt } from "./requests.js";
import { runInput } from "./run.js";
import { announcement, effects } from "./run-end.js";
import { keep } from "./store.js";
import { pageTools, runsAtOnce } from "./tools.js";
import { Thread } from "./thread.js";
import { Transcript } from "./transcript.js";
import { actionsOn } from "./turn-actions.js";
import { draftOf } from "./user-content.js";
import { promptsOf } from "./view-prompts.js";

/** @import { AgUiEvent } from "./events.js" */
/** @import { Answer } from "./questions.js" */
/** @import { RunEnd } from "./run.js" */
/** @import { Held } from "./store.js" */

/**
 * @typedef {object} ChatParts
 * @property {import("./access.js").Send} send Sends a request to the gateway.
 * @property {import("./markdown.js").Markdown} markdown
 * @property {Element} root The element of the conversation.
 * @property {HTMLElement} pinned The place of the plan of an active turn.
 * @property {import("./scroller.js").Scroller} scroller
 * @property {import("./announcer.js").Announcer} announcer
 * @property {import("./view-header.js").HeaderView} header
 * @property {import("./agent-words.js").AgentWords} words
 * @property {import("./view-timeline.js").TimelineView} timeline
 * @property {import("./view-prompts.js").PromptsView} prompts
 * @property {(messages: import("./thread.js").Message[]) => void} branch Begins a conversation with these messages.
 * @property {(why: string, done: () => void) => HTMLElement} login Creates the card to sign in to the agent.
 * @property {() => void} ended Called when a run has ended.
 * @property {(events: string, threadId: string) => void} showDetails
 */

/** One thread of the gateway. */
export class Chat {
  /** @type {import("./composer.js").Composer | null} */
  composer = null;
  thread;
  #parts;
  #agent;
  #transcript;
  /** @type {ActiveRun | null} */
  #run = null;
  /** The content of the last turn, if it waits for a login. @type {any} */
  #waiting;
  #interrupts = new Interrupts();
  #tools;
  #events = new EventCounter();
  /** What the agent suggests to say next. @type {string[]} */
  #prompts = [];

  /**
   * @param {ChatParts} parts
   * @param {string | null} agent The agent, unless it is the gateway's default one.
   * @param {Held | null} [held] The conversation to continue.
   */
  constructor(parts, agent, held = null) {
    this.#parts = parts;
    this.#agent = agent;
    this.thread = new Thread(held?.threadId ?? newId("thread"), held);
    this.#transcript = new Transcript(parts.root, {
      thread: this.thread,
      scroller: parts.scroller,
      announcer: parts.announcer,
      markdown: parts.markdown,
      pinned: parts.pinned,
      lines: new RecordedLines(this.thread.id),
      actions: actionsOn(this.thread, {
        isIdle: () => this.restingState === "idle",
        cut: (first, removed) => this.#transcript.cut(first, removed),
        send: (content) => this.send(content),
        write: (content) => {
          this.#keep();
          this.composer?.edit(draftOf(content));
        },
        branch: parts.branch,
        say: (sentence) => parts.announcer.say(sentence),
      }),
      answer: (id, answer) => this.#answer(id, answer),
      mayTakeFocus: () => this.composer?.isIdle() ?? false,
      returnFocus: () => this.composer?.focus(),
    });
    this.#tools = new PageTools(this.thread, {
      send: parts.send,
      show: (id, element) => this.#transcript.askForTool(id, element),
      setTitle: (title) => parts.header.setTitle(title),
      isActive: (active) => this.#run === active,
      reported: (message) => this.#transcript.enqueue([{ kind: "tool-result", message }]),
      answered: (message) => this.#transcript.answerForTool(message),
      next: () => this.#start(null),
      failed: (message) => this.#endCalls({ kind: "failed", message }),
    });
    if (held !== null) this.#restore(held);
    parts.showDetails(this.#events.line, this.thread.id);
  }

  /** @param {Held} held */
  #restore(held) {
    this.#interrupts.open(held.interrupts);
    this.#parts.header.setTitle(held.title);
    this.#parts.header.setPrompt(this.thread.prompts[0]);
    for (const runId of held.runs ?? []) this.#parts.timeline.add(runId);
    const waits = held.interrupts.length > 0;
    this.#transcript.restore(held.runId !== null || waits || held.pending.length > 0);
    if (held.runId === null) {
      if (held.pending.length > 0) this.#tools.begin(held.pending);
      if (waits) this.#transcript.suspendTurn(held.interrupts.map(fromInterrupt));
      return;
    }
    this.#begin(held.runId, [], null, (active) => (held.isAtGateway ? active.open(this.thread.id) : active.follow(this.thread.id)));
  }

  /** The composer's state while no run is being stopped. */
  get restingState() {
    if (this.#run !== null) return "running";
    return this.#interrupts.isOpen || this.#tools.isWaiting ? "asking" : "idle";
  }

  /** Ends the connection of an active run, without showing more of it. */
  close() {
    this.#run?.leave();
    this.#run = null;
    this.#tools.leave();
  }

  /**
   * Sends a message to the agent.
   *
   * @param {any} content A text, or parts of a message.
   * @returns {string} Why the message cannot be sent now; empty if it was sent.
   */
  send(content) {
    if (this.#run !== null) return "The agent is still answering. Wait, or stop it first.";
    if (!this.thread.hasRoomFor(content)) return "The files of this conversation are too large together. Remove a file, or begin a new chat.";
    this.#tools.restart();
    this.#parts.timeline.clear();
    this.#start(this.thread.say(content), this.#waiting === content);
    this.#parts.header.setPrompt(this.thread.prompts[0]);
    return "";
  }

  /**
   * @param {import("./thread.js").Message | null} message The user's message, if any.
   * @param {boolean} [isAgain] Whether the last turn has the message.
   * @param {boolean} [follows] Whether the agent has begun by itself.
   */
  #start(message, isAgain = false, follows = false) {
    const asked = this.#interrupts.all;
    const resume = this.#interrupts.take((id, answer) => this.#transcript.resolve(id, answer));
    this.#waiting = undefined;
    if (message !== null) this.#transcript[isAgain ? "continueTurn" : "startTurn"](message);
    this.#begin(newId("run"), asked, message, (active) => {
      this.#keep();
      return active.start(runInput(this.thread, active.id, resume, pageTools(), follows));
    });
  }

  /** Shows what the agent does by itself, in the turn of the last message. */
  follow() {
    const last = this.thread.messages.findLast(({ role }) => role === "user");
    if (this.restingState !== "idle" || last === undefined) return;
    this.#transcript.continueTurn(last);
    this.#start(null, false, true);
  }

  /**
   * Answers a question: at once during its run, otherwise with the next run, which starts after the last answer.
   *
   * @param {string} id
   * @param {Answer} answer
   */
  async #answer(id, answer) {
    if (!this.#interrupts.has(id)) return answerInterrupt(id, answer, this.#parts.send);
    const isLast = this.#interrupts.answer(id, answer);
    this.#transcript.resolve(id, answer);
    if (isLast) this.#start(null);
    return { ok: true, status: 202, message: "" };
  }

  /**
   * @param {string} id
   * @param {any[]} asked The interrupts that the run answers.
   * @param {import("./thread.js").Message | null} message The user's message, while it can be withdrawn.
   * @param {(active: ActiveRun) => Promise<RunEnd>} connect
   */
  #begin(id, asked, message, connect) {
    const { send, announcer } = this.#parts;
    this.#prompts = [];
    this.#parts.prompts.clear();
    const active = new ActiveRun(id, asked, {
      send,
      agent: this.#agent,
      onEvent: (event) => this.#onEvent(active, event),
      rest: () => this.#transcript.rest(),
      onConnection: (lost) => {
        this.#transcript.setConnection(lost);
        announcer.say(lost ? "The connection was lost. Reconnecting." : "Reconnected.");
      },
      onState: (state) => {
        this.composer?.setState(state);
        if (state === "stopping") announcer.say("Stopping.");
      },
    });
    this.#run = active;
    this.composer?.setState("running");
    void connect(active).then(async (end) => {
      await this.#transcript.drain();
      if (this.#run === active) this.#end(active, end, message);
    });
  }

  #keep() {
    keep({
      ...this.thread.held,
      interrupts: this.#interrupts.all,
      agent: this.#agent,
      title: this.#parts.header.title,
      pending: this.#tools.open,
      runId: this.#run?.id ?? null,
      runs: this.#parts.timeline.runs,
    });
  }

  /** Stops the agent; a second call after a while ends the connection. */
  async stop() {
    if (this.#tools.isWaiting) {
      this.#tools.leave();
      this.#endCalls({ kind: "cancelled" });
    } else if (this.#run !== null) await this.#run.stop();
    else if (this.#interrupts.isOpen) this.#start(null);
  }

  /** @param {ActiveRun} active @param {AgUiEvent} event */
  #onEvent(active, event) {
    if (event.type === "RUN_STARTED") this.#parts.timeline.add(active.id);
    const changes = reduce(this.thread, event);
    for (const change of changes) {
      if (change.kind === "custom" && change.name === "acp.commands") this.#parts.words.update(change.value);
      else if (change.kind === "custom" && change.name === "acp.suggestions") this.#prompts = promptsOf(change.value);
      else if (change.kind === "custom") this.#parts.header.update(change.name, change.value);
      else if (change.kind === "tool-arguments" && runsAtOnce(change.call)) void this.#tools.runAtOnce(active, change.call);
    }
    this.#transcript.enqueue(changes);
    this.#parts.showDetails(this.#events.count(changes), this.thread.id);
  }

  /**
   * @param {ActiveRun} active
   * @param {RunEnd} end
   * @param {import("./thread.js").Message | null} message The user's message, while it can be withdrawn.
   */
  #end(active, end, message) {
    active.end();
    this.#run = null;
    // A message that the agent has not received must not be sent again with the next one.
    const { needsLogin, isWithdrawn, interrupts, pending } = effects(end, active.asked, this.thread);
    if (message !== null && isWithdrawn) this.thread.remove(message);
    if (end.kind === "finished" || end.kind === "interrupted") this.thread.branchOf = null;
    this.#interrupts.open(interrupts);
    const content = message?.content;
    const retry = () => void (this.send(content) === "" && this.composer?.focus());
    if (pending.length > 0) {
      this.#transcript.suspendTurn([]);
      this.#tools.begin(pending);
    } else if (needsLogin) {
      // The message continues with the steps outside of a page.
      const [why = ""] = end.kind === "failed" ? end.message.split(" Sign in: ") : [];
      const login = this.#parts.login(why, () => (content !== undefined ? retry() : this.composer?.focus()));
      this.#transcript.endTurn(end, null, login);
      this.#waiting = content;
    } else if (end.kind !== "interrupted") this.#transcript.endTurn(end, content !== undefined ? retry : null);
    if (this.#interrupts.isOpen) this.#transcript.suspendTurn(this.#interrupts.all.map(fromInterrupt));
    this.#keep();
    this.#parts.announcer.flush();
    if (pending.length === 0 && !needsLogin) this.#parts.announcer.say(announcement(end));
    this.composer?.setState(this.restingState);
    if (this.restingState === "idle") {
      this.composer?.endRun(end.kind === "finished");
      // The composer may have sent a message that has waited.
      if (this.#run === null) this.#parts.prompts.show(this.#prompts);
    }
    this.#parts.ended();
  }

  /** Whether nothing was said, and nothing is being read. */
  get isEmpty() {
    return this.#run === null && this.#transcript.isEmpty && !this.thread.hasBegun;
  }

  /** Whether a waiting tool call belongs to the conversation. @param {{sessionId: string, callId: string}} session */
  owns({ sessionId, callId }) {
    return this.thread.findCall(callId) !== undefined || this.#interrupts.ofSession(sessionId).length > 0;
  }

  /** Removes the questions of a tool call that was ended. @param {string} sessionId */
  leaveSession(sessionId) {
    for (const id of this.#interrupts.ofSession(sessionId)) void this.#answer(id, { cancelled: true });
  }

  /** @param {RunEnd} end */
  #endCalls(end) {
    this.#transcript.endTurn(end, null);
    this.#keep();
    this.#parts.announcer.say(announcement(end));
    this.composer?.setState(this.restingState);
  }
}
