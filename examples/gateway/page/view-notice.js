/** Notices and ends of runs. */

import { el } from "./dom.js";

/** @import { RunEnd } from "./run.js" */

/** Texts for stop reasons of ACP; `end_turn` and unknown reasons are "Done". */
const STOP_WORDS = new Map([
  ["max_tokens", "Cut off at the token limit"],
  ["max_turn_requests", "Cut off at the request limit"],
  ["refusal", "Refused"],
]);

/**
 * Returns the texts of a failed run.
 *
 * @param {RunEnd} end
 * @returns {{title: string, text: string, code?: string} | null} `null` if it did not fail.
 */
export function failure(end) {
  switch (end.kind) {
    case "failed":
      return { title: "The run failed", text: end.message, code: end.code };
    case "refused":
      return { title: "The gateway rejected the message", text: end.message, code: `HTTP ${end.status}` };
    case "unreachable":
      return { title: "The gateway is not responding", text: `Is it still running? (${end.message})` };
    case "truncated":
      return { title: "The connection was lost", text: "The response ended before the run did. The part that arrived is shown above." };
    case "malformed":
      return { title: "The response is invalid", text: end.message };
    default:
      return null;
  }
}

/**
 * Creates the box of a failure.
 *
 * @param {{title: string, text: string, code?: string}} failed
 * @param {HTMLButtonElement | null} retry
 */
export function failureView(failed, retry) {
  return el(
    "div",
    { class: "notice is-error", role: "alert" },
    el("p", { class: "notice-title" }, failed.title, failed.code === undefined ? null : el("code", {}, failed.code)),
    el("p", { class: "notice-text" }, failed.text),
    retry,
  );
}

/**
 * Creates the box of an agent's notice.
 *
 * @param {any} notice The value of `acp.notice`.
 */
export function noticeView(notice) {
  const severity = notice?.severity === "error" ? "is-error" : notice?.severity === "warning" ? "is-warning" : "";
  const description = typeof notice?.description === "string" ? el("p", { class: "notice-text" }, notice.description) : null;
  return el("div", { class: `notice ${severity}` }, el("p", { class: "notice-title" }, String(notice?.title ?? "Notice")), description);
}

/**
 * The line under a finished turn.
 *
 * @param {RunEnd} end
 * @param {number | null} milliseconds `null` if unknown.
 * @returns {HTMLElement}
 */
export function endLine(end, milliseconds) {
  const took = milliseconds === null ? [] : [`${(milliseconds / 1000).toFixed(1)} s`];
  const line = (/** @type {string[]} */ ...parts) => parts.join(" · ");
  switch (end.kind) {
    case "finished": {
      const stop = STOP_WORDS.get(end.result?.stopReason);
      const parts = line(stop ?? "Done", ...took, ...usageWords(end.usage));
      return el("p", { class: stop === undefined ? "turn-end" : "turn-end is-warning" }, parts);
    }
    case "cancelled":
      return el("p", { class: "turn-end is-stopped" }, line("Stopped", ...took));
    case "disconnected":
      return el("p", { class: "turn-end is-stopped" }, line("Disconnected", ...took));
    default:
      return el("p", { class: "turn-end is-failed" }, line("Failed", ...took));
  }
}

/**
 * @param {any[] | undefined} usage The `usage` of a finished run.
 * @returns {string[]}
 */
function usageWords(usage) {
  if (!Array.isArray(usage)) return [];
  const sum = (/** @type {string} */ member) => usage.reduce((total, entry) => total + (entry?.[member] ?? 0), 0);
  const [input, output] = [sum("inputTokens"), sum("outputTokens")];
  return input + output === 0 ? [] : [`${input.toLocaleString("en")} tokens in, ${output.toLocaleString("en")} out`];
}
