// The official clients of MCP, each in two generations, receive questions with a context in each carrier. mcp_context.json lists the
// contexts that arrive. With the selected carriers (`auto`), the context arrives in each client. The checks of rmcp are in oracles/.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "mcp-sdk-1/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "mcp-sdk-1/client/streamableHttp.js";
import { ElicitRequestSchema } from "mcp-sdk-1/types.js";
import { BIN, INTEROP, Program, check, within } from "./harness.mjs";

const EXPECTED = JSON.parse(readFileSync(join(INTEROP, "mcp_context.json"), "utf8"));
const ME = [{ name: "interop", version: "1" }, { capabilities: { elicitation: {} } }];

/** Accepts a form, and returns the received question as its content. */
const form = ({ params }) => ({ action: "accept", content: { seen: JSON.stringify(params) } });

/** Calls the sending tool, and returns its report of the received context. */
async function ask(client, transport, carrier) {
  await client.connect(transport);
  try {
    const call = client.callTool({ name: "test_context", arguments: { carrier } });
    return (await within(20, `a call with ${carrier}`, call)).structuredContent;
  } finally {
    await client.close();
  }
}

function typescript1(url, carrier) {
  const client = new Client1(...ME);
  client.setRequestHandler(ElicitRequestSchema, form);
  return ask(client, new Transport1(url), carrier);
}

const typescript2 = (mode) => (url, carrier) => {
  const client = new Client2(ME[0], { ...ME[1], versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", form);
  return ask(client, new Transport2(url), carrier);
};

/** Runs a Python SDK in its own virtual environment, because two versions cannot share one. */
const python = (environment, mode) => (url, carrier) => {
  const command = [join(INTEROP, "mcp_context.py"), url.href, carrier, mode];
  const run = spawnSync(join(INTEROP, environment, "bin/python"), command, { encoding: "utf8", timeout: 60_000 });
  if (run.status !== 0) throw new Error(`status ${run.status}: ${run.error ?? ""}${run.stderr}`);
  return JSON.parse(run.stdout);
};

const CLIENTS = {
  "typescript 1.32.2, up to 2025-11-25": typescript1,
  "typescript 2.4.0, up to 2025-11-25": typescript2("legacy"),
  "typescript 2.4.0, 2026-07-28": typescript2({ pin: "2026-07-28" }),
  "python 1.30.0, up to 2025-11-25": python(".venv-mcp-1", "legacy"),
  "python 2.3.0, up to 2025-11-25": python(".venv-mcp-2", "legacy"),
  "python 2.3.0, 2026-07-28": python(".venv-mcp-2", "2026-07-28"),
};

const server = new Program(join(BIN, "mcp-http"), ["--listen", "127.0.0.1:0"], process.env);
const [, text] = await server.said(/listening on (\S+)\n/, 30);
for (const [name, client] of Object.entries(CLIENTS)) {
  for (const [carrier, arrives] of Object.entries(EXPECTED[name])) {
    await check(`mcp context, ${name}: ${carrier}${arrives ? "" : " does not arrive"}`, async () => {
      const { arrived, source, isMessageClean } = await client(new URL(text), carrier);
      if (arrived !== arrives) throw new Error(`arrived: ${arrived}, from ${source}`);
      if (!isMessageClean) throw new Error("the message differs from the question");
      // The first carrier that arrives is used.
      const first = carrier === "auto" ? "meta" : carrier;
      if (arrives && source !== first) throw new Error(`from ${source}`);
    });
  }
}
await server.stop(10);
