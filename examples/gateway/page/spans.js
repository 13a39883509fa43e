/**
 * The spans of a turn: what is done for it, below what, from when to when.
 *
 * Spec: [OTLP/JSON](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)
 */

import { SseParser } from "./sse.js";

/** The most spans that are kept. */
export const MAX_SPANS = 400;

const STATUS_ERROR = 2;

/** How soon to ask again where the spans are not told as they come. */
const AGAIN_MS = 1000;

/**
 * A span as it is shown.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {number} depth How many spans it is below.
 * @property {number} start In milliseconds after the first of all.
 * @property {number} end The same; for one that goes on what `now` is.
 * @property {"open" | "done" | "failed"} state
 */

/** @typedef {{id: string, parent: string | null, name: string, start: number, end: number | null, failed: boolean}} Span */

/** The spans of the runs of a turn. */
export class Spans {
  /** @type {Map<string, Span>} */
  #spans = new Map();
  /** How many each run says it left out. @type {Map<string, number>} */
  #left = new Map();
  #own = 0;

  /**
   * Takes what the gateway tells of a run.
   *
   * @param {string} runId
   * @param {any} told
   */
  add(runId, told) {
    if (typeof told?.droppedSpansCount === "number") this.#left.set(runId, told.droppedSpansCount);
    const span = read(told?.span);
    if (span === null) return;
    if (this.#spans.size < MAX_SPANS || this.#spans.has(span.id)) this.#spans.set(span.id, span);
    else if (span.end === null) this.#own += 1;
  }

  /** How many are left out. */
  get dropped() {
    return [...this.#left.values()].reduce((sum, count) => sum + count, this.#own);
  }

  /** Whether something goes on. */
  get isOpen() {
    return [...this.#spans.values()].some(({ end }) => end === null);
  }

  /**
   * All of them, each behind what it is below.
   *
   * @param {number} now In milliseconds, by the clock of the gateway.
   * @returns {Row[]}
   */
  rows(now) {
    const spans = [...this.#spans.values()].sort((a, b) => a.start - b.start);
    const first = spans[0]?.start ?? 0;
    /** @type {Map<string | null, Span[]>} */
    const below = new Map();
    for (const span of spans) {
      const parent = span.parent !== null && this.#spans.has(span.parent) ? span.parent : null;
      below.set(parent, [...(below.get(parent) ?? []), span]);
    }
    /** @type {Row[]} */
    const rows = [];
    const walk = (/** @type {string | null} */ parent, /** @type {number} */ depth) => {
      for (const span of below.get(parent) ?? []) {
        const state = span.end === null ? "open" : span.failed ? "failed" : "done";
        const end = Math.max(span.end ?? now, span.start);
        rows.push({ name: span.name, depth, start: span.start - first, end: end - first, state });
        walk(span.id, depth + 1);
      }
    };
    walk(null, 0);
    return rows;
  }
}

/**
 * @param {any} span
 * @returns {Span | null} Nothing where it is none.
 */
function read(span) {
  const { spanId, parentSpanId = null, name, startTimeUnixNano, endTimeUnixNano, status } = span ?? {};
  const [start, end] = [milliseconds(startTimeUnixNano), milliseconds(endTimeUnixNano)];
  if (typeof spanId !== "string" || typeof name !== "string" || start === null || spanId === parentSpanId) return null;
  return { id: spanId, parent: parentSpanId, name, start, end, failed: status?.code === STATUS_ERROR };
}

/** @param {unknown} nanoseconds A number of 64 bits, which is text. */
function milliseconds(nanoseconds) {
  if (typeof nanoseconds !== "string" || !/^\d{1,20}$/.test(nanoseconds)) return null;
  return Number(BigInt(nanoseconds) / 1000n) / 1000;
}

/**
 * @param {string} runId
 * @param {AbortSignal} signal
 * @param {import("./access.js").Send} send
 */
function ask(runId, signal, send) {
  return send(`/api/ai/chat/runs/${encodeURIComponent(runId)}/spans`, { headers: { Accept: "text/event-stream" }, signal });
}

/** @param {Response} response */
function isJson(response) {
  return /^application\/json\b/.test(response.headers.get("content-type") ?? "");
}

/**
 * Reads the spans of a run as they come, until all have ended.
 *
 * @param {string} runId
 * @param {{told: (told: any) => void, time: (time: number) => void}} to Hears what is told, and what time it is at the
 *   gateway, in milliseconds.
 * @param {AbortSignal} signal
 * @param {import("./access.js").Send} send
 */
export async function readSpans(runId, to, signal, send) {
  try {
    let response = await ask(runId, signal, send);
    to.time(Date.parse(response.headers.get("date") ?? ""));
    // A gateway that another one has to ask tells what there is.
    while (response.ok && isJson(response)) {
      const { told, isOver } = await response.json();
      for (const it of told) to.told(it);
      if (isOver) return;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      response = await ask(runId, signal, send);
    }
    if (!response.ok || response.body === null) return;
    const parser = new SseParser();
    const reader = response.body.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      for (const { data } of parser.push(read.value)) to.told(JSON.parse(data));
    }
  } catch {
    // A connection that broke, or was ended: what was told stays.
  }
}
