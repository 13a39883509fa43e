// The first programs of the docs, called by the official clients of MCP in both generations: a tool over stdin and stdout, over
// HTTP, and in a server of the official Rust SDK.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "mcp-sdk-1/client/index.js";
import { StdioClientTransport as Stdio1 } from "mcp-sdk-1/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "mcp-sdk-1/client/streamableHttp.js";
import { BIN, Program, check, within } from "./harness.mjs";

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
    ["mcp-bridge in rmcp", join(process.env.INTEROP_ORACLES_BIN, "examples/rmcp_server")],
  ]) {
    await check(`mcp servers, ${name}: ${what}`, () => {
      if (!existsSync(command)) throw new Error(`${command} was not built`);
      return add(client(), new Stdio({ command, args: [], stderr: "inherit" }));
    });
  }
  await check(`mcp servers, ${name}: mcp-bridge-http`, () => add(client(), new Http(new URL(url))));
}
await serve.stop(10);
