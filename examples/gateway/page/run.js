/**
 * One run: the request, the events of its answer, and what can be said to the gateway meanwhile.
 *
 * Spec: [AG-UI transports](https://docs.ag-ui.com/concepts/architecture)
 */

import { MalformedEvent, parseEvent } from "./events.js";
import { SseLimitError, SseParser } from "./sse.js";

/** @import { AgUiEvent } from "./events.js" */

/** The version of AG-UI that this page speaks. */
export const PROTOCOL_VERSION = "1.0";

const CHAT = "/api/ai/chat";

/** The most characters of an answer that is no event stream which are shown. */
const MAX_SHOWN_BODY = 2000;

/**
 * How a run came to its end.
 *
 * @typedef {{kind: "finished", result?: any, usage?: any[]}
 *   | {kind: "cancelled"}
 *   | {kind: "interrupted", interrupts: any[]}
 *   | {kind: "failed", message: string, code?: string}
 *   | {kind: "refused", status: number, message: string}
 *   | {kind: "unreachable", message: string}
 *   | {kind: "truncated"}
 *   | {kind: "malformed", message: string}
 *   | {kind: "disconnected"}} RunEnd
 */

/**
 * The input of a run, as the protocol writes it.
 *
 * @param {import("./thread.js").Thread} thread
 * @param {string} runId
 * @param {any[]} resume Answers to the interrupts that the thread waits for.
 */
export function runInput(thread, runId, resume) {
  return {
    threadId: thread.id,
    runId,
    protocolVersion: PROTOCOL_VERSION,
    ...(thread.state === null ? {} : { state: thread.state }),
    messages: thread.history(),
    tools: [],
    context: [],
    forwardedProps: {},
    ...(resume.length === 0 ? {} : { resume }),
  };
}

/**
 * Asks for a run and reads its events until it ends. Each way to end is a value, also the bad ones.
 *
 * @param {ReturnType<typeof runInput>} input
 * @param {(event: AgUiEvent) => void} onEvent Called for every event in order, the terminal one included.
 * @param {AbortSignal} signal Ends the connection, and with it the run.
 * @param {typeof fetch} [send]
 * @returns {Promise<RunEnd>}
 */
export async function run(input, onEvent, signal, send = fetch) {
  let response;
  try {
    response = await send(CHAT, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(input),
      signal,
    });
    if (!response.ok) {
      return { kind: "refused", status: response.status, message: errorText(await response.text()) };
    }
    const type = response.headers.get("content-type") ?? "";
    if (!/^text\/event-stream\s*(;|$)/i.test(type)) {
      return { kind: "malformed", message: `The answer is ${type || "of no type"}, not an event stream.` };
    }
  } catch (error) {
    if (signal.aborted) return { kind: "disconnected" };
    return { kind: "unreachable", message: errorMessage(error) };
  }
  try {
    return await readEvents(response, input, onEvent);
  } catch (error) {
    if (error instanceof MalformedEvent || error instanceof SseLimitError) {
      return { kind: "malformed", message: error.message };
    }
    if (error instanceof BrokenConnection) return { kind: signal.aborted ? "disconnected" : "truncated" };
    throw error;
  }
}

/** The body of the answer ended with an error. */
class BrokenConnection extends Error {}

/**
 * @param {Response} response
 * @param {{threadId: string, runId: string}} input
 * @param {(event: AgUiEvent) => void} onEvent
 * @returns {Promise<RunEnd>}
 */
async function readEvents(response, input, onEvent) {
  if (response.body === null) return { kind: "truncated" };
  const reader = response.body.getReader();
  const parser = new SseParser();
  let started = false;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new BrokenConnection("the answer broke off", { cause });
      });
      if (done) return { kind: "truncated" };
      for (const { data } of parser.push(value)) {
        const event = parseEvent(data);
        if (!started && event.type !== "RUN_STARTED" && event.type !== "RUN_ERROR") {
          throw new MalformedEvent(`The stream begins with ${event.type}, not with RUN_STARTED.`);
        }
        started = true;
        checkIdentity(event, input);
        onEvent(event);
        const end = runEnd(event);
        if (end !== null) return end;
      }
    }
  } finally {
    // The terminal event ends the run even if the gateway leaves the connection open.
    reader.cancel().catch(() => {});
  }
}

/**
 * @param {AgUiEvent} event
 * @param {{threadId: string, runId: string}} input
 */
function checkIdentity(event, input) {
  if (event.type !== "RUN_STARTED" && event.type !== "RUN_FINISHED") return;
  if (event.threadId !== input.threadId || event.runId !== input.runId) {
    throw new MalformedEvent(`${event.type} names another run: ${event.threadId}, ${event.runId}.`);
  }
}

/**
 * @param {AgUiEvent} event
 * @returns {RunEnd | null}
 */
function runEnd(event) {
  if (event.type === "RUN_ERROR") return { kind: "failed", message: event.message, code: event.code };
  if (event.type !== "RUN_FINISHED") return null;
  switch (event.outcome?.type) {
    case "cancelled":
      return { kind: "cancelled" };
    case "interrupt":
      return { kind: "interrupted", interrupts: event.outcome.interrupts };
    default:
      return { kind: "finished", result: event.result, usage: event.usage };
  }
}

/**
 * Asks the gateway to stop a run. The run's stream then ends by itself.
 *
 * @param {string} runId
 * @param {typeof fetch} [send]
 * @returns {Promise<{ok: boolean, status: number, message: string}>} Status 0: the gateway was not reached.
 */
export function cancelRun(runId, send = fetch) {
  return post(`${CHAT}/runs/${encodeURIComponent(runId)}/cancel`, {}, send);
}

/**
 * Answers what the agent asked in the middle of a run.
 *
 * @param {string} interruptId
 * @param {{optionId: string} | {cancelled: true}} answer
 * @param {typeof fetch} [send]
 * @returns {Promise<{ok: boolean, status: number, message: string}>} Status 0: the gateway was not reached.
 */
export function answerInterrupt(interruptId, answer, send = fetch) {
  return post(`${CHAT}/interrupts/${encodeURIComponent(interruptId)}`, answer, send);
}

/**
 * @param {string} path
 * @param {unknown} body
 * @param {typeof fetch} send
 */
async function post(path, body, send) {
  try {
    const response = await send(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return { ok: response.ok, status: response.status, message: response.ok ? "" : errorText(text) };
  } catch (error) {
    return { ok: false, status: 0, message: errorMessage(error) };
  }
}

/**
 * What an error body says: its `error`, `message` or `error.message` if it is JSON, else itself.
 *
 * @param {string} body
 * @returns {string}
 */
function errorText(body) {
  try {
    const json = JSON.parse(body);
    const found = [json?.error?.message, json?.error, json?.message, json?.detail].find((s) => typeof s === "string");
    if (found !== undefined) return found;
  } catch {
    // Not JSON: the text itself is the message.
  }
  return body.trim().slice(0, MAX_SHOWN_BODY);
}

/** @param {unknown} error */
function errorMessage(error) {
  return error instanceof Error ? error.message : String(error);
}
