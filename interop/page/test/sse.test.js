import assert from "node:assert/strict";
import { test } from "node:test";
import { SseLimitError, SseParser } from "../../../examples/gateway/page/sse.js";

const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);

/**
 * @param {Uint8Array[]} chunks
 * @param {number} [limit]
 */
function parse(chunks, limit) {
  const parser = new SseParser(limit);
  return chunks.flatMap((chunk) => [...parser.push(chunk)]);
}

const data = (/** @type {Uint8Array[]} */ chunks) => parse(chunks).map((event) => event.data);

/** Streams, with the data that a browser's EventSource makes of them. */
const STREAMS = [
  ["one line an event", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["no space after the colon", "data:a\n\ndata:  two\n\n", ["a", " two"]],
  ["carriage returns", "data: a\r\rdata: b\r\r", ["a", "b"]],
  ["carriage returns with line feeds", "data: a\r\n\r\ndata: b\r\ndata: c\r\n\r\n", ["a", "b\nc"]],
  ["line ends of all kinds", "data: a\rdata: b\ndata: c\r\n\r\ndata: d\n\n", ["a\nb\nc", "d"]],
  ["several data lines", "data: a\ndata\ndata:\ndata: b\n\n", ["a\n\n\nb"]],
  ["empty data", "data\n\ndata:\n\n", ["", ""]],
  ["comments", ": keep-alive\n\n:\n:data: no\ndata: a\n: in between\n\n", ["a"]],
  ["a byte order mark", "\ufeffdata: a\n\n", ["a"]],
  ["a second byte order mark", "\ufeff\ufeffdata: no\n\ndata: a\n\n", ["a"]],
  ["unknown fields", "retry: 10\nfoo: bar\nDATA: no\n data: no\ndata: a\n\n", ["a"]],
  ["an event without data", "event: x\n\nid: 1\n\ndata: a\n\n", ["a"]],
  ["an end without a blank line", "data: a\n\ndata: b\n", ["a"]],
  ["an end within a line", "data: a\n\ndata: b", ["a"]],
  ["letters of one to four bytes", "data: aä€😀\n\ndata: 😀\n\n", ["aä€😀", "😀"]],
  ["nothing", "", []],
];

for (const [name, text, expected] of STREAMS) {
  test(`reads ${name}, split at any byte`, () => {
    const whole = bytes(/** @type {string} */ (text));
    assert.deepEqual(data([whole]), expected);
    assert.deepEqual(data([...whole].map((byte) => Uint8Array.of(byte))), expected, "byte by byte");
    for (let cut = 0; cut <= whole.length; cut += 1) {
      assert.deepEqual(data([whole.slice(0, cut), whole.slice(cut)]), expected, `cut at ${cut}`);
    }
  });
}

test("returns the type and the last id", () => {
  const events = parse([bytes("id: 7\nevent: ping\ndata: a\n\ndata: b\n\nid: 8\nid: 9\0\ndata: c\n\n")]);
  assert.deepEqual(events, [
    { type: "ping", data: "a", lastEventId: "7" },
    { type: "message", data: "b", lastEventId: "7" },
    { type: "message", data: "c", lastEventId: "8" },
  ]);
});

test("replaces bytes that are not UTF-8", () => {
  assert.deepEqual(data([bytes("data: "), Uint8Array.of(0xff, 0xe2, 0x82), bytes("\n\n")]), ["\ufffd\ufffd"]);
});

test("rejects an event over the limit, but not a long stream of small events", () => {
  assert.throws(() => parse([bytes("data: 0123456789\n")], 10), SseLimitError);
  assert.throws(() => parse([bytes("data: 0\ndata: 0\n")], 10), SseLimitError);
  assert.equal(parse([bytes("data: 0\n\n".repeat(50))], 10).length, 50);
  assert.equal(parse([bytes(": 345\n".repeat(50)), bytes("data: 0\n\n")], 10).length, 1);
});

test("a line is read when its event is wanted", () => {
  const parser = new SseParser(20);
  const events = parser.push(bytes(`data: a\n\ndata: ${"b".repeat(20)}\n\n`));
  assert.equal(events.next().value?.data, "a");
  assert.throws(() => events.next(), SseLimitError);
});
