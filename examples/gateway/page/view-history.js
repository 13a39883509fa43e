/** The list of conversations: search, open, rename, delete and restore. */

import { addressOf } from "./address.js";
import { button, el, visible } from "./dom.js";

/** @import { History, Summary, Trashed } from "./history.js" */

/** Time after the last key before a search begins. */
const SEARCH_MS = 200;

/**
 * @typedef {object} HistoryParts
 * @property {History} history
 * @property {import("./announcer.js").Announcer} announcer
 * @property {() => string} current The open conversation.
 * @property {(thread: Summary) => void} open
 * @property {() => void} begin Begins a new conversation.
 * @property {(id: string, title: string) => void} renamed
 * @property {(id: string) => void} removed
 */

/** A dialog beside the conversation. */
export class HistoryView {
  #parts;
  #search = el("input", { id: "history-search", type: "search", placeholder: "Search conversations", "aria-label": "Search conversations", autocomplete: "off" });
  #list = el("ul", { class: "history-list", "aria-label": "Conversations" });
  #status = el("p", { class: "history-status", role: "status" });
  #more = button("Show more", "secondary history-more", () => void this.#read(this.#next));
  #evicted = el("p", { class: "history-status" });
  #trash = button("Trash", "secondary history-more", () => void this.#readTrash());
  #back = button("Back to conversations", "secondary history-more", () => void this.#leaveTrash());
  #dialog;
  /** @type {string | null} */
  #next = null;
  /** Number of the last request; earlier responses are dropped. */
  #reading = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;

