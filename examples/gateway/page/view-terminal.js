/** Output of commands. */

import { el } from "./dom.js";

/** Escape sequences for colours. */
const ESCAPE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** @param {string} text */
export function withoutEscapes(text) {
  return text.replace(ESCAPE, "");
}

/** @param {string} output */
export function terminalView(output) {
  const screen = el("pre", { class: "terminal", tabindex: 0, role: "group", "aria-label": "Terminal output" });
  screen.append(withoutEscapes(output));
  return screen;
}

/** The terminals of a conversation, with their elements. */
export class Terminals {
  /** The contents of `acp.terminal` activities. @type {Map<string, any>} */
  #contents = new Map();
  /** @type {Map<string, Set<HTMLElement>>} */
  #screens = new Map();

  /** @param {any} content The content of an `acp.terminal` activity: the end of the output, and the exit status. */
  update(content) {
    const id = String(content.terminalId);
    this.#contents.set(id, content);
    for (const screen of this.#screens.get(id) ?? []) fill(screen, content);
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
    const screen = terminalView("");
    const screens = this.#screens.get(id) ?? new Set();
    this.#screens.set(id, screens.add(screen));
    screen.hidden = true;
    if (this.#contents.has(id)) fill(screen, this.#contents.get(id));
    return screen;
  }

  clear() {
    this.#contents.clear();
    this.#screens.clear();
  }
}

/**
 * @param {HTMLElement} screen
 * @param {any} content
 */
function fill(screen, content) {
  const follows = screen.scrollHeight - screen.scrollTop - screen.clientHeight < 4;
  screen.hidden = false;
  const command = typeof content.command === "string" ? `$ ${content.command}\n` : "";
  screen.replaceChildren(command, withoutEscapes(String(content.output ?? "")));
  const { exitCode, signal } = content.exitStatus ?? {};
  const words = typeof signal === "string" ? `ended by ${signal}` : typeof exitCode === "number" ? `exit status ${exitCode}` : "";
  if (words !== "") {
    const good = typeof signal !== "string" && exitCode === 0;
    screen.append("\n", el("span", { class: good ? "terminal-exit" : "terminal-exit is-failed" }, words));
  }
  if (follows) screen.scrollTop = screen.scrollHeight;
}
