/** The user's conversations at the gateway. */

import { errorMessage, errorText } from "./requests.js";

/** @import { Send } from "./access.js" */

const THREADS = "/api/ai/threads";
const TRASH = "/api/ai/trash";

/**
 * A conversation in the list.
 *
 * @typedef {object} Summary
 * @property {string} id
 * @property {string} agent
 * @property {string} title
 * @property {number} createdAt In milliseconds since 1970.
 * @property {number} updatedAt
 * @property {string | null} runId The last run.
 * @property {boolean} isRunning
 */

/**
 * A part of the list.
 *
 * @typedef {object} Page
 * @property {Summary[]} threads
 * @property {string | null} next
 * @property {number} trashed Number of the conversations in the trash.
 * @property {number} evicted Number of those that the user did not delete.
 */

/**
 * A conversation in the trash.
 *
 * @typedef {object} Trashed
 * @property {number} number
 * @property {string} agent
 * @property {string} title
 * @property {"user" | "space" | "age"} reason
 * @property {number} daysLeft
 */

/** Requests about conversations. Failures are values with a sentence for the user. */
export class History {
  #send;

  /** @param {Send} send */
  constructor(send) {
    this.#send = send;
  }

  /**
   * Reads a part of the list, the last used conversations first.
   *
   * @param {string} search
   * @param {string | null} after The `next` of the part before.
   * @returns {Promise<Page | string>} A text is the reason of a failure.
   */
  async list(search, after = null) {
    const query = new URLSearchParams({ limit: "30", ...(search === "" ? {} : { search }), ...(after === null ? {} : { after }) });
    return this.#request(`${THREADS}?${query}`);
  }

  /**
   * Returns a conversation; `null` if the gateway does not have it.
   *
   * @param {string} id
   * @returns {Promise<Summary | null>}
   */
  async find(id) {
    const found = await this.#request(`${THREADS}/${encodeURIComponent(id)}`);
    return typeof found === "string" ? null : found;
  }

  /**
   * @param {Summary} thread
   * @param {string} title
   * @returns {Promise<Summary | string>}
   */
  rename(thread, title) {
    return this.#request(path(thread), {
      method: "PATCH",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ title }),
    });
  }

  /**
   * Moves a conversation to the trash.
   *
   * @param {Summary} thread
   * @returns {Promise<null | string>}
   */
  remove(thread) {
    return this.#request(path(thread), { method: "DELETE" });
  }

  /** @returns {Promise<{threads: Trashed[]} | string>} */
  trash() {
    return this.#request(TRASH);
  }

  /**
   * @param {Trashed} thread
   * @returns {Promise<Summary | string>}
   */
  restore({ number }) {
    return this.#request(`${TRASH}/${number}/restore`, { method: "POST" });
  }

  /**
   * Deletes a conversation in the trash.
   *
   * @param {Trashed} thread
   * @returns {Promise<null | string>}
   */
  deleteTrashed({ number }) {
    return this.#request(`${TRASH}/${number}`, { method: "DELETE" });
  }

  /**
   * @param {string} to
   * @param {RequestInit} [init]
   */
  async #request(to, init = {}) {
    try {
      const response = await this.#send(to, init);
      if (response.status === 404 && to.startsWith(`${THREADS}?`)) return "gateways that share a store keep no list.";
      if (!response.ok) return errorText(await response.text());
      return response.status === 204 ? null : await response.json();
    } catch (error) {
      return errorMessage(error);
    }
  }
}

/** @param {Summary} thread */
function path({ id, agent }) {
  return `${THREADS}/${encodeURIComponent(id)}?${new URLSearchParams({ agent })}`;
}
