/** The message box with its files, its suggestions, its buttons, and the message that waits for the end of a run. */

import { Attachments } from "./attachments.js";
import { button, el, focus } from "./dom.js";
import { PromptHistory } from "./prompt-history.js";
import { Suggestions } from "./suggestions.js";

/** @import { FilePart } from "./attachments.js" */

/** Labels of the stop button. */
const STOP_NAMES = { idle: "Stop", asking: "Stop", running: "Stop", stopping: "Stopping…", stuck: "Disconnect" };

/** The elements of questions that wait for an answer. */
const OPEN_QUESTION = ".permission:not(.is-resolved)";

/** @typedef {keyof typeof STOP_NAMES} ComposerState */

/** @typedef {{text: string, files: FilePart[]}} Draft A message before it is sent. */

/**
 * @typedef {object} ComposerActions
 * @property {(draft: Draft) => string} send Returns why the message cannot be sent now, or an empty text.
 * @property {() => void} stop
 * @property {() => Promise<import("./attachments.js").Accepted>} accepted Returns the files that the agent accepts.
 * @property {import("./suggestions.js").Source[]} sources
 * @property {(sentence: string) => void} say
 */

/** The form at the foot of the page. */
export class Composer {
  #form;
  #prompt;
  #send;
  #stop;
  #note;
  #waiting;
  #actions;
  #attachments;
  #suggestions;
  #history = new PromptHistory();
  /** @type {ComposerState} */
  #state = "idle";
  /** The message that is sent after the run. @type {Draft | null} */
  #queued = null;

