/** Effects of a run's end on its conversation. */

import { failureTitle, refusal } from "./next-steps.js";

/** @import { RunEnd } from "./run.js" */

/** Error codes of runs that did not accept their answers. */
const UNANSWERED = /^(RESUME_|EDIT_UNSUPPORTED$|INTERRUPTS_OPEN$)/;

/** Error code of runs that did not begin because the agent requires a login. */
const LOGIN = "ACP_AUTH_REQUIRED";

/** @type {Record<Exclude<RunEnd["kind"], "failed" | "refused">, string>} */
const ANNOUNCEMENTS = {
  finished: "The answer is complete.",
  cancelled: "Stopped.",
  disconnected: "Disconnected.",
  interrupted: "The agent is waiting for your answer.",
  unreachable: "The gateway is not responding.",
  truncated: "The connection was lost.",
  malformed: "The response is invalid.",
};

/**
 * Returns the sentence that announces an end.
 *
 * @param {RunEnd} end
 */
export function announcement(end) {
  if (end.kind === "failed") return `${failureTitle(end.code)}.`;
  return end.kind === "refused" ? `${refusal(end.status)[0]}.` : ANNOUNCEMENTS[end.kind];
}

/**
 * @typedef {object} Effects
 * @property {boolean} needsLogin Whether the agent requires a login before the message.
 * @property {boolean} isWithdrawn Whether the agent has not received the message.
 * @property {any[]} interrupts The interrupts for the next run to answer.
 * @property {string[]} pending Calls of the page's tools; the next run carries their results.
 */

/**
 * Returns the effects of an end.
 *
 * @param {RunEnd} end
 * @param {any[]} asked The interrupts that the run answered.
 * @param {import("./thread.js").Thread} thread
 * @returns {Effects}
 */
export function effects(end, asked, thread) {
  const isRefused = end.kind === "refused" || end.kind === "unreachable";
  const needsLogin = end.kind === "failed" && end.code === LOGIN;
  const isUnanswered = isRefused || (end.kind === "failed" && UNANSWERED.test(end.code ?? ""));
  return {
    needsLogin,
    isWithdrawn: isRefused || needsLogin,
    interrupts: end.kind === "interrupted" ? end.interrupts : isUnanswered ? asked : [],
    pending: end.kind === "finished" ? end.pending.filter((id) => thread.findCall(id) !== undefined && !thread.isAnswered(id)) : [],
  };
}
