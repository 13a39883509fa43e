// The small programs with peers of the official SDKs: agents and clients of ACP, AG-UI and MCP.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { EventEncoder } from "@ag-ui/encoder";
import { HttpAgent } from "ag-ui-client-1.0.0";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "mcp-sdk-1/client/index.js";
import { StdioClientTransport as Stdio1 } from "mcp-sdk-1/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "mcp-sdk-1/client/streamableHttp.js";
import { ElicitRequestSchema } from "mcp-sdk-1/types.js";
import { BIN, INTEROP, Place, Program, check, within } from "./harness.mjs";

const SECONDS = 30;
const SDK_AGENT = [process.execPath, join(INTEROP, "agents/sdk-agent.mjs")];
const bin = (name) => join(BIN, `mini-${name}`);
const LISTENING = /listening on (http:\/\/\S+)\n/;

/** Runs `test` with a fresh workspace, whose processes have ended afterwards. */
async function inPlace(test) {
  const place = new Place();
  let left;
  try {
    await test(place);
    // Processes exit by themselves after the end of their input.
    for (let rounds = 100; place.processes().size > 0 && rounds > 0; rounds--) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    left = place.leave();
  }
  assert.deepEqual([...left.values()], [], "processes left behind");
}

/** Runs a program with an input until it ends, and returns its output. */
async function finish(place, [command, ...args], input = "") {
  const program = new Program(command, args, place.env, { cwd: place.workspace, stdio: "pipe" });
  let text = "";
  program.child.stdout.setEncoding("utf8").on("data", (piece) => (text += piece));
  program.child.stdin.on("error", () => {});
  program.child.stdin.end(input);
  const status = await within(SECONDS, `the end of ${command}`, program.exited);
  return { status, text, stderr: program.stderr };
}

/** Runs `test` with a program that listens. */
async function withServer(place, command, args, test) {
  const server = new Program(command, ["--listen", "127.0.0.1:0", ...args], place.env, { cwd: place.workspace });
  try {
    const [, url] = await server.said(LISTENING, SECONDS);
    await test(url);
  } finally {
    server.child.kill("SIGINT");
    assert.equal(await within(SECONDS, "the exit after SIGINT", server.exited), 0);
  }
}

/** A session of the official client with an agent. */
class Editor {
  constructor(place, [command, ...args]) {
    Object.assign(this, { place, updates: [], questions: [], onUpdate: () => {} });
    this.program = new Program(command, args, place.env, { cwd: place.workspace, stdio: "pipe" });
    const { stdin, stdout } = this.program.child;
    const app = acp
      .client({ name: "interop" })
      .onRequest("session/request_permission", ({ params }) => {
        this.questions.push(params);
        const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
        return { outcome: { outcome: "selected", optionId } };
      })
      .onNotification("session/update", ({ params }) => {
        this.updates.push(params.update);
        this.onUpdate(params.update);
      });
    this.agent = app.connect(acp.ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout))).agent;
  }

  request(method, params) {
    return within(SECONDS, method, this.agent.request(method, params));
  }

  async open() {
    const params = { protocolVersion: 1, clientCapabilities: {}, clientInfo: { name: "interop", version: "1" } };
    const { protocolVersion } = await this.request("initialize", params);
    assert.equal(protocolVersion, 1);
    const { sessionId } = await this.request("session/new", { cwd: this.place.workspace, mcpServers: [] });
    this.id = sessionId;
  }

  async turn(text) {
    this.updates = [];
    this.questions = [];
    const prompt = [{ type: "text", text }];
    const { stopReason } = await this.request("session/prompt", { sessionId: this.id, prompt });
    const chunks = this.updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    return { stopReason, text: chunks.map(({ content }) => content.text).join("") };
  }

  async close() {
    this.program.child.stdin.end();
    assert.equal(await within(SECONDS, "the exit of the agent", this.program.exited), 0, this.program.stderr);
  }
}

await check("mini-agent × TypeScript client: text, a permission, a cancelled turn", () =>
  inPlace(async (place) => {
    const editor = new Editor(place, [bin("agent")]);
    await editor.open();
    assert.deepEqual(await editor.turn("Hello"), { stopReason: "end_turn", text: "You wrote: Hello" });
    const kept = { stopReason: "end_turn", text: "I keep 1 of your notes." };
    assert.deepEqual(await editor.turn("remember the milk"), kept);
    assert.equal(editor.questions.length, 1);
    const statuses = editor.updates.map(({ status }) => status).filter(Boolean);
    assert.deepEqual(statuses, ["pending", "completed"]);
    let cancelled = false;
    editor.onUpdate = () => {
      if (!cancelled) editor.agent.notify("session/cancel", { sessionId: editor.id });
      cancelled = true;
    };
    assert.equal((await editor.turn("word ".repeat(10_000))).stopReason, "cancelled");
    await editor.close();
  }));

