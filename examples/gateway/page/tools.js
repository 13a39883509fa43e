/** Tools of this page, that an agent may call. */

import { button, el } from "./dom.js";

/** @import { ToolCall } from "./thread.js" */

/**
 * The page's services for a tool.
 *
 * @typedef {object} ToolContext
 * @property {(element: HTMLElement) => void} show Shows an element beside the call's card.
 * @property {(title: string) => void} setTitle Sets the title of the conversation.
 * @property {AbortSignal} signal Aborts calls without a waiting agent.
 */

/**
 * A tool. The agent gets its result, or the error that it throws.
 *
 * @typedef {object} PageTool
 * @property {string} name
 * @property {string} description
 * @property {object} parameters A JSON Schema.
 * @property {"ack" | "sync" | "park"} execution Whether an agent with a session of its own gets an acknowledgement,
 *   waits during its run, or waits for the next run.
 * @property {(args: any, context: ToolContext) => Promise<string>} run
 */

/** Themes of the page. */
const THEMES = ["light", "dark", "system"];

/** @type {PageTool[]} */
const TOOLS = [
  {
    name: "set_theme",
    description: "Sets the theme of the chat page: light, dark, or that of the user's system.",
    parameters: {
      type: "object",
      properties: { theme: { type: "string", enum: THEMES } },
      required: ["theme"],
    },
    execution: "sync",
    async run({ theme }) {
      if (!THEMES.includes(theme)) throw new Error(`expected one of ${THEMES.join(", ")}, got ${JSON.stringify(theme)}`);
      document.documentElement.style.colorScheme = theme === "system" ? "" : theme;
      return theme === "system" ? "The page follows the system now." : `The page is ${theme} now.`;
    },
  },
  {
    name: "set_title",
    description: "Sets the title of the conversation.",
    parameters: { type: "object", properties: { title: { type: "string", maxLength: 80 } }, required: ["title"] },
    execution: "ack",
    async run({ title }, { setTitle }) {
      if (typeof title !== "string" || title.trim() === "") throw new Error("expected a title");
      setTitle(title.slice(0, 80));
      return "The title is set.";
    },
  },
  {
    name: "choose",
    description: "Asks the user a question with a few answers, and returns the chosen one.",
    parameters: {
      type: "object",
      properties: {
        question: { type: "string" },
        options: { type: "array", items: { type: "string" }, minItems: 1, maxItems: 12 },
      },
      required: ["question", "options"],
    },
    execution: "park",
    run({ question, options }, { show, signal }) {
      if (typeof question !== "string" || !Array.isArray(options) || options.length === 0) {
        throw new Error("expected a question and options");
      }
      return choose(question, options.slice(0, 12).map(String), show, signal);
    },
  },
];

/** What a run's input says of the tools. */
export function pageTools() {
  return TOOLS.map(({ name, description, parameters, execution }) => ({ name, description, parameters, metadata: { execution } }));
}

/**
 * Whether a call runs at once, during the agent's turn (`sync` and `ack`).
 *
 * @param {ToolCall} call
 */
export function runsAtOnce(call) {
  const source = /** @type {any} */ (call.metadata)?.acp?.source;
  const tool = TOOLS.find(({ name }) => name === call.function.name);
  return source === "frontend" && tool !== undefined && tool.execution !== "park";
}

/**
 * Runs a call of one of the page's tools; every outcome is a text.
 *
 * @param {ToolCall} call
 * @param {ToolContext} context
 * @returns {Promise<{content: string, error?: string}>}
 */
export async function runTool(call, context) {
  const tool = TOOLS.find(({ name }) => name === call.function.name);
  try {
    if (tool === undefined) throw new Error(`the page has no tool ${call.function.name}`);
    return { content: await tool.run(JSON.parse(call.function.arguments || "{}"), context) };
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
      reject(new Error("The user did not answer."));
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    show(group);
  });
}
