/** The card of a tool call: title, arguments, result. */

import { resultComponent } from "./components.js";
import { el, icon, visible } from "./dom.js";
import { diffView, withoutDiffs } from "./view-diff.js";
import { mediaView, plainText } from "./view-media.js";
import { terminalView, withoutEscapes } from "./view-terminal.js";

/** @import { Markdown } from "./markdown.js" */
/** @import { Terminals } from "./view-terminal.js" */

/** Names of tool kinds; an unknown kind is shown as it is. */
const KIND_NAMES = new Map([
  ["execute", "run"],
  ["switch_mode", "mode"],
  ["other", "tool"],
]);

/** Names of states; an unknown state is shown as it is. */
const STATUS_NAMES = new Map([
  ["pending", "Waiting"],
  ["asking", "Waiting for you"],
  ["in_progress", "Running"],
  ["completed", "Done"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["incomplete", "Incomplete"],
]);

const FINAL = new Set(["completed", "failed", "cancelled", "incomplete"]);

/** Kinds of tools with content that is unfolded at once. */
const OPEN_KINDS = new Set(["edit", "delete", "move", "execute"]);

/** A card in the conversation. */
export class ToolView {
  element;
  status = "pending";
  title;
  #kind = "other";
  #name = "";
  #details;
  #icon = icon("other");
  #title = el("span", { class: "tool-title" });
  #kindLabel = el("span", { class: "tag tool-kind" });
  /** The source of the tool, unless it is the agent. */
  #source = el("span", { class: "tag", hidden: true });
  #status = el("span", { class: "tool-status" });
  #locations = el("p", { class: "tool-locations" });
  #arguments = el("pre", { tabindex: 0 });
  #argumentsFold = fold("Arguments", this.#arguments);
  #content = el("div", { class: "tool-content" });
  #result = el("pre", { tabindex: 0 });
  #resultFold = fold("Result", this.#result);
  #below = el("div", { class: "tool-below" });
  #shownContent = "";
  #contentText = "";
  #resultText = "";
  /** Whether the result is shown by more than text. */
  #isRich = false;
  #terminals;
  #markdown;
  /** The shown changes of files. @type {any[]} */
  #diffs = [];
  /** The shown terminals by id. @type {Map<string, HTMLElement>} */
  #screens = new Map();
  /** Whether an activity has reported the status. */
  #isTold = false;
  #isAsking = false;
  /** Whether the user folded or unfolded it. */
  #touched = false;

  /**
   * @param {string} toolCallId
   * @param {Terminals} terminals
   * @param {Markdown} markdown
   */
  constructor(toolCallId, terminals, markdown) {
    this.title = toolCallId;
    this.#terminals = terminals;
    this.#markdown = markdown;
    const summary = el("summary", {}, this.#icon, this.#title, this.#kindLabel, this.#source, this.#status);
    summary.addEventListener("click", () => (this.#touched = true));
    const body = el("div", { class: "tool-body" }, this.#locations, this.#argumentsFold, this.#content, this.#resultFold);
    this.#details = el("details", {}, summary, body);
    this.element = el("article", { class: "tool card" }, this.#details, this.#below);
    for (const part of [this.#locations, this.#argumentsFold, this.#resultFold]) part.hidden = true;
    this.#setTitle(toolCallId);
    this.#setKind("other");
    this.#setStatus("pending");
  }

  /** @param {import("./thread.js").ToolCall} call A call that has started. */
  start(call) {
    this.#name = call.function.name;
    if (this.title === call.id) this.#setTitle(call.function.name);
    const source = /** @type {any} */ (call.metadata)?.acp?.source;
    if (typeof source === "string" && source !== "agent") this.#source.textContent = source;
    this.#source.hidden = this.#source.textContent === "";
  }

  /** @param {import("./thread.js").ToolCall} call A call with complete arguments. */
  setArguments(call) {
    this.#showArguments(pretty(call.function.arguments));
    if (!this.#isTold) this.#setStatus("in_progress");
  }

  /** @param {unknown} value The arguments that replace those of the call. */
  changeArguments(value) {
    this.#showArguments(JSON.stringify(value, null, 2) ?? "");
  }

  /** @param {any} content The content of an `acp.tool` activity. */
  update(content) {
    if (typeof content.title === "string" && content.title !== "") this.#setTitle(content.title);
    if (typeof content.kind === "string") this.#setKind(content.kind);
    if (typeof content.status === "string") {
      this.#isTold = true;
      this.#setStatus(content.status);
    }
    const blocks = Array.isArray(content.content) ? content.content : [];
    this.#setLocations(Array.isArray(content.locations) ? content.locations : [], blocks);
    this.#setContent(blocks);
  }

  /**
   * @param {unknown} content The content of a tool message.
   * @param {boolean} [failed]
   */
  setResult(content, failed = false) {
    this.#resultText = plainText(content);
    if (!FINAL.has(this.status)) this.#setStatus(failed ? "failed" : "completed");
    this.#showResult();
  }

  /** The name of the status. */
  get statusName() {
    return STATUS_NAMES.get(this.status) ?? this.status;
  }

  /** Ends the card with its run, in any state of the tool. */
  endRun() {
    if (!FINAL.has(this.status)) this.#setStatus("incomplete");
  }

  /** @param {Element} question Shown beside the card, also if the card is folded. */
  ask(question) {
    this.note(question);
    this.#details.open = true;
    this.setAsking(true);
  }

  /** @param {boolean} asking Whether the agent is waiting for the user. */
  setAsking(asking) {
    this.#isAsking = asking;
    this.#setStatus(this.status);
  }

  /** @param {Element} note */
  note(note) {
    this.#below.append(note);
  }

  /** @param {string} text */
  #showArguments(text) {
    this.#arguments.textContent = text;
    this.#argumentsFold.hidden = text === "" || text === "{}";
  }

  /** @param {string} title */
  #setTitle(title) {
    this.title = visible(title);
    this.#title.textContent = this.title;
    this.element.setAttribute("aria-label", `Tool: ${this.title}`);
  }

  /** @param {string} kind */
  #setKind(kind) {
    this.#kind = kind;
    this.#kindLabel.textContent = KIND_NAMES.get(kind) ?? kind;
    const drawn = icon(kind);
    this.#icon.replaceWith(drawn);
    this.#icon = drawn;
  }

  /** @param {string} status */
  #setStatus(status) {
    this.status = status;
    const shown = this.#isAsking ? "asking" : status;
    this.element.dataset.status = shown;
    this.#status.textContent = STATUS_NAMES.get(shown) ?? shown;
    if (status === "failed" && !this.#touched) this.#details.open = true;
  }

  /**
   * @param {any[]} locations
   * @param {any[]} blocks
   */
  #setLocations(locations, blocks) {
    // A diff names its own file.
    const named = new Set(blocks.filter((block) => block?.type === "diff").map((block) => block.path));
    const others = locations.filter((location) => !named.has(location?.path));
    const texts = others.map((location) => {
      const line = typeof location?.line === "number" ? `:${location.line}` : "";
      return `${location?.path ?? ""}${line}`;
    });
    const shown = texts.filter((text) => text !== "" && !this.title.includes(text));
    this.#locations.hidden = shown.length === 0;
    this.#locations.replaceChildren(...shown.map((text) => el("code", { class: "path" }, text)));
  }

  /** @param {any[]} blocks */
  #setContent(blocks) {
    const key = JSON.stringify(blocks);
    if (key === this.#shownContent) return;
    this.#shownContent = key;
    this.#contentText = blocks.filter((block) => block?.type === "content").map((block) => plainText([block.content])).join("\n");
    this.#diffs = blocks.filter((block) => block?.type === "diff");
    this.#isRich = this.#diffs.length > 0;
    this.#content.replaceChildren(...blocks.map((block) => this.#contentView(block)));
    this.#showResult();
    if (!this.#touched && blocks.length > 0 && OPEN_KINDS.has(this.#kind)) this.#details.open = true;
  }

  /** @param {any} block */
  #contentView(block) {
    if (block?.type === "diff") return diffView(block, this.#markdown);
    if (block?.type === "terminal") return this.#screen(String(block.terminalId));
    const inner = block?.content ?? block;
    if (inner?.type === "image") return mediaView(inner);
    const text = plainText([inner]);
    return this.#kind === "execute" ? terminalView(text, this.#markdown) : el("pre", { tabindex: 0 }, withoutEscapes(text));
  }

  /** @param {string} terminalId */
  #screen(terminalId) {
    const screen = this.#screens.get(terminalId) ?? this.#terminals.screen(terminalId);
    this.#screens.set(terminalId, screen);
    return screen;
  }

  #showResult() {
    const text = withoutDiffs(withoutEscapes(this.#resultText), this.#diffs);
    const repeated = text.trim() === withoutEscapes(this.#contentText).trim();
    this.#resultFold.hidden = text.trim() === "" || repeated;
    if (this.#resultFold.hidden) return;
    const component = resultComponent(this.#name, this.#resultText);
    if (component !== null) {
      this.#content.replaceChildren(component);
      this.#isRich = true;
      if (!this.#touched) this.#details.open = true;
    }
    if (this.#kind === "execute" && this.#content.childElementCount === 0) {
      this.#content.replaceChildren(terminalView(this.#resultText, this.#markdown));
      this.#resultFold.hidden = true;
      if (!this.#touched) this.#details.open = true;
      return;
    }
    this.#result.textContent = text;
    const showsTerminal = [...this.#screens.keys()].some((id) => this.#terminals.isKnown(id));
    this.#resultFold.open = !this.#isRich && !showsTerminal;
  }
}

/**
 * @param {string} name
 * @param {Element} content
 */
function fold(name, content) {
  return el("details", { class: "fold" }, el("summary", {}, name), content);
}

/**
 * Formats JSON with line breaks; returns other text unchanged.
 *
 * @param {string} json
 */
function pretty(json) {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
