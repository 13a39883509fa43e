// An ACP agent that repeats one step as often as its prompt states: `20 chunks`, `20 permissions`, `20 tools`. A step begins when
// the one before has ended. `tools` are calls of `book_flight` in the session's MCP server.
import { createInterface } from "node:readline";

/** Time between two chunks, so that none is read together with another. */
const PAUSE_MS = 5;
const servers = new Map();
const answers = new Map();
let requests = 0;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, update) => send({ method: "session/update", params: { sessionId, update } });

function ask(method, params) {
  requests += 1;
  send({ id: requests, method, params });
  return new Promise((resolve) => answers.set(requests, resolve));
}

/** Sends a request to the session's MCP server, and returns the text of the response. */
async function post({ url, headers }, message, session) {
  const all = Object.fromEntries(headers.map(({ name, value }) => [name, value]));
  Object.assign(all, { "content-type": "application/json", accept: "application/json, text/event-stream" }, session);
  const response = await fetch(url, { method: "POST", headers: all, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${message.method}: ${response.status} ${text}`);
  return { text, id: response.headers.get("mcp-session-id") };
}

async function connect(server) {
  const clientInfo = { name: "walk-agent", version: "1" };
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  const { id } = await post(server, { id: 0, method: "initialize", params });
  const session = id === null ? {} : { "mcp-session-id": id };
  await post(server, { method: "notifications/initialized" }, session);
  return (number) => {
    const call = { name: "book_flight", arguments: { from: "Oslo", destination: "Lisbon" } };
    return post(server, { id: number, method: "tools/call", params: call }, session);
  };
}

const steps = {
  chunks: (sessionId) => async (number) => {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `piece ${number} ` } });
  },
  permissions: (sessionId) => (number) => {
    const toolCall = { toolCallId: `call-${number}`, title: `Write ${number}`, kind: "edit" };
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    return ask("session/request_permission", { sessionId, toolCall, options });
  },
  tools: (sessionId) => connect(servers.get(sessionId)),
};

async function work(id, { sessionId, prompt }) {
  const [, count, kind] = prompt.at(-1).text.match(/(\d+) (\w+)/);
  const step = await steps[kind](sessionId);
  for (let number = 1; number <= Number(count); number += 1) await step(number);
  send({ id, result: { stopReason: "end_turn" } });
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) answers.get(id)?.(result);
  else if (method === "initialize") {
    send({ id, result: { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { http: true } } } });
  } else if (method === "session/new") {
    servers.set("s", params.mcpServers.find(({ type }) => type === "http"));
    send({ id, result: { sessionId: "s" } });
  } else if (method === "session/prompt") void work(id, params);
  else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
}).on("close", () => process.exit(0));
