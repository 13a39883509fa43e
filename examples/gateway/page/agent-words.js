/** Words of the message box that mean something to an agent: its commands, and files. */

/** @import { Send } from "./access.js" */
/** @import { Source } from "./suggestions.js" */

const KEY = "spanwire.commands.";

/** Maximum number of suggested commands. */
const MAX_SHOWN = 50;

/** @typedef {{type?: string, name: string, description?: string, input?: {hint?: string} | null}} Command */

/** The commands and the files of the selected agent. */
export class AgentWords {
  #send;
  #storage;
  #agent = "";
  /** @type {Command[]} */
  #commands = [];

  /**
   * @param {Send} send
   * @param {Storage} [storage]
   */
  constructor(send, storage = localStorage) {
    this.#send = send;
    this.#storage = storage;
  }

  /** @param {string} agent The agent of the conversation; its last known commands are offered. */
  setAgent(agent) {
    if (agent === this.#agent) return;
    this.#agent = agent;
    this.#commands = this.commandsOf(agent);
  }

  /** @param {string} agent An agent, of which the last known commands are returned. */
  commandsOf(agent) {
    return commandsOf(parse(this.#storage.getItem(KEY + agent)));
  }

  /** @param {any} value The value of `acp.commands`. */
  update(value) {
    this.#commands = commandsOf(value?.availableCommands);
    if (this.#agent === "") return;
    try {
      this.#storage.setItem(KEY + this.#agent, JSON.stringify(this.#commands));
    } catch (error) {
      // Without space, they are known until the page is closed.
      if (!(error instanceof DOMException)) throw error;
    }
  }

  /** @returns {Source[]} */
  get sources() {
    return [
      { name: "Commands", pattern: /^\/(\S*)$/, find: (query) => this.#findCommands(query) },
      { name: "Files", pattern: /(?:^|\s)@([^\s@]*)$/, find: (query) => this.#findFiles(query) },
    ];
  }

  /** @param {string} query */
  #findCommands(query) {
    const wanted = query.toLowerCase();
    const found = this.#commands.filter(({ name }) => name.toLowerCase().includes(wanted));
    // Commands that begin with the query come first, and the query itself before longer names.
    const rank = (/** @type {Command} */ { name }) => (!name.toLowerCase().startsWith(wanted) ? 2 : name.length > wanted.length ? 1 : 0);
    found.sort((a, b) => rank(a) - rank(b));
    return found.slice(0, MAX_SHOWN).map(({ type, name, description, input }) => {
      const hint = input?.hint ? ` ${input.hint}` : "";
      const detail = type === "skill" ? `Skill: ${description ?? ""}` : description;
      return { name: `/${name}${hint}`, detail, text: `/${name} ` };
    });
  }

  /** @param {string} query */
  async #findFiles(query) {
    if (this.#agent === "") return [];
    const path = `/api/ai/agents/${encodeURIComponent(this.#agent)}/files?query=${encodeURIComponent(query)}`;
    const response = await this.#send(path).catch(() => null);
    if (response?.ok !== true) return [];
    /** @type {{files: string[]}} */
    const { files } = await response.json();
    // A space would end the name.
    return files.map((file) => ({ name: file, text: `@${file.replaceAll(" ", "\\ ")} ` }));
  }
}

/** @param {any} value */
function commandsOf(value) {
  /** @type {Command[]} */
  const commands = Array.isArray(value) ? value : [];
  return commands.filter((command) => typeof command?.name === "string" && command.name !== "");
}

/** @param {string | null} text */
function parse(text) {
  try {
    return JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
}
