/** Streamed text of a message, rendered as Markdown. */

import { el } from "./dom.js";
import { MAX_TEXT } from "./markdown.js";
import { nodesOf, patch } from "./view-markup.js";

/** @import { Markdown, Rendered } from "./markdown.js" */

/** Maximum length of a text node that is appended to; appending copies the node. */
const MAX_TEXT_NODE = 4096;

/** Length of a part of plain text; it ends at the next line break. A part is laid out again when it grows. */
const MAX_PART = 4 * MAX_TEXT_NODE;

/** Number of characters of a request, unless its first block is longer. The page lays them out at once. */
const FIRST_TEXT = 32 * 1024;

/** Maximum number of spaces and line breaks that are kept between rendered and plain text. */
const MAX_SPACE = 8;

/** Minimum time between two requests for a text. */
const PAUSE_MS = 150;

/** Additional time for each 1,024 characters that have to be rendered again. */
const PAUSE_PER_KIB_MS = 20;

/** Elements that plain text may continue, inside of their last element. */
const CONTINUED = ":is(p, li, ul, ol, blockquote, figure, pre, pre > code, h3, h4, h5, h6)";

/**
 * Blocks of text in an element. New text is plain until it is rendered. Finished blocks are rendered once, the last ones again
 * when they grow.
 */
export class TextView {
  element;
  #markdown;
  #text = "";
  /** The end of the finished blocks in the text. */
  #start = 0;
  /** The blocks behind it. @type {{html: string, nodes: Node[]}[]} */
  #open = [];
  /** Plain text at the end. @type {HTMLElement | null} */
  #tail = null;
  #isComplete = false;
  #isAsking = false;
  #isTooLong = false;
  /** Number of characters of the next request. */
  #most = FIRST_TEXT;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #askedAt = -Infinity;
  #hasReferences = false;

  /**
   * @param {string} className
   * @param {Markdown} markdown
   */
  constructor(className, markdown) {
    this.element = el("div", { class: `text ${className}` });
    this.#markdown = markdown;
  }

  /** @param {string} delta */
  append(delta) {
    this.#text += delta;
    this.#showPlain(this.#text.length - delta.length);
    this.#ask();
  }

  end() {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.#ask();
  }

