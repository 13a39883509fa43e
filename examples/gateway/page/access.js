/**
 * Requests to a gateway that may require a token.
 *
 * Spec: [RFC 6750, bearer tokens](https://www.rfc-editor.org/rfc/rfc6750)
 */

/** The storage key of the token. Session storage is per tab, and ends with it. */
const TOKEN = "spanwire.token";

/** The storage key of the session's key, in storage that only pages of this port can read. The cookie is valid with it only. */
const KEY = "spanwire.key";

/** The part of the address with the key, after signing in. */
const FRAGMENT = "#key=";

/** @typedef {(path: string, init?: RequestInit) => Promise<Response>} Send */

/** Sends requests with the user's token, and asks for one if it is required. */
export class Access {
  #ask;
  #send;
  #storage;
  #keys;
  /** The open question. @type {Promise<string | null> | null} */
  #asking = null;

  /**
   * @param {(refused: boolean) => Promise<string | null>} ask Asks the user for a token. `refused`: the last one was
   *   rejected. Resolves to `null` if the user enters none.
   * @param {Send} [send]
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} [storage]
   * @param {Pick<Storage, "getItem" | "setItem">} [keys]
   */
  constructor(ask, send = (path, init) => fetch(path, init), storage = sessionStorage, keys = localStorage) {
    this.#ask = ask;
    this.#send = send;
    this.#storage = storage;
    this.#keys = keys;
  }

  /**
   * Keeps the key of an address after signing in.
   *
   * @param {URL} address
   * @returns {URL} The address without the key.
   */
  takeKey(address) {
    const page = new URL(address);
    if (!page.hash.startsWith(FRAGMENT)) return page;
    this.#keys.setItem(KEY, page.hash.slice(FRAGMENT.length));
    page.hash = "";
    return page;
  }

  /**
   * Sends a request. If it is rejected without a valid token, asks the user for one and sends the request again.
   *
   * @type {Send}
   */
  send = async (path, init = {}) => {
    for (;;) {
      const token = this.#storage.getItem(TOKEN);
      const response = await this.sendQuietly(path, init);
      if (!wantsToken(response) || !(await this.#renew(token))) return response;
    }
  };

  /**
   * Sends a request with the known token, and never asks for one.
   *
   * @type {Send}
   */
  sendQuietly = (path, init = {}) => this.#send(path, this.#signed(init));

  /**
   * @param {RequestInit} init
   * @returns {RequestInit}
   */
  #signed(init) {
    const [token, key] = [this.#storage.getItem(TOKEN), this.#keys.getItem(KEY)];
    const headers = new Headers(init.headers);
    if (token !== null) headers.set("Authorization", `Bearer ${token}`);
    else if (key !== null) headers.set("Sign-In-Key", key);
    return { ...init, headers };
  }

  /**
   * @param {string | null} refused The rejected token.
   * @returns {Promise<boolean>} Whether another token is known.
   */
  async #renew(refused) {
    if (this.#storage.getItem(TOKEN) !== refused) return true;
    this.#asking ??= this.#askFor(refused !== null).finally(() => (this.#asking = null));
    return (await this.#asking) !== null;
  }

  /** @param {boolean} refused */
  async #askFor(refused) {
    const token = await this.#ask(refused);
    if (token === null) this.#storage.removeItem(TOKEN);
    else this.#storage.setItem(TOKEN, token);
    return token;
  }
}

/** @param {Response} response */
function wantsToken(response) {
  return response.status === 401 && /^Bearer\b/i.test(response.headers.get("WWW-Authenticate") ?? "");
}
