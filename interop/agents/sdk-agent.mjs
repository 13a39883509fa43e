// An ACP agent based on the official TypeScript SDK with the responses of `scenarios.json`, without a model. It uses stdio, or
// with `--listen` a WebSocket; its address is printed on stderr.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import * as acp from "@agentclientprotocol/sdk";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { WebSocketServer } from "ws";

const SCENARIOS = JSON.parse(readFileSync(new URL("../scenarios.json", import.meta.url), "utf8"));
const KINDS = { read: "read", edit: "edit", shell: "execute" };
const OPTIONS = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];

const { agent: requests, client } = acp.methods;
const sessions = new Map();
let clientReadsFiles = false;
let calls = 0;

/** Runs a tool, and returns the resulting members of the tool call. */
async function run(tool, session, peer) {
  const file = (name) => join(session.cwd, name);
  if (tool.read) {
    const path = file(tool.read);
    const text = clientReadsFiles
      ? (await peer.request(client.fs.readTextFile, { sessionId: session.id, path })).content
      : readFileSync(path, "utf8");
    return { content: [{ type: "content", content: { type: "text", text } }], rawOutput: { text } };
  }
  if (tool.edit) {
    const path = file(tool.edit);
    const oldText = readFileSync(path, "utf8");
    const newText = oldText.replace(tool.old, tool.new);
    writeFileSync(path, newText);
    return { content: [{ type: "diff", path, oldText, newText }] };
  }
  const { stdout } = spawnSync("sh", ["-c", tool.shell], { cwd: session.cwd, encoding: "utf8" });
  return { content: [{ type: "content", content: { type: "text", text: stdout } }], rawOutput: stdout };
}

async function callTool(tool, session, peer, update) {
  const [role, subject] = Object.entries(tool)[0];
  const toolCall = {
    toolCallId: `call-${++calls}`,
    title: `${role} ${subject}`,
    kind: KINDS[role],
    status: "pending",
    rawInput: tool,
    locations: role === "shell" ? [] : [{ path: join(session.cwd, subject) }],
  };
  await update({ sessionUpdate: "tool_call", ...toolCall });
  const change = (fields) => update({ sessionUpdate: "tool_call_update", toolCallId: toolCall.toolCallId, ...fields });
  if (role !== "read") {
    const question = { sessionId: session.id, toolCall, options: OPTIONS };
    const { outcome } = await peer.request(client.session.requestPermission, question);
    if (outcome.outcome !== "selected" || outcome.optionId !== "yes") {
      const text = "Not allowed.";
      return change({ status: "failed", content: [{ type: "content", content: { type: "text", text } }] });
    }
  }
  await change({ status: "in_progress" });
  await change({ status: "completed", ...(await run(tool, session, peer)) });
}

async function play(rounds, session, peer, signal) {
  const update = (fields) => peer.notify(client.session.update, { sessionId: session.id, update: fields });
  const text = (kind, words) => update({ sessionUpdate: kind, content: { type: "text", text: words } });
  const plan = (done) => {
    const entries = rounds.map((round, i) => ({
      content: `Round ${i + 1}`,
      priority: "medium",
      status: i < done ? "completed" : i === done ? "in_progress" : "pending",
    }));
    return update({ sessionUpdate: "plan", entries });
  };
  for (const [i, round] of rounds.entries()) {
    if (round.status) throw acp.RequestError.internalError({ status: round.status }, round.message);
    await plan(i);
    if (round.thought) await text("agent_thought_chunk", round.thought);
    for (let n = 0; n < (round.times ?? 1); n++) {
      if (signal.aborted) return "cancelled";
      await text("agent_message_chunk", round.text);
      if (round.pauseMs) await pause(round.pauseMs);
    }
    if (round.tool) await callTool(round.tool, session, peer, update);
  }
  await plan(rounds.length);
  return signal.aborted ? "cancelled" : "end_turn";
}

const agent = acp
  .agent({ name: "sdk-agent" })
  .onRequest(requests.initialize, ({ params }) => {
    clientReadsFiles = params.clientCapabilities?.fs?.readTextFile ?? false;
    const agentInfo = { name: "sdk-agent", version: "1.0.0" };
    return { protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {}, agentInfo };
  })
  .onRequest(requests.session.new, ({ params }) => {
    const id = `session-${sessions.size + 1}`;
    sessions.set(id, { id, cwd: params.cwd });
    return { sessionId: id };
  })
  .onRequest(requests.session.prompt, async ({ params, client: peer }) => {
    const session = sessions.get(params.sessionId);
    if (!session) throw acp.RequestError.resourceNotFound(params.sessionId);
    session.turn = new AbortController();
    const words = params.prompt.map((block) => block.text ?? "").join("");
    const rounds = SCENARIOS[words.match(/scenario:([a-z]+)/)?.[1]] ?? [{ text: "No scenario was named." }];
    return { stopReason: await play(rounds, session, peer, session.turn.signal) };
  })
  .onNotification(requests.session.cancel, ({ params }) => sessions.get(params.sessionId)?.turn?.abort());

if (process.argv[2] === "--listen") {
  const acpServer = new AcpServer({ agent });
  const server = createServer(createNodeHttpHandler(acpServer));
  server.on("upgrade", createNodeWebSocketUpgradeHandler(acpServer, new WebSocketServer({ noServer: true })));
  server.listen(0, "127.0.0.1", () => console.error(`listening on ws://127.0.0.1:${server.address().port}/acp`));
} else {
  const stdio = acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin));
  await agent.connect(stdio).closed;
}
