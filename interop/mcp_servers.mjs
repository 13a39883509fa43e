// The first programs of the docs, called by the official clients of MCP in both generations: a tool over stdin and stdout, over
// HTTP, and in a server of the official Rust SDK. Then servers of other authors behind the gateway, for a model and an agent.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "mcp-sdk-1/client/index.js";
import { StdioClientTransport as Stdio1 } from "mcp-sdk-1/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "mcp-sdk-1/client/streamableHttp.js";
import { BIN, INTEROP, Program, check, within } from "./harness.mjs";

const ME = { name: "interop", version: "1" };
const EXAMPLES = join(BIN, "examples");

const modern = (mode) => new Client2(ME, { versionNegotiation: { mode } });
const CLIENTS = {
  "typescript 1.32.2": [() => new Client1(ME), Stdio1, Http1],
  "typescript 2.4.0, up to 2025-11-25": [() => modern("legacy"), Stdio2, Http2],
  "typescript 2.4.0, 2026-07-28": [() => modern({ pin: "2026-07-28" }), Stdio2, Http2],
};

/** Adds two numbers with the server's only tool. */
async function add(client, transport) {
  await within(20, "the connection", client.connect(transport));
  try {
    const { tools } = await within(20, "the list", client.listTools());
    if (tools.map((tool) => tool.name).join() !== "add") throw new Error(`tools: ${JSON.stringify(tools)}`);
    const result = await within(20, "the result", client.callTool({ name: "add", arguments: { a: 2, b: 3 } }));
    if (result.isError || result.content[0].text !== "5") throw new Error(JSON.stringify(result));
  } finally {
    await client.close();
  }
}

const serve = new Program(join(EXAMPLES, "serve"), ["127.0.0.1:0"], process.env);
const [, url] = await serve.said(/listening on (\S+)\n/, 30);
for (const [name, [client, Stdio, Http]] of Object.entries(CLIENTS)) {
  for (const [what, command] of [
    ["mcp-bridge over stdio", join(EXAMPLES, "stdio")],
    ["mcp-bridge in rmcp", join(process.env.INTEROP_RUST_BIN, "examples/rmcp_server")],
  ]) {
    await check(`mcp servers, ${name}: ${what}`, () => {
      if (!existsSync(command)) throw new Error(`${command} was not built`);
      return add(client(), new Stdio({ command, args: [], stderr: "inherit" }));
    });
  }
  await check(`mcp servers, ${name}: mcp-bridge-http`, () => add(client(), new Http(new URL(url))));
}
await serve.stop(10);

// The bridge from stdin and stdout to HTTP has tools of mcp-bridge behind it.
const peer = new Program(join(process.env.INTEROP_RUST_BIN, "peer-ours"), ["127.0.0.1:0"], process.env);
const [, behind] = await peer.said(/listening on (\S+)\n/, 30);

const SERVERS = {
  "python 1.30.0": [join(INTEROP, ".venv-mcp-1/bin/python"), join(INTEROP, "mcp_server.py")],
  "python 2.3.0": [join(INTEROP, ".venv-mcp-2/bin/python"), join(INTEROP, "mcp_server.py")],
  "fastmcp 4.2.3": [join(INTEROP, ".venv-mcp-2/bin/python"), join(INTEROP, "mcp_server.py"), "fastmcp"],
  "typescript 1.32.2": [process.execPath, join(INTEROP, "mcp_server.mjs")],
  "typescript 2.4.0": [process.execPath, join(INTEROP, "mcp_server_2.mjs")],
  "rmcp 3.11.0": [join(process.env.INTEROP_RUST_BIN, "peer-rmcp")],
  "mcp-remote 0.15.1": [process.execPath, join(INTEROP, "node_modules/mcp-remote/dist/proxy.js"), behind],
};

