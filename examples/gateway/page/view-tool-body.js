/** The foldable part of a tool call's card: title, arguments, content, result. */

import { resultComponent } from "./components.js";
import { el, fold, icon, visible } from "./dom.js";
import { STATUS_NAMES, placesOf } from "./tool-words.js";
import { argumentsView } from "./view-arguments.js";
import { diffView, withoutDiffs } from "./view-diff.js";
import { mediaView, plainText } from "./view-media.js";
import { resultView } from "./view-result.js";
import { Screen, terminalView, withoutEscapes } from "./view-terminal.js";

/** @import { ToolFacts } from "./tool-facts.js" */

/** The kinds of ACP; an unknown kind is shown as it is. */
const KINDS = new Set(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]);

/** Kinds of tools with content that is unfolded at once. */
const OPEN_KINDS = new Set(["edit", "delete", "move", "execute"]);

/**
 * @typedef {object} BodyParts
 * @property {import("./view-terminal.js").Terminals} terminals
 * @property {import("./markdown.js").Markdown} markdown
 */

/** The body of a card. */
export class ToolBody {
  element;
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
  /** The facts that are shown. @type {ToolFacts} */
  #facts;
  /** @type {{words: string, input: unknown, content: string, contentText: string, result: string}} */
  #shown = { words: "", input: undefined, content: "[]", contentText: "", result: "" };
  /** Whether the result is shown by more than text. */
  #isRich = false;
  #parts;
  /** The shown terminals by id. @type {Map<string, HTMLElement>} */
  #screens = new Map();
  /** Output that is content, by its position. @type {Screen[]} */
  #outputs = [];
  /** Whether the user folded or unfolded it. */
  #touched = false;

  /**
   * @param {ToolFacts} facts
   * @param {BodyParts} parts
   */
  constructor(facts, parts) {
    this.#facts = facts;
    this.#parts = parts;
    const summary = el("summary", {}, this.#icon, this.#title, this.#kindLabel, this.#source, this.#status);
    summary.addEventListener("click", () => (this.#touched = true));
    const body = el("div", { class: "tool-body" }, this.#note, this.#locations, this.#argumentsFold, this.#content, this.#resultFold);
    this.element = el("details", {}, summary, body);
    for (const part of [this.element, this.#argumentsFold, this.#resultFold]) part.addEventListener("toggle", () => this.#showWaiting());
    this.#argumentsFold.hidden = this.#resultFold.hidden = true;
  }

  /**
   * Shows what has changed.
   *
   * @param {string} status That of the call, or `asking`.
   */
  draw(status) {
    const { source, status: reported } = this.#facts;
    this.#showWords();
    this.#source.textContent = source;
    this.#source.hidden = source === "";
    this.#status.textContent = STATUS_NAMES.get(status) ?? status;
    if (reported === "failed" && !this.#touched) this.element.open = true;
    this.#showArguments();
    const isChanged = this.#showContent();
    if (isChanged || this.#shown.result !== this.#facts.resultText) this.#showResult();
  }

  #showWords() {
    const { call, title, words: { kind, verb, target, note } } = this.#facts;
    const shown = visible(target);
    const words = JSON.stringify([kind, verb, shown, note, call.kind]);
    if (words !== this.#shown.words) {
      this.#shown.words = words;
      this.#title.replaceChildren(...(verb === "" ? [shown] : [verb, " ", el("span", { class: "tool-target" }, shown)]));
      this.#note.textContent = visible(note);
      this.#note.hidden = note === "";
      this.#kindLabel.textContent = call.kind;
      this.#kindLabel.hidden = KINDS.has(call.kind);
      const drawn = icon(kind);
      this.#icon.replaceWith(drawn);
      this.#icon = drawn;
    }
    const places = placesOf(call, title);
    this.#locations.hidden = places.length === 0;
    this.#locations.replaceChildren(...places.map((place) => el("code", { class: "path" }, visible(place))));
  }

  #showArguments() {
    const { input } = this.#facts.call;
    if (input === this.#shown.input) return;
    this.#shown.input = input;
    this.#argumentsFold.hidden = input === undefined || input === "" || JSON.stringify(input) === "{}";
    this.#later(this.#arguments, () => this.#arguments.replaceChildren(argumentsView(input)));
  }

  /** Returns whether the content has changed. */
  #showContent() {
    const { blocks, call } = this.#facts;
    const content = JSON.stringify(blocks);
    if (content === this.#shown.content) return false;
    this.#shown.content = content;
    this.#shown.contentText = blocks.filter((block) => block?.type === "content").map((block) => plainText([block.content])).join("\n");
    this.#isRich = call.diffs.length > 0;
    for (const place of [this.#result, ...this.#content.children]) this.#waiting.delete(place);
    const views = blocks.map((block, at) => this.#contentView(block, at));
    // An element that is moved loses its scroll position.
    if (views.length !== this.#content.children.length || views.some((view, at) => view !== this.#content.children[at])) this.#content.replaceChildren(...views);
    if (!this.#touched && blocks.length > 0 && OPEN_KINDS.has(call.kind)) this.element.open = true;
    return true;
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
      if (!this.element.open || place.closest("details")?.open === false) continue;
      this.#waiting.delete(place);
      show();
    }
  }

  /**
   * @param {any} block
   * @param {number} at
   */
  #contentView(block, at) {
    if (block?.type === "diff") return diffView(block, this.#parts.markdown);
    if (block?.type === "terminal") return this.#screen(String(block.terminalId));
    if (block?.type === "session") return el("p", { class: "tool-session" }, "Works in the session ", el("code", {}, visible(String(block.sessionId))));
    const inner = block?.content ?? block;
    if (inner?.type === "image") return mediaView(inner);
    if (this.#facts.call.kind === "execute") {
      const output = (this.#outputs[at] ??= new Screen(this.#parts.markdown));
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
      const { words } = this.#facts;
      const isOutput = this.#facts.call.kind === "execute" || words.verb === "Run";
      place.replaceChildren(isOutput ? terminalView(text, this.#parts.markdown) : resultView(withoutEscapes(text), words, this.#parts.markdown));
    });
  }

  /** @param {string} terminalId */
  #screen(terminalId) {
    const screen = this.#screens.get(terminalId) ?? this.#parts.terminals.screen(terminalId);
    this.#screens.set(terminalId, screen);
    return screen;
  }

  #showResult() {
    const { call, resultText } = this.#facts;
    this.#shown.result = resultText;
    const text = withoutDiffs(resultText, call.diffs);
    const repeated = withoutEscapes(text).trim() === withoutEscapes(this.#shown.contentText).trim();
    this.#resultFold.hidden = text.trim() === "" || repeated;
    if (this.#resultFold.hidden) return;
    const component = resultComponent(call.name, resultText);
    if (component !== null) {
      this.#content.replaceChildren(component);
      this.#isRich = true;
    }
    const isOutput = component === null && call.kind === "execute" && this.#content.childElementCount === 0;
    if (isOutput) {
      this.#content.replaceChildren(terminalView(resultText, this.#parts.markdown));
      this.#resultFold.hidden = true;
    }
    if ((isOutput || component !== null) && !this.#touched) this.element.open = true;
    if (isOutput) return;
    this.#showText(this.#result, text);
    // The terminals of a stored conversation follow.
    queueMicrotask(() => {
      const showsTerminal = [...this.#screens.keys()].some((id) => this.#parts.terminals.isKnown(id));
      this.#resultFold.open = !this.#isRich && !showsTerminal;
    });
  }
}
