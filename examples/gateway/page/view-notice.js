/** Notices and ends of runs. */

import { el, visible } from "./dom.js";
import { failureTitle, nextStep, refusal, sentence } from "./next-steps.js";

/** @import { RunEnd } from "./run.js" */

/** A failure within this time, in milliseconds, was no work. */
const NO_TIME_MS = 50;

/** Texts for stop reasons of ACP; `end_turn` and unknown reasons are "Done". */
const STOP_WORDS = new Map([
  ["max_tokens", "Cut off at the token limit"],
  ["max_turn_requests", "Cut off at the request limit"],
  ["refusal", "Refused"],
]);

/** What the line under a run says that the user did not stop. */
const CANCEL_WORDS = new Map([
  ["no-reader", "Stopped, because no page was open"],
  ["newer-run", "Stopped by a newer message"],
  ["owner-lost", "Stopped, because another gateway took the conversation"],
  ["shutdown", "Stopped with the gateway"],
  ["agent", "Stopped by the agent"],
  ["failure", "Failed"],
]);

/** @typedef {{title: string, text: string, next: string, code?: string}} Failure The texts of a failed run. */

/**
 * Returns the texts of a failed run.
 *
 * @param {RunEnd} end
 * @returns {Failure | null} `null` if it did not fail.
 */
export function failure(end) {
  switch (end.kind) {
    case "failed":
      return { title: failureTitle(end.code), text: end.message, next: nextStep(end.code), code: end.code };
    case "refused": {
      const [title, next] = refusal(end.status);
      return { title, text: end.message, next, code: `HTTP ${end.status}` };
    }
    case "unreachable":
      return { title: "The gateway is not responding", text: end.message, next: "Check that the gateway runs and that you are online, then try again." };
    case "truncated":
      return { title: "The connection was lost", text: "The response ended before the run did. The part that arrived is shown above.", next: "Reload the page to see the rest, or try again." };
    case "malformed":
      return { title: "The response is invalid", text: end.message, next: "Reload the page: it may be older than the gateway." };
    default:
      return null;
  }
}

/**
 * Creates the box of a failure.
 *
 * @param {Failure} failed
 * @param {HTMLButtonElement | null} retry
 */
export function failureView({ title, text, next, code }, retry) {
  return el(
    "div",
    { class: "notice is-error", role: "alert" },
    el("p", { class: "notice-title" }, title),
    el("p", { class: "notice-text" }, sentence(visible(text))),
    el("p", { class: "notice-next" }, ...withCode(next)),
    retry,
    code === undefined ? null : el("p", { class: "notice-code" }, "Code ", el("code", {}, code)),
  );
}

/**
 * Returns a text with its parts between backticks as code.
 *
 * @param {string} text
 */
export function withCode(text) {
  return text.split("`").map((part, at) => (at % 2 === 1 ? el("code", {}, part) : part));
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
 * Returns the line under a finished turn.
 *
 * @param {RunEnd} end
 * @param {number | null} milliseconds `null` if unknown.
 * @returns {import("./recorded-lines.js").Line}
 */
export function endOf(end, milliseconds) {
  const took = milliseconds === null ? [] : [duration(milliseconds)];
  const line = (/** @type {string[]} */ ...parts) => parts.join(" · ");
  switch (end.kind) {
    case "finished": {
      const stop = STOP_WORDS.get(end.result?.stopReason);
      return { text: line(stop ?? "Done", ...took, ...usageWords(end.usage)), state: stop === undefined ? "" : "is-warning" };
    }
    case "cancelled":
      return { text: line(CANCEL_WORDS.get(end.reason ?? "user") ?? "Stopped", ...took), state: "is-stopped" };
    case "disconnected":
      return { text: line("Disconnected", ...took), state: "is-stopped" };
    default:
      return { text: line("Failed", ...(milliseconds !== null && milliseconds < NO_TIME_MS ? [] : took)), state: "is-failed" };
  }
}

/** @param {import("./recorded-lines.js").Line} line */
export function endLine({ text = "", state = "" }) {
  return el("p", { class: `turn-end ${state}` }, text);
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = milliseconds / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
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
