/** What is known about a tool call, from all events about it. */

import { visible } from "./dom.js";
import { STATUS_NAMES, cut, wordsOf } from "./tool-words.js";
import { parsed } from "./view-arguments.js";
import { plainText } from "./view-media.js";

/** Maximum length of the name of a card, which a screen reader reads. */
const MAX_NAME = 160;

/** States without a later one. */
const FINAL = new Set(["completed", "failed", "cancelled", "incomplete"]);

/** The facts of a call. Later events replace earlier facts. */
export class ToolFacts {
  status = "pending";
  /** @type {import("./tool-words.js").Call} */
  call;
  /** The source of the tool; empty for the agent's own. */
  source = "";
  /** The content that an `acp.tool` activity reports. @type {any[]} */
  blocks = [];
  resultText = "";
  /** @type {ReturnType<typeof wordsOf> | null} */
  #words = null;
  /** Whether an activity has reported the status. */
  #isTold = false;
  #changed;

  /**
   * @param {string} toolCallId
   * @param {() => void} changed Called after each change.
   */
  constructor(toolCallId, changed) {
    this.call = { name: "", title: toolCallId, kind: "other", input: undefined, locations: [], diffs: [] };
    this.#changed = changed;
  }

  /** The words about the call. */
  get words() {
    this.#words ??= wordsOf(this.call);
    return this.#words;
  }

  /** What the call does, in words. */
  get title() {
    const { verb, target } = this.words;
    return cut(`${verb} ${visible(target)}`.trim(), MAX_NAME);
  }

  get statusName() {
    return STATUS_NAMES.get(this.status) ?? this.status;
  }

  /** @param {import("./thread.js").ToolCall} call A call that has started. */
  start(call) {
    const { name } = call.function;
    this.#know(this.call.title === call.id ? { name, title: name } : { name });
    const source = /** @type {any} */ (call.metadata)?.acp?.source;
    if (typeof source === "string" && source !== "agent") this.source = source;
  }

  /** @param {import("./thread.js").ToolCall} call A call with complete arguments. */
  setArguments(call) {
    if (!this.#isTold) this.status = "in_progress";
    this.changeArguments(parsed(call.function.arguments));
  }

  /** @param {unknown} value The arguments that replace those of the call. */
  changeArguments(value) {
    this.#know({ input: value });
  }

  /** @param {any} content The content of an `acp.tool` activity. */
  update(content) {
    if (typeof content.status === "string") {
      this.#isTold = true;
      this.status = content.status;
    }
    this.blocks = Array.isArray(content.content) ? content.content : [];
    this.#know({
      title: typeof content.title === "string" && content.title !== "" ? content.title : this.call.title,
      kind: typeof content.kind === "string" ? content.kind : this.call.kind,
      locations: Array.isArray(content.locations) ? content.locations : [],
      diffs: this.blocks.filter((block) => block?.type === "diff"),
    });
  }

  /**
   * @param {unknown} content The content of a tool message.
   * @param {boolean} [failed]
   */
  setResult(content, failed = false) {
    this.resultText = plainText(content);
    if (!FINAL.has(this.status)) this.status = failed ? "failed" : "completed";
    this.#changed();
  }

  /** Ends the call with its run, in any state of the tool. */
  endRun() {
    if (FINAL.has(this.status)) return;
    this.status = "incomplete";
    this.#changed();
  }

  /** @param {Partial<import("./tool-words.js").Call>} facts */
  #know(facts) {
    Object.assign(this.call, facts);
    this.#words = null;
    this.#changed();
  }
}
