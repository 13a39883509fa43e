/** Facts about an agent, in words: its name, its version, its directory, its model, and what it can do. */

import { errorMessage, errorText } from "./requests.js";

/** @import { Send } from "./access.js" */

const KEY = "spanwire.settings.";

/** Maximum number of named tools. */
const MAX_TOOLS = 6;

/**
 * @typedef {object} About
 * @property {string} name
 * @property {string | null} version
 * @property {string | null} directory The directory of new sessions.
 * @property {string | null} model
 * @property {string[]} abilities
 */

/**
 * Reads the facts about an agent, which starts it if it does not run.
 *
 * Spec: [AgentCapabilities](https://ag-ui.com/spec/1.0/basic/capabilities)
 *
 * @param {string} agent
 * @param {Send} send
 * @returns {Promise<About | string>} The reason if the agent cannot be reached.
 */
export async function aboutAgent(agent, send) {
  try {
    const response = await send(`/api/ai/agents/${encodeURIComponent(agent)}/capabilities`);
    return response.ok ? aboutOf(await response.json()) : errorText(await response.text());
  } catch (error) {
    return errorMessage(error);
  }
}

/**
 * @param {any} capabilities
 * @returns {About}
 */
export function aboutOf(capabilities) {
  const { identity = {}, custom } = capabilities ?? {};
  const text = (/** @type {unknown} */ value) => (typeof value === "string" && value !== "" ? value : null);
  return {
    name: text(identity.name) ?? "",
    version: text(identity.version),
    directory: text(custom?.acp?.cwd),
    model: identity.type === "model" ? text(identity.description) : null,
    abilities: abilities(capabilities ?? {}),
  };
}

/** @param {any} capabilities */
function abilities({ identity, multimodal, tools, custom }) {
  const { image, audio, file } = multimodal?.input ?? {};
  const kinds = [image === true ? "images" : "", audio === true ? "audio" : "", file === true ? "files" : ""].filter((kind) => kind !== "");
  const attached = kinds.length === 0 ? [] : [`Reads attached ${list(kinds)}`];
  if (identity?.type === "model") {
    const names = (Array.isArray(tools?.items) ? tools.items : []).map((/** @type {any} */ tool) => String(tool?.name));
    const more = names.length > MAX_TOOLS ? [`${names.length - MAX_TOOLS} more`] : [];
    return names.length === 0 ? attached : [...attached, `Calls tools: ${list([...names.slice(0, MAX_TOOLS), ...more])}`];
  }
  const { loadSession, mcpCapabilities, sessionCapabilities } = custom?.acp?.agentCapabilities ?? {};
  // Version 2: a capability is an object, and each agent with sessions resumes them.
  const session = custom?.acp?.capabilities?.session ?? null;
  const overHttp = mcpCapabilities?.http === true || mcpCapabilities?.sse === true || (session?.mcp?.http ?? null) !== null;
  const continues = loadSession === true || (sessionCapabilities?.resume ?? null) !== null || session !== null;
  return [
    ...attached,
    overHttp ? "Uses MCP servers, also over HTTP" : "Uses MCP servers",
    continues ? "Continues earlier conversations" : "Starts a new session when it has ended",
  ];
}

/** @param {string[]} words */
function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/**
 * Stores the settings of an agent's last session, because an agent reports none before a session.
 *
 * @param {string} agent
 * @param {import("./view-settings.js").Setting[]} settings
 * @param {Storage} [storage]
 */
export function keepSettings(agent, settings, storage = localStorage) {
  if (settings.length === 0) return;
  const chosen = settings.map(({ name, value, choices }) => [name, choices.find((choice) => choice.value === value)?.name ?? (value === true ? "on" : value === false ? "off" : value)]);
  try {
    storage.setItem(KEY + agent, JSON.stringify(chosen));
  } catch (error) {
    // Without space, the first screen does not show them.
    if (!(error instanceof DOMException)) throw error;
  }
}

/**
 * @param {string} agent
 * @param {Storage} [storage]
 * @returns {[string, string][]} Names and values.
 */
export function lastSettings(agent, storage = localStorage) {
  try {
    /** @type {unknown} */
    const held = JSON.parse(storage.getItem(KEY + agent) ?? "[]");
    return Array.isArray(held) ? held.filter((pair) => Array.isArray(pair)).map(([name, value]) => [String(name), String(value)]) : [];
  } catch {
    return [];
  }
}
