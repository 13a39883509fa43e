/** A question that the agent waits for: may it do this? */

import { button, el, focus, visible } from "./dom.js";
import { factsOf } from "./tool-arguments.js";
import { argumentsView } from "./view-arguments.js";
import { diffView } from "./view-diff.js";
import { LongView } from "./view-long.js";
import { plainText } from "./view-media.js";

/** The kinds of options, in the order of their buttons; agents have different orders. Others follow. */
const ORDER = ["allow_once", "allow_always", "reject_once", "reject_always"];

/** Number of options with a key. */
const MAX_KEYS = 9;

/** @import { Markdown } from "./markdown.js" */
/** @import { Answer, Question } from "./questions.js" */
/** @import { Call } from "./tool-words.js" */
/** @import { ToolView } from "./view-tool.js" */
/** @typedef {Question["options"][number]} PermissionOption */

/** A question with its buttons, and later its answer. */
export class PermissionView {
  element;
  #title;
  #buttons = el("div", { class: "permission-buttons" });
  #note = el("p", { class: "permission-note", role: "status" });
  /** @type {PermissionOption[]} */
  #options;
  #answer;
  #resolved = false;

  /**
   * @param {Question} question
   * @param {ToolView | undefined} tool The card above, with its title.
   * @param {Markdown} markdown
   * @param {(answer: Answer) => Promise<{ok: boolean, status: number, message: string}>} answer
   */
  constructor(question, tool, markdown, answer) {
    const title = visible(question.title);
    const isShown = title === tool?.facts.title;
    this.#title = isShown ? "" : title;
    this.#answer = answer;
    const place = (/** @type {PermissionOption} */ { kind }) => (ORDER.includes(kind) ? ORDER.indexOf(kind) : ORDER.length);
    this.#options = question.options
      .map((option) => ({ ...option, name: visible(String(option.name ?? option.optionId)) }))
      .sort((one, other) => place(one) - place(other));
    this.#options.forEach((option, at) => {
      const shown = button(option.name, option.kind === "allow_once" ? "primary" : "secondary", () => this.#choose(option));
      if (at < MAX_KEYS) {
        shown.append(el("kbd", { "aria-hidden": "true" }, String(at + 1)));
        shown.setAttribute("aria-keyshortcuts", String(at + 1));
      }
      this.#buttons.append(shown);
    });
    const asked = el("p", { class: "permission-question" }, el("strong", {}, "The agent asks for permission"));
    if (this.#title !== "") asked.append(el("span", { class: "permission-title" }, this.#title));
    if (question.description !== "") asked.append(el("span", { class: "permission-title" }, visible(question.description)));
    const isRemembered = this.#options.some(({ kind }) => kind.endsWith("_always"));
    const keys = Math.min(this.#options.length, MAX_KEYS);
    const hints = [keys > 1 ? `Keys 1 to ${keys} answer while this question has the focus.` : "", isRemembered ? "An answer for always is remembered by the agent, which decides what it covers." : ""];
    this.element = el(
      "div",
      { class: "permission", role: "group", tabindex: -1, "aria-label": `Permission: ${title}` },
      asked,
      ...operationViews(question, tool, markdown),
      this.#buttons,
      el("p", { class: "permission-hint" }, hints.join(" ").trim()),
      this.#note,
    );
    this.element.addEventListener("keydown", (event) => this.#press(event));
    if (tool !== undefined) {
      // The card has a part of what is asked for.
      this.#setDisabled(true);
      tool.whenDrawn(() => this.#setDisabled(false));
    }
  }

  /** Moves the focus to the question, not to an answer. */
  focus() {
    focus(this.element);
  }

  /** @param {Answer} answer */
  resolve(answer) {
    if (this.#resolved) return;
    this.#resolved = true;
    const optionId = "optionId" in answer ? answer.optionId : null;
    const option = this.#options.find((candidate) => candidate.optionId === optionId);
    const word = optionId === null ? "Not answered" : `Your answer: ${option?.name ?? optionId}`;
    const allowed = option?.kind.startsWith("allow") ?? false;
    this.element.classList.add("is-resolved", allowed ? "is-allowed" : "is-rejected");
    this.element.replaceChildren(answerLine(allowed ? "✓" : "✕", this.#title === "" ? word : `${this.#title} · ${word}`));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const shown = /^[1-9]$/.test(event.key) ? this.#buttons.querySelectorAll("button")[Number(event.key) - 1] : undefined;
    if (shown === undefined) return;
    event.preventDefault();
    shown.click();
  }

  /** @param {PermissionOption} option */
  async #choose(option) {
    // A disabled button cannot have the focus.
    if (this.element.contains(document.activeElement)) this.focus();
    this.#setDisabled(true);
    this.#note.textContent = "Sending…";
    const { ok, status, message } = await this.#answer({ optionId: option.optionId });
    if (this.#resolved) return;
    if (ok) {
      this.#note.textContent = `Answered: ${option.name}`;
    } else if (status === 409) {
      this.#note.textContent = "This question was already answered.";
    } else if (status === 404) {
      this.#note.textContent = "The agent is no longer waiting for this answer.";
    } else {
      this.#note.textContent = `The answer could not be sent: ${message || `HTTP ${status}`}`;
      this.#setDisabled(false);
    }
  }

  /** @param {boolean} disabled */
  #setDisabled(disabled) {
    for (const element of this.#buttons.querySelectorAll("button")) element.disabled = disabled;
  }
}

/**
 * Shows the operation of a question, as the agent asks for it, except for the content that the card shows.
 *
 * @param {Question} question
 * @param {ToolView | undefined} tool
 * @param {Markdown} markdown
 * @returns {Node[]}
 */
function operationViews({ toolCall, subject }, tool, markdown) {
  if (subject?.type === "command" && typeof subject.command === "string") {
    return [listView([["Command", subject.command], ["Folder", String(subject.cwd ?? "")]])];
  }
  if (subject !== undefined && subject !== null) return [argumentsView(subject)];
  if (toolCall === undefined || toolCall === null) return tool === undefined ? [] : factsViews(tool.facts.call);
  const content = Array.isArray(toolCall.content) ? toolCall.content : [];
  const known = new Set(tool?.facts.blocks.map((block) => JSON.stringify(block)));
  const more = content.filter((/** @type {any} */ block) => !known.has(JSON.stringify(block)));
  const call = {
    name: String(toolCall.name ?? ""),
    title: String(toolCall.title ?? ""),
    kind: String(toolCall.kind ?? "other"),
    input: toolCall.rawInput,
    locations: Array.isArray(toolCall.locations) ? toolCall.locations : [],
    diffs: content.filter((/** @type {any} */ block) => block?.type === "diff"),
  };
  return [...factsViews(call), ...more.map((/** @type {any} */ block) => contentView(block, markdown))];
}

/**
 * @param {any} block
 * @param {Markdown} markdown
 */
function contentView(block, markdown) {
  if (block?.type === "diff") return diffView(block, markdown);
  const text = plainText([block?.content ?? block]);
  return textView(text === "" ? JSON.stringify(block) : text);
}

/**
 * Shows what would happen: the command, files and addresses of a call, else all of its arguments.
 *
 * @param {Call} call
 */
function factsViews(call) {
  const shown = factsOf(call);
  if (shown.length > 0) return [listView(shown)];
  return call.input === undefined ? [] : [argumentsView(call.input)];
}

/** @param {[string, string][]} facts */
function listView(facts) {
  const rows = facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, textView(text))]);
  return el("dl", { class: "permission-facts" }, ...rows);
}

/** @param {string} text */
function textView(text) {
  const long = new LongView(el("pre", {}, visible(text)));
  long.update(text);
  return long.element;
}

/** What a decision without the user was made by. */
const ANSWERED_BY = new Map([
  ["rule", "Decided by a rule of the gateway"],
  ["policy", "Decided by the gateway, which does not ask"],
  ["limit", "Refused by the gateway, because the request is too long or too many are open"],
  ["unasked", "Refused by the gateway, because it could not ask"],
  ["end", "Refused by the gateway, because the turn has ended"],
]);

/**
 * Shows a decision of the gateway.
 *
 * @param {any} decision The value of `acp.permission`.
 */
export function decisionView(decision) {
  const chosen = decision?.outcome === "selected" ? String(decision.optionId ?? "") : "not answered";
  const why = ANSWERED_BY.get(decision?.answeredBy) ?? "Decided by the gateway";
  return el("div", { class: "permission is-resolved" }, answerLine("•", `${why}: ${chosen}`));
}

/**
 * @param {string} mark
 * @param {string} text
 */
function answerLine(mark, text) {
  return el("p", { class: "permission-answer" }, el("span", { class: "permission-mark", "aria-hidden": "true" }, mark), text);
}
