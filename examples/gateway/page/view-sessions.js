/** The active tool calls of the conversation at the gateway, with a button to end each. */

import { button, el } from "./dom.js";

const SESSIONS = "/api/tools/sessions";

/** Names of states; an unknown state is shown as it is. */
const STATUS_NAMES = new Map([
  ["running", "running"],
  ["awaiting_elicit", "waiting for you"],
  ["awaiting_sample", "waiting for the model"],
]);

/** A list below the conversation, hidden while it is empty. */
export class SessionsView {
  #details;
  #list = el("ul");
  #summary = el("summary");
  #access;
  #isOwn;
  #ended;

  /**
   * @param {HTMLDetailsElement} details
   * @param {import("./access.js").Access} access
   * @param {(session: {sessionId: string, callId: string}) => boolean} isOwn Whether a call belongs to the conversation.
   * @param {(sessionId: string) => void} ended Called when the user has ended a call.
   */
  constructor(details, access, isOwn, ended) {
    this.#details = details;
    this.#access = access;
    this.#isOwn = isOwn;
    this.#ended = ended;
    details.append(this.#summary, this.#list);
  }

  /** Reads the calls from the gateway. */
  async refresh() {
    const response = await this.#access.sendQuietly(SESSIONS).catch(() => null);
    const all = response?.ok ? (await response.json()).sessions : [];
    const sessions = all.filter(this.#isOwn);
    this.#details.hidden = sessions.length === 0;
    this.#summary.textContent = sessions.length === 1 ? "1 background tool" : `${sessions.length} background tools`;
    this.#list.replaceChildren(...sessions.map((/** @type {any} */ session) => this.#row(session)));
  }

  /** @param {any} session */
  #row(session) {
    const status = STATUS_NAMES.get(session.status) ?? session.status;
    const end = button("End", "secondary", () => void this.#end(session.sessionId));
    end.setAttribute("aria-label", `End ${session.toolName}`);
    return el("li", {}, el("code", {}, session.toolName), el("span", {}, status), end);
  }

  /** @param {string} sessionId */
  async #end(sessionId) {
    await this.#access.send(`${SESSIONS}/${encodeURIComponent(sessionId)}`, { method: "DELETE" }).catch(() => null);
    await this.refresh();
    this.#ended(sessionId);
  }
}
