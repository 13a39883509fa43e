import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_SPANS, readSpans, Spans } from "../../../examples/gateway/page/spans.js";

/**
 * @param {string} id
 * @param {string | undefined} parent
 * @param {number} start In milliseconds.
 * @param {number} [end]
 * @param {number} [code]
 */
const span = (id, parent, start, end, code) => ({
  span: {
    traceId: "t",
    spanId: id,
    parentSpanId: parent,
    name: id,
    kind: 1,
    startTimeUnixNano: `${1_795_000_000_000 + start}250000`,
    endTimeUnixNano: end === undefined ? undefined : `${1_795_000_000_000 + end}250000`,
    status: code === undefined ? {} : { code },
  },
});

/** @param {any[]} read */
function spans(...read) {
  const all = new Spans();
  for (const it of read) all.add("run", it);
  return all;
}

test("each span follows its parent, in order of time", () => {
  const all = spans(span("tool", "turn", 5), span("http", "elsewhere", 0), span("turn", "run", 3), span("run", "http", 1), span("read", "turn", 4, 5));
  assert.deepEqual(all.rows(1_795_000_000_010.25), [
    { name: "http", depth: 0, start: 0, end: 10, state: "open" },
    { name: "run", depth: 1, start: 1, end: 10, state: "open" },
    { name: "turn", depth: 2, start: 3, end: 10, state: "open" },
    { name: "read", depth: 3, start: 4, end: 5, state: "done" },
    { name: "tool", depth: 3, start: 5, end: 10, state: "open" },
  ]);
  assert.ok(all.isOpen);
});

test("a repeated span has ended", () => {
  const all = spans(span("run", undefined, 0), span("run", undefined, 0, 7, 2));
  assert.deepEqual(all.rows(0), [{ name: "run", depth: 0, start: 0, end: 7, state: "failed" }]);
  assert.equal(all.isOpen, false);
});

test("invalid spans are skipped, and cycles end", () => {
  const odd = [null, {}, { span: null }, { span: {} }, { span: { ...span("a", undefined, 0).span, startTimeUnixNano: 7 } }, { span: { ...span("a", undefined, 0).span, name: {} } }];
  assert.deepEqual(spans(...odd, span("self", "self", 0)).rows(0), []);
  assert.deepEqual(spans(span("a", "b", 0), span("b", "a", 1)).rows(0), []);
});

test("spans beyond the limit are counted", () => {
  const all = spans(...Array.from({ length: MAX_SPANS + 2 }, (_, at) => span(`s${at}`, undefined, at)), { droppedSpansCount: 3 });
  all.add("another run", { droppedSpansCount: 1 });
  assert.equal(all.rows(0).length, MAX_SPANS);
  assert.equal(all.dropped, 6);
});

test("spans are read until the end of the response", async () => {
  const body = [span("a", undefined, 0), span("a", undefined, 0, 1)].map((it) => `data: ${JSON.stringify(it)}\n\n`).join(": heartbeat\n\n");
  /** @type {any[]} */
  const read = [];
  /** @type {number[]} */
  const times = [];
  const to = { update: (/** @type {any} */ it) => read.push(it), time: (/** @type {number} */ time) => times.push(time) };
  /** @type {string[]} */
  const paths = [];
  const send = async (/** @type {string} */ path) => {
    paths.push(path);
    return new Response(body, { headers: { Date: "Fri, 20 Nov 2026 20:00:00 GMT" } });
  };
  const { signal } = new AbortController();
  await readSpans("a/b", to, signal, send);
  assert.deepEqual(paths, ["/api/ai/chat/runs/a%2Fb/spans"]);
  assert.deepEqual(read.map((it) => it.span.endTimeUnixNano === undefined), [true, false]);
  assert.deepEqual(times, [Date.UTC(2026, 10, 20, 20)]);
  read.length = 0;
  const answers = [{ updates: [span("b", undefined, 0)], isOver: false }, { updates: [span("b", undefined, 0, 1)], isOver: true }];
  await readSpans("b", to, signal, async () => Response.json(answers.shift()));
  assert.deepEqual(read.map((it) => it.span.endTimeUnixNano === undefined), [true, false], "updates of another gateway are requested again");
  await readSpans("a", to, signal, async () => new Response(body, { status: 404 }));
  await readSpans("a", to, signal, () => Promise.reject(new TypeError("no network")));
  assert.equal(read.length, 2);
});