await check("mini-client × TypeScript agent: text, a permission", () =>
  inPlace(async (place) => {
    const client = (word, input) => finish(place, [bin("client"), `scenario:${word}`, "--", ...SDK_AGENT], input);
    const text = await client("text");
    assert.equal(text.status, 0, text.stderr);
    assert.match(text.text, /Hello from the scripted model/);
    const allowed = await client("shell", "1\n");
    assert.equal(allowed.status, 0, allowed.stderr);
    assert.match(allowed.stderr, /The agent asks for permission/);
    assert.equal(readFileSync(join(place.workspace, "made.txt"), "utf8"), "made\n");
  }));

await check("mini-proxy × TypeScript client and agent: the session is unchanged, and has its spans", () =>
  inPlace(async (place) => {
    const file = join(place.root, "spans.jsonl");
    const editor = new Editor(place, [bin("proxy"), "--file", file, "--", ...SDK_AGENT]);
    await editor.open();
    const { stopReason, text } = await editor.turn("scenario:shell");
    assert.equal(stopReason, "end_turn");
    assert.equal(readFileSync(join(place.workspace, "made.txt"), "utf8"), "made\n");
    assert.ok(text.length > 0);
    await editor.close();
    const documents = readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
    const spans = documents.flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans);
    const named = (pattern) => spans.filter(({ name }) => pattern.test(name));
    assert.deepEqual(named(/^(initialize|session\/new)$/).map(({ name }) => name), ["initialize", "session/new"]);
    const [turn] = named(/^invoke_agent sdk-agent$/);
    const tools = named(/^execute_tool /);
    const [permission] = named(/^session\/request_permission$/);
    assert.equal(tools.length, 1, JSON.stringify(spans));
    assert.equal(tools[0].parentSpanId, turn.spanId);
    assert.equal(permission.parentSpanId, tools[0].spanId);
    assert.ok(spans.every(({ status }) => status.code === undefined), JSON.stringify(spans));
  }));

await check("mini-proxy × OTLP receiver of another author: spans arrive", () =>
  inPlace(async (place) => {
    const otlp = ["--otlp", process.env.INTEROP_OTLP_HTTP];
    const editor = new Editor(place, [bin("proxy"), ...otlp, "--", ...SDK_AGENT]);
    await editor.open();
    await editor.turn("scenario:text");
    await editor.close();
    // The proxy reports spans that the receiver has refused.
    assert.doesNotMatch(editor.program.stderr, /mini-proxy/);
  }));

/** Runs a client of AG-UI, and returns its events. */
async function agui(client, parameters) {
  const events = [];
  const runId = randomUUID();
  const subscriber = { onEvent: ({ event }) => void events.push(event) };
  await within(SECONDS, "the run", client.runAgent({ runId, ...parameters }, subscriber));
  return events;
}

const deltas = (events) =>
  events.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT").map(({ delta }) => delta).join("");

await check("mini-agui-server × HttpAgent 1.0.0: text, a tool of the page, an interrupt and its answer", () =>
  inPlace((place) =>
    withServer(place, bin("agui-server"), [], async (url) => {
      const client = new HttpAgent({ url: `${url}/`, threadId: randomUUID() });
      const tools = [{ name: "ask_user", description: "Asks the user.", parameters: { type: "object" } }];
      client.addMessage({ id: randomUUID(), role: "user", content: "Paint the door." });
      const first = await agui(client, { tools });
      assert.equal(deltas(first), "I paint the door.");
      const call = first.find(({ type }) => type === "TOOL_CALL_START");
      assert.equal(call.toolCallName, "ask_user");
      client.addMessage({ id: randomUUID(), role: "tool", toolCallId: call.toolCallId, content: "red" });
      const second = await agui(client, { tools });
      const [interrupt] = second.at(-1).outcome.interrupts;
      assert.equal(interrupt.message, "Paint the door red?");
      const resume = [{ interruptId: interrupt.id, status: "resolved", payload: true }];
      assert.equal(deltas(await agui(client, { tools, resume })), "The door is red now.");
    })));

