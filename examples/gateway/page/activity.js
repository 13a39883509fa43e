/** Waits for turns that the agent begins without a message of the user. */

import { RETRY_MS } from "./run.js";

/** Minimum time between two turns that are shown, in case the gateway refuses them. */
const PAUSE_MS = 1000;

/** @param {number} time */
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** One request at a time, for the open conversation. */
export class Activity {
  #send;
  #abort = new AbortController();
  #last = -PAUSE_MS;

  /** @param {import("./access.js").Send} send */
  constructor(send) {
    this.#send = send;
  }

  /**
   * Waits until the agent works without a message, instead of an earlier wait.
   *
   * @param {string} agent
   * @param {string} threadId
   * @param {() => void} begun Called once when the agent works.
   */
  async wait(agent, threadId, begun) {
    this.stop();
    const abort = new AbortController();
    this.#abort = abort;
    const path = `/api/ai/agents/${encodeURIComponent(agent)}/threads/${encodeURIComponent(threadId)}/activity`;
    await pause(Math.max(0, this.#last + PAUSE_MS - performance.now()));
    let failures = 0;
    while (!abort.signal.aborted && failures < RETRY_MS.length) {
      const status = await this.#status(path, abort.signal);
      if (abort.signal.aborted) return;
      if (status === 200) {
        this.#last = performance.now();
        return begun();
      }
      if (status === 204) failures = 0;
      // Neither an outage nor a limit: the agent has no such turns.
      else if (status !== 0 && status !== 429 && status < 500) return;
      else await pause(RETRY_MS[failures++] ?? 0);
    }
  }

  /** Ends the wait. */
  stop() {
    this.#abort.abort();
  }

  /** @param {string} path @param {AbortSignal} signal */
  async #status(path, signal) {
    try {
      return (await this.#send(path, { signal })).status;
    } catch {
      return 0;
    }
  }
}
