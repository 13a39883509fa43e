/** Prompts that the agent suggests, below its last answer. */

import { button, visible } from "./dom.js";

/** Maximum number of shown prompts. */
const MAX_SHOWN = 8;

/** Maximum number of characters of a shown prompt. */
const MAX_LABEL = 120;

/**
 * @typedef {object} PromptActions
 * @property {(text: string) => void} send Sends a message.
 * @property {(text: string) => void} write Puts a text into the message box, where the user sees all of it.
 */

/** A row of buttons that is hidden during a run, and without suggestions. */
export class PromptsView {
  #root;
  #actions;

  /**
   * @param {HTMLElement} root
   * @param {PromptActions} actions
   */
  constructor(root, actions) {
    this.#root = root;
    this.#actions = actions;
  }

  clear() {
    this.show([]);
  }

  /** @param {string[]} prompts */
  show(prompts) {
    this.#root.hidden = prompts.length === 0;
    this.#root.replaceChildren(...prompts.slice(0, MAX_SHOWN).map((prompt) => this.#button(prompt)));
  }

  /** @param {string} prompt */
  #button(prompt) {
    const line = visible(prompt.trim().split(/\s+/).join(" "));
    const characters = Array.from(line);
    const label = characters.length > MAX_LABEL ? `${characters.slice(0, MAX_LABEL - 1).join("")}…` : line;
    // What the button does not show whole is sent by the user.
    const act = label === prompt ? this.#actions.send : this.#actions.write;
    return button(label, "quiet prompt", () => act(prompt));
  }
}

/**
 * Returns the prompts of text among suggestions. Others have content that this page did not ask for.
 *
 * @param {any} value The value of `acp.suggestions`.
 * @returns {string[]}
 */
export function promptsOf(value) {
  /** @type {any[]} */
  const suggestions = Array.isArray(value?.suggestions) ? value.suggestions : [];
  const texts = suggestions.map(({ prompt }) => (Array.isArray(prompt) && prompt.every(isText) ? prompt.map(textOf).join("\n") : ""));
  return texts.filter((text) => text.trim() !== "");
}

/** @param {any} block */
const isText = (block) => block?.type === "text" || block?.type === "resource_link";

/** @param {any} block */
const textOf = (block) => (block.type === "text" ? String(block.text ?? "") : `[${block.name ?? block.uri}](${block.uri})`);
