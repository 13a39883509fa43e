/**
 * Requests to a gateway that may require a token.
 *
 * Spec: [RFC 6750, bearer tokens](https://www.rfc-editor.org/rfc/rfc6750)
 */

/** The storage key of the token. Session storage is per tab, and ends with it. */
const KEY = "spanwire.token";

/** @typedef {(path: string, init?: RequestInit) => Promise<Response>} Send */

/** Sends requests with the user's token, and asks for one if it is required. */
export class Access {
  #ask;
  #send;
  #storage;
  /** The open question. @type {Promise<string | null> | null} */
  #asking = null;

  /**
   * @param {(refused: boolean) => Promise<string | null>} ask Asks the user for a token. `refused`: the last one was
   *   rejected. Resolves to `null` if the user enters none.
   * @param {Send} [send]
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} [storage]
   */
  constructor(ask, send = (path, init) => fetch(path, init), storage = sessionStorage) {
    this.#ask = ask;
    this.#send = send;
    this.#storage = storage;
  }

  /**
   * Sends a request. If it is rejected without a valid token, asks the user for one and sends the request again.
   *
   * @type {Send}
   */
  send = async (path, init = {}) => {
    for (;;) {
      const token = this.#storage.getItem(KEY);
      const response = await this.sendQuietly(path, init);
      if (!wantsToken(response) || !(await this.#renew(token))) return response;
    }
  };

  /**
   * Sends a request with the known token, and never asks for one.
   *
   * @type {Send}
   */
  sendQuietly = (path, init = {}) => this.#send(path, withToken(init, this.#storage.getItem(KEY)));

  /**
   * @param {string | null} refused The rejected token.
   * @returns {Promise<boolean>} Whether another token is known.
   */
  async #renew(refused) {
    if (this.#storage.getItem(KEY) !== refused) return true;
    this.#asking ??= this.#askFor(refused !== null).finally(() => (this.#asking = null));
    return (await this.#asking) !== null;
  }

  /** @param {boolean} refused */
  async #askFor(refused) {
    const token = await this.#ask(refused);
    if (token === null) this.#storage.removeItem(KEY);
    else this.#storage.setItem(KEY, token);
    return token;
  }
}

/**
 * @param {RequestInit} init
 * @param {string | null} token
 * @returns {RequestInit}
 */
function withToken(init, token) {
  if (token === null) return init;
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return { ...init, headers };
}

/** @param {Response} response */
function wantsToken(response) {
  return response.status === 401 && /^Bearer\b/i.test(response.headers.get("WWW-Authenticate") ?? "");
}
