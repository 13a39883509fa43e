/** The card to sign in to an agent. */

import { button, el, focus, visible } from "./dom.js";
import { AgentLogin, LoginError } from "./login.js";
import { LoginTerminalView } from "./view-login-terminal.js";

/** @import { Method, Progress } from "./login.js" */

/**
 * @typedef {object} LoginParts
 * @property {import("./access.js").Send} send
 * @property {string} title The name of the agent for people.
 * @property {(sentence: string) => void} say Tells a screen reader.
 * @property {() => boolean} mayTakeFocus Whether the card may take the keyboard's focus.
 * @property {() => void} done Called after a login.
 */

/** A card with a button for each authentication method. */
export class LoginView {
  element;
  #login;
  #parts;
  #body = el("div", { class: "login-body" });
  #status = el("p", { class: "login-status", role: "status" });
  #problem = el("p", { class: "login-problem", role: "alert" });
  /** @type {Method[]} */
  #methods = [];
  /** Whether the login runs. */
  #isOpen = false;

  /**
   * @param {string} agent
   * @param {string} why The reason that the agent gives, if any.
   * @param {LoginParts} parts
   */
  constructor(agent, why, parts) {
    this.#parts = parts;
    this.#login = new AgentLogin(agent, parts.send);
    const title = `Sign in to ${visible(parts.title)}`;
    this.element = el(
      "section",
      { class: "login", tabindex: -1, "aria-label": title },
      el("h3", { class: "login-title" }, title),
      why === "" ? null : el("p", { class: "login-why" }, visible(why)),
      this.#body,
      this.#status,
      this.#problem,
    );
    void this.#load();
  }

  async #load() {
    this.#status.textContent = "Loading the ways to sign in…";
    try {
      const { enabled, methods, attempt } = await this.#login.describe();
      this.#methods = methods;
      this.#status.textContent = "";
      if (!enabled) this.#problem.textContent = "Signing in from this page is off. Ask the operator of the gateway to sign in.";
      else if (methods.length === 0) this.#problem.textContent = "The agent names no way to sign in. Its documentation has the next step.";
      else this.#offer();
      const open = methods.find(({ id }) => id === attempt?.methodId);
      if (attempt?.state === "running" && open !== undefined) void this.#follow(open, attempt);
      this.#parts.say(`The agent needs you to sign in. ${enabled ? `${methods.length} ways are offered.` : ""}`);
      if (this.#parts.mayTakeFocus()) focus(this.element);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Shows the methods. */
  #offer() {
    const items = this.#methods.map((method) => {
      const about = method.description === undefined ? null : el("p", { class: "login-about" }, visible(method.description));
      if (method.kind === "manual") return el("li", {}, el("strong", {}, visible(method.name)), about, el("p", { class: "login-about" }, visible(method.step)));
      return el("li", {}, button(visible(method.name), "secondary", () => this.#choose(method)), about);
    });
    this.#body.replaceChildren(el("ul", { class: "login-methods", "aria-label": "Ways to sign in" }, ...items));
  }

  /** @param {Method} method */
  #choose(method) {
    this.#problem.textContent = "";
    if (method.kind === "variables") this.#askFor(method);
    else void this.#begin(method, {});
  }

  /**
   * Shows a form for the variables of a method.
   *
   * @param {Method & {kind: "variables"}} method
   */
  #askFor(method) {
    const inputs = method.variables.map(({ name, secret, optional }) =>
      el("input", { type: secret ? "password" : "text", name, required: !optional, autocomplete: "off", spellcheck: "false", autocapitalize: "off", maxlength: 8192 }),
    );
    const fields = method.variables.map(({ name, label, optional }, at) => {
      const text = label === undefined ? name : `${visible(label)} (${name})`;
      return el("label", { class: "form-field" }, el("span", {}, optional ? `${text}, optional` : text), inputs[at] ?? null);
    });
    const back = button("Back", "secondary", () => {
      this.#offer();
      focus(this.element);
    });
    const form = el(
      "form",
      { class: "form", "aria-label": visible(method.name) },
      el("p", {}, el("strong", {}, visible(method.name))),
      method.description === undefined ? null : el("p", { class: "login-about" }, visible(method.description)),
      method.link === undefined ? null : el("p", {}, el("a", { href: method.link, target: "_blank", rel: "noopener noreferrer" }, method.link)),
      ...fields,
      el("p", { class: "form-hint" }, "The gateway restarts the agent with these values, keeps them in memory, and forgets them when it ends."),
      el("div", { class: "permission-buttons" }, el("button", { type: "submit", class: "primary" }, "Sign in"), back),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const values = inputs.filter(({ value }) => value !== "").map(({ name, value }) => [name, value]);
      for (const input of inputs) input.value = "";
      void this.#begin(method, Object.fromEntries(values));
    });
    this.#body.replaceChildren(form);
    inputs[0]?.focus();
  }

  /**
   * @param {Method} method
   * @param {Record<string, string>} variables
   */
  async #begin(method, variables) {
    this.#problem.textContent = "";
    try {
      await this.#follow(method, await this.#login.begin(method.id, variables));
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Shows a login until its end.
   *
   * @param {Method} method
   * @param {Progress} begun
   */
  async #follow(method, begun) {
    this.#isOpen = true;
    const hadFocus = this.element.contains(document.activeElement);
    const terminal = method.kind === "terminal" ? new LoginTerminalView(method.command, (text) => this.#login.type(text), (error) => this.#tell(error)) : null;
    const cancel = button("Cancel", "secondary", () => void this.#login.cancel().catch((error) => this.#tell(error)));
    const words = method.kind === "variables" ? "The agent starts again with these values." : `Waiting for ${visible(method.name)}. The agent may open a page in the browser of its machine.`;
    const wait = terminal === null ? el("p", {}, words) : null;
    this.#body.replaceChildren(...[wait, terminal?.element, cancel].filter((part) => part instanceof HTMLElement));
    if (hadFocus) terminal === null ? cancel.focus() : terminal.focus();
    this.#status.textContent = "Signing in…";
    let progress = begun;
    try {
      while (progress.state === "running") {
        terminal?.show(progress.screen ?? "");
        progress = await this.#login.progress(progress.version);
      }
    } catch (error) {
      return this.#fail(error);
    }
    this.#end(method, progress);
  }

  /**
   * @param {Method} method
   * @param {Progress} progress
   */
  #end(method, progress) {
    this.#isOpen = false;
    this.#status.textContent = "";
    if (progress.state === "done") {
      const mark = el("span", { class: "permission-mark", "aria-hidden": "true" }, "✓");
      this.element.classList.add("is-allowed");
      this.element.replaceChildren(el("p", { class: "permission-answer" }, mark, `Signed in to ${visible(this.#parts.title)} · ${visible(method.name)}`));
      this.#parts.say("Signed in.");
      return this.#parts.done();
    }
    if (progress.state === "cancelled") this.#status.textContent = "Cancelled.";
    else this.#problem.textContent = `Signing in failed: ${visible(progress.message ?? "the agent gives no reason")}`;
    this.#offerAgain();
  }

  #offerAgain() {
    const hadFocus = this.element.contains(document.activeElement);
    this.#offer();
    if (hadFocus) focus(this.element);
  }

  /** @param {unknown} error */
  #fail(error) {
    this.#status.textContent = "";
    this.#tell(error);
    if (this.#isOpen) this.#offerAgain();
    this.#isOpen = false;
  }

  /** @param {unknown} error */
  #tell(error) {
    if (!(error instanceof LoginError)) throw error;
    this.#problem.textContent = visible(error.message);
  }
}
