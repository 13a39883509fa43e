/** Tools of this page, that an agent may call. */

import { button, el } from "./dom.js";

/** @import { ToolCall } from "./thread.js" */

/**
 * A tool. What it gives is told to the agent; what it throws as well.
 *
 * @typedef {object} PageTool
 * @property {string} name
 * @property {string} description
 * @property {object} parameters A JSON Schema.
 * @property {(args: any, show: (element: HTMLElement) => void, signal: AbortSignal) => Promise<string>} run
 *   `show` puts something beside the call's card; `signal` ends what is not waited for any more.
 */

/** How the page may look. */
const THEMES = ["light", "dark", "system"];

/** @type {PageTool[]} */
const TOOLS = [
  {
    name: "set_theme",
    description: "Makes the chat page light or dark, or as the user's system is.",
    parameters: {
      type: "object",
      properties: { theme: { type: "string", enum: THEMES } },
      required: ["theme"],
    },
    async run({ theme }) {
      if (!THEMES.includes(theme)) throw new Error(`expected one of ${THEMES.join(", ")}, got ${JSON.stringify(theme)}`);
      document.documentElement.style.colorScheme = theme === "system" ? "" : theme;
      return `The page is ${theme === "system" ? "as the system" : theme} now.`;
    },
  },
  {
    name: "choose",
    description: "Shows the user a question with a few answers, and gives the one that was picked.",
    parameters: {
      type: "object",
      properties: {
        question: { type: "string" },
        options: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 12 },
      },
      required: ["question", "options"],
    },
    run({ question, options }, show, signal) {
      if (typeof question !== "string" || !Array.isArray(options) || options.length === 0) {
        throw new Error("expected a question and options");
      }
      return choose(question, options.slice(0, 12).map(String), show, signal);
    },
  },
];

/** What a run's input says of the tools. */
export function pageTools() {
  return TOOLS.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

/**
 * Runs a call of one of the page's tools; each way to end is a text.
 *
 * @param {ToolCall} call
 * @param {(element: HTMLElement) => void} show
 * @param {AbortSignal} signal
 * @returns {Promise<{content: string, error?: string}>}
 */
export async function runTool(call, show, signal) {
  const tool = TOOLS.find(({ name }) => name === call.function.name);
  try {
    if (tool === undefined) throw new Error(`the page has no tool ${call.function.name}`);
    return { content: await tool.run(JSON.parse(call.function.arguments || "{}"), show, signal) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { content: message, error: message };
  }
}

/**
 * @param {string} question
 * @param {string[]} options
 * @param {(element: HTMLElement) => void} show
 * @param {AbortSignal} signal
 * @returns {Promise<string>}
 */
function choose(question, options, show, signal) {
  return new Promise((resolve, reject) => {
    const buttons = el("div", { class: "permission-buttons" });
    const asked = el("p", { class: "permission-question" }, el("strong", {}, question));
    const group = el("div", { class: "permission", role: "group", tabindex: -1, "aria-label": `Question: ${question}` }, asked, buttons);
    const settle = (/** @type {string} */ mark, /** @type {string} */ word) => {
      group.classList.add("is-resolved", mark === "✓" ? "is-allowed" : "is-rejected");
      const sign = el("span", { class: "permission-mark", "aria-hidden": "true" }, mark);
      group.replaceChildren(el("p", { class: "permission-answer" }, sign, `${question} · ${word}`));
    };
    for (const option of options) {
      const pick = () => {
        settle("✓", `Your answer: ${option}`);
        resolve(option);
      };
      buttons.append(button(option, "secondary", pick));
    }
    const leave = () => {
      settle("✕", "Not answered");
      reject(new Error("The user gave no answer."));
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    show(group);
  });
}
