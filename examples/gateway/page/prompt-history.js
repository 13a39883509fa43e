/** Earlier prompts of a conversation, and the text that is not sent yet. */

const KEY = "spanwire.draft.";

/** The text of the message box over time. */
export class PromptHistory {
  #storage;
  #key = () => "";
  /** @type {string[]} */
  #prompts = [];
  /** The position in the prompts; their number for the new text. */
  #at = 0;
  /** The new text, while an earlier one is shown. */
  #text = "";

  /** @param {Storage} [storage] */
  constructor(storage = sessionStorage) {
    this.#storage = storage;
  }

  /**
   * Opens a conversation.
   *
   * @param {() => string} key Identifies the conversation.
   * @param {string[]} prompts Its prompts so far.
   * @returns {string} The text that was not sent.
   */
  open(key, prompts) {
    this.#key = () => KEY + key();
    this.#prompts = prompts;
    this.#at = prompts.length;
    return this.#storage.getItem(this.#key()) ?? "";
  }

  /** @param {string} text The text that is not sent yet. */
  keep(text) {
    try {
      if (text === "") this.#storage.removeItem(this.#key());
      else this.#storage.setItem(this.#key(), text);
    } catch (error) {
      // Without space, the text stays in the message box only.
      if (!(error instanceof DOMException)) throw error;
    }
  }

  /** @param {string} prompt A prompt that was sent. */
  add(prompt) {
    this.keep("");
    if (prompt !== "" && this.#prompts.at(-1) !== prompt) this.#prompts.push(prompt);
    this.#at = this.#prompts.length;
  }

  /**
   * Returns another text for the message box; `null` at an end.
   *
   * @param {-1 | 1} step
   * @param {string} text The shown text.
   */
  move(step, text) {
    const next = this.#at + step;
    if (next < 0 || next > this.#prompts.length) return null;
    if (this.#at === this.#prompts.length) this.#text = text;
    this.#at = next;
    return next === this.#prompts.length ? this.#text : this.#prompts[next];
  }
}
