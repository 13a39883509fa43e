/**
 * Subagents: work that an agent delegates. The thread has each one as an activity, and its messages have `subagentRunId`.
 *
 * Spec: [Subagents, 1.0](https://ag-ui.com/spec/1.0/events/subagents)
 */

/** @import { AgUiEvent } from "./events.js" */
/** @import { Change } from "./reduce.js" */
/** @import { Message, Thread } from "./thread.js" */

/** The type of the activities. */
export const SUBAGENT = "subagent";

/** @param {string} subagentRunId */
export const activityOf = (subagentRunId) => `subagent ${subagentRunId}`;

/**
 * @param {Thread} thread
 * @param {AgUiEvent} event `SUBAGENT_STARTED`
 * @returns {Change[] | null}
 */
export function subagentStarted(thread, event) {
  const { subagentRunId, name, description, parentSubagentRunId, parentToolCallId } = event;
  const id = activityOf(subagentRunId);
  if (thread.find(id) !== undefined) return null;
  const content = { subagentRunId, name, description, parentSubagentRunId, parentToolCallId, status: "running" };
  /** @type {Message} */
  const message = { id, role: "activity", activityType: SUBAGENT, content };
  thread.add(message);
  return [{ kind: "activity", message }];
}

/**
 * @param {Thread} thread
 * @param {AgUiEvent} event `SUBAGENT_FINISHED`
 */
export function subagentFinished(thread, event) {
  return end(thread, event, { status: event.outcome?.type === "suspended" ? "suspended" : "completed" });
}

/**
 * @param {Thread} thread
 * @param {AgUiEvent} event `SUBAGENT_ERROR`
 */
export function subagentError(thread, event) {
  return end(thread, event, { status: "failed", message: event.message });
}

/**
 * @param {Thread} thread
 * @param {AgUiEvent} event
 * @param {Record<string, unknown>} change
 * @returns {Change[] | null}
 */
function end(thread, event, change) {
  const message = thread.find(activityOf(event.subagentRunId));
  if (message === undefined) return null;
  message.content = { ...message.content, ...change };
  return [{ kind: "activity", message }];
}
