/** The message box with its buttons. */

import { focus } from "./dom.js";

/** Labels of the stop button. */
const STOP_NAMES = { idle: "Stop", asking: "Stop", running: "Stop", stopping: "Stopping…", stuck: "Disconnect" };

/**
 * @typedef {object} ComposerActions
 * @property {(text: string) => boolean} send Returns `false` if the message cannot be sent now.
 * @property {() => void} stop
 */

/** The form at the foot of the page. */
export class Composer {
  #form;
  #prompt;
  #send;
  #stop;
  #actions;
  #running = false;

  /**
   * @param {Document} page
   * @param {ComposerActions} actions
   */
  constructor(page, actions) {
    this.#actions = actions;
    this.#form = /** @type {HTMLFormElement} */ (page.getElementById("composer"));
    this.#prompt = /** @type {HTMLTextAreaElement} */ (page.getElementById("prompt"));
    this.#send = /** @type {HTMLButtonElement} */ (page.getElementById("send"));
    this.#stop = /** @type {HTMLButtonElement} */ (page.getElementById("stop"));
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.#prompt.addEventListener("keydown", (event) => this.#onKey(event));
    this.#prompt.addEventListener("input", () => this.#fit());
    this.#stop.addEventListener("click", () => actions.stop());
    page.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.#running || event.isComposing || event.repeat) return;
      event.preventDefault();
      actions.stop();
    });
    this.#update();
  }

  focus() {
    focus(this.#prompt);
  }

  /** Whether the box is empty and the focus is here, or nowhere. */
  isIdle() {
    const active = document.activeElement;
    const here = active === null || active === document.body || this.#form.contains(active);
    return here && this.#prompt.value === "";
  }

  /** @param {string} text Replaces the written text. */
  write(text) {
    this.#prompt.value = text;
    this.#fit();
  }

  /** @param {keyof typeof STOP_NAMES} state */
  setState(state) {
    const hadFocus = document.activeElement === this.#stop;
    this.#running = state !== "idle";
    this.#send.hidden = this.#running && state !== "asking";
    this.#stop.hidden = !this.#running;
    this.#stop.textContent = STOP_NAMES[state];
    if (hadFocus && !this.#running) this.focus();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    // An Enter that ends the composition of a character does not send.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit();
  }

  /** Sends the written text. */
  submit() {
    const text = this.#prompt.value.trim();
    if (text === "" || !this.#actions.send(text)) return;
    this.#prompt.value = "";
    this.#fit();
  }

  /** Grows the area with its text, up to the limit of the style sheet. */
  #fit() {
    this.#prompt.style.blockSize = "auto";
    this.#prompt.style.blockSize = `${this.#prompt.scrollHeight}px`;
    this.#update();
  }

  #update() {
    this.#send.disabled = this.#prompt.value.trim() === "";
  }
}
