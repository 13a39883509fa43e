/**
 * Requests about agents and their logins.
 *
 * Spec: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication)
 */

/** @import { Send } from "./access.js" */

/** @typedef {{name: string, label?: string, secret: boolean, optional: boolean}} Variable */

/**
 * An authentication method, and what a user does for it.
 *
 * @typedef {{id: string, name: string, description?: string, link?: string} & (
 *   {kind: "agent"}
 *   | {kind: "variables", variables: Variable[]}
 *   | {kind: "terminal", command: string}
 *   | {kind: "manual", step: string})} Method
 */

/** @typedef {{version: number, methodId: string, state: "running" | "done" | "failed" | "cancelled", message?: string, screen?: string}} Progress */

/** @typedef {{enabled: boolean, state: string, methods: Method[], logout: boolean, accounts: string[], attempt?: Progress}} Login */

/** @typedef {{name: string, title?: string, state: "ready" | "needs-login" | "not-installed", install?: string, logout?: boolean}} Agent */

/** A request that the gateway refused, with its reason. */
export class LoginError extends Error {}

/**
 * Returns the agents of the gateway, the default one first, and known agents that are not installed.
 *
 * @param {Send} send
 * @returns {Promise<{agents: Agent[], missing: Agent[]} | null>} `null` without access, and if the gateway cannot be reached.
 */
export async function listAgents(send) {
  try {
    const response = await send("/api/ai/agents");
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** The login of an agent. */
export class AgentLogin {
  #path;
  #send;

  /**
   * @param {string} agent
   * @param {Send} send
   */
  constructor(agent, send) {
    this.#path = `/api/ai/agents/${encodeURIComponent(agent)}`;
    this.#send = send;
  }

  /** @returns {Promise<Login>} */
  describe() {
    return this.#request("GET", "/login");
  }

  /**
   * @param {string} methodId
   * @param {Record<string, string>} [variables]
   * @returns {Promise<Progress>}
   */
  begin(methodId, variables = {}) {
    return this.#request("POST", "/login", { methodId, variables });
  }

  /**
   * Waits for the next change.
   *
   * @param {number} after The version of the last one.
   * @returns {Promise<Progress>}
   */
  progress(after) {
    return this.#request("GET", `/login/progress?after=${after}`);
  }

  /** @param {string} text Keys for the terminal. */
  type(text) {
    return this.#request("POST", "/login/input", { text });
  }

  cancel() {
    return this.#request("DELETE", "/login");
  }

  /** Ends the login. */
  leave() {
    return this.#request("POST", "/logout", {});
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @returns {Promise<any>}
   */
  async #request(method, path, body) {
    const sent = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    let response;
    let text;
    try {
      response = await this.#send(this.#path + path, { method, ...sent });
      text = await response.text();
    } catch {
      throw new LoginError("The gateway is not responding.");
    }
    const json = parse(text);
    if (!response.ok) throw new LoginError(typeof json?.error === "string" ? json.error : `HTTP ${response.status}`);
    return json;
  }
}

/**
 * @param {string} text
 * @returns {any}
 */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
