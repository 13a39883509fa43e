// Clients of other authors with servers of mcp-bridge: its tools over stdin and stdout and over HTTP (`peer-ours`), and the resources
// and prompts of mcp-http. Each client returns what it received, in the form of EXPECTED.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "mcp-sdk-1/client/index.js";
import { StdioClientTransport as Stdio1 } from "mcp-sdk-1/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "mcp-sdk-1/client/streamableHttp.js";
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from "mcp-sdk-1/types.js";
import { BIN, INTEROP, NODE_22, Program, check, within } from "./harness.mjs";

const ME = { name: "interop", version: "1" };
const PEER_BIN = process.env.INTEROP_RUST_BIN;
const MAX = 2 ** 31 - 1;
const EXPECTED = {
  tools: {
    tools: ["add", "book_flight"],
    sum: { sum: 5 },
    error: [true, "too large"],
    answer: "green tea",
    question: ["Which tea?"],
    progress: [1, 2],
    log: ["adding"],
  },
  documents: {
    resources: 3,
    prompts: 5,
    resource: "What the resource holds.",
    prompt: "The first is 'one', the second 'two'.",
  },
};
const PROMPT = { name: "test_prompt_with_arguments", arguments: { arg1: "one", arg2: "two" } };
const isUrl = (target) => target.startsWith("http");
const names = (tools) => tools.map((tool) => tool.name).toSorted();

/** Calls a server with a client of the official TypeScript SDKs. */
async function talk(client, transport, what, seen) {
  await client.connect(transport);
  try {
    if (what === "documents") {
      const read = await client.readResource({ uri: "test://static-text" });
      return {
        resources: (await client.listResources()).resources.length,
        prompts: (await client.listPrompts()).prompts.length,
        resource: read.contents[0].text,
        prompt: (await client.getPrompt(PROMPT)).messages[0].content.text,
      };
    }
    const { tools } = await client.listTools();
    const progress = [];
    const options = { onprogress: (it) => progress.push(it.progress) };
    const add = { name: "add", arguments: { a: 2, b: 3 }, ...seen.more };
    const added = await (client instanceof Client1 ? client.callTool(add, undefined, options) : client.callTool(add, options));
    const failed = await client.callTool({ name: "add", arguments: { a: MAX, b: 1 } });
    const tea = await client.callTool({ name: "book_flight", arguments: {} });
    const error = [failed.isError, failed.content[0].text];
    const { question, log } = seen;
    return { tools: names(tools), sum: added.structuredContent, error, answer: tea.content[0].text, question, progress, log };
  } finally {
    await client.close();
  }
}

const capabilities = { elicitation: {} };
const accept = (seen) => ({ params }) => {
  seen.question.push(params.message);
  return { action: "accept", content: { tea: "green" } };
};

function typescript1(target, what, args = []) {
  const seen = { question: [], log: [] };
  const client = new Client1(ME, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, accept(seen));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.log.push(params.data));
  const transport = isUrl(target) ? new Http1(new URL(target)) : new Stdio1({ command: target, args, stderr: "ignore" });
  return talk(client, transport, what, seen);
}

