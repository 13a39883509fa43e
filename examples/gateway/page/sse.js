/**
 * Decodes server-sent events from the chunks of a response.
 *
 * Spec: [Interpreting an event stream](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)
 */

/** Maximum length of an event, in UTF-16 units. A longer event is an error of the stream. */
export const MAX_EVENT_LENGTH = 10 * 1024 * 1024;

/**
 * @typedef {object} SseEvent
 * @property {string} type The `event` field, or `message`.
 * @property {string} data The `data` fields, joined with line feeds.
 * @property {string} lastEventId The last `id` field of the stream so far.
 */

/** An event of the stream is longer than {@link MAX_EVENT_LENGTH}. */
export class SseLimitError extends Error {
  /** @param {number} limit */
  constructor(limit) {
    super(`an event of the stream is longer than ${limit} characters`);
    this.name = "SseLimitError";
  }
}

/**
 * A decoder of event streams.
 *
 * It accepts the same input as browsers: a byte order mark, lines that end in LF, CR or CRLF, comments, unknown fields,
 * events of several `data` lines, and bytes that are not UTF-8 (as U+FFFD). An incomplete event at the end of the
 * stream is dropped.
 */
export class SseParser {
  #decoder = new TextDecoder("utf-8");
  #limit;
  /** Pieces of the incomplete line. @type {string[]} */
  #line = [];
  #skipLineFeed = false;
  /** @type {string[]} */
  #data = [];
  #type = "";
  #lastEventId = "";
  #length = 0;

  /** @param {number} [limit] Maximum length of an event in UTF-16 units. */
  constructor(limit = MAX_EVENT_LENGTH) {
    this.#limit = limit;
  }

  /**
   * Reads the next bytes, each line when its event is wanted: many events at once are no long task.
   *
   * @param {Uint8Array} bytes
   * @returns {Generator<SseEvent>} The events that these bytes complete. Read all of them before the next bytes.
   * @throws {SseLimitError}
   */
  *push(bytes) {
    const text = this.#decoder.decode(bytes, { stream: true });
    let start = 0;
    if (this.#skipLineFeed && text.length > 0) {
      start = text[0] === "\n" ? 1 : 0;
      this.#skipLineFeed = false;
    }
    const lineEnd = /\r\n|\r|\n/g;
    lineEnd.lastIndex = start;
    for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
      this.#keep(text.slice(start, end.index));
      const line = this.#line.join("");
      this.#line = [];
      start = lineEnd.lastIndex;
      this.#skipLineFeed = end[0] === "\r" && start === text.length;
      const event = this.#readLine(line);
      if (event !== null) yield event;
    }
    this.#keep(text.slice(start));
  }

  /** @param {string} piece */
  #keep(piece) {
    if (piece.length === 0) return;
    this.#length += piece.length;
    if (this.#length > this.#limit) throw new SseLimitError(this.#limit);
    this.#line.push(piece);
  }

  /**
   * @param {string} line
   * @returns {SseEvent | null} The event that the line completes.
   */
  #readLine(line) {
    if (line === "") return this.#complete();
    const colon = line.indexOf(":");
    if (colon === 0) {
      this.#length -= line.length;
      return null;
    }
    const field = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? "" : line.slice(colon + 1);
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id" && !value.includes("\0")) this.#lastEventId = value;
    return null;
  }

  #complete() {
    const event = { type: this.#type === "" ? "message" : this.#type, data: this.#data.join("\n"), lastEventId: this.#lastEventId };
    const hasData = this.#data.length > 0;
    this.#data = [];
    this.#type = "";
    this.#length = 0;
    return hasData ? event : null;
  }
}
