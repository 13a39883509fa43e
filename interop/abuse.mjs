// Clients of the gateway that behave badly, shared by the soak and the load test. Each function takes a target,
// `{ url, headers, onStatus }`, and resolves when the client has left.
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const MEGABYTE = 1 << 20;

/** Returns the text of an AG-UI input. */
export const input = (content, threadId = randomUUID(), runId = randomUUID()) =>
  JSON.stringify({ protocolVersion: "1.0", threadId, runId, messages: [{ id: randomUUID(), role: "user", content }] });

/** Returns the bytes of a request in HTTP/1.1. */
export function request({ url, headers = {} }, method, path, more = {}, body = "") {
  const all = { host: new URL(url).host, ...headers, ...more };
  if (body) all["content-length"] ??= Buffer.byteLength(body);
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** Sends bytes, reads nothing, and leaves after some seconds. */
async function deaf(target, bytes, seconds) {
  const { hostname, port } = new URL(target.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  if (bytes) socket.write(bytes);
  await sleep(seconds * 1000);
  socket.resetAndDestroy();
}

/** Sends a request, reads and drops the response. A broken connection is no error. */
async function send({ url, headers, onStatus }, method, path, body, signal) {
  try {
    const sent = { method, headers: { "content-type": "application/json", ...headers }, body, signal };
    const response = await fetch(url + path, sent);
    onStatus?.(response.status);
    await response.body.pipeTo(new WritableStream());
  } catch {
    // The gateway has closed it.
  }
}

const post = (target, path, body, signal) => send(target, "POST", path, body, signal);

/** Calls a function for each number below a count, at the same time. */
const each = (count, act) => Promise.all(Array.from({ length: count }, (_, number) => act(number)));

const json = { "content-type": "application/json" };

/** Connections that send nothing, or half of a header. */
export const silent = (target, count, seconds) =>
  each(count, (number) => deaf(target, number % 2 ? "GET /healthz HTTP/1.1\r\nHost: " : "", seconds));

/** Runs of which the client reads nothing. */
export const slowReaders = (target, count, seconds, content) => {
  const one = () => deaf(target, request(target, "POST", "/api/ai/chat", json, input(content)), seconds);
  return each(count, one);
};

/** WebSockets of clients that leave without a word. */
export const droppedSockets = (target, count, seconds) => {
  const upgrade = {
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  return each(count, () => deaf(target, request(target, "GET", "/api/ai/ws", upgrade), seconds));
};

/** Inputs that are too large, large, and malformed. */
export const oversized = (target, signal) =>
  Promise.all([
    post(target, "/api/ai/chat", "x".repeat(5 * MEGABYTE), signal),
    post(target, "/api/ai/chat", input(`0 every 1 ${"x".repeat(MEGABYTE)}`), signal),
    post(target, "/api/ai/chat", input("0 every 1").slice(0, -2), signal),
    post(target, "/api/ai/chat", input("0 every 1", "t".repeat(4096)), signal),
    post(target, "/api/ai/chat", "[".repeat(100_000), signal),
  ]);

/** Runs in threads of their own that end at once. */
export const manyThreads = (target, count, signal) =>
  each(count, () => post(target, "/api/ai/chat", input("0 every 1"), signal));

/** Messages of some megabytes, each in a thread of its own. */
export const uploads = (target, count, signal) =>
  each(count, () => post(target, "/api/ai/chat", input(`0 every 1 ${"word ".repeat(0.7 * MEGABYTE)}`), signal));

/** Searches of the history for a text that is in no conversation. */
export const searches = (target, count, signal) =>
  each(count, (number) => send(target, "GET", `/api/ai/threads?search=absent${number}`, undefined, signal));

/** Markdown with many delimiters, entities and open code. */
export const renderings = (target, count, signal) => {
  const texts = ["*_".repeat(MEGABYTE / 4), "&".repeat(MEGABYTE / 2), `\`\`\`rust\n${"let a = [".repeat(50_000)}`];
  const body = JSON.stringify(texts.map((text) => ({ text, isComplete: true })));
  return each(count, () => post(target, "/api/ai/markdown", body, signal));
};

/** Changes of the title of one conversation. */
export const renames = (target, threadId, count, signal) =>
  each(count, (number) => send(target, "PATCH", `/api/ai/threads/${threadId}`, JSON.stringify({ title: `${number} ${"t".repeat(2000)}` }), signal));

/** New sessions, of which the cookies are dropped. */
export const sessions = (target, count, signal) => each(count, () => post(target, "/api/sessions", "", signal));