const typescript2 = (mode) => (target, what) => {
  const modern = mode === "legacy" ? undefined : { _meta: { "io.modelcontextprotocol/logLevel": "info" } };
  const seen = { question: [], log: [], more: modern };
  const client = new Client2(ME, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", accept(seen));
  client.setNotificationHandler("notifications/message", ({ params }) => void seen.log.push(params.data));
  return talk(client, isUrl(target) ? new Http2(new URL(target)) : new Stdio2({ command: target, args: [] }), what, seen);
};

/** Runs a program that prints what it received as JSON. */
async function run(command, args, env = {}) {
  const { stdout } = await promisify(execFile)(command, args, { timeout: 60_000, env: { ...process.env, ...env } });
  return JSON.parse(stdout);
}

const python = (environment, sdk, mode) => (target) =>
  run(join(INTEROP, environment, "bin/python"), [join(INTEROP, "mcp_client.py"), sdk, mode, target]);

const rmcp = (mode) => (target) => run(join(PEER_BIN, "peer-rmcp-client"), [mode, target]);

/** The command line of the inspector, which runs one method in each process. */
const inspector = (era) => async (target, what) => {
  const home = mkdtempSync(join(tmpdir(), "inspector-"));
  const program = join(INTEROP, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  const ask = async (method, ...args) => {
    const words = [program, "--cli", target, "--protocol-era", era, "--format", "json", "--quiet", "--method", method, ...args];
    // A result with an error is printed too, and ends the program with another status.
    const printed = await run(NODE_22, words, { HOME: home }).catch((error) => JSON.parse(error.stdout));
    return printed.result;
  };
  const call = (args) => ask("tools/call", "--tool-name", "add", "--tool-args-json", JSON.stringify(args));
  if (what === "documents") {
    const args = Object.entries(PROMPT.arguments).map(([key, value]) => `${key}=${value}`);
    const [resources, prompts, resource, prompt] = await Promise.all([
      ask("resources/list"),
      ask("prompts/list"),
      ask("resources/read", "--uri", "test://static-text"),
      ask("prompts/get", "--prompt-name", PROMPT.name, "--prompt-args", ...args),
    ]);
    return {
      resources: resources.resources.length,
      prompts: prompts.prompts.length,
      resource: resource.contents[0].text,
      prompt: prompt.messages[0].content.text,
    };
  }
  const [listed, added, failed] = await Promise.all([ask("tools/list"), call({ a: 2, b: 3 }), call({ a: MAX, b: 1 })]);
  return { tools: names(listed.tools), sum: added.structuredContent, error: [failed.isError, failed.content[0].text] };
};

async function langchain(target, what) {
  const [log, progress] = [[], []];
  const server = isUrl(target) ? { url: target, automaticSSEFallback: false } : { transport: "stdio", command: target, args: [] };
  const client = new MultiServerMCPClient({
    mcpServers: { ours: server },
    onMessage: (it) => void log.push(it.data),
    onProgress: (it) => void progress.push(it.progress),
  });
  try {
    if (what === "documents") {
      return {
        resources: (await client.listResources("ours")).ours.length,
        resource: (await client.readResource("ours", "test://static-text"))[0].text,
      };
    }
    const tools = await client.getTools();
    const add = tools.find((tool) => tool.name === "add");
    const added = await add.invoke({ type: "tool_call", id: "1", name: "add", args: { a: 2, b: 3 } });
    const failed = await add.invoke({ a: MAX, b: 1 }).then(String, (error) => error);
    const { data } = added.artifact.find(({ type }) => type === "mcp_structured_content");
    // The message of the error names the tool and the server first.
    const error = [failed instanceof Error, failed.message.split(": ").at(-1)];
    return { tools: names(tools), sum: data, error, progress, log };
  } finally {
    await client.close();
  }
}

/** A client that knows only stdin and stdout, with the bridge to HTTP. */
function remote(target, what) {
  const home = mkdtempSync(join(tmpdir(), "mcp-remote-"));
  process.env.MCP_REMOTE_CONFIG_DIR = home;
  return typescript1(process.execPath, what, [join(INTEROP, "node_modules/mcp-remote/dist/proxy.js"), target]);
}

const NO_FORMS = { answer: "it has no forms", question: "it has no forms" };
const QUIET = { ...NO_FORMS, progress: "it shows none", log: "it shows none" };
const NO_PROMPTS = { prompts: "it reads no prompts", prompt: "it reads no prompts" };
/**
 * The clients: a function, what a client cannot do with the reason, and where it cannot be used. Over stdin and stdout, clients of the
 * TypeScript SDKs drop progress that arrives together with the result.
 */
const PEERS = {
  "typescript 1.32.2": { client: typescript1, drops: "stdio" },
  "typescript 2.4.0, up to 2025-11-25": { client: typescript2("legacy"), drops: "stdio" },
  "typescript 2.4.0, 2026-07-28": { client: typescript2({ pin: "2026-07-28" }), drops: "stdio" },
  "python 1.30.0": { client: python(".venv-mcp-1", "sdk", "legacy") },
  "python 2.3.0, up to 2025-11-25": { client: python(".venv-mcp-2", "sdk", "legacy") },
  "python 2.3.0, 2026-07-28": { client: python(".venv-mcp-2", "sdk", "2026-07-28") },
  "fastmcp 4.2.3": { client: python(".venv-mcp-2", "fastmcp", "auto") },
  "rmcp 3.11.0, up to 2025-11-25": { client: rmcp("legacy") },
  "rmcp 3.11.0, 2026-07-28": { client: rmcp("2026-07-28") },
  "inspector 2.12.0, up to 2025-11-25": { client: inspector("legacy"), lacks: QUIET },
  "inspector 2.12.0, 2026-07-28": { client: inspector("modern"), lacks: QUIET },
  "langchain adapters 1.1.4": { client: langchain, lacks: { ...NO_FORMS, ...NO_PROMPTS }, drops: "stdio" },
  "typescript 1.32.2 through mcp-remote 0.15.1": { client: remote, drops: "HTTP", only: "HTTP" },
};

const serve = async (program, ...args) => {
  const server = new Program(program, args, process.env);
  const [, url] = await server.said(/listening on (\S+)\n/, 30);
  return { server, url };
};
const ours = join(PEER_BIN, "peer-ours");
const tools = await serve(ours, "127.0.0.1:0");
const documents = await serve(join(BIN, "mcp-http"), "--listen", "127.0.0.1:0");
for (const [name, { client, lacks = {}, drops, only }] of Object.entries(PEERS)) {
  const checks = [
    ["tools", "stdio", ours],
    ["tools", "HTTP", tools.url],
    ["documents", "HTTP", documents.url],
  ].filter(([, over]) => !only || over === only);
  const run = ([what, over, target]) =>
    check(`mcp peers, ${name}: ${what} over ${over}`, async () => {
      const found = JSON.parse(JSON.stringify(await within(60, "the client", client(target, what))));
      const expected = Object.fromEntries(Object.entries(EXPECTED[what]).filter(([key]) => !(key in lacks)));
      if (drops === over) [found, expected].forEach((it) => delete it.progress);
      assert.deepEqual(found, expected);
    });
  await Promise.all(checks.map(run));
}
await tools.server.stop(10);
await documents.server.stop(10);
