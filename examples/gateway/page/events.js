/**
 * Reads the events of a stream, and checks the required members of known events.
 *
 * Spec: [AG-UI events](https://docs.ag-ui.com/concepts/events)
 */

/** @typedef {{type: string, [member: string]: any}} AgUiEvent */

/** An event of the stream violates the protocol. */
export class MalformedEvent extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "MalformedEvent";
  }
}

/** The required members that this page reads, with their types, by event type. */
const REQUIRED = new Map(
  Object.entries({
    RUN_STARTED: { threadId: "string", runId: "string" },
    RUN_FINISHED: { threadId: "string", runId: "string" },
    RUN_ERROR: { message: "string" },
    TEXT_MESSAGE_START: { messageId: "string" },
    TEXT_MESSAGE_CONTENT: { messageId: "string", delta: "string" },
    TEXT_MESSAGE_END: { messageId: "string" },
    REASONING_START: { messageId: "string" },
    REASONING_MESSAGE_START: { messageId: "string" },
    REASONING_MESSAGE_CONTENT: { messageId: "string", delta: "string" },
    REASONING_MESSAGE_END: { messageId: "string" },
    REASONING_END: { messageId: "string" },
    TOOL_CALL_START: { toolCallId: "string", toolCallName: "string" },
    TOOL_CALL_ARGS: { toolCallId: "string", delta: "string" },
    TOOL_CALL_END: { toolCallId: "string" },
    TOOL_CALL_RESULT: { messageId: "string", toolCallId: "string", content: "string or array" },
    ACTIVITY_SNAPSHOT: { messageId: "string", activityType: "string", content: "object" },
    ACTIVITY_DELTA: { messageId: "string", activityType: "string", patch: "array" },
    STATE_DELTA: { delta: "array" },
    MESSAGES_SNAPSHOT: { messages: "array" },
    CUSTOM: { name: "string" },
  }).map(([type, members]) => [type, Object.entries(members)]),
);

/**
 * Reads one event.
 *
 * @param {string} data The data of a server-sent event.
 * @returns {AgUiEvent} An event of any type, known or unknown.
 * @throws {MalformedEvent}
 */
export function parseEvent(data) {
  let event;
  try {
    event = JSON.parse(data);
  } catch {
    throw new MalformedEvent(`An event is not JSON: ${excerpt(data)}`);
  }
  if (jsonType(event) !== "object" || typeof event.type !== "string") {
    throw new MalformedEvent(`An event has no type: ${excerpt(data)}`);
  }
  for (const [member, expected] of REQUIRED.get(event.type) ?? []) {
    const got = jsonType(event[member]);
    if (!expected.split(" or ").includes(got)) {
      throw new MalformedEvent(`${event.type} has ${got} as "${member}", not ${expected}.`);
    }
  }
  return event;
}

/** @param {unknown} value */
function jsonType(value) {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** @param {string} data */
function excerpt(data) {
  return data.length > 80 ? `${data.slice(0, 80)}…` : data;
}
