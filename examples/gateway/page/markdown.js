/** Renders texts by the gateway. Texts that are asked for at the same time share a request. */

import { Pace } from "./pace.js";

/** @import { Send } from "./access.js" */

/**
 * A block of a text: a paragraph, a list, a code block.
 *
 * @typedef {object} Block
 * @property {number} end The position of its end in the text.
 * @property {string} html Safe HTML.
 */

/**
 * @typedef {object} Rendered
 * @property {Block[]} blocks
 * @property {number} finished Number of blocks that later text cannot change.
 * @property {boolean} hasReferences Whether blocks may refer to later ones.
 */

/**
 * A text to render; Markdown without a format.
 *
 * @typedef {{text: string, isComplete: boolean, format?: string, name?: string, before?: string}} Source
 */

/** Maximum number of characters of a request, and of a text that is rendered. A longer one takes a slow computer too long to lay out. */
export const MAX_TEXT = 128 * 1024;

/** Maximum number of texts of a request. */
const MAX_TEXTS = 64;

/** Sends texts, one request at a time. */
export class Markdown {
  #send;
  #shown;
  /** @type {{source: Source, show: (rendered: Rendered | null) => void}[]} */
  #waiting = [];
  #isBusy = false;
  #pace = new Pace();

  /**
   * @param {Send} send
   * @param {() => void} [shown] Called after a text was shown.
   */
  constructor(send, shown = () => {}) {
    this.#send = send;
    this.#shown = shown;
  }

  /**
   * @param {Source} source
   * @param {(rendered: Rendered | null) => void} show Receives `null` if the text cannot be rendered.
   */
  render(source, show) {
    this.#waiting.push({ source, show });
    if (!this.#isBusy) void this.#work();
  }

  async #work() {
    this.#isBusy = true;
    // Views that are built together ask together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#batchLength());
      const answers = await this.#ask(batch.map(({ source }) => source));
      for (const [at, { show }] of batch.entries()) {
        show(answers?.[at] ?? null);
        this.#shown();
        if (this.#pace.isDue) await this.#pace.rest();
      }
    }
    this.#isBusy = false;
  }

  #batchLength() {
    let characters = 0;
    const over = this.#waiting.findIndex(({ source }) => (characters += source.text.length + (source.before?.length ?? 0)) > MAX_TEXT);
    return Math.min(over === -1 ? this.#waiting.length : Math.max(over, 1), MAX_TEXTS);
  }

  /**
   * @param {Source[]} sources
   * @returns {Promise<Rendered[] | null>}
   */
  async #ask(sources) {
    const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(sources) };
    try {
      const response = await this.#send("/api/ai/markdown", init);
      return response.ok ? await response.json() : null;
    } catch {
      return null;
    }
  }
}