  /**
   * @param {Document} page
   * @param {ComposerActions} actions
   */
  constructor(page, actions) {
    this.#actions = actions;
    const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (page.getElementById(id));
    this.#form = /** @type {HTMLFormElement} */ (byId("composer"));
    this.#prompt = /** @type {HTMLTextAreaElement} */ (byId("prompt"));
    this.#send = /** @type {HTMLButtonElement} */ (byId("send"));
    this.#stop = /** @type {HTMLButtonElement} */ (byId("stop"));
    this.#note = byId("composer-note");
    this.#waiting = byId("queued");
    const note = (/** @type {string} */ sentence) => (this.#note.textContent = sentence);
    this.#attachments = new Attachments(byId("attachments"), note, actions.accepted, () => this.#update());
    this.#suggestions = new Suggestions(this.#prompt, byId("suggestions"), actions.sources, actions.say);
    this.#listen(page);
    this.#takeFiles(page, byId);
    this.#update();
  }

  /** @param {Document} page */
  #listen(page) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.#prompt.addEventListener("keydown", (event) => this.#onKey(event));
    this.#prompt.addEventListener("input", () => {
      this.#fit();
      this.#history.keep(this.#prompt.value);
      void this.#suggestions.update();
    });
    this.#stop.addEventListener("click", () => this.#actions.stop());
    page.addEventListener("keydown", (event) => this.#onEscape(event));
  }

  /**
   * Takes files from the button, from the clipboard, and files that are dropped on the page.
   *
   * @param {Document} page
   * @param {(id: string) => HTMLElement} byId
   */
  #takeFiles(page, byId) {
    const picker = /** @type {HTMLInputElement} */ (byId("files"));
    byId("attach").addEventListener("click", () => picker.click());
    picker.addEventListener("change", () => {
      void this.#attachments.add([...(picker.files ?? [])]);
      picker.value = "";
      this.focus();
    });
    this.#prompt.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      // Copied cells and formatted texts have a picture too.
      if (files.length === 0 || event.clipboardData?.types.includes("text/plain")) return;
      event.preventDefault();
      void this.#attachments.add(files);
    });
    const drags = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
    page.addEventListener("dragover", (event) => {
      if (!drags(event)) return;
      event.preventDefault();
      this.#form.classList.add("is-target");
    });
    page.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) this.#form.classList.remove("is-target");
    });
    page.addEventListener("drop", (event) => {
      this.#form.classList.remove("is-target");
      if (!drags(event)) return;
      event.preventDefault();
      void this.#attachments.add([...(event.dataTransfer?.files ?? [])]);
      this.focus();
    });
  }

  focus() {
    focus(this.#prompt);
  }

  /** Whether the box is empty and the focus is here, or nowhere. */
  isIdle() {
    const active = document.activeElement;
    const here = active === null || active === document.body || this.#form.contains(active);
    return here && this.#isEmpty;
  }

  get #isEmpty() {
    return this.#prompt.value.trim() === "" && this.#attachments.isEmpty;
  }

  /**
   * Opens a conversation, with the text that was not sent.
   *
   * @param {() => string} key Identifies the conversation.
   * @param {string[]} prompts Its prompts so far.
   */
  open(key, prompts) {
    this.#queue(null);
    this.#note.textContent = "";
    this.write({ text: this.#history.open(key, prompts), files: [] });
  }

  /** @param {Draft} draft Replaces the text and the files. */
  write({ text, files }) {
    this.#prompt.value = text;
    this.#attachments.put(files);
    this.#suggestions.close();
    this.#fit();
    this.#history.keep(text);
  }

  /** @param {string} text A suggested message; the user completes and sends it. */
  fill(text) {
    this.write({ text, files: this.#attachments.take() });
    this.focus();
    this.#prompt.setSelectionRange(text.length, text.length);
  }

  /** @param {Draft} draft A message to change and to send again, before the text that is not sent yet. */
  edit({ text, files }) {
    const written = this.#prompt.value.trim();
    this.write({ text: written === "" ? text : `${text}\n\n${written}`, files: [...files, ...this.#attachments.take()] });
    this.focus();
    this.#actions.say("The message is in the message box.");
  }

  /** @param {ComposerState} state */
  setState(state) {
    const hadFocus = document.activeElement === this.#stop;
    this.#state = state;
    this.#stop.hidden = state === "idle";
    this.#stop.textContent = STOP_NAMES[state];
    this.#update();
    if (hadFocus && state === "idle") this.focus();
  }

  /** @param {boolean} isGood Whether the run ended as expected. Otherwise the waiting message returns to the box. */
  endRun(isGood) {
    const queued = this.#queued;
    if (queued === null) return;
    this.#queue(null);
    const why = isGood ? this.#actions.send(queued) : "Your next message was not sent.";
    if (why === "") return this.#history.add(queued.text);
    const text = [queued.text, this.#prompt.value].filter((part) => part.trim() !== "").join("\n\n");
    this.write({ text, files: [...queued.files, ...this.#attachments.take()] });
    this.#note.textContent = why;
  }

  /**
   * Stops the run. With an open question it does not: the key leaves the question.
   *
   * @param {KeyboardEvent} event A key anywhere in the page.
   */
  #onEscape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || this.#state === "idle" || event.isComposing || event.repeat) return;
    event.preventDefault();
    if (document.querySelector(OPEN_QUESTION) === null) this.#actions.stop();
    else this.focus();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (this.#suggestions.handleKey(event)) return;
    // An Enter that ends the composition of a character does not send.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") this.#recall(event);
  }

  /** @param {KeyboardEvent} event An arrow key at an end of the text. */
  #recall(event) {
    const { value, selectionStart, selectionEnd } = this.#prompt;
    const isUp = event.key === "ArrowUp";
    const isAtEnd = selectionStart === selectionEnd && selectionStart === (isUp ? 0 : value.length);
    if (!isAtEnd || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const text = this.#history.move(isUp ? -1 : 1, value);
    if (text === null) return;
    event.preventDefault();
    this.#prompt.value = text;
    const at = isUp ? 0 : text.length;
    this.#prompt.setSelectionRange(at, at);
    this.#fit();
  }

  /** Sends the written text, or keeps it until the end of the run. */
  submit() {
    if (this.#isEmpty || this.#attachments.isBusy) return;
    const files = this.#attachments.take();
    const draft = { text: this.#prompt.value.trim(), files };
    const waits = this.#state !== "idle" && this.#state !== "asking";
    // The first message of a conversation changes what identifies it.
    this.#history.keep("");
    const why = waits ? "" : this.#actions.send(draft);
    this.#note.textContent = why;
    if (why !== "") return this.write(draft);
    if (waits) this.#queue(this.#queued === null ? draft : { text: `${this.#queued.text}\n\n${draft.text}`.trim(), files: [...this.#queued.files, ...files] });
    else this.#history.add(draft.text);
    this.write({ text: "", files: [] });
  }

  /** @param {Draft | null} draft */
  #queue(draft) {
    this.#queued = draft;
    this.#waiting.hidden = draft === null;
    if (draft === null) return this.#waiting.replaceChildren();
    const edit = button("Edit", "quiet", () => {
      this.endRun(false);
      this.#note.textContent = "";
      this.focus();
    });
    edit.setAttribute("aria-label", "Edit the next message");
    const text = draft.text === "" ? `${draft.files.length} attached` : draft.text;
    this.#waiting.replaceChildren(el("span", { class: "queued-label" }, "Next"), el("span", { class: "queued-text" }, text), edit);
    this.#actions.say("Your message is sent after this answer.");
  }

  /** Grows the area with its text, up to the limit of the style sheet. Measuring a text needs a layout of the page. */
  #fit() {
    this.#prompt.style.blockSize = "auto";
    if (this.#prompt.value !== "") this.#prompt.style.blockSize = `${this.#prompt.scrollHeight}px`;
    this.#update();
  }

  #update() {
    const waits = this.#state !== "idle" && this.#state !== "asking";
    this.#send.disabled = this.#isEmpty || this.#attachments.isBusy;
    this.#send.hidden = this.#state !== "idle" && this.#isEmpty;
    this.#send.textContent = waits ? "Send next" : "Send";
  }
}