  /**
   * @param {Element} root The parent of the dialog.
   * @param {HTMLButtonElement} opener
   * @param {HistoryParts} parts
   */
  constructor(root, opener, parts) {
    this.#parts = parts;
    const close = button("Close", "secondary", () => this.#dialog.close());
    const fresh = button("New chat", "secondary", () => {
      this.#dialog.close();
      parts.begin();
    });
    const head = el("div", { class: "history-head" }, el("h2", { id: "history-title" }, "Conversations"), fresh, close);
    const body = el("div", { class: "history-body" }, this.#list, this.#status, this.#more, this.#evicted, this.#trash, this.#back);
    this.#dialog = el("dialog", { class: "history", "aria-labelledby": "history-title" }, head, this.#search, body);
    // Escape closes the dialog, and must not stop the run.
    this.#dialog.addEventListener("keydown", (event) => event.stopPropagation());
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.#search.addEventListener("input", () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => void this.#read(null), SEARCH_MS);
    });
    root.append(this.#dialog);
    opener.addEventListener("click", () => this.show());
  }

  /** Opens the list. */
  show() {
    this.#search.value = "";
    this.#dialog.showModal();
    this.#search.focus();
    void this.#read(null);
  }

  /** @param {string | null} after */
  async #read(after) {
    const number = ++this.#reading;
    const search = this.#search.value.trim();
    const page = await this.#parts.history.list(search, after);
    if (number !== this.#reading) return;
    this.#search.hidden = false;
    this.#back.hidden = true;
    if (typeof page === "string") {
      this.#status.textContent = `The conversations cannot be read: ${page}`;
      return;
    }
    const rows = page.threads.map((thread) => this.#row(thread));
    if (after === null) this.#list.replaceChildren(...rows);
    else this.#list.append(...rows);
    if (after !== null) rows[0]?.querySelector("a")?.focus();
    this.#next = page.next;
    this.#more.hidden = page.next === null;
    this.#trash.hidden = page.trashed === 0;
    this.#trash.textContent = `Trash (${page.trashed})`;
    this.#evicted.textContent = page.evicted === 0 ? "" : `${page.evicted === 1 ? "A conversation was" : `${page.evicted} conversations were`} moved to the trash to make room, or because of age.`;
    const isEmpty = this.#list.childElementCount === 0;
    this.#status.textContent = !isEmpty ? "" : search === "" ? "No conversations yet." : "No conversation matches.";
  }

  async #readTrash() {
    const number = ++this.#reading;
    const trash = await this.#parts.history.trash();
    if (number !== this.#reading) return;
    if (typeof trash === "string") {
      this.#status.textContent = `The trash cannot be read: ${trash}`;
      return;
    }
    for (const part of [this.#search, this.#more, this.#trash]) part.hidden = true;
    this.#evicted.textContent = "";
    this.#back.hidden = false;
    this.#list.replaceChildren(...trash.threads.map((thread) => this.#trashedRow(thread)));
    this.#status.textContent = trash.threads.length === 0 ? "The trash is empty." : "";
    (this.#list.querySelector("button") ?? this.#back).focus();
  }

  async #leaveTrash() {
    await this.#read(null);
    this.#search.focus();
  }

  /** @param {Trashed} thread */
  #trashedRow(thread) {
    const title = visible(thread.title) || "Untitled";
    const restore = button("Restore", "secondary", async () => {
      const restored = await this.#parts.history.restore(thread);
      if (typeof restored === "string") {
        this.#status.textContent = `Not restored: ${restored}`;
        return;
      }
      this.#parts.announcer.say("Restored.");
      await this.#readTrash();
    });
    restore.setAttribute("aria-label", `Restore ${title}`);
    const remove = button("Delete for good", "stop", async () => {
      const failure = await this.#parts.history.deleteTrashed(thread);
      if (failure !== null) {
        this.#status.textContent = `Not deleted: ${failure}`;
        return;
      }
      this.#parts.announcer.say("Deleted.");
      await this.#readTrash();
    });
    remove.setAttribute("aria-label", `Delete for good: ${title}`);
    const text = el("div", { class: "history-link" }, el("span", { class: "history-name" }, title), el("span", { class: "history-facts" }, trashFacts(thread)));
    return el("li", { class: "history-row" }, text, el("div", { class: "history-actions" }, restore, remove));
  }

  /** @param {Summary} thread */
  #row(thread) {
    const isCurrent = thread.id === this.#parts.current();
    const title = visible(thread.title) || "Untitled";
    const link = el(
      "a",
      { href: addressOf(thread.id), class: "history-link", "aria-current": isCurrent && "page" },
      el("span", { class: "history-name" }, title),
      el("span", { class: "history-facts" }, facts(thread)),
    );
    link.addEventListener("click", (event) => {
      // A modifier opens another tab.
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.#dialog.close();
      this.#parts.open(thread);
    });
    const rename = button("Rename", "secondary", () => this.#rename(row, thread));
    rename.setAttribute("aria-label", `Rename ${title}`);
    const remove = button("Delete", "secondary", () => this.#confirm(row, thread));
    remove.setAttribute("aria-label", `Delete ${title}`);
    const row = el("li", { class: "history-row" }, link, el("div", { class: "history-actions" }, rename, remove));
    return row;
  }

  /**
   * @param {HTMLElement} row
   * @param {Summary} thread
   */
  #rename(row, thread) {
    const input = el("input", { value: thread.title, "aria-label": "Title", maxlength: 80, required: true });
    const form = el("form", { class: "history-edit" }, input, el("button", { class: "primary" }, "Save"), button("Cancel", "secondary", () => this.#replace(row, thread)));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const renamed = await this.#parts.history.rename(thread, input.value);
      if (typeof renamed === "string") {
        this.#status.textContent = `Not renamed: ${renamed}`;
        return;
      }
      this.#parts.renamed(renamed.id, renamed.title);
      this.#parts.announcer.say("Renamed.");
      this.#replace(row, renamed);
    });
    form.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      this.#replace(row, thread);
    });
    row.replaceChildren(form);
    input.select();
  }

  /**
   * @param {HTMLElement} row
   * @param {Summary} thread
   */
  #confirm(row, thread) {
    const title = visible(thread.title) || "Untitled";
    const keep = button("Keep", "secondary", () => this.#replace(row, thread));
    const remove = button("Delete", "stop", async () => {
      const failure = await this.#parts.history.remove(thread);
      if (failure !== null) {
        this.#status.textContent = `Not deleted: ${failure}`;
        this.#replace(row, thread);
        return;
      }
      row.remove();
      this.#search.focus();
      this.#parts.announcer.say("Moved to the trash.");
      this.#parts.removed(thread.id);
      void this.#read(null);
    });
    row.replaceChildren(el("p", { class: "history-confirm" }, `Move “${title}” to the trash?`), el("div", { class: "history-actions" }, remove, keep));
    keep.focus();
  }

  /**
   * Shows a conversation again, with the focus on it.
   *
   * @param {HTMLElement} row
   * @param {Summary} thread
   */
  #replace(row, thread) {
    const again = this.#row(thread);
    row.replaceWith(again);
    again.querySelector("a")?.focus();
  }
}

/** @param {Summary} thread */
function facts({ agent, updatedAt, isRunning }) {
  const at = new Date(updatedAt);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = isToday ? at.toLocaleTimeString([], { timeStyle: "short" }) : at.toLocaleDateString([], { dateStyle: "medium" });
  return `${visible(agent)} · ${isRunning ? "running" : time}`;
}

const REASONS = { user: "deleted", space: "made room", age: "not used" };

/** @param {Trashed} thread */
function trashFacts({ agent, reason, daysLeft }) {
  return `${visible(agent)} · ${REASONS[reason]} · kept for ${daysLeft === 1 ? "one more day" : `${daysLeft} more days`}`;
}
