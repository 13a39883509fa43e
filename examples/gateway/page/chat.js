/** The conversation: sends messages, reads runs, stops and retries them. */

import { newId } from "./ids.js";
import { answerInterrupt, cancelRun, follow, run, runInput, tellResult } from "./run.js";
import { fromInterrupt, resumeEntry, sessionOf } from "./questions.js";
import { reduce } from "./reduce.js";
import { keep } from "./store.js";
import { PageCalls } from "./page-calls.js";
import { pageTools, runTool, runsAtOnce } from "./tools.js";
import { Thread } from "./thread.js";
import { Transcript } from "./transcript.js";

/** @import { AgUiEvent } from "./events.js" */
/** @import { Answer } from "./questions.js" */
/** @import { RunEnd } from "./run.js" */
/** @import { Held } from "./store.js" */

/** Custom events that change nothing on the page. */
const SILENT = new Set(["acp.commands", "acp.config_options", "acp.compaction", "acp.tool_call.late"]);
/** Custom events that the conversation shows. */
const SHOWN = new Set([
  "acp.notice",
  "acp.permission",
  "acp.permission.requested",
  "acp.permission.resolved",
  "acp.elicitation.requested",
  "acp.elicitation.resolved",
  "acp.tool_call.args_changed",
]);

/**
 * @typedef {object} ChatParts
 * @property {import("./access.js").Send} send Sends a request to the gateway.
 * @property {import("./markdown.js").Markdown} markdown
 * @property {Element} root The element of the conversation.
 * @property {import("./scroller.js").Scroller} scroller
 * @property {import("./announcer.js").Announcer} announcer
 * @property {import("./view-usage.js").UsageView} usage
 * @property {import("./view-timeline.js").TimelineView} timeline
 * @property {(title: string | null) => void} setTitle
 * @property {(mode: string | null) => void} setMode
 * @property {(why: string, done: () => void) => HTMLElement} login Creates the card to sign in to the agent.
 * @property {() => void} ended Called when a run has ended.
 * @property {(line: string) => void} setDebugLine
 */

/** The time for an agent to stop, after which the user may disconnect instead. */
const STOP_MS = 2000;

/** @typedef {{id: string, abort: AbortController, state: "running" | "stopping" | "stuck", asked: any[]}} ActiveRun */
/** Maximum number of consecutive runs that start with results of the page's tools. */
const MAX_ROUNDS = 25;

/** Error codes of runs that did not accept their answers. */
const UNANSWERED = /^(RESUME_|EDIT_UNSUPPORTED$|INTERRUPTS_OPEN$)/;

/** Error code of runs that did not begin because the agent requires a login. */
const LOGIN = "ACP_AUTH_REQUIRED";

/** One thread of the gateway. */
export class Chat {
  /** @type {import("./composer.js").Composer | null} */
  composer = null;
  #parts;
  #thread;
  #agent;
  /** @type {string | null} */
  #title = null;
  #transcript;
  /** @type {ActiveRun | null} */
  #run = null;
  /** The text of the last turn, if it waits for a login. @type {string | null} */
  #waiting = null;
  /** Interrupts for the next run to answer. @type {any[]} */
  #interrupts = [];
  /** The answers so far. @type {Map<string, Answer>} */
  #answers = new Map();
  /** Calls of the page's tools; the next run carries their results. @type {PageCalls | null} */
  #calls = null;
  /** Number of runs with such results since the last message of the user. */
  #rounds = 0;
  #events = 0;
  /** Number of ignored events by type. @type {Map<string, number>} */
  #ignored = new Map();

