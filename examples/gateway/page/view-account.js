/** The account of an agent that has a logout, with the button to sign out. */

import { button, el, visible } from "./dom.js";
import { AgentLogin, LoginError } from "./login.js";

/**
 * @typedef {object} AccountParts
 * @property {import("./access.js").Send} send
 * @property {(sentence: string) => void} say Tells a screen reader.
 * @property {() => void} signedOut Called after the logout.
 */

/** A row below the conversation, hidden without an account. */
export class AccountView {
  #root;
  #parts;
  /** The agent that is shown. */
  #agent = "";

  /**
   * @param {HTMLElement} root
   * @param {AccountParts} parts
   */
  constructor(root, parts) {
    this.#root = root;
    this.#parts = parts;
  }

  clear() {
    this.#agent = "";
    this.#root.hidden = true;
    this.#root.replaceChildren();
  }

  /**
   * @param {string} agent An agent that runs and has a logout.
   * @param {string} title Its name for people.
   */
  async show(agent, title) {
    const login = new AgentLogin(agent, this.#parts.send);
    const isNew = this.#agent !== agent;
    this.#agent = agent;
    const described = await login.describe().catch(() => null);
    if (this.#agent !== agent) return;
    if (described === null || !described.enabled || described.state === "needs-login") return this.clear();
    // A button with the focus stays.
    if (!isNew && !this.#root.hidden) return;
    const [account] = described.accounts;
    const problem = el("span", { class: "login-problem", role: "alert" });
    const leave = button("Sign out", "secondary", () => void this.#leave(login, title, leave, problem));
    leave.setAttribute("aria-label", `Sign out of ${visible(title)}`);
    const words = `Signed in to ${visible(title)}${account === undefined ? "" : ` as ${visible(account)}`}`;
    this.#root.replaceChildren(el("span", {}, words), leave, problem);
    this.#root.hidden = false;
  }

  /**
   * @param {AgentLogin} login
   * @param {string} title
   * @param {HTMLButtonElement} leave
   * @param {HTMLElement} problem
   */
  async #leave(login, title, leave, problem) {
    problem.textContent = "";
    leave.disabled = true;
    try {
      await login.leave();
      this.clear();
      this.#parts.say(`Signed out of ${visible(title)}.`);
      this.#parts.signedOut();
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      problem.textContent = visible(error.message);
      leave.disabled = false;
      leave.focus();
    }
  }
}
