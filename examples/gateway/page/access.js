/**
 * Requests to a gateway that may require a token.
 *
 * Spec: [RFC 6750, bearer tokens](https://www.rfc-editor.org/rfc/rfc6750)
 */

/** The storage key of the token. Session storage is per tab, and ends with it. */
const TOKEN = "spanwire.token";

/** The storage key of the session's key, in storage that only pages of this port can read. The cookie is valid with it only. */
const KEY = "spanwire.key";

/** The storage key of the session's user, beside its key. */
const USER = "spanwire.user";

/** The part of the address with the key, after signing in. */
const FRAGMENT = "#key=";

/** The parameter of the address with a token that the gateway has not exchanged, because the user has to be asked. */
const TOKEN_PARAMETER = "token";

const SESSIONS = "/api/sessions";

/** @typedef {(path: string, init?: RequestInit) => Promise<Response>} Send */

/**
 * A key or a token of an address.
 *
 * @typedef {{key: string} | {token: string}} Offer
 */

/**
 * A session of the user. Times are milliseconds since 1970.
 *
 * @typedef {object} Session
 * @property {string} id
 * @property {number} began
 * @property {number} used
 * @property {number} until
 * @property {string} address
 * @property {string} agent
 */

/** @typedef {{user: string, current: string | null, sessions: Session[]}} SignedIn */

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
   * @param {Pick<Storage, "getItem" | "setItem" | "removeItem">} [keys]
   */
  constructor(ask, send = (path, init) => fetch(path, init), storage = sessionStorage, keys = localStorage) {
    this.#ask = ask;
    this.#send = send;
    this.#storage = storage;
    this.#keys = keys;
  }

  /**
   * Takes the key or the token out of an address.
   *
   * @param {URL} address
   * @returns {{page: URL, offer: Offer | null}}
   */
  static take(address) {
    const page = new URL(address);
    const token = page.searchParams.get(TOKEN_PARAMETER);
    page.searchParams.delete(TOKEN_PARAMETER);
    if (!page.hash.startsWith(FRAGMENT)) return { page, offer: token === null ? null : { token } };
    const key = page.hash.slice(FRAGMENT.length);
    page.hash = "";
    return { page, offer: { key } };
  }

  /**
   * Signs in with what an address offers. An invalid offer changes nothing. Another site may have made the address, so that the
   * user is asked before the page gets another user.
   *
   * @param {Offer} offer
   * @param {(user: string, before: string | null) => Promise<boolean>} confirm
   * @returns {Promise<boolean>} Whether the user of the page is another one now.
   */
  async accept(offer, confirm) {
    const headers = new Headers("key" in offer ? { "Sign-In-Key": offer.key } : { Authorization: `Bearer ${offer.token}` });
    const offered = await this.#who({ headers });
    if (offered === null) return false;
    const known = this.canSignOut ? await this.who() : null;
    const before = known?.user ?? this.#keys.getItem(USER);
    const isSame = before === offered.user;
    if ("token" in offer) {
      if (isSame || !(await confirm(offered.user, before))) return false;
      const response = await this.#send(SESSIONS, { method: "POST", headers });
      if (!response.ok) return false;
      this.#enter((await response.json()).key, offered.user);
      return true;
    }
    if (before !== null && !isSame && !(await confirm(offered.user, before))) {
      // The cookie of the earlier session is replaced already.
      await this.#send(`${SESSIONS}/${offered.current}`, { method: "DELETE", headers });
      return false;
    }
    this.#enter(offer.key, offered.user);
    return !isSame;
  }

  /** The user of the page with their sessions; `null` if the gateway accepts no credentials of the page. */
  who() {
    return this.#who(this.#signed({}));
  }

  /** Ends the session of the page, and forgets its token. */
  async signOut() {
    const current = (await this.who())?.current ?? null;
    if (current !== null) await this.endSession(current);
    this.#storage.removeItem(TOKEN);
    for (const key of [KEY, USER]) this.#keys.removeItem(key);
  }

  /** Whether the page has credentials, which it can forget. */
  get canSignOut() {
    return this.#storage.getItem(TOKEN) !== null || this.#keys.getItem(KEY) !== null;
  }

  /** @param {string} id */
  async endSession(id) {
    await this.sendQuietly(`${SESSIONS}/${encodeURIComponent(id)}`, { method: "DELETE" });
  }

  /**
   * @param {RequestInit} init
   * @returns {Promise<SignedIn | null>}
   */
  async #who(init) {
    const response = await this.#send(SESSIONS, init).catch(() => null);
    return response?.ok ? await response.json() : null;
  }

  /**
   * @param {string} key
   * @param {string} user
   */
  #enter(key, user) {
    this.#keys.setItem(KEY, key);
    this.#keys.setItem(USER, user);
    this.#storage.removeItem(TOKEN);
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
