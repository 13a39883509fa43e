/** Titles and next steps for the error codes of runs, as the gateway's documentation of failures lists them. */

/** @type {Map<string, [string, string]>} Titles and next steps by code. */
const STEPS = new Map([
  ["AGENT_UNAVAILABLE", ["The agent cannot be reached", "Check that the agent is installed, and its command or address in the gateway's settings. `gateway agents` lists the known agents."]],
  ["AGENT_TIMEOUT", ["The agent took too long", "Try again. If the agent is always slow, raise `times.answer` in the gateway's settings."]],
  ["ACP_VERSION", ["The agent speaks another version of the protocol", "Install a release of the agent that speaks an offered version."]],
  ["AGENT_EXITED", ["The agent stopped", "Try again: the agent is started anew. The gateway's log has its last lines."]],
  ["AGENT_LOST", ["The agent stopped while it waited for you", "Send the message again. Your answer could not be used."]],
  ["TURN_TIMEOUT", ["The turn took too long", "Give the agent a smaller task, or raise `times.turn` in the gateway's settings."]],
  ["IDLE_TIMEOUT", ["The agent was silent for too long", "Try again."]],
  ["OVERLOADED", ["The agent is busy", "Try again when other conversations have ended."]],
  ["LIMIT_EXCEEDED", ["The turn had too much output", "Give the agent a smaller task, or raise `limits.log-bytes` in the gateway's settings."]],
  ["GATEWAY_SHUTDOWN", ["The gateway was stopped", "Send the message again when the gateway runs."]],
  ["GATEWAY_LOST", ["The gateway of this run is gone", "Send the message again. Another gateway takes over."]],
  ["CANCELLED", ["The run was stopped", "Send the message again to continue."]],
  ["RESUME_MISMATCH", ["The answers belong to other questions", "Answer each open question once."]],
  ["RESUME_INVALID", ["The answer does not fit its question", "Answer the question again with the offered choices."]],
  ["INTERRUPT_EXPIRED", ["The question has expired", "Send the message again."]],
  ["EDIT_UNSUPPORTED", ["The arguments cannot be edited", "Allow or reject the call as it is."]],
  ["INTERRUPTS_OPEN", ["A question is still open", "Answer it first. If this tab does not show it, open the conversation from the list."]],
  ["ACP_AUTH_REQUIRED", ["The agent needs you to sign in", "Sign in with one of the agent's methods, then send the message again."]],
  ["ACP_REFUSAL", ["The agent refuses to continue", "Write the message in another way."]],
  ["ACP_SESSION_NOT_FOUND", ["The agent has lost the session", "Send the message again: the agent gets a new session."]],
  ["ACP_RESOURCE_NOT_FOUND", ["The agent did not find a file", "Check the names in the message."]],
  ["ACP_INVALID_REQUEST", ["The agent and the gateway do not understand each other", "Update the agent. If that does not help, report it with the gateway's log."]],
  ["ACP_INVALID_PARAMS", ["The agent rejected the request", "Check the setting that the message names, or update the agent."]],
  ["ACP_METHOD_NOT_FOUND", ["The agent lacks a function", "Update the agent."]],
  ["ACP_PARSE_ERROR", ["The agent could not read the request", "Update the agent. If that does not help, report it with the gateway's log."]],
  ["ACP_INTERNAL_ERROR", ["The agent failed", "Read the reason above: often it is a key, a limit or a model of the agent's provider. Then try again."]],
  ["ACP_REQUEST_CANCELLED", ["The agent cancelled the request", "Send the message again."]],
  ["ACP_ERROR", ["The agent reported an error", "Read the reason above, then try again."]],
  ["MODEL_UNAVAILABLE", ["The model cannot be reached", "Check `model.url` in the gateway's settings."]],
  ["MODEL_REFUSED", ["The model's provider rejected the request", "Check the key and the name of the model in the gateway's settings."]],
  ["MODEL_FAILED", ["The model failed", "Try again."]],
  ["MODEL_FILTERED", ["The model's provider withheld the answer", "Write the message in another way."]],
  ["MODEL_BROKE_OFF", ["The answer ended too early", "Try again."]],
  ["MODEL_UNREADABLE", ["The model's answer is invalid", "Check that the endpoint implements chat completions."]],
  ["MAX_ITERATIONS", ["The model called tools too often", "Ask it to continue, or give it a smaller task."]],
]);

/** Titles and next steps of requests that the gateway refused, by HTTP status. @type {Map<number, [string, string]>} */
const REFUSALS = new Map([
  [400, ["The gateway could not use the message", "Reload the page, and send the message again."]],
  [401, ["The gateway needs your token", "Enter the token that the gateway printed when it started."]],
  [403, ["The gateway denied access", "Ask the operator of the gateway for access."]],
  [404, ["The agent does not exist", "Choose another agent, and send the message again."]],
  [409, ["The conversation is at work", "Wait for the end of the active run, or open the conversation in its other tab."]],
  [413, ["The message is too large", "Remove a file, or begin a new chat."]],
  [415, ["The agent does not accept the message's files", "Remove the files, or choose another agent."]],
  [421, ["The conversation moved to another gateway", "Send the message again."]],
  [429, ["Too many requests", "Wait a moment, then try again."]],
  [500, ["The gateway failed", "Try again. If it fails again, the gateway's log has the reason."]],
  [502, ["The agent's server refused the request", "Read the reason above, then try again."]],
  [503, ["The gateway is busy", "Wait a moment, then try again."]],
]);

/** The known error codes. */
export const CODES = [...STEPS.keys()];

/** @param {string | undefined} code The code of a failed run. */
export function failureTitle(code) {
  return STEPS.get(code ?? "")?.[0] ?? "The run failed";
}

/** @param {string | undefined} code The code of a failed run. */
export function nextStep(code) {
  return STEPS.get(code ?? "")?.[1] ?? "Try again. If it fails again, the gateway's log has the reason.";
}

/**
 * @param {number} status The HTTP status of a refused request.
 * @returns {[string, string]} The title and the next step.
 */
export function refusal(status) {
  return REFUSALS.get(status) ?? ["The gateway rejected the message", "Try again. If it fails again, the gateway's log has the reason."];
}

/**
 * Returns a message of a program as a sentence.
 *
 * @param {string} message
 */
export function sentence(message) {
  const text = message.trim();
  const begun = /^[a-z]+[\s,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return begun === "" || /[.!?:…)`"']$/.test(begun) && !/\(exit status: \d+\)$/.test(begun) ? begun : `${begun}.`;
}
