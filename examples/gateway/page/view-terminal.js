/** Output of commands. */

import { el } from "./dom.js";
import { MAX_TEXT } from "./markdown.js";
import { LongView } from "./view-long.js";
import { nodesOf } from "./view-markup.js";

/** @import { Markdown } from "./markdown.js" */

/** What the gateway renders: escape sequences, and text that replaces other text. */
const CONTROLS = /[\x08\r\x1b]/;

/** Escape sequences for colours. */
const ESCAPE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** @param {string} text */
export function withoutEscapes(text) {
  return text.replace(ESCAPE, "");
}

/**
 * @param {string} output
 * @param {Markdown} markdown
 */
export function terminalView(output, markdown) {
  const screen = new Screen(markdown);
  screen.show(output);
  return screen.element;
}

/** Output that may grow. It is plain until the gateway has rendered its colours. */
export class Screen {
  #pre = el("pre", { class: "terminal", tabindex: 0, role: "group", "aria-label": "Terminal output" });
  #long = new LongView(this.#pre);
  element = this.#long.element;
  #markdown;
  #command = el("span");
  #body = el("span");
  #end = el("span");
  #output = "";
  #isAsking = false;
  #isColored = false;

  /** @param {Markdown} markdown */
  constructor(markdown) {
    this.#markdown = markdown;
    this.#pre.append(this.#command, this.#body, this.#end);
  }

  /** @param {any} content The content of an `acp.terminal` activity: the end of the output, and the exit status. */
  update(content) {
    this.element.hidden = false;
    this.#keepEnd(() => {
      this.#command.textContent = typeof content.command === "string" ? `$ ${content.command}\n` : "";
      this.#show(String(content.output ?? ""));
      const { exitCode, signal } = content.exitStatus ?? {};
      const words = typeof signal === "string" ? `ended by ${signal}` : typeof exitCode === "number" ? `exit status ${exitCode}` : "";
      if (words === "") return;
      const good = typeof signal !== "string" && exitCode === 0;
      this.#end.replaceChildren("\n", el("span", { class: good ? "terminal-exit" : "terminal-exit is-failed" }, words));
    });
  }

  /** @param {string} output */
  show(output) {
    this.#keepEnd(() => this.#show(output));
  }

  /** @param {string} output */
  #show(output) {
    this.#output = output;
    const isRendered = CONTROLS.test(output) && output.length <= MAX_TEXT;
    this.#isColored &&= isRendered;
    this.#long.update(output);
    if (!this.#isColored) this.#body.textContent = withoutEscapes(output);
    if (isRendered && !this.#isAsking) this.#ask(output);
  }

  /** @param {string} output */
  #ask(output) {
    this.#isAsking = true;
    void this.#markdown.render({ text: output, isComplete: true, format: "terminal" }, (rendered) => {
      this.#isAsking = false;
      const nodes = nodesOf(rendered?.blocks.at(0)?.html ?? "");
      this.#isColored = nodes.length > 0;
      if (this.#isColored) this.#keepEnd(() => this.#body.replaceChildren(...nodes.flatMap((node) => [...node.childNodes])));
      if (output !== this.#output) this.show(this.#output);
    });
  }

  /**
   * Follows the output, unless the reader scrolled up.
   *
   * @param {() => void} change
   */
  #keepEnd(change) {
    const follows = this.#pre.scrollHeight - this.#pre.scrollTop - this.#pre.clientHeight < 4;
    change();
    if (follows) this.#pre.scrollTop = this.#pre.scrollHeight;
  }
}

/** The terminals of a conversation, with their elements. */
export class Terminals {
  #markdown;
  /** The contents of `acp.terminal` activities. @type {Map<string, any>} */
  #contents = new Map();
  /** @type {Map<string, Set<Screen>>} */
  #screens = new Map();

  /** @param {Markdown} markdown */
  constructor(markdown) {
    this.#markdown = markdown;
  }

  /** @param {any} content The content of an `acp.terminal` activity. */
  update(content) {
    const id = String(content.terminalId);
    this.#contents.set(id, content);
    for (const screen of this.#screens.get(id) ?? []) screen.update(content);
  }

  /** @param {unknown} terminalId */
  isKnown(terminalId) {
    return this.#contents.has(String(terminalId));
  }

  /**
   * Returns an element that follows the terminal; hidden while the terminal is unknown.
   *
   * @param {unknown} terminalId
   */
  screen(terminalId) {
    const id = String(terminalId);
    const screen = new Screen(this.#markdown);
    const screens = this.#screens.get(id) ?? new Set();
    this.#screens.set(id, screens.add(screen));
    screen.element.hidden = true;
    if (this.#contents.has(id)) screen.update(this.#contents.get(id));
    return screen.element;
  }

  clear() {
    this.#contents.clear();
    this.#screens.clear();
  }
}
