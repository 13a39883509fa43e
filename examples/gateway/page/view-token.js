/** Asks the user for the gateway's token. */

import { button, el } from "./dom.js";

/** Characters that a header may contain: visible ASCII. */
const PATTERN = "[\\x21-\\x7E]+";

/** A dialog over the page. */
export class TokenView {
  #input = el("input", { id: "token", type: "password", required: true, pattern: PATTERN, autocomplete: "off", spellcheck: "false", title: "Letters, digits and punctuation, without spaces" });
  #refused = el("p", { id: "token-refused", class: "token-refused", role: "alert" });
  #dialog;
  /** @type {((token: string | null) => void) | null} */
  #answer = null;

  /** @param {Element} root The parent of the dialog. */
  constructor(root) {
    const form = el(
      "form",
      { method: "dialog" },
      el("h2", { id: "token-title" }, "Sign in"),
      el("p", { id: "token-why" }, "Open the address that the gateway printed when it started, or enter its token. The page keeps it until you close this tab."),
      el("label", { for: "token" }, "Token"),
      this.#input,
      this.#refused,
      el("div", { class: "token-buttons" }, button("Not now", "secondary", () => this.#dialog.close()), el("button", { class: "primary" }, "Sign in")),
    );
    this.#dialog = el("dialog", { class: "token", "aria-labelledby": "token-title", "aria-describedby": "token-why" }, form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#close(this.#input.value);
    });
    this.#dialog.addEventListener("close", () => this.#close(null));
    // Escape closes the dialog, and must not stop the run.
    this.#dialog.addEventListener("keydown", (event) => event.stopPropagation());
    root.append(this.#dialog);
  }

  /**
   * @param {boolean} refused Whether the last token was rejected.
   * @returns {Promise<string | null>} `null` if the user enters none.
   */
  ask(refused) {
    this.#input.value = "";
    this.#refused.textContent = refused ? "The gateway rejected this token. Check it and try again." : "";
    this.#input.setAttribute("aria-invalid", String(refused));
    if (refused) this.#input.setAttribute("aria-describedby", this.#refused.id);
    else this.#input.removeAttribute("aria-describedby");
    this.#dialog.showModal();
    this.#input.focus();
    return new Promise((answer) => (this.#answer = answer));
  }

  /** @param {string | null} token */
  #close(token) {
    this.#answer?.(token);
    this.#answer = null;
    this.#input.value = "";
    if (this.#dialog.open) this.#dialog.close();
  }
}
