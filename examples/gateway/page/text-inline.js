/** Inline code, bold text and links, found in a line of text while it streams in. */

/**
 * Receives the parsed parts, in order. Links are not nested; bold text may contain code.
 *
 * @typedef {object} InlineSink
 * @property {(text: string) => void} text
 * @property {(ticks: string) => void} openInline
 * @property {(matched: boolean) => void} closeInline Not matched: the ticks are text.
 * @property {() => void} openStrong
 * @property {(matched: boolean) => void} closeStrong Not matched: the stars are text.
 * @property {(text: string, href: string) => void} link To an address that begins with `http:` or `https:`.
 */

const STRONG = "**";

const LINK = /\[([^[\]\n]{1,200})\]\((https?:\/\/[^\s()<>]{1,2000})\)/g;
/** The beginning of a link, at the end of the text. */
const LINK_START = /\[[^[\]\n]{0,200}(?:\](?:\((?:h|ht|htt|https?|https?:|https?:\/|https?:\/\/[^\s()<>]{0,2000})?)?)?$/;

/**
 * Parses lines. Only text that may still become a mark or a link is held back.
 */
export class InlineText {
  #sink;
  /** A run of marks, or the beginning of a link, at the end of the text so far. */
  #tail = "";
  /** The closing ticks of the open inline code. */
  #ticks = "";
  #isStrong = false;

  /** @param {InlineSink} sink */
  constructor(sink) {
    this.#sink = sink;
  }

  /** @param {string} text A part of a line. */
  put(text) {
    const all = this.#tail + text;
    this.#tail = "";
    let start = 0;
    for (const run of all.matchAll(/`+|\*+/g)) {
      this.#words(all.slice(start, run.index));
      start = run.index + run[0].length;
      if (start === all.length) this.#tail = run[0];
      else this.#mark(run[0], all[start]);
    }
    const rest = all.slice(start);
    const link = this.#ticks === "" ? LINK_START.exec(rest) : null;
    if (link !== null) this.#tail = link[0];
    this.#words(link === null ? rest : rest.slice(0, link.index));
  }

  /** Ends the line. Marks that are still open are text. */
  endLine() {
    if (/^[`*]/.test(this.#tail)) this.#mark(this.#tail, "\n");
    else if (this.#tail !== "") this.#sink.text(this.#tail);
    this.#tail = "";
    if (this.#ticks !== "") this.#sink.closeInline(false);
    this.#ticks = "";
    if (this.#isStrong) this.#sink.closeStrong(false);
    this.#isStrong = false;
  }

  /** @param {string} text Text without marks. */
  #words(text) {
    let start = 0;
    for (const link of this.#ticks === "" ? text.matchAll(LINK) : []) {
      if (link.index > start) this.#sink.text(text.slice(start, link.index));
      this.#sink.link(link[1], link[2]);
      start = link.index + link[0].length;
    }
    if (start < text.length) this.#sink.text(text.slice(start));
  }

  /**
   * @param {string} run
   * @param {string} next The character after it.
   */
  #mark(run, next) {
    if (this.#ticks !== "") {
      if (run !== this.#ticks) return this.#sink.text(run);
      this.#ticks = "";
      this.#sink.closeInline(true);
    } else if (run.startsWith("`")) {
      this.#ticks = run;
      this.#sink.openInline(run);
    } else if (run === STRONG && this.#isStrong) {
      this.#isStrong = false;
      this.#sink.closeStrong(true);
    } else if (run === STRONG && next.trim() !== "") {
      this.#isStrong = true;
      this.#sink.openStrong();
    } else {
      this.#sink.text(run);
    }
  }
}
