/** The address of the page: `/` for a new conversation, `/c/ID` for an open one. */

const PREFIX = "/c/";

/** The address, as the user moves through the browser's history. */
export class Address {
  /** @param {(id: string | null) => void} moved Called when the user goes back or forward, with the conversation. */
  constructor(moved) {
    addEventListener("popstate", () => moved(this.id));
  }

  /** The conversation of the address; `null` for a new one. */
  get id() {
    const { pathname } = location;
    if (!pathname.startsWith(PREFIX)) return null;
    try {
      return decodeURIComponent(pathname.slice(PREFIX.length));
    } catch {
      return null;
    }
  }

  /**
   * Enters a conversation, or a new one.
   *
   * @param {string | null} id
   */
  enter(id) {
    if (this.id !== id) history.pushState(null, "", addressOf(id));
  }

  /**
   * Corrects the address without an entry in the browser's history.
   *
   * @param {string | null} id
   */
  correct(id) {
    if (this.id !== id) history.replaceState(null, "", addressOf(id));
  }
}

/** @param {string | null} id */
export function addressOf(id) {
  return id === null ? "/" : PREFIX + encodeURIComponent(id);
}
