/** The first screen: the agent, the choice of another one, and suggestions for the first message. */

import { aboutAgent, lastSettings } from "./about-agent.js";
import { button, el, visible } from "./dom.js";
import { nextStep, sentence } from "./next-steps.js";
import { withCode } from "./view-notice.js";

/** @import { About } from "./about-agent.js" */
/** @import { Agent } from "./login.js" */

/** Maximum number of suggested commands. */
const MAX_COMMANDS = 6;

/** Maximum number of shown settings. */
const MAX_SETTINGS = 4;

/**
 * A suggestion.
 *
 * @typedef {{label: string, detail?: string, text: string}} Example
 */

/** @type {Example[]} */
const GENERAL = [
  { label: "Explain this project", text: "Explain what this project does, and where to begin reading." },
  { label: "Find a bug", text: "Look for a bug in this project. Explain it before you change anything." },
  { label: "Write a test", text: "Write a test for " },
  { label: "Review the last change", text: "Review the last commit, and list its risks." },
];

/** @param {[string, string][]} words */
const scripted = (words) => words.map(([label, detail]) => ({ label, detail, text: label }));

/** Scripted agents of the gateway, which react to single words. @type {Map<string, {intro: string, examples: Example[]}>} */
const SCRIPTED = new Map([
  [
    "demo",
    {
      intro: "This demo agent is scripted and reacts to words in your message. Try one:",
      examples: scripted([
        ["tour", "everything in one turn"],
        ["edit", "an edit that needs your permission"],
        ["book", "a tool that asks you twice"],
        ["plan", "a checklist that advances"],
        ["help", "all the words"],
      ]),
    },
  ],
  [
    "hybrid",
    {
      intro: "This is a scripted model with tools of the gateway and of this page. Try a word:",
      examples: scripted([
        ["time", "a tool of the gateway"],
        ["book", "a tool of the gateway that asks you"],
        ["pick", "a tool of this page that asks you"],
        ["help", "all the words"],
      ]),
    },
  ],
]);

const STATE_NAMES = { ready: "Ready", "needs-login": "Sign in needed", "not-installed": "Not installed" };

/**
 * @typedef {object} WelcomeParts
 * @property {import("./access.js").Send} send
 * @property {(agent: string) => void} choose
 * @property {(text: string) => void} write Puts a text into the message box.
 * @property {(agent: string) => import("./agent-words.js").Command[]} commands The known commands of an agent.
 */

/** The agent of a new conversation. */
export class WelcomeView {
  #parts;
  #facts = el("div", { class: "about" });
  #choice = el("div");
  #examples = el("div");
  #agent = "";
  /** The facts about the agent, once they are known. @type {About | null} */
  #about = null;

  /**
   * @param {HTMLElement} root
   * @param {WelcomeParts} parts
   */
  constructor(root, parts) {
    this.#parts = parts;
    root.append(this.#facts, this.#examples, this.#choice);
  }

  /**
   * @param {Agent[]} agents
   * @param {string} current
   */
  show(agents, current) {
    const isNew = this.#agent !== current;
    this.#agent = current;
    this.#showChoice(agents);
    this.#showExamples();
    if (isNew) void this.#readFacts();
    // The last conversation may have changed the settings.
    else if (this.#about !== null) this.#facts.replaceChildren(facts(current, this.#about));
  }

  /** @param {Agent[]} agents */
  #showChoice(agents) {
    const hadFocus = this.#choice.contains(document.activeElement);
    const rows = agents.map((agent) => {
      const isChosen = agent.name === this.#agent;
      const choose = button("", "agent", () => isChosen || this.#parts.choose(agent.name));
      choose.setAttribute("aria-pressed", String(isChosen));
      const state = el("span", { class: "agent-state", "data-state": agent.state }, STATE_NAMES[agent.state] ?? agent.state);
      choose.append(el("span", { class: "agent-name" }, visible(agent.title ?? agent.name)), state);
      return el("li", {}, choose);
    });
    const list = el("ul", { class: "agents", "aria-labelledby": "choose-agent" }, ...rows);
    this.#choice.replaceChildren(...(agents.length < 2 ? [] : [el("h3", { id: "choose-agent" }, "Choose an agent"), list]));
    if (hadFocus) /** @type {HTMLElement | null} */ (this.#choice.querySelector("[aria-pressed=true]"))?.focus();
  }

  #showExamples() {
    const known = SCRIPTED.get(this.#agent);
    const commands = this.#parts.commands(this.#agent).slice(0, MAX_COMMANDS);
    const own = commands.map(({ name, description }) => ({ label: `/${name}`, detail: description, text: `/${name} ` }));
    const examples = known?.examples ?? (own.length > 0 ? own : GENERAL);
    const rows = examples.map(({ label, detail, text }) => {
      const example = button("", "example", () => this.#parts.write(text));
      example.append(detail === undefined && own.length === 0 ? label : el("code", {}, visible(label)), visible(detail ?? ""));
      return el("li", {}, example);
    });
    const intro = known === undefined ? "Write a message, or begin with one of these:" : known.intro;
    this.#examples.replaceChildren(el("p", {}, intro), el("ul", { class: "examples", "aria-label": "Examples" }, ...rows));
  }

  async #readFacts() {
    const agent = this.#agent;
    this.#about = null;
    this.#facts.replaceChildren();
    const about = await aboutAgent(agent, this.#parts.send);
    if (this.#agent !== agent) return;
    if (typeof about !== "string") this.#about = about;
    this.#facts.replaceChildren(typeof about === "string" ? this.#problem(about) : facts(agent, about));
  }

  /** @param {string} reason */
  #problem(reason) {
    const again = button("Try again", "secondary", () => void this.#readFacts());
    const step = nextStep("AGENT_UNAVAILABLE");
    return el("div", { class: "notice is-warning" }, el("p", { class: "notice-title" }, "The agent cannot be reached"), el("p", { class: "notice-text" }, sentence(visible(reason))), el("p", { class: "notice-next" }, ...withCode(step)), again);
  }
}

/**
 * @param {string} agent
 * @param {About} about
 */
function facts(agent, { name, version, directory, model, abilities }) {
  const title = el("p", { class: "about-name" }, visible(name === "" ? agent : name), version === null ? null : el("span", { class: "tag" }, `version ${visible(version)}`));
  /** @type {[string, string | HTMLElement][]} */
  const rows = [];
  if (directory !== null) rows.push(["Directory", el("code", {}, visible(directory))]);
  if (model !== null) rows.push(["Model", visible(model)]);
  for (const [setting, value] of lastSettings(agent).slice(0, MAX_SETTINGS)) rows.push([visible(setting), `${visible(value)} in the last conversation`]);
  if (abilities.length > 0) rows.push(["Abilities", el("ul", { class: "about-abilities" }, ...abilities.map((ability) => el("li", {}, visible(ability))))]);
  const list = el("dl", { class: "about-facts" }, ...rows.flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)]));
  return el("div", {}, title, list);
}