await check("mini-agui-client × @ag-ui/encoder 1.0.0: text, a tool of the page, an interrupt and its answer", () =>
  inPlace(async (place) => {
    const inputs = [];
    const runs = [
      [
        { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "ask_user" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: '{"question":"Which colour?"}' },
        { type: "TOOL_CALL_END", toolCallId: "c1" },
      ],
      [],
      [
        { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "It is " },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "red." },
        { type: "TEXT_MESSAGE_END", messageId: "m1" },
      ],
    ];
    const outcomes = [
      { type: "success", pendingToolCallIds: ["c1"] },
      { type: "interrupt", interrupts: [{ id: "i1", reason: "confirmation", message: "Sure?" }] },
      { type: "success" },
    ];
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (piece) => (body += piece));
      request.on("end", () => {
        const input = JSON.parse(body);
        const { threadId, runId } = input;
        const events = runs[inputs.length];
        const outcome = outcomes[inputs.length];
        inputs.push(input);
        const encoder = new EventEncoder({ accept: request.headers.accept });
        response.writeHead(200, { "content-type": encoder.getContentType() });
        response.write(encoder.encode({ type: "RUN_STARTED", threadId, runId }));
        for (const event of events) response.write(encoder.encode(event));
        response.end(encoder.encode({ type: "RUN_FINISHED", threadId, runId, outcome }));
      });
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${server.address().port}/`;
      const { status, text, stderr } = await finish(place, [bin("agui-client"), url, "paint"], "red\ntrue\n");
      assert.equal(status, 0, stderr);
      assert.equal(text, "It is red.\n");
    } finally {
      server.close();
    }
    assert.equal(inputs.length, 3);
    assert.equal(inputs[1].messages.at(-1).content, "red");
    assert.deepEqual(inputs[2].resume, [{ interruptId: "i1", status: "resolved", payload: true }]);
  }));

await check("mini-editor-agent × TypeScript client and mini-agui-server: text, and an interrupt as a permission", () =>
  inPlace((place) =>
    withServer(place, bin("agui-server"), [], async (url) => {
      const editor = new Editor(place, [bin("editor-agent"), `${url}/`]);
      await editor.open();
      const { stopReason, text } = await editor.turn("Paint the door.");
      assert.equal(stopReason, "end_turn");
      assert.match(text, /^I have the brush in my hand\..*The door is white now\.$/s);
      assert.equal(editor.questions.length, 1);
      await editor.close();
    })));

const ME = { name: "interop", version: "1" };
const accept = () => ({ action: "accept", content: { tea: "green", milk: true } });

function client1() {
  const client = new Client1(ME, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, accept);
  return client;
}

function client2(mode) {
  const client = new Client2(ME, { capabilities: { elicitation: {} }, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", accept);
  return client;
}

/** Calls both tools of mini-mcp-server. */
async function callTools(client, transport) {
  await within(SECONDS, "the connection", client.connect(transport));
  try {
    const { tools } = await within(SECONDS, "the list", client.listTools());
    assert.deepEqual(tools.map(({ name }) => name).toSorted(), ["add", "order_tea"]);
    const call = async (name, args) => within(SECONDS, name, client.callTool({ name, arguments: args }));
    assert.equal((await call("add", { a: 2, b: 3 })).content[0].text, "5");
    assert.equal((await call("order_tea", {})).content[0].text, "Ordered 1 × green with milk");
  } finally {
    await client.close();
  }
}

for (const [name, client, Stdio, Http] of [
  ["1.32.2", client1, Stdio1, Http1],
  ["2.4.0, up to 2025-11-25", () => client2("legacy"), Stdio2, Http2],
  ["2.4.0, 2026-07-28", () => client2({ pin: "2026-07-28" }), Stdio2, Http2],
]) {
  await check(`mini-mcp-server × TypeScript client ${name}: a tool, and one that asks`, () =>
    inPlace(async (place) => {
      const command = bin("mcp-server");
      await callTools(client(), new Stdio({ command, args: [], env: place.env, stderr: "inherit" }));
      await withServer(place, command, [], (url) => callTools(client(), new Http(new URL(url))));
    }));
}

for (const [name, file] of [["1.32.2", "mcp_server.mjs"], ["2.4.0", "mcp_server_2.mjs"]]) {
  await check(`mini-mcp-client × TypeScript server ${name}: a tool, and one that asks`, () =>
    inPlace(async (place) => {
      const server = ["--", process.execPath, join(INTEROP, file)];
      const client = (args, input) => finish(place, [bin("mcp-client"), ...args, ...server], input);
      const list = await client([]);
      assert.match(list.text, /^add: Adds two numbers\.$/m);
      const sum = await client(["--call", "add", "--arguments", '{"a":2,"b":3}']);
      assert.equal(sum.text, "5\n", sum.stderr);
      const tea = await client(["--call", "book_flight"], "green\n");
      assert.equal(tea.text, "green tea\n", tea.stderr);
      assert.match(tea.stderr, /Which tea\?/);
    }));
}

process.exit();
