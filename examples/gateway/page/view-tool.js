/** The card of a tool call: title, arguments, result. */

import { resultComponent } from "./components.js";
import { el, fold, icon, visible } from "./dom.js";
import { STATUS_NAMES, cut, placesOf, wordsOf } from "./tool-words.js";
import { argumentsView, parsed } from "./view-arguments.js";
import { diffView, withoutDiffs } from "./view-diff.js";
import { mediaView, plainText } from "./view-media.js";
import { resultView } from "./view-result.js";
import { Screen, terminalView, withoutEscapes } from "./view-terminal.js";

/** @import { Markdown } from "./markdown.js" */
/** @import { Terminals } from "./view-terminal.js" */

/** The kinds of ACP; an unknown kind is shown as it is. */
const KINDS = new Set(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]);

/** Maximum length of the name of a card, which a screen reader reads. */
const MAX_NAME = 160;

/** States without a later one. */
const FINAL = new Set(["completed", "failed", "cancelled", "incomplete"]);

/** Kinds of tools with content that is unfolded at once. */
const OPEN_KINDS = new Set(["edit", "delete", "move", "execute"]);

/** A card. */
export class ToolView {
  element;
  status = "pending";
  /** What the call does, in words. */
  title = "";
  /** What is known about the call. @type {import("./tool-words.js").Call} */
  call = { name: "", title: "", kind: "other", input: undefined, locations: [], diffs: [] };
  #details;
  #icon = icon("other");
  #title = el("span", { class: "tool-title" });
  #kindLabel = el("span", { class: "tag tool-kind", hidden: true });
  /** The source of the tool, unless it is the agent. */
  #source = el("span", { class: "tag", hidden: true });
  #status = el("span", { class: "tool-status" });
  #note = el("p", { class: "tool-note", hidden: true });
  #locations = el("p", { class: "tool-locations" });
  #arguments = el("div");
  #argumentsFold = fold("Arguments", this.#arguments);
  #content = el("div", { class: "tool-content" });
  #result = el("div");
  #resultFold = fold("Result", this.#result);
  /** Renders texts, by place, as soon as the card is unfolded. @type {Map<Element, () => void>} */
  #waiting = new Map();
  #below = el("div", { class: "tool-below" });
  #shownContent = "";
  #contentText = "";
  /** The shown words about the call. */
  #words = "";
  #resultText = "";
  /** Whether the result is shown by more than text. */
  #isRich = false;
  #terminals;
  #markdown;
  /** The shown terminals by id. @type {Map<string, HTMLElement>} */
  #screens = new Map();
  /** Output that is content, by its position. @type {Screen[]} */
  #outputs = [];
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
    this.#terminals = terminals;
    this.#markdown = markdown;
    const summary = el("summary", {}, this.#icon, this.#title, this.#kindLabel, this.#source, this.#status);
    summary.addEventListener("click", () => (this.#touched = true));
    const body = el("div", { class: "tool-body" }, this.#note, this.#locations, this.#argumentsFold, this.#content, this.#resultFold);
    this.#details = el("details", {}, summary, body);
    for (const part of [this.#details, this.#argumentsFold, this.#resultFold]) part.addEventListener("toggle", () => this.#showWaiting());
    this.element = el("article", { class: "tool card" }, this.#details, this.#below);
    this.#argumentsFold.hidden = this.#resultFold.hidden = true;
    this.#know({ title: toolCallId });
    this.#setStatus("pending");
  }

  /** @param {import("./thread.js").ToolCall} call A call that has started. */
  start(call) {
    const { name } = call.function;
    this.#know(this.call.title === call.id ? { name, title: name } : { name });
    const source = /** @type {any} */ (call.metadata)?.acp?.source;
    if (typeof source === "string" && source !== "agent") this.#source.textContent = source;
    this.#source.hidden = this.#source.textContent === "";
  }

  /** @param {import("./thread.js").ToolCall} call A call with complete arguments. */
  setArguments(call) {
    this.changeArguments(parsed(call.function.arguments));
    if (!this.#isTold) this.#setStatus("in_progress");
  }

  /** @param {unknown} value The arguments that replace those of the call. */
  changeArguments(value) {
    this.#know({ input: value });
    this.#argumentsFold.hidden = value === undefined || value === "" || JSON.stringify(value) === "{}";
    this.#later(this.#arguments, () => this.#arguments.replaceChildren(argumentsView(value)));
  }

  /** @param {any} content The content of an `acp.tool` activity. */
  update(content) {
    if (typeof content.status === "string") {
      this.#isTold = true;
      this.#setStatus(content.status);
    }
    const blocks = Array.isArray(content.content) ? content.content : [];
    this.#know({
      title: typeof content.title === "string" && content.title !== "" ? content.title : this.call.title,
      kind: typeof content.kind === "string" ? content.kind : this.call.kind,
      locations: Array.isArray(content.locations) ? content.locations : [],
      diffs: blocks.filter((/** @type {any} */ block) => block?.type === "diff"),
    });
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

  /** @param {Partial<import("./tool-words.js").Call>} facts What the agent reports about the call. */
  #know(facts) {
    Object.assign(this.call, facts);
    const { kind, verb, target, note } = wordsOf(this.call);
    const shown = visible(target);
    const words = JSON.stringify([kind, verb, shown, note, this.call.kind]);
    if (words !== this.#words) {
      this.#words = words;
      this.title = cut(`${verb} ${shown}`.trim(), MAX_NAME);
      this.#title.replaceChildren(...(verb === "" ? [shown] : [verb, " ", el("span", { class: "tool-target" }, shown)]));
      this.element.setAttribute("aria-label", `Tool: ${this.title}`);
      this.#note.textContent = visible(note);
      this.#note.hidden = note === "";
      this.#kindLabel.textContent = this.call.kind;
      this.#kindLabel.hidden = KINDS.has(this.call.kind);
      const drawn = icon(kind);
      this.#icon.replaceWith(drawn);
      this.#icon = drawn;
    }
    const places = placesOf(this.call, this.title);
    this.#locations.hidden = places.length === 0;
    this.#locations.replaceChildren(...places.map((place) => el("code", { class: "path" }, visible(place))));
  }

  /**
   * Shows a text now, or as soon as its place is unfolded.
   *
   * @param {Element} place
   * @param {() => void} show
   */
  #later(place, show) {
    this.#waiting.set(place, show);
    this.#showWaiting();
  }

  #showWaiting() {
    for (const [place, show] of this.#waiting) {
      if (!this.#details.open || place.closest("details")?.open === false) continue;
      this.#waiting.delete(place);
      show();
    }
  }

  /** @param {string} status */
  #setStatus(status) {
    this.status = status;
    const shown = this.#isAsking ? "asking" : status;
    this.element.dataset.status = shown;
    this.#status.textContent = STATUS_NAMES.get(shown) ?? shown;
    if (status === "failed" && !this.#touched) this.#details.open = true;
  }

  /** @param {any[]} blocks */
  #setContent(blocks) {
    const key = JSON.stringify(blocks);
    if (key === this.#shownContent) return;
    this.#shownContent = key;
    this.#contentText = blocks.filter((block) => block?.type === "content").map((block) => plainText([block.content])).join("\n");
    this.#isRich = this.call.diffs.length > 0;
    for (const place of [this.#result, ...this.#content.children]) this.#waiting.delete(place);
    const views = blocks.map((block, at) => this.#contentView(block, at));
    // An element that is moved loses its scroll position.
    if (views.length !== this.#content.children.length || views.some((view, at) => view !== this.#content.children[at])) this.#content.replaceChildren(...views);
    this.#showResult();
    if (!this.#touched && blocks.length > 0 && OPEN_KINDS.has(this.call.kind)) this.#details.open = true;
  }

  /**
   * @param {any} block
   * @param {number} at
   */
  #contentView(block, at) {
    if (block?.type === "diff") return diffView(block, this.#markdown);
    if (block?.type === "terminal") return this.#screen(String(block.terminalId));
    const inner = block?.content ?? block;
    if (inner?.type === "image") return mediaView(inner);
    if (this.call.kind === "execute") {
      const output = (this.#outputs[at] ??= new Screen(this.#markdown));
      output.show(plainText([inner]));
      return output.element;
    }
    const place = el("div");
    this.#showText(place, plainText([inner]));
    return place;
  }

  /**
   * @param {Element} place
   * @param {string} text
   */
  #showText(place, text) {
    // Folded text can be found in the page, too.
    place.textContent = withoutEscapes(text);
    this.#later(place, () => {
      const words = wordsOf(this.call);
      const isOutput = this.call.kind === "execute" || words.verb === "Run";
      place.replaceChildren(isOutput ? terminalView(text, this.#markdown) : resultView(withoutEscapes(text), words, this.#markdown));
    });
  }

  /** @param {string} terminalId */
  #screen(terminalId) {
    const screen = this.#screens.get(terminalId) ?? this.#terminals.screen(terminalId);
    this.#screens.set(terminalId, screen);
    return screen;
  }

  #showResult() {
    const text = withoutDiffs(this.#resultText, this.call.diffs);
    const repeated = withoutEscapes(text).trim() === withoutEscapes(this.#contentText).trim();
    this.#resultFold.hidden = text.trim() === "" || repeated;
    if (this.#resultFold.hidden) return;
    const component = resultComponent(this.call.name, this.#resultText);
    if (component !== null) {
      this.#content.replaceChildren(component);
      this.#isRich = true;
    }
    const isOutput = component === null && this.call.kind === "execute" && this.#content.childElementCount === 0;
    if (isOutput) {
      this.#content.replaceChildren(terminalView(this.#resultText, this.#markdown));
      this.#resultFold.hidden = true;
    }
    if ((isOutput || component !== null) && !this.#touched) this.#details.open = true;
    if (isOutput) return;
    this.#showText(this.#result, text);
    // The terminals of a stored conversation follow.
    queueMicrotask(() => {
      const showsTerminal = [...this.#screens.keys()].some((id) => this.#terminals.isKnown(id));
      this.#resultFold.open = !this.#isRich && !showsTerminal;
    });
  }
}
