/** Breaks in long work, so that the browser shows frames and handles input. */

/** Time of work before a break. */
const BUSY_MS = 20;

/** Work with breaks. Work of a hidden page has none. */
export class Pace {
  #since = performance.now();

  /** Whether a break is due. */
  get isDue() {
    return performance.now() - this.#since >= BUSY_MS && !document.hidden;
  }

  /** Begins to work in a new task of the browser. */
  begin() {
    this.#since = performance.now();
  }

  /** Waits for a new task. A timer would wait for some milliseconds. */
  async rest() {
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve(undefined);
      };
      port2.postMessage(null);
    });
    this.begin();
  }
}