  /** Asks for the open text, unless it was asked for a moment ago. */
  #ask() {
    const length = Math.min(this.#text.length - this.#start, MAX_TEXT);
    if (this.#isAsking || this.#isTooLong || length === 0) return;
    clearTimeout(this.#timer);
    const pause = PAUSE_MS + (length / 1024) * PAUSE_PER_KIB_MS;
    const wait = this.#isComplete ? 0 : this.#askedAt + pause - performance.now();
    if (wait <= 0) this.#askNow();
    else this.#timer = setTimeout(() => this.#askNow(), wait);
  }

  #askNow() {
    this.#isAsking = true;
    const [start, length, isLast] = [this.#start, this.#text.length, this.#isComplete];
    const end = start + wholeCharacters(this.#text.slice(start, start + this.#most)).length;
    const isCut = end < length;
    void this.#markdown.render({ text: this.#text.slice(start, end), isComplete: isLast && !isCut }, (rendered) => {
      this.#isAsking = false;
      this.#askedAt = performance.now();
      const isPart = rendered !== null && isCut;
      const hasBlock = !isPart || rendered.finished > 0;
      // The text of a longer block stays plain, of which the page lays out what is in sight.
      this.#isTooLong = !hasBlock && this.#most === MAX_TEXT;
      this.#most = hasBlock ? FIRST_TEXT : MAX_TEXT;
      if (rendered !== null && hasBlock) this.#show(rendered, start, end);
      if (isPart || length < this.#text.length || isLast !== this.#isComplete) this.#ask();
      else if (rendered !== null && isLast && this.#hasReferences && start > 0) this.#renderAgain();
    });
  }

  /**
   * @param {Rendered} rendered
   * @param {number} start The position of the rendered text.
   * @param {number} end
   */
  #show(rendered, start, end) {
    this.#hasReferences ||= rendered.hasReferences;
    this.#tail?.remove();
    this.#tail = null;
    const same = rendered.blocks.findIndex(({ html }, at) => this.#open[at]?.html !== html);
    const kept = same === -1 ? rendered.blocks.length : same;
    const changed = this.#open.splice(kept);
    for (const { html } of rendered.blocks.slice(kept)) this.#open.push({ html, nodes: this.#place(nodesOf(html), changed.shift()) });
    for (const { nodes } of changed) for (const node of nodes) this.element.removeChild(node);
    if (rendered.finished > 0) this.#start = start + rendered.blocks[rendered.finished - 1].end;
    this.#open.splice(0, rendered.finished);
    this.#showPlain(end);
  }

  /**
   * Shows the nodes of a block, and returns those in the page.
   *
   * @param {Node[]} nodes
   * @param {{nodes: Node[]}} [before] What was shown of it.
   */
  #place(nodes, before) {
    if (before === undefined) {
      this.element.append(...nodes);
      return nodes;
    }
    if (before.nodes.length === 1 && nodes.length === 1 && patch(before.nodes[0], nodes[0])) return before.nodes;
    const next = before.nodes.at(-1)?.nextSibling ?? null;
    for (const node of before.nodes) this.element.removeChild(node);
    for (const node of nodes) this.element.insertBefore(node, next);
    return nodes;
  }

  /** Renders the whole text, of which finished blocks refer to later ones. */
  #renderAgain() {
    if (this.#text.length > MAX_TEXT) return;
    this.#start = 0;
    void this.#markdown.render({ text: this.#text, isComplete: true }, (rendered) => {
      if (rendered === null) return;
      this.element.replaceChildren();
      this.#open = [];
      this.#show(rendered, 0, this.#text.length);
    });
  }

  /** @param {number} from The start of text that is not rendered yet. */
  #showPlain(from) {
    if (from === this.#text.length) return;
    let text = this.#text.slice(from);
    if (this.#tail === null) {
      const before = this.#text.slice(Math.max(from - MAX_SPACE, 0), from);
      const space = before.slice(before.trimEnd().length);
      this.#tail = this.#addTail((space + text.slice(0, 2)).includes("\n\n"));
      // Rendered text ends without the spaces of its source, except code.
      if (this.#tail.localName === "p") text = text.trimStart();
      else if (this.#tail.closest("pre") === null) text = space + text;
    }
    while (text !== "") {
      const part = this.#tail.lastElementChild ?? this.#tail.appendChild(el("span"));
      const room = Math.max(MAX_PART - (part.textContent ?? "").length, 0);
      const lineFeed = text.length > room ? text.indexOf("\n", room) : -1;
      const now = lineFeed === -1 ? text : text.slice(0, lineFeed + 1);
      appendText(part, now);
      if (lineFeed !== -1) this.#tail.append(el("span", { class: "part" }));
      text = text.slice(now.length);
    }
  }

  /**
   * Adds an element for plain text, where the rendered text will probably be.
   *
   * @param {boolean} isNewBlock
   */
  #addTail(isNewBlock) {
    let parent = this.#open.length === 0 || isNewBlock ? null : this.element.lastElementChild;
    if (parent?.matches(CONTINUED) !== true) return this.element.appendChild(el("p", { class: "plain" }));
    while (parent.lastElementChild?.matches(CONTINUED)) parent = parent.lastElementChild;
    return parent.appendChild(el("span", { class: "plain" }));
  }
}

/**
 * Returns a text without the first half of a character at its end.
 *
 * @param {string} text
 */
function wholeCharacters(text) {
  return text.replace(/[\ud800-\udbff]$/, "");
}

/**
 * Adds text to the end of an element.
 *
 * @param {Element} parent
 * @param {string} text
 */
function appendText(parent, text) {
  const last = parent.lastChild;
  if (last instanceof Text && last.length < MAX_TEXT_NODE) last.appendData(text);
  else parent.append(text);
}
