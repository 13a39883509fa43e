/** Counters of the events of a conversation, for developers. */

/** @import { Change } from "./reduce.js" */

/** Custom events that the page reads. */
const KNOWN = new Set([
  "acp.commands",
  "acp.compaction",
  "acp.config_options",
  "acp.elicitation.requested",
  "acp.elicitation.resolved",
  "acp.mode",
  "acp.notice",
  "acp.permission",
  "acp.permission.requested",
  "acp.permission.resolved",
  "acp.session_info",
  "acp.tool_call.args_changed",
  "acp.tool_call.late",
  "acp.usage",
]);

/** Number of all events, and of those that the page ignores. */
export class EventCounter {
  #events = 0;
  /** Number of ignored events by type. @type {Map<string, number>} */
  #ignored = new Map();

  /**
   * @param {Change[]} changes The effects of one event.
   * @returns {string} The counters as a line of text.
   */
  count(changes) {
    this.#events += 1;
    for (const change of changes) {
      if (change.kind === "ignored") this.#ignore(`${change.type}${change.reason === "misplaced" ? " out of place" : ""}`);
      else if (change.kind === "custom" && !KNOWN.has(change.name)) this.#ignore(change.name);
    }
    return this.line;
  }

  /** @param {string} name */
  #ignore(name) {
    this.#ignored.set(name, (this.#ignored.get(name) ?? 0) + 1);
  }

  /** The counters as a line of text. */
  get line() {
    const ignored = [...this.#ignored].map(([name, count]) => `${name} ×${count}`);
    const total = [...this.#ignored.values()].reduce((sum, count) => sum + count, 0);
    const list = total === 0 ? "" : ` (${ignored.join(", ")})`;
    return `${this.#events} events · ${total} ignored${list}`;
  }
}
