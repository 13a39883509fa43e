/** The program of an agent in a terminal of the gateway: its screen, and keys for it. */

import { button, el, visible } from "./dom.js";

/** Web addresses on the screen. */
const ADDRESS = /https?:\/\/[^\s"'<>│]+/g;

/** Keys of programs with menus, as terminals send them. */
const KEYS = [
  { name: "Up", code: "\x1b[A" },
  { name: "Down", code: "\x1b[B" },
  { name: "Enter", code: "\r" },
  { name: "Esc", code: "\x1b" },
];

/** The keys that an empty input passes on. @type {Map<string, string>} */
const ARROWS = new Map([
  ["ArrowUp", "\x1b[A"],
  ["ArrowDown", "\x1b[B"],
]);

/** A screen with an input. */
export class LoginTerminalView {
  element;
  #screen = el("pre", { class: "terminal login-screen", tabindex: 0, role: "group", "aria-label": "Screen of the program" });
  #links = el("ul", { class: "login-links", "aria-label": "Addresses on the screen" });
  #input = el("input", { type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "off", maxlength: 4000 });
  #type;
  #failed;

  /**
   * @param {string} command
   * @param {(text: string) => Promise<unknown>} type Sends keys to the program.
   * @param {(error: unknown) => void} failed
   */
  constructor(command, type, failed) {
    this.#type = type;
    this.#failed = failed;
    const form = el(
      "form",
      { class: "login-input" },
      el("label", { class: "form-field" }, el("span", {}, "Input for the program"), this.#input),
      el("button", { type: "submit", class: "primary" }, "Send"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send(`${this.#input.value}\r`);
      this.#input.value = "";
    });
    this.#input.addEventListener("keydown", (event) => {
      const code = this.#input.value === "" ? ARROWS.get(event.key) : undefined;
      if (code === undefined) return;
      event.preventDefault();
      this.#send(code);
    });
    const keys = KEYS.map(({ name, code }) => button(name, "secondary", () => this.#send(code)));
    this.element = el(
      "div",
      { class: "login-terminal" },
      el("p", { class: "login-about" }, "This runs on the machine of the gateway: ", el("code", {}, visible(command))),
      this.#screen,
      this.#links,
      form,
      el("div", { class: "login-keys", role: "group", "aria-label": "Keys" }, ...keys),
    );
  }

  focus() {
    this.#input.focus();
  }

  /** @param {string} text The whole screen. */
  show(text) {
    const shown = visible(text.trimEnd());
    if (this.#screen.textContent === shown) return;
    this.#screen.textContent = shown;
    this.#screen.scrollTop = this.#screen.scrollHeight;
    const links = [...new Set(shown.match(ADDRESS) ?? [])];
    const known = [...this.#links.querySelectorAll("a")].map((link) => link.textContent);
    // An unchanged list keeps its focus.
    if (links.join("\n") === known.join("\n")) return;
    this.#links.replaceChildren(...links.map((link) => el("li", {}, el("a", { href: link, target: "_blank", rel: "noopener noreferrer" }, link))));
  }

  /** @param {string} keys */
  #send(keys) {
    this.#type(keys).catch(this.#failed);
  }
}
