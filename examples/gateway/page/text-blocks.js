/** Paragraphs, fenced code, inline code and links, found in text while it streams in. */

/**
 * Takes what was found, in order. Blocks do not nest; inline code and links stand in a paragraph.
 *
 * @typedef {object} TextSink
 * @property {() => void} openParagraph
 * @property {(language: string) => void} openCode
 * @property {(text: string) => void} text Text of the block, or of the inline code, that is open.
 * @property {(ticks: string) => void} openInline
 * @property {(matched: boolean) => void} closeInline Not matched: it was no code, the ticks are text.
 * @property {(text: string, href: string) => void} link To an address that begins with `http:` or `https:`.
 * @property {() => void} closeBlock
 */

/** The longest first line of a fence; a longer one is text. */
const MAX_FENCE_LINE = 200;

/** The beginning of a line that may still become a fence or stay blank. */
const UNDECIDED = /^(?:\s*| {0,3}`{1,2}| {0,3}`{3,}[^`]*)$/;
const FENCE = /^ {0,3}(`{3,})\s*([^`\s]*)[^`]*$/;

const LINK = /\[([^[\]\n]{1,200})\]\((https?:\/\/[^\s()<>]{1,2000})\)/g;
/** The beginning of a link, at the end of the text. */
const LINK_START = /\[[^[\]\n]{0,200}(?:\](?:\((?:h|ht|htt|https?|https?:|https?:\/|https?:\/\/[^\s()<>]{0,2000})?)?)?$/;

/**
 * Splits streamed text into blocks.
 *
 * It holds back no more than what may still become a fence, a line break, the ticks of inline code
 * or a link. However the text was cut, the sink's calls amount to the same.
 */
export class TextBlocks {
  #sink;
  /** @type {"none" | "paragraph" | "code"} */
  #block = "none";
  #blockHasLine = false;
  /** Text that more text must decide about. */
  #held = "";
  #inLine = false;
  /** The ticks that close the code block that is open. */
  #fence = "";
  /** Ticks, or the beginning of a link, at the end of the text so far. */
  #tail = "";
  /** The ticks that close the inline code that is open. */
  #inline = "";

  /** @param {TextSink} sink */
  constructor(sink) {
    this.#sink = sink;
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
      } else if (!whole && line.length <= MAX_FENCE_LINE && UNDECIDED.test(line)) {
        this.#held = line + this.#held;
        return;
      } else {
        this.#startLine(line, whole);
      }
      this.#inLine = !whole;
      if (whole) this.#endInline();
      rest = whole ? rest.slice(lineFeed + 1) : "";
    }
  }

  /** The text is complete. */
  end() {
    const held = this.#held;
    this.#held = "";
    if (this.#inLine) this.#put(held);
    else if (held !== "") this.#startLine(held, true);
    this.#endInline();
    this.#close();
    this.#inLine = false;
  }

  /**
   * @param {string} line The line, or its beginning if it is not whole.
   * @param {boolean} whole
   */
  #startLine(line, whole) {
    const short = whole && line.length <= MAX_FENCE_LINE;
    const fence = short ? FENCE.exec(line) : null;
    if (this.#block === "code") {
      if (fence !== null && fence[1].length >= this.#fence.length && line.trim() === fence[1]) {
        this.#close();
        return;
      }
    } else if (fence !== null) {
      this.#close();
      this.#open("code");
      this.#fence = fence[1];
      this.#sink.openCode(fence[2]);
      return;
    } else if (short && line.trim() === "") {
      this.#close();
      return;
    } else if (this.#block === "none") {
      this.#open("paragraph");
      this.#sink.openParagraph();
    }
    if (this.#blockHasLine) this.#sink.text("\n");
    this.#blockHasLine = true;
    this.#put(line);
  }

  /** @param {string} text A part of a line, of the block that is open. */
  #put(text) {
    if (this.#block === "code") {
      if (text !== "") this.#sink.text(text);
      return;
    }
    const all = this.#tail + text;
    this.#tail = "";
    let start = 0;
    for (const run of all.matchAll(/`+/g)) {
      this.#putWords(all.slice(start, run.index));
      start = run.index + run[0].length;
      if (start === all.length) this.#tail = run[0];
      else this.#tick(run[0]);
    }
    const rest = all.slice(start);
    this.#tail ||= this.#inline === "" ? (LINK_START.exec(rest)?.[0] ?? "") : "";
    this.#putWords(this.#tail.startsWith("[") ? rest.slice(0, -this.#tail.length) : rest);
  }

  /** @param {string} text Text without ticks. */
  #putWords(text) {
    let start = 0;
    for (const link of this.#inline === "" ? text.matchAll(LINK) : []) {
      if (link.index > start) this.#sink.text(text.slice(start, link.index));
      this.#sink.link(link[1], link[2]);
      start = link.index + link[0].length;
    }
    if (start < text.length) this.#sink.text(text.slice(start));
  }

  /** @param {string} run */
  #tick(run) {
    if (this.#inline === "") {
      this.#inline = run;
      this.#sink.openInline(run);
    } else if (this.#inline === run) {
      this.#inline = "";
      this.#sink.closeInline(true);
    } else {
      this.#sink.text(run);
    }
  }

  #endInline() {
    if (this.#tail.startsWith("`")) this.#tick(this.#tail);
    else if (this.#tail !== "") this.#sink.text(this.#tail);
    this.#tail = "";
    if (this.#inline !== "") this.#sink.closeInline(false);
    this.#inline = "";
  }

  /** @param {"paragraph" | "code"} block */
  #open(block) {
    this.#block = block;
    this.#blockHasLine = false;
  }

  #close() {
    if (this.#block !== "none") this.#sink.closeBlock();
    this.#block = "none";
  }
}