  /**
   * @param {ChatParts} parts
   * @param {string | null} agent The agent, unless it is the gateway's default one.
   * @param {Held | null} [held] The conversation to continue.
   */
  constructor(parts, agent, held = null) {
    this.#parts = parts;
    this.#agent = agent;
    this.#thread = new Thread(held?.threadId ?? newId("thread"));
    this.#transcript = new Transcript(parts.root, {
      thread: this.#thread,
      scroller: parts.scroller,
      announcer: parts.announcer,
      markdown: parts.markdown,
      answer: (id, answer) => this.#answer(id, answer),
      mayTakeFocus: () => this.composer?.isIdle() ?? false,
      returnFocus: () => this.composer?.focus(),
    });
    this.#showDebugLine();
    if (held !== null) this.#restore(held);
  }

  /** @param {Held} held */
  #restore(held) {
    this.#thread.replaceAll(held.messages);
    this.#thread.state = held.state;
    this.#interrupts = held.interrupts;
    this.#setTitle(held.title);
    for (const runId of held.runs ?? []) this.#parts.timeline.add(runId);
    const waits = held.interrupts.length > 0;
    this.#transcript.restore(held.runId !== null || waits || held.pending.length > 0);
    if (held.runId === null) {
      if (held.pending.length > 0) this.#callTools(held.pending);
      if (waits) this.#transcript.suspendTurn(held.interrupts.map(fromInterrupt));
      return;
    }
    const active = this.#begin(held.runId, []);
    const run = { threadId: this.#thread.id, runId: held.runId };
    this.#finish(active, null, follow(run, (event) => this.#onEvent(active, event), active.abort.signal, this.#options(active)));
  }

  /** The composer's state while no run is being stopped. */
  get restingState() {
    if (this.#run !== null) return "running";
    return this.#interrupts.length > 0 || this.#calls !== null ? "asking" : "idle";
  }

  /** Ends the connection of an active run, without showing more of it. */
  close() {
    this.#run?.abort.abort();
    this.#run = null;
    this.#calls?.leave();
    this.#calls = null;
  }

  /**
   * Sends a message to the agent.
   *
   * @param {string} text
   * @returns {boolean} `false` while the agent is answering.
   */
  send(text) {
    if (this.#run !== null) {
      this.#parts.announcer.say("The agent is still answering. Wait, or stop it first.");
      return false;
    }
    this.#leaveCalls();
    this.#rounds = 0;
    this.#parts.timeline.clear();
    const message = { id: newId("user"), role: "user", content: text };
    const isAgain = this.#waiting === text;
    this.#thread.add(message);
    this.#start(message, isAgain);
    return true;
  }

  /**
   * @param {import("./thread.js").Message | null} message The user's message, if any.
   * @param {boolean} [isAgain] Whether the last turn has the message.
   */
  #start(message, isAgain = false) {
    const asked = this.#interrupts;
    const resume = this.#takeAnswers();
    this.#waiting = null;
    if (isAgain) this.#transcript.continueTurn();
    else if (message !== null) this.#transcript.startTurn(message);
    const active = this.#begin(newId("run"), asked);
    const input = runInput(this.#thread, active.id, resume, pageTools());
    this.#keep();
    this.#finish(active, message, run(input, (event) => this.#onEvent(active, event), active.abort.signal, this.#options(active)));
  }

  /**
   * Answers a question: at once during its run, otherwise with the next run, which starts after the last answer.
   *
   * @param {string} id
   * @param {Answer} answer
   */
  async #answer(id, answer) {
    if (!this.#interrupts.some((interrupt) => interrupt.id === id)) return answerInterrupt(id, answer, this.#parts.send);
    this.#answers.set(id, answer);
    this.#transcript.resolve(id, answer);
    if (this.#interrupts.every((interrupt) => this.#answers.has(interrupt.id))) this.#start(null);
    return { ok: true, status: 202, message: "" };
  }

  /** The answers to the last run's interrupts; those without an answer are cancelled. */
  #takeAnswers() {
    const resume = this.#interrupts.map(({ id }) => {
      const answer = this.#answers.get(id) ?? { cancelled: /** @type {true} */ (true) };
      this.#transcript.resolve(id, answer);
      return resumeEntry(id, answer);
    });
    this.#interrupts = [];
    this.#answers.clear();
    return resume;
  }

  /**
   * @param {string} id
   * @param {any[]} asked The interrupts that the run answers.
   */
  #begin(id, asked) {
    /** @type {ActiveRun} */
    const active = { id, abort: new AbortController(), state: "running", asked };
    this.#run = active;
    this.composer?.setState("running");
    return active;
  }

  /**
   * @param {ActiveRun} active
   * @param {import("./thread.js").Message | null} message The user's message, while it can be withdrawn.
   * @param {Promise<RunEnd>} ending
   */
  async #finish(active, message, ending) {
    const end = await ending;
    if (this.#run === active) this.#end(active, end, message);
  }

  /** @param {ActiveRun} active */
  #options(active) {
    return {
      agent: this.#agent,
      send: this.#parts.send,
      onConnection: (/** @type {boolean} */ lost) => {
        if (this.#run !== active) return;
        this.#transcript.setConnection(lost);
        this.#parts.announcer.say(lost ? "The connection was lost. Reconnecting." : "Reconnected.");
      },
    };
  }

  /** @param {string | null} title */
  #setTitle(title) {
    this.#title = title;
    this.#parts.setTitle(title);
  }

  #keep() {
    keep({
      threadId: this.#thread.id,
      messages: this.#thread.messages,
      state: this.#thread.state,
      interrupts: this.#interrupts,
      agent: this.#agent,
      title: this.#title,
      pending: this.#calls?.open ?? [],
      runId: this.#run?.id ?? null,
      runs: this.#parts.timeline.runs,
    });
  }

  /** Stops the agent; a second call after a while ends the connection. */
  async stop() {
    const active = this.#run;
    if (this.#calls !== null) this.#stopCalls();
    else if (active === null && this.#interrupts.length > 0) this.#start(null);
    if (active?.state === "stuck") active.abort.abort();
    if (active?.state !== "running") return;
    this.#enter(active, "stopping");
    this.#parts.announcer.say("Stopping.");
    setTimeout(() => this.#enter(active, "stuck"), STOP_MS);
    const { ok } = await cancelRun(active.id, this.#parts.send);
    // If the gateway does not know the run yet, or is gone, only the connection can be ended.
    if (!ok && this.#run === active) active.abort.abort();
  }

  /**
   * @param {ActiveRun} active
   * @param {ActiveRun["state"]} state
   */
  #enter(active, state) {
    if (this.#run !== active) return;
    active.state = state;
    this.composer?.setState(state);
  }

  /**
   * @param {ActiveRun} active
   * @param {AgUiEvent} event
   */
  #onEvent(active, event) {
    if (this.#run !== active) return;
    this.#events += 1;
    if (event.type === "RUN_STARTED") this.#parts.timeline.add(active.id);
    const changes = reduce(this.#thread, event);
    for (const change of changes) {
      if (change.kind === "ignored") this.#ignore(`${change.type}${change.reason === "misplaced" ? " out of place" : ""}`);
      else if (change.kind === "custom") this.#onCustom(change.name, change.value);
      else if (change.kind === "tool-arguments" && runsAtOnce(change.call)) void this.#runAtOnce(active, change.call);
    }
    this.#transcript.enqueue(changes);
    this.#showDebugLine();
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  #onCustom(name, value) {
    if (name === "acp.usage") this.#parts.usage.update(value);
    else if (name === "acp.session_info") this.#setTitle(typeof value?.title === "string" ? value.title : null);
    else if (name === "acp.mode") this.#parts.setMode(typeof value?.currentModeId === "string" ? value.currentModeId : null);
    else if (!SHOWN.has(name) && !SILENT.has(name)) this.#ignore(name);
  }

  /** @param {string} name */
  #ignore(name) {
    this.#ignored.set(name, (this.#ignored.get(name) ?? 0) + 1);
  }

  /**
   * @param {ActiveRun} active
   * @param {RunEnd} end
   * @param {import("./thread.js").Message | null} message The user's message, while it can be withdrawn.
   */
  #end(active, end, message) {
    this.#run = null;
    const isRefused = end.kind === "refused" || end.kind === "unreachable";
    const needsLogin = end.kind === "failed" && end.code === LOGIN;
    // A message that the agent has not received must not be sent again with the next one.
    if (message !== null && (isRefused || needsLogin)) this.#thread.remove(message);
    const isUnanswered = isRefused || (end.kind === "failed" && UNANSWERED.test(end.code ?? ""));
    this.#interrupts = end.kind === "interrupted" ? end.interrupts : isUnanswered ? active.asked : [];
    const text = message?.content;
    const retry = () => {
      if (this.send(text)) this.composer?.focus();
    };
    const pending = end.kind === "finished" ? end.pending.filter((id) => this.#thread.findCall(id) !== undefined && !this.#thread.isAnswered(id)) : [];
    if (pending.length > 0) {
      this.#transcript.suspendTurn([]);
      this.#callTools(pending);
    } else if (needsLogin) {
      // The message continues with the steps outside of a page.
      const [why = ""] = end.message.split(" Sign in: ");
      const login = this.#parts.login(why, () => (typeof text === "string" ? retry() : this.composer?.focus()));
      this.#transcript.endTurn(end, null, login);
      this.#waiting = typeof text === "string" ? text : null;
    } else if (end.kind !== "interrupted") this.#transcript.endTurn(end, typeof text === "string" ? retry : null);
    if (this.#interrupts.length > 0) this.#transcript.suspendTurn(this.#interrupts.map(fromInterrupt));
    this.#keep();
    this.#parts.announcer.flush();
    if (pending.length === 0 && !needsLogin) this.#parts.announcer.say(END_WORDS[end.kind]);
    this.composer?.setState(this.restingState);
    this.#showDebugLine();
    this.#parts.ended();
  }

  /** The thread with the gateway. */
  get threadId() {
    return this.#thread.id;
  }

  /** Whether the agent may have a session for the thread. */
  get hasBegun() {
    return this.#thread.messages.length > 0;
  }

  /**
   * Removes the questions of a tool call that was ended.
   *
   * @param {string} sessionId
   */
  leaveSession(sessionId) {
    const asked = this.#interrupts.filter((interrupt) => sessionOf(interrupt) === sessionId);
    for (const { id } of asked) void this.#answer(id, { cancelled: true });
  }

  /**
   * Runs tools of the page; the next run carries their results.
   *
   * @param {string[]} ids
   */
  #callTools(ids) {
    const calls = new PageCalls(this.#thread, ids, {
      show: (id, element) => this.#transcript.askForTool(id, element),
      setTitle: (title) => this.#setTitle(title),
      answered: (message) => this.#transcript.answerForTool(message),
      done: () => {
        if (this.#calls !== calls) return;
        this.#calls = null;
        this.#rounds += 1;
        if (this.#rounds <= MAX_ROUNDS) this.#start(null);
        else this.#endCalls({ kind: "failed", message: `The agent called tools of this page ${MAX_ROUNDS} times in a row.` });
      },
    });
    this.#calls = calls;
    calls.begin();
  }

  /**
   * Runs a tool of the page during the agent's turn.
   *
   * @param {ActiveRun} active
   * @param {import("./thread.js").ToolCall} call
   */
  async #runAtOnce(active, call) {
    const result = await runTool(call, {
      show: (element) => this.#transcript.askForTool(call.id, element),
      setTitle: (title) => this.#setTitle(title),
      signal: active.abort.signal,
    });
    if (this.#run !== active || this.#thread.isAnswered(call.id)) return;
    /** @type {import("./thread.js").Message} */
    const message = { id: newId("tool"), role: "tool", toolCallId: call.id, ...result };
    this.#thread.addAnswer(message);
    this.#transcript.enqueue([{ kind: "tool-result", message }]);
    // The result of an acknowledged call is not awaited, and that of a call that took too long goes with the next run.
    await tellResult(active.id, call.id, result, this.#parts.send);
  }

  /** Ends all calls without a result with an error. */
  #leaveCalls() {
    const calls = this.#calls;
    this.#calls = null;
    calls?.leave();
  }

  #stopCalls() {
    this.#leaveCalls();
    this.#endCalls({ kind: "cancelled" });
  }

  /** @param {RunEnd} end */
  #endCalls(end) {
    this.#transcript.endTurn(end, null);
    this.#keep();
    this.#parts.announcer.say(END_WORDS[end.kind]);
    this.composer?.setState(this.restingState);
  }

  #showDebugLine() {
    const ignored = [...this.#ignored].map(([name, count]) => `${name} ×${count}`);
    const total = [...this.#ignored.values()].reduce((sum, count) => sum + count, 0);
    const list = total === 0 ? "" : ` (${ignored.join(", ")})`;
    this.#parts.setDebugLine(`${this.#events} events · ${total} ignored${list}`);
  }
}

/** @type {Record<RunEnd["kind"], string>} */
const END_WORDS = {
  finished: "The answer is complete.",
  cancelled: "Stopped.",
  disconnected: "Disconnected.",
  interrupted: "The agent is waiting for your answer.",
  failed: "The run failed.",
  refused: "The gateway rejected the message.",
  unreachable: "The gateway is not responding.",
  truncated: "The connection was lost.",
  malformed: "The response is invalid.",
};
