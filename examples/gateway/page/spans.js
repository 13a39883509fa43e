/**
 * The spans of a turn, as a tree with times.
 *
 * Spec: [OTLP/JSON](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)
 */

import { SseParser } from "./sse.js";

/** Maximum number of stored spans. */
export const MAX_SPANS = 400;

const STATUS_ERROR = 2;

/** Interval of requests to a gateway that does not stream the spans. */
const AGAIN_MS = 1000;

/**
 * A shown span.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {number} depth Number of ancestors.
 * @property {number} start In milliseconds after the start of the first span.
 * @property {number} end The same; the current time for an open span.
 * @property {"open" | "done" | "failed"} state
 */

/** @typedef {{id: string, parent: string | null, name: string, start: number, end: number | null, failed: boolean}} Span */

/** The spans of the runs of a turn. */
export class Spans {
  /** @type {Map<string, Span>} */
  #spans = new Map();
  /** Dropped spans of each run, as reported by the gateway. @type {Map<string, number>} */
  #left = new Map();
  #own = 0;

  /**
   * Adds an update of the gateway about a run.
   *
   * @param {string} runId
   * @param {any} update
   */
  add(runId, update) {
    if (typeof update?.droppedSpansCount === "number") this.#left.set(runId, update.droppedSpansCount);
    const span = read(update?.span);
    if (span === null) return;
    if (this.#spans.size < MAX_SPANS || this.#spans.has(span.id)) this.#spans.set(span.id, span);
    else if (span.end === null) this.#own += 1;
  }

  /** The number of dropped spans. */
  get dropped() {
    return [...this.#left.values()].reduce((sum, count) => sum + count, this.#own);
  }

  /** Whether a span is open. */
  get isOpen() {
    return [...this.#spans.values()].some(({ end }) => end === null);
  }

  /**
   * Returns all spans, each after its parent.
   *
   * @param {number} now The gateway's time in milliseconds.
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
 * @returns {Span | null} `null` for an invalid span.
 */
function read(span) {
  const { spanId, parentSpanId = null, name, startTimeUnixNano, endTimeUnixNano, status } = span ?? {};
  const [start, end] = [milliseconds(startTimeUnixNano), milliseconds(endTimeUnixNano)];
  if (typeof spanId !== "string" || typeof name !== "string" || start === null || spanId === parentSpanId) return null;
  return { id: spanId, parent: parentSpanId, name, start, end, failed: status?.code === STATUS_ERROR };
}

/** @param {unknown} nanoseconds A 64-bit number, encoded as text. */
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
 * Reads the spans of a run until all have ended.
 *
 * @param {string} runId
 * @param {{update: (update: any) => void, time: (time: number) => void}} to Receives each update, and the gateway's time in
 *   milliseconds.
 * @param {AbortSignal} signal
 * @param {import("./access.js").Send} send
 */
export async function readSpans(runId, to, signal, send) {
  try {
    let response = await ask(runId, signal, send);
    to.time(Date.parse(response.headers.get("date") ?? ""));
    // A gateway that reads the spans from another gateway returns them as JSON.
    while (response.ok && isJson(response)) {
      const { updates, isOver } = await response.json();
      for (const it of updates) to.update(it);
      if (isOver) return;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      response = await ask(runId, signal, send);
    }
    if (!response.ok || response.body === null) return;
    const parser = new SseParser();
    const reader = response.body.getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      for (const { data } of parser.push(read.value)) to.update(JSON.parse(data));
    }
  } catch {
    // The connection was lost or closed: the received spans are kept.
  }
}
