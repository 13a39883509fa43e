/** Streamed text of a message. */

import { button, el } from "./dom.js";
import { TextBlocks } from "./text-blocks.js";

/** @import { TextSink } from "./text-blocks.js" */

/** Maximum length of a text node that is appended to; appending copies the node. */
const MAX_TEXT_NODE = 4096;

/** Maximum indentation of list items. */
const MAX_DEPTH = 4;

const COPIED_MS = 1500;

/** Blocks of text in an element. */
export class TextView {
  element;
  #blocks;

  /** @param {string} className */
  constructor(className) {
    this.element = el("div", { class: `text ${className}` });
    this.#blocks = new TextBlocks(new DomSink(this.element));
  }

  /** @param {string} delta */
  append(delta) {
    this.#blocks.push(delta);
  }

  end() {
    this.#blocks.end();
  }
}

/**
 * Adds text to the end of an element.
 *
 * @param {Element} parent
 * @param {string} text
 */
export function appendText(parent, text) {
  const last = parent.lastChild;
  if (last instanceof Text && last.length < MAX_TEXT_NODE) last.appendData(text);
  else parent.append(text);
}

/** @implements {TextSink} */
class DomSink {
  #root;
  /** @type {Element} */
  #target;
  #ticks = "";

  /** @param {Element} root */
  constructor(root) {
    this.#root = root;
    this.#target = root;
  }

  openParagraph() {
    this.#target = this.#root.appendChild(el("p"));
  }

  /** @param {number} level */
  openHeading(level) {
    // Headings of the page rank above those of a message.
    const shown = el("p", { class: `heading level-${level}`, role: "heading", "aria-level": level + 2 });
    this.#target = this.#root.appendChild(shown);
  }

  /**
   * @param {number} depth
   * @param {number | null} number
   */
  openItem(depth, number) {
    const tag = number === null ? "ul" : "ol";
    let list = this.#root.lastElementChild;
    if (list?.localName !== tag) list = this.#root.appendChild(el(tag));
    const attributes = { value: number ?? undefined, "data-depth": Math.min(depth, MAX_DEPTH) };
    this.#target = list.appendChild(el("li", attributes));
  }

  /** @param {string} language */
  openCode(language) {
    const code = el("code");
    this.#root.append(codeBlock(language, code));
    this.#target = code;
  }

  /** @param {string} text */
  text(text) {
    appendText(this.#target, text);
  }

  /** @param {string} ticks */
  openInline(ticks) {
    this.#ticks = ticks;
    this.#target = this.#target.appendChild(el("code"));
  }

  /** @param {boolean} matched */
  closeInline(matched) {
    this.#leave(matched, this.#ticks);
  }

  openStrong() {
    this.#target = this.#target.appendChild(el("strong"));
  }

  /** @param {boolean} matched */
  closeStrong(matched) {
    this.#leave(matched, "**");
  }

  /**
   * @param {string} text
   * @param {string} href
   */
  link(text, href) {
    this.#target.append(el("a", { href, rel: "noopener noreferrer", target: "_blank" }, text));
  }

  closeBlock() {
    this.#target = this.#root;
  }

  /**
   * @param {boolean} matched
   * @param {string} mark The opening mark, which becomes text without a closing one.
   */
  #leave(matched, mark) {
    const inner = this.#target;
    this.#target = /** @type {Element} */ (inner.parentElement);
    if (matched) return;
    inner.replaceWith(mark, ...inner.childNodes);
    this.#target.normalize();
  }
}

/**
 * @param {string} language
 * @param {HTMLElement} code
 */
function codeBlock(language, code) {
  const copy = button("Copy", "quiet copy", () => {
    navigator.clipboard.writeText(code.textContent ?? "").then(
      () => (copy.textContent = "Copied"),
      () => (copy.textContent = "Could not copy"),
    );
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  });
  const caption = el("figcaption", {}, el("span", {}, language === "" ? "Code" : language), copy);
  return el("figure", { class: "code" }, caption, el("pre", { tabindex: 0 }, code));
}
