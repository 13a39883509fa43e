/**
 * One run: its request and its events.
 *
 * Spec: [AG-UI transports](https://docs.ag-ui.com/concepts/architecture)
 */

import { MalformedEvent, parseEvent } from "./events.js";
import { CHAT, errorMessage, errorText } from "./requests.js";
import { SseLimitError, SseParser } from "./sse.js";

/** @import { Send } from "./access.js" */
/** @import { AgUiEvent } from "./events.js" */

/** The version of AG-UI that this page speaks. */
export const PROTOCOL_VERSION = "1.0";

/** Delays before the attempts to restore a lost connection. */
export const RETRY_MS = [0, 500, 1000, 2000, 4000, 8000, 8000];

/**
 * The outcome of a run.
 *
 * @typedef {{kind: "finished", result?: any, usage?: any[], pending: string[]}
 *   | {kind: "cancelled", reason?: string}
 *   | {kind: "interrupted", interrupts: any[]}
 *   | {kind: "failed", message: string, code?: string}
 *   | {kind: "refused", status: number, message: string}
 *   | {kind: "unreachable", message: string}
 *   | {kind: "truncated"}
 *   | {kind: "malformed", message: string}
 *   | {kind: "disconnected"}} RunEnd
 */

/** @typedef {{threadId: string, runId: string, forwardedProps?: {acp?: {follow?: boolean, branchOf?: string}}}} RunIds */

/**
 * Returns the input of a run in the protocol's form.
 *
 * @param {import("./thread.js").Thread} thread
 * @param {string} runId
 * @param {any[]} resume Answers to the open interrupts of the thread.
 * @param {any[]} [tools] The tools of this page.
 * @param {boolean} [follows] Whether the run only shows what the agent does by itself.
 */
export function runInput(thread, runId, resume, tools = [], follows = false) {
  const acp = { ...(follows ? { follow: true } : {}), ...(thread.branchOf === null ? {} : { branchOf: thread.branchOf }) };
  return {
    threadId: thread.id,
    runId,
    protocolVersion: PROTOCOL_VERSION,
    ...(thread.state === null ? {} : { state: thread.state }),
    messages: thread.history(),
    tools,
    context: [],
    forwardedProps: Object.keys(acp).length === 0 ? {} : { acp },
    ...(resume.length === 0 ? {} : { resume }),
  };
}

/**
 * @typedef {object} RunOptions
 * @property {string | null} [agent] The agent of the run; by default that of the gateway.
 * @property {(lost: boolean) => void} [onConnection] Called when the connection is lost, and when it is restored.
 * @property {Send} [send]
 * @property {() => Promise<void> | null} [rest] Returns what to wait for before the next event, if anything.
 */

/**
 * Starts a run and reads its events until it ends. Every outcome is a value, failures included. A lost connection is
 * restored if the gateway numbers its events; no event is repeated, unless a `MESSAGES_SNAPSHOT` replaces the events
 * before.
 *
 * @param {ReturnType<typeof runInput>} input
 * @param {(event: AgUiEvent) => void} onEvent Called for every event in order, including the last.
 * @param {AbortSignal} signal Ends the connection. The run continues for a while, for readers that return.
 * @param {RunOptions} [options]
 * @returns {Promise<RunEnd>}
 */
export function run(input, onEvent, signal, options = {}) {
  return request("chat", input, onEvent, signal, options);
}

/**
 * @param {"chat" | "connect"} what
 * @param {ReturnType<typeof runInput>} input
 * @param {(event: AgUiEvent) => void} onEvent
 * @param {AbortSignal} signal
 * @param {RunOptions} options
 * @returns {Promise<RunEnd>}
 */
async function request(what, input, onEvent, signal, options) {
  const { agent = null, send = fetch } = options;
  const path = agent === null ? CHAT : `/api/ai/agents/${encodeURIComponent(agent)}/${what}`;
  let response;
  try {
    response = await send(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(input),
      signal,
    });
    if (!response.ok) {
      return { kind: "refused", status: response.status, message: errorText(await response.text()) };
    }
  } catch (error) {
    if (signal.aborted) return { kind: "disconnected" };
    return { kind: "unreachable", message: errorMessage(error) };
  }
  return readRun(response, input, onEvent, signal, options);
}

/**
 * Reads a run that was started before, from its beginning.
 *
 * @param {{threadId: string, runId: string}} input
 * @param {(event: AgUiEvent) => void} onEvent
 * @param {AbortSignal} signal
 * @param {RunOptions} [options]
 * @returns {Promise<RunEnd>}
 */
