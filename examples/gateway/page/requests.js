/** Requests to the gateway beside a run's stream of events. */

/** @import { Send } from "./access.js" */

/** The path of the runs of the gateway's default agent. */
export const CHAT = "/api/ai/chat";

/** Maximum number of shown characters of a response that is not an event stream. */
const MAX_SHOWN_BODY = 2000;

/**
 * Asks the gateway to stop a run. The run's stream then ends by itself.
 *
 * @param {string} runId
 * @param {Send} [send]
 * @returns {Promise<{ok: boolean, status: number, message: string}>} Status 0: the gateway was not reached.
 */
export function cancelRun(runId, send = fetch) {
  return post(`${CHAT}/runs/${encodeURIComponent(runId)}/cancel`, {}, send);
}

/**
 * Answers a question of the agent during a run.
 *
 * @param {string} interruptId
 * @param {import("./questions.js").Answer} answer
 * @param {Send} [send]
 * @returns {Promise<{ok: boolean, status: number, message: string}>} Status 0: the gateway was not reached.
 */
export function answerInterrupt(interruptId, answer, send = fetch) {
  return post(`${CHAT}/interrupts/${encodeURIComponent(interruptId)}`, answer, send);
}

/**
 * Applies `change`, if given, and returns the settings of the agent's session; `null` without a session.
 *
 * @param {string} agent
 * @param {string} threadId
 * @param {Record<string, unknown>} [change]
 * @param {Send} [send]
 * @returns {Promise<any>}
 */
export async function sessionSettings(agent, threadId, change, send = fetch) {
  const path = `/api/ai/agents/${encodeURIComponent(agent)}/threads/${encodeURIComponent(threadId)}/settings`;
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(change) };
  try {
    const response = await send(path, change === undefined ? {} : post);
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/**
 * Opens the session of a conversation before its first message, and returns its settings; `null` if the agent opens none.
 *
 * @param {string} agent
 * @param {string} threadId
 * @param {object[]} tools The tools of this page.
 * @param {Send} send
 * @returns {Promise<any>}
 */
export async function openSession(agent, threadId, tools, send) {
  const path = `/api/ai/agents/${encodeURIComponent(agent)}/threads/${encodeURIComponent(threadId)}/session`;
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ tools }) };
  const response = await send(path, request).catch(() => null);
  return response?.ok ? response.json() : null;
}

/**
 * Returns the kinds of files that an agent accepts; none without an agent.
 *
 * Spec: [MultimodalInputCapabilities](https://ag-ui.com/spec/1.0/schema#multimodalinputcapabilities)
 *
 * @param {string} agent
 * @param {Send} send
 */
export async function acceptedFiles(agent, send) {
  const response = await send(`/api/ai/agents/${encodeURIComponent(agent)}/capabilities`).catch(() => null);
  const { image, audio, file } = (response?.ok ? await response.json() : null)?.multimodal?.input ?? {};
  return { image: image === true, audio: audio === true, file: file === true };
}

/**
 * Sends the result of a tool of this page during the run.
 *
 * @param {string} runId
 * @param {string} toolCallId
 * @param {{content: string, error?: string}} result
 * @param {Send} [send]
 */
export function tellResult(runId, toolCallId, result, send = fetch) {
  return post(`${CHAT}/runs/${encodeURIComponent(runId)}/tools/${encodeURIComponent(toolCallId)}`, result, send);
}

/**
 * @param {string} path
 * @param {unknown} body
 * @param {Send} send
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
 * Returns the message of an error body: `error`, `message` or `error.message` of JSON, otherwise the text.
 *
 * @param {string} body
 * @returns {string}
 */
export function errorText(body) {
  try {
    const json = JSON.parse(body);
    const found = [json?.error?.message, json?.error, json?.message, json?.detail].find((s) => typeof s === "string");
    if (found !== undefined) return found;
  } catch {
    // The body is not JSON: its text is the message.
  }
  return body.trim().slice(0, MAX_SHOWN_BODY);
}

/** @param {unknown} error */
export function errorMessage(error) {
  return error instanceof Error ? error.message : String(error);
}
