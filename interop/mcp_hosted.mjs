// The MCP server that the gateway hosts for a thread, with a page that offers some tools of the conformance suite. The suite sends no
// token, so a proxy adds the token of the server.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { WebSocketServer } from "ws";
import { BIN, Place, Program, within } from "./harness.mjs";

const START_SECONDS = 15;
const schema = { type: "object", properties: {} };

/** Results of the tools of the page: text or errors. */
const RESULTS = {
  test_simple_text: { content: "This is a simple text response for testing." },
  test_error_handling: { content: "This tool intentionally returns an error for testing", error: "it failed" },
  json_schema_2020_12_tool: { content: "{}" },
  test_x_mcp_header: { content: "It came." },
};

/** Schemas that must arrive unchanged. The second is from the suite's description of its scenario. */
const SCHEMAS = {
  test_x_mcp_header: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } },
    required: ["region"],
  },
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
};

/** Starts an agent behind a WebSocket that supports MCP over HTTP. Its turn does not end. `given` is the server that it receives. */
async function agent() {
  const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(sockets, "listening");
  const given = new Promise((resolve) => {
    sockets.on("connection", (socket) => {
      const answer = (id, result) => socket.send(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
      socket.on("message", (bytes) => {
        for (const line of bytes.toString().split("\n").filter(Boolean)) {
          const { id, method, params } = JSON.parse(line);
          const agentCapabilities = { mcpCapabilities: { http: true } };
          if (method === "initialize") answer(id, { protocolVersion: 1, agentCapabilities });
          if (method === "session/new") {
            answer(id, { sessionId: "s" });
            resolve(params.mcpServers[0]);
          }
        }
      });
    });
  });
  return { sockets, given };
}

/** Acts as a page: starts a run with tools, and posts their results during the run. */
async function page(url) {
  const runId = randomUUID();
  const tools = Object.keys(RESULTS).map((name) => ({
    name,
    description: "A tool of the page",
    parameters: SCHEMAS[name] ?? schema,
    metadata: { execution: "sync" },
  }));
  const messages = [{ id: "u", role: "user", content: "Call them" }];
  const post = (path, body) =>
    fetch(url + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  const response = await post("/api/ai/chat", { protocolVersion: "1.0", threadId: randomUUID(), runId, messages, tools });
  assert.equal(response.status, 200, response.ok ? "" : await response.text());
  const called = new Map();
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + chunk).split("\n\n");
    rest = frames.pop();
    for (const data of frames.map((frame) => frame.match(/^data: (.*)$/m)?.[1]).filter(Boolean)) {
      const { type, toolCallId, toolCallName } = JSON.parse(data);
      if (type === "TOOL_CALL_START") called.set(toolCallId, toolCallName);
      if (type !== "TOOL_CALL_END") continue;
      const taken = await post(`/api/ai/chat/runs/${runId}/tools/${encodeURIComponent(toolCallId)}`, RESULTS[called.get(toolCallId)]);
      assert.equal(taken.status, 202, await taken.text());
    }
  }
}

/** Starts a proxy that forwards requests unchanged, with the token added. */
async function withToken(server) {
  const { hostname, port, pathname } = new URL(server.url);
  const own = Object.fromEntries(server.headers.map(({ name, value }) => [name.toLowerCase(), value]));
  const proxy = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, ...own };
    const passed = request({ hostname, port, path: pathname, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return proxy;
}

/** Starts a gateway with a thread. The server of the thread is at `url`. */
export async function hosted() {
  const place = new Place();
  const { sockets, given } = await agent();
  const options = ["--no-auth", "--listen", "127.0.0.1:0", "--agent-url", `ws://127.0.0.1:${sockets.address().port}/`];
  const program = new Program(join(BIN, "gateway"), [...options, "--cwd", place.workspace], place.env);
  const [, url] = await program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, START_SECONDS);
  const reading = page(url);
  const proxy = await withToken(await within(START_SECONDS, "a session", Promise.race([given, reading])));
  const stop = async (seconds) => {
    const status = await program.stop(seconds);
    await within(seconds, "the end of the run", reading);
    proxy.closeAllConnections();
    proxy.close();
    sockets.close();
    const left = place.leave();
    assert.deepEqual([...left.values()], [], "processes left behind");
    return status;
  };
  return { url: `http://127.0.0.1:${proxy.address().port}/`, program, stop };
}
