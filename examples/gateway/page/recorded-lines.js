/** Short lines about the messages of a conversation that no event repeats: the ends of turns, and durations of thoughts. */

const KEY = "spanwire.lines";

/** Maximum number of conversations with lines; those of the oldest are removed. */
const MAX_THREADS = 50;

/** Maximum number of lines of a conversation; the first are removed. */
const MAX_LINES = 500;

/** @typedef {{text?: string, state?: string, since?: number}} Line A text with its state, or the time of a start. */

/** The lines of one conversation, by the ids of its messages. The browser keeps them. */
export class RecordedLines {
  #key;
  #threadId;
  #storage;
  /** @type {Map<string, Line>} */
  #lines;

  /**
   * @param {string} threadId
   * @param {Storage} [storage]
   */
  constructor(threadId, storage = localStorage) {
    this.#key = `${KEY}.${threadId}`;
    this.#threadId = threadId;
    this.#storage = storage;
    this.#lines = new Map(array(storage.getItem(this.#key)));
  }

  /**
   * @param {string} messageId
   * @returns {Line | null}
   */
  get(messageId) {
    return this.#lines.get(messageId) ?? null;
  }

  /**
   * @param {string} messageId
   * @param {Line} line
   */
  set(messageId, line) {
    this.#lines.delete(messageId);
    this.#lines.set(messageId, line);
    const lines = [...this.#lines].slice(-MAX_LINES);
    const threads = array(this.#storage.getItem(KEY)).filter((id) => id !== this.#threadId);
    for (const old of threads.splice(0, threads.length - MAX_THREADS + 1)) this.#storage.removeItem(`${KEY}.${old}`);
    try {
      this.#storage.setItem(this.#key, JSON.stringify(lines));
      this.#storage.setItem(KEY, JSON.stringify([...threads, this.#threadId]));
    } catch (error) {
      // Without space, the lines are shown until the page is closed.
      if (!(error instanceof DOMException)) throw error;
    }
  }
}

/**
 * @param {string | null} text
 * @returns {any[]}
 */
function array(text) {
  try {
    const value = JSON.parse(text ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
