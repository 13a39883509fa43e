/** The list of agents in the header, and the agents that could be installed. */

import { el, visible } from "./dom.js";

/** @import { Agent } from "./login.js" */

/** The choice of an agent. */
export class AgentPicker {
  #select;
  #missing;
  /** @type {Agent[]} */
  #agents = [];
  #chosen;

  /**
   * @param {HTMLSelectElement} select
   * @param {HTMLElement} missing The place for agents that are not installed.
   * @param {(agent: string) => void} chosen
   */
  constructor(select, missing, chosen) {
    this.#select = select;
    this.#missing = missing;
    this.#chosen = chosen;
    select.addEventListener("change", () => chosen(select.value));
  }

  /** The selected agent; `null` without a choice. */
  get picked() {
    return this.#select.hidden ? null : this.#select.value;
  }

  /** The agents of the list. */
  get agents() {
    return this.#agents;
  }

  /** @param {string} name An agent that the user selects elsewhere. */
  choose(name) {
    this.#select.value = name;
    this.#chosen(name);
  }

  /** The name of an agent for people. @param {string} name */
  title(name) {
    return this.#agents.find((agent) => agent.name === name)?.title ?? name;
  }

  /** @param {string} name */
  needsLogin(name) {
    return this.#agents.some((agent) => agent.name === name && agent.state === "needs-login");
  }

  /**
   * @param {Agent[]} agents The default one first.
   * @param {Agent[]} missing
   * @param {string | null} current The agent of the conversation.
   */
  show(agents, missing, current) {
    this.#agents = agents;
    this.#select.hidden = agents.length < 2;
    this.#select.replaceChildren(...agents.map((agent) => new Option(this.#label(agent), agent.name)));
    if (current !== null) this.#select.value = current;
    this.#missing.hidden = missing.length === 0;
    const rows = missing.flatMap(({ name, title, install }) => [el("dt", {}, visible(title ?? name)), el("dd", {}, el("code", {}, visible(install ?? "")))]);
    this.#missing.replaceChildren(el("summary", {}, "Agents that can be installed"), el("dl", { class: "missing-agents" }, ...rows));
  }

  /** @param {Agent} agent */
  #label({ name, title, state }) {
    const isUnique = this.#agents.filter((other) => other.title === title).length === 1;
    const label = visible(title !== undefined && isUnique ? title : name);
    return state === "needs-login" ? `${label} · sign in` : label;
  }
}