/** A gateway with a server: the demo agent gets it through the relay, the scripted model directly. */
async function gatewayWith(words) {
  const folder = mkdtempSync(join(tmpdir(), "interop-"));
  const script = join(folder, "script.toml");
  writeFileSync(
    script,
    `[[answers]]
word = "add"
steps = [{ call = [{ tool = "ui__add", arguments = { a = 2, b = 3 } }] }, { say = "It is {result}." }]
[[answers]]
word = "tea"
steps = [{ call = [{ tool = "ui__book_flight" }] }, { say = "Here is {result}." }]
`,
  );
  const settings = join(folder, "gateway.toml");
  // The demo agent calls the tools of the server `ui`.
  writeFileSync(
    settings,
    `default-agent = "demo"
[agents.demo]
page-tools = "off"
[agents.model.model]
script = ${JSON.stringify(script)}
[mcp-servers.ui]
command = ${JSON.stringify(words.map((word) => `'${word}'`).join(" "))}
relay = true
`,
  );
  const env = { ...process.env, GATEWAY_STORE: "none", MCP_REMOTE_CONFIG_DIR: folder, RUST_LOG: "warn,gateway::tools::sources=info" };
  const program = new Program(join(BIN, "gateway"), ["--config", settings, "--listen", "127.0.0.1:0", "--no-auth"], env);
  try {
    const [, url] = await program.said(/listening on (\S+)\n/, 30);
    await program.said(/connected to an MCP server/, 60);
    return { program, url };
  } catch (error) {
    await program.stop(30);
    throw error;
  }
}

/** Runs one turn, and returns its events. */
async function run(url, agent, text, more = {}) {
  const input = {
    protocolVersion: "1.0",
    threadId: `${agent}-${text}`,
    runId: crypto.randomUUID(),
    messages: [{ id: "u", role: "user", content: text }],
    ...more,
  };
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(input) };
  const response = await within(60, "the run", fetch(`${url}/api/ai/agents/${agent}/chat`, request));
  const body = await within(60, "the end of the run", response.text());
  return [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
}

const said = (events) => events.map((event) => (event.type === "TEXT_MESSAGE_CONTENT" ? event.delta : "")).join("");

for (const [name, words] of Object.entries(SERVERS)) {
  const title = (what) => `gateway × mcp server ${name}: ${what}`;
  let gateway;
  await check(title("its tools are listed with their source"), async () => {
    gateway = await gatewayWith(words);
    const { tools } = await within(30, "the list", fetch(`${gateway.url}/api/tools`)).then((response) => response.json());
    const listed = tools.filter((tool) => tool.server === "ui").map((tool) => `${tool.source} ${tool.name}`);
    assert.deepEqual(listed.toSorted(), ["mcp ui__add", "mcp ui__book_flight"]);
  });
  if (!gateway) continue;
  await check(title("a model calls a tool"), async () => {
    // A result is text or structured content.
    assert.match(said(await run(gateway.url, "model", "add")), /^It is (5|\{"sum":5\})\.$/);
  });
  for (const [agent, text, expected] of [
    ["model", "tea", "Here is green tea."],
    ["demo", "book", "The tool says: green tea. "],
  ]) {
    await check(title(`its question to the user of ${agent}`), async () => {
      const asked = await run(gateway.url, agent, text);
      const [question] = asked.at(-1).outcome?.interrupts ?? [];
      assert.equal(question?.message, "Which tea?", JSON.stringify(asked.at(-1)));
      const payload = { action: "accept", content: { tea: "green" } };
      const resume = [{ interruptId: question.id, status: "resolved", payload }];
      const call = { id: question.toolCallId, type: "function", function: { name: "ui__book_flight", arguments: "{}" } };
      const messages = [
        { id: "u", role: "user", content: text },
        { id: "a", role: "assistant", toolCalls: [call] },
      ];
      assert.ok(said(await run(gateway.url, agent, text, { messages, resume })).startsWith(expected));
    });
  }
  await gateway.program.stop(30);
}
await peer.stop(10);
