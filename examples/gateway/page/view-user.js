/** The user of the page, the sessions of the user, and the question before another user signs in. */

import { button, el, visible } from "./dom.js";

/**
 * @typedef {object} UserParts
 * @property {import("./access.js").Access} access
 * @property {() => void} signedOut Called after the sign-out.
 */

/** A button with the name of the user, which opens a dialog. */
export class UserView {
  #button;
  #parts;
  #title = el("h2", { id: "user-title" });
  #list = el("ul", { class: "user-sessions", "aria-label": "Signed-in browsers" });
  #leave = button("Sign out", "primary", () => void this.#signOut());
  #dialog;

  /**
   * @param {HTMLButtonElement} opener
   * @param {Element} root The parent of the dialogs.
   * @param {UserParts} parts
   */
  constructor(opener, root, parts) {
    this.#button = opener;
    this.#parts = parts;
    const close = button("Close", "secondary", () => this.#dialog.close());
    const buttons = el("div", { class: "token-buttons" }, close, this.#leave);
    this.#dialog = dialog("user-title", this.#title, this.#list, buttons);
    root.append(this.#dialog);
    opener.addEventListener("click", () => void this.#open());
  }

  /** Reads the name of the user. */
  async refresh() {
    const signedIn = await this.#parts.access.who();
    // The empty name is that of all callers of a gateway without authentication.
    this.#button.hidden = signedIn === null || signedIn.user === "";
    if (signedIn === null) return;
    const name = visible(signedIn.user);
    this.#button.querySelector("span")?.replaceChildren(name);
    this.#button.setAttribute("aria-label", `Signed in as ${name}`);
    this.#title.textContent = `Signed in as ${name}`;
    this.#leave.hidden = !this.#parts.access.canSignOut;
    this.#list.replaceChildren(...signedIn.sessions.map((session) => this.#row(session, session.id === signedIn.current)));
  }

  /**
   * Asks before the page gets another user.
   *
   * @param {string} user
   * @param {string | null} before
   * @returns {Promise<boolean>}
   */
  confirm(user, before) {
    const name = visible(user);
    const now = before === null ? "" : ` You are signed in as ${visible(before)}.`;
    const why = `This address signs you in as ${name}.${now} Continue only if you trust where it came from: what you write then belongs to ${name}.`;
    return new Promise((answer) => {
      const stay = button(before === null ? "Not now" : `Stay ${visible(before)}`, "secondary", () => asked.close());
      const enter = button(`Sign in as ${name}`, "primary", () => {
        answer(true);
        asked.close();
      });
      const buttons = el("div", { class: "token-buttons" }, stay, enter);
      const asked = dialog("confirm-title", el("h2", { id: "confirm-title" }, `Sign in as ${name}?`), el("p", {}, why), buttons);
      asked.addEventListener("close", () => {
        answer(false);
        asked.remove();
      });
      document.body.append(asked);
      asked.showModal();
      stay.focus();
    });
  }

  async #open() {
    await this.refresh();
    if (!this.#button.hidden) this.#dialog.showModal();
  }

  /**
   * @param {import("./access.js").Session} session
   * @param {boolean} isCurrent
   */
  #row(session, isCurrent) {
    const used = new Date(session.used).toLocaleString();
    const agent = visible(session.agent || "A program");
    const where = el("span", { class: "user-session" }, el("span", {}, agent), el("span", { class: "user-session-when" }, `${visible(session.address)}, last used ${used}`));
    if (isCurrent) return el("li", {}, where, el("span", {}, "this browser"));
    const end = button("End", "secondary", () => void this.#end(session.id));
    end.setAttribute("aria-label", `End the session at ${visible(session.address)}, last used ${used}`);
    return el("li", {}, where, end);
  }

  /** @param {string} id */
  async #end(id) {
    await this.#parts.access.endSession(id).catch(() => null);
    await this.refresh();
    this.#leave.focus();
  }

  async #signOut() {
    await this.#parts.access.signOut().catch(() => null);
    this.#dialog.close();
    this.#parts.signedOut();
  }
}

/**
 * @param {string} title The id of its title.
 * @param {...Node} children
 */
function dialog(title, ...children) {
  const element = el("dialog", { class: "token", "aria-labelledby": title }, el("div", { class: "user" }, ...children));
  // Escape closes the dialog, and must not stop the run.
  element.addEventListener("keydown", (event) => event.stopPropagation());
  return element;
}
