/** The MCP servers that need a sign-in: a row for each, with the button to sign in or out. */

import { button, el, visible } from "./dom.js";

/** @typedef {{name: string, state: "connecting" | "ready" | "needs-login" | "unavailable", message?: string, logout: boolean}} Server */

/**
 * @typedef {object} ServersParts
 * @property {import("./access.js").Send} send
 * @property {(sentence: string) => void} say Tells a screen reader.
 */

/** Time between two looks at a connection, or at a sign-in that another tab has open, in milliseconds. */
const INTERVAL = 2000;

/** Number of looks, which take as long as a sign-in may. */
const MAX_LOOKS = 300;

/** Rows below the conversation, hidden without a server that needs a sign-in. */
export class ServersView {
  #root;
  #parts;
  /** What is shown, for comparison. */
  #shown = "";
  /** The pages of open sign-ins by server. @type {Map<string, string>} */
  #pages = new Map();
  #looks = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {HTMLElement} root
   * @param {ServersParts} parts
   */
  constructor(root, parts) {
    this.#root = root;
    this.#parts = parts;
    // The user returns from the page of a sign-in.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#pages.size > 0) void this.refresh();
    });
  }

  /** Asks for the states of the servers, and shows them. */
  async refresh() {
    const response = await this.#parts.send("/api/ai/mcp-servers").catch(() => null);
    if (response === null || !response.ok) return;
    /** @type {{enabled: boolean, servers: Server[]}} */
    const { enabled, servers } = await response.json();
    for (const { name, state } of servers) {
      if (state === "needs-login" || state === "connecting" || !this.#pages.delete(name)) continue;
      this.#parts.say(`Signed in to ${visible(name)}.`);
    }
    this.#show(enabled, servers.filter(({ state, logout }) => state === "needs-login" || (logout && enabled)));
    clearTimeout(this.#timer);
    this.#looks += 1;
    const isOpen = this.#pages.size > 0 || servers.some(({ state }) => state === "connecting");
    if (isOpen && this.#looks < MAX_LOOKS) this.#timer = setTimeout(() => void this.refresh(), INTERVAL);
  }

  /**
   * @param {boolean} enabled
   * @param {Server[]} servers
   */
  #show(enabled, servers) {
    const shown = JSON.stringify([enabled, servers.map(({ name, state }) => [name, state, this.#pages.get(name)])]);
    // A button with the focus stays.
    if (this.#shown === shown) return;
    this.#shown = shown;
    const focused = this.#root.contains(document.activeElement) ? document.activeElement?.closest("[data-server]")?.getAttribute("data-server") : null;
    this.#root.replaceChildren(...servers.map((server) => this.#row(enabled, server)));
    this.#root.hidden = servers.length === 0;
    const rows = [...this.#root.children].filter((row) => row.getAttribute("data-server") === focused);
    rows[0]?.querySelector("button")?.focus();
  }

  /**
   * @param {boolean} enabled
   * @param {Server} server
   */
  #row(enabled, { name, state }) {
    const title = visible(name);
    const problem = el("span", { class: "login-problem", role: "alert" });
    const row = (/** @type {(Node | string)[]} */ ...parts) => el("div", { class: "server", "data-server": name }, ...parts, problem);
    if (state !== "needs-login") {
      const leave = button("Sign out", "secondary", () => void this.#leave(name, leave, problem));
      leave.setAttribute("aria-label", `Sign out of ${title}`);
      return row(el("span", {}, `Signed in to ${title}`), leave);
    }
    if (!enabled) return row(el("span", {}, `The tools of ${title} need a sign-in, which is off in this page. Ask the operator of the gateway.`));
    const begin = button("Sign in", "primary", () => void this.#begin(name, begin, problem));
    begin.setAttribute("aria-label", `Sign in to ${title}`);
    const page = this.#pages.get(name);
    if (page === undefined) return row(el("span", {}, `Sign in to use the tools of ${title}`), begin);
    const link = el("a", { href: page, target: "_blank", rel: "noopener noreferrer" }, "the page that has opened");
    return row(el("span", {}, `To use the tools of ${title}, sign in on `, link), begin);
  }

  /**
   * Opens the page of the authorization server in another tab.
   *
   * @param {string} name
   * @param {HTMLButtonElement} begin
   * @param {HTMLElement} problem
   */
  async #begin(name, begin, problem) {
    // A browser permits a tab during the click only.
    const tab = window.open("about:blank", "_blank");
    if (tab !== null) tab.opener = null;
    const begun = await this.#post(name, "login", begin, problem);
    if (typeof begun?.url === "string" && /^https?:/.test(begun.url)) {
      tab?.location.replace(begun.url);
      this.#pages.set(name, begun.url);
      this.#looks = 0;
    } else tab?.close();
    if (begun !== null) await this.refresh();
  }

  /**
   * @param {string} name
   * @param {HTMLButtonElement} leave
   * @param {HTMLElement} problem
   */
  async #leave(name, leave, problem) {
    const left = await this.#post(name, "logout", leave, problem);
    if (left === null) return;
    const unsure = typeof left.message === "string" ? ` Its tokens may still be valid: ${visible(left.message)}.` : "";
    this.#looks = 0;
    await this.refresh();
    this.#parts.say(`Signed out of ${visible(name)}.${unsure}`);
    const row = [...this.#root.children].find((row) => row.getAttribute("data-server") === name);
    row?.querySelector("[role=alert]")?.replaceChildren(unsure);
  }

  /**
   * @param {string} name
   * @param {"login" | "logout"} what
   * @param {HTMLButtonElement} pressed
   * @param {HTMLElement} problem
   * @returns {Promise<any>} `null` if the gateway refuses, which is shown.
   */
  async #post(name, what, pressed, problem) {
    problem.textContent = "";
    pressed.disabled = true;
    try {
      const response = await this.#parts.send(`/api/ai/mcp-servers/${encodeURIComponent(name)}/${what}`, { method: "POST" });
      const json = await response.json();
      if (response.ok) return json;
      problem.textContent = visible(String(json.error));
    } catch {
      problem.textContent = "The gateway is not responding.";
    } finally {
      pressed.disabled = false;
      pressed.focus();
    }
    return null;
  }
}
