/** Paragraphs, headings, list items and fenced code, found in text while it streams in. */

import { InlineText } from "./text-inline.js";

/** @import { InlineSink } from "./text-inline.js" */

/**
 * Receives the parsed blocks, in order. Blocks do not nest.
 *
 * @typedef {object} BlockSink
 * @property {() => void} openParagraph
 * @property {(level: number) => void} openHeading From 1, the highest, to 6.
 * @property {(depth: number, number: number | null) => void} openItem An item of a list, `null` without a number.
 * @property {(language: string) => void} openCode
 * @property {() => void} closeBlock
 */

/** @typedef {BlockSink & InlineSink} TextSink */

/** Maximum length of the beginning of a line that is held back; a longer one is text. */
const MAX_HELD = 200;

/** The beginning of a line that may still become a fence, a heading or an item, or stay blank. */
const UNDECIDED = /^(?:\s*|\s*(?:[-*+]|\d{1,3}[.)]?)\s*| {0,3}#{1,6} *| {0,3}`{1,2}| {0,3}`{3,}[^`]*)$/;
const FENCE = /^ {0,3}(`{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6}) +(?=\S)/;
const ITEM = /^( *)(?:[-*+]|(\d{1,3})[.)]) +(?=\S)/;

/** Number of spaces for each level of items. */
const INDENT = 2;

/**
 * Splits streamed text into blocks.
 *
 * Only text that may still become a mark is held back. The sink's calls have the same effect for any split of the
 * text.
 */
export class TextBlocks {
  #sink;
  #inline;
  /** @type {"none" | "paragraph" | "heading" | "item" | "code"} */
  #block = "none";
  #blockHasLine = false;
  /** Text that cannot be interpreted without later text. */
  #held = "";
  #inLine = false;
  /** The closing ticks of the open code block. */
  #fence = "";

  /** @param {TextSink} sink */
  constructor(sink) {
    this.#sink = sink;
    this.#inline = new InlineText(sink);
  }

  /** @param {string} delta */
  push(delta) {
    let rest = (this.#held + delta).replaceAll("\r\n", "\n");
    this.#held = rest.endsWith("\r") ? "\r" : "";
    if (this.#held !== "") rest = rest.slice(0, -1);
    while (rest !== "") {
      const lineFeed = rest.indexOf("\n");
      const whole = lineFeed !== -1;
      const line = whole ? rest.slice(0, lineFeed) : rest;
      if (this.#inLine) {
        this.#put(line);
      } else if (!whole && line.length <= MAX_HELD && UNDECIDED.test(line)) {
        this.#held = line + this.#held;
        return;
      } else {
        this.#startLine(line, whole);
      }
      this.#inLine = !whole;
      if (whole) this.#endLine();
      rest = whole ? rest.slice(lineFeed + 1) : "";
    }
  }

  /** The text is complete. */
  end() {
    const held = this.#held;
    this.#held = "";
    if (this.#inLine) this.#put(held);
    else if (held !== "") this.#startLine(held, true);
    this.#endLine();
    this.#close();
    this.#inLine = false;
  }

  /**
   * @param {string} line The line, or its start if it is incomplete.
   * @param {boolean} whole
   */
  #startLine(line, whole) {
    const short = whole && line.length <= MAX_HELD;
    const fence = short ? FENCE.exec(line) : null;
    if (this.#block === "code") {
      if (fence !== null && fence[1].length >= this.#fence.length && line.trim() === fence[1]) this.#close();
      else this.#addLine(line);
    } else if (fence !== null) {
      this.#fence = fence[1];
      this.#open("code");
      this.#sink.openCode(fence[2]);
    } else if (short && line.trim() === "") {
      this.#close();
    } else {
      this.#startText(line);
    }
  }

  /** @param {string} line */
  #startText(line) {
    const heading = HEADING.exec(line);
    const item = ITEM.exec(line);
    if (heading !== null) {
      this.#open("heading");
      this.#sink.openHeading(heading[1].length);
      this.#addLine(line.slice(heading[0].length));
    } else if (item !== null) {
      this.#open("item");
      this.#sink.openItem(Math.floor(item[1].length / INDENT), item[2] === undefined ? null : Number(item[2]));
      this.#addLine(line.slice(item[0].length));
    } else if (this.#block === "none") {
      this.#open("paragraph");
      this.#sink.openParagraph();
      this.#addLine(line);
    } else {
      this.#addLine(this.#block === "item" ? line.trimStart() : line);
    }
  }

  /** @param {string} line */
  #addLine(line) {
    if (this.#blockHasLine) this.#sink.text("\n");
    this.#blockHasLine = true;
    this.#put(line);
  }

  /** @param {string} text A part of a line, of the block that is open. */
  #put(text) {
    if (this.#block !== "code") this.#inline.put(text);
    else if (text !== "") this.#sink.text(text);
  }

  #endLine() {
    this.#inline.endLine();
    if (this.#block === "heading") this.#close();
  }

  /** @param {"paragraph" | "heading" | "item" | "code"} block */
  #open(block) {
    this.#close();
    this.#block = block;
    this.#blockHasLine = false;
  }

  #close() {
    if (this.#block !== "none") this.#sink.closeBlock();
    this.#block = "none";
  }
}