export async function follow(input, onEvent, signal, options = {}) {
  const response = await connect(input.runId, "", signal, options);
  if (response === null) return { kind: signal.aborted ? "disconnected" : "truncated" };
  return readRun(response, input, onEvent, signal, options);
}

/**
 * Reads a conversation of an earlier page: the messages before its last run, and that run.
 *
 * @param {{threadId: string, runId: string}} input
 * @param {(event: AgUiEvent) => void} onEvent
 * @param {AbortSignal} signal
 * @param {RunOptions} [options]
 * @returns {Promise<RunEnd>}
 */
export function open(input, onEvent, signal, options = {}) {
  const whole = { ...input, protocolVersion: PROTOCOL_VERSION, messages: [], tools: [], context: [], forwardedProps: {} };
  return request("connect", whole, onEvent, signal, options);
}

/** The end of a response before the end of its run. */
class BrokenConnection extends Error {}

/**
 * @param {Response} first
 * @param {RunIds} input
 * @param {(event: AgUiEvent) => void} onEvent
 * @param {AbortSignal} signal
 * @param {RunOptions} options
 * @returns {Promise<RunEnd>}
 */
async function readRun(first, input, onEvent, signal, options) {
  const progress = { started: false, lastEventId: "" };
  /** @type {Response | null} */
  let response = first;
  while (response !== null) {
    const type = response.headers.get("content-type") ?? "";
    if (!/^text\/event-stream\s*(;|$)/i.test(type)) {
      return { kind: "malformed", message: `The response is ${type || "of no type"}, not an event stream.` };
    }
    try {
      return await readEvents(response, input, onEvent, progress, options.rest);
    } catch (error) {
      if (error instanceof MalformedEvent || error instanceof SseLimitError) {
        return { kind: "malformed", message: error.message };
      }
      if (!(error instanceof BrokenConnection)) throw error;
    }
    if (signal.aborted || progress.lastEventId === "") break;
    options.onConnection?.(true);
    response = await connect(input.runId, progress.lastEventId, signal, options);
    if (response !== null) options.onConnection?.(false);
  }
  return { kind: signal.aborted ? "disconnected" : "truncated" };
}

/**
 * Reconnects to a run. Returns `null` after the last attempt.
 *
 * @param {string} runId
 * @param {string} lastEventId
 * @param {AbortSignal} signal
 * @param {RunOptions} options
 * @returns {Promise<Response | null>}
 */
async function connect(runId, lastEventId, signal, { send = fetch }) {
  for (const wait of RETRY_MS) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    try {
      const response = await send(`${CHAT}/runs/${encodeURIComponent(runId)}/events`, {
        headers: { Accept: "text/event-stream", "Last-Event-ID": lastEventId },
        signal,
      });
      if (response.status === 200) return response;
      // The gateway has no events of the run for this page.
      if (response.status < 500) return null;
    } catch {
      if (signal.aborted) return null;
    }
  }
  return null;
}

/**
 * @param {Response} response
 * @param {RunIds} input
 * @param {(event: AgUiEvent) => void} onEvent
 * @param {{started: boolean, lastEventId: string}} progress
 * @param {RunOptions["rest"]} rest
 * @returns {Promise<RunEnd>}
 */
async function readEvents(response, input, onEvent, progress, rest) {
  if (response.body === null) throw new BrokenConnection("the answer has no body");
  const reader = response.body.getReader();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new BrokenConnection("the answer broke off", { cause });
      });
      if (done) throw new BrokenConnection("the answer ended");
      for (const { data, lastEventId } of parser.push(value)) {
        const event = parseEvent(data);
        if (!progress.started && event.type !== "RUN_STARTED" && event.type !== "RUN_ERROR") {
          throw new MalformedEvent(`The stream starts with ${event.type}, not with RUN_STARTED.`);
        }
        progress.started = true;
        if (lastEventId !== "") progress.lastEventId = lastEventId;
        checkIdentity(event, input);
        onEvent(event);
        const pause = rest?.() ?? null;
        if (pause !== null) await pause;
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
 * @param {RunIds} input
 */
function checkIdentity(event, input) {
  if (event.type !== "RUN_STARTED" && event.type !== "RUN_FINISHED") return;
  // The gateway answers an input that follows with the open run of another page.
  if (event.type === "RUN_STARTED" && input.forwardedProps?.acp?.follow === true) input.runId = event.runId;
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
      return { kind: "cancelled", reason: event.result?.cancelReason };
    case "interrupt":
      return { kind: "interrupted", interrupts: event.outcome.interrupts };
    default:
      return { kind: "finished", result: event.result, usage: event.usage, pending: event.outcome?.pendingToolCallIds ?? [] };
  }
}
