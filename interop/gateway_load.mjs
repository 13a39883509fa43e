// Concurrent runs through the gateway, and through a plain relay that forwards each line of the same agent unchanged.
//
//   LOAD_RUNS=500 LOAD_SECONDS=30 node gateway_load.mjs     default: 100 runs, 5 s
//
// The figures are printed for comparison. The checks require that each run is complete and that memory stays within bounds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { BIN, INTEROP, Place, Program, check, within } from "./harness.mjs";

const RUNS = Number(process.env.LOAD_RUNS ?? 100);
const SECONDS = Number(process.env.LOAD_SECONDS ?? 5);
const PAUSE_MS = 100;
const PIECES = (SECONDS * 1000) / PAUSE_MS;
/** Limit in megabytes: the gateway, and the log, thread and connection of each run. */
const MAX_MEGABYTES = 64 + RUNS * (0.25 + PIECES * 0.001);
const AGENT = join(INTEROP, "agents/stream-agent.mjs");
const now = () => performance.timeOrigin + performance.now();

/** Runs the relay: a session and a prompt for each request, and an event for each line of the session. */
function relay() {
  const agent = spawn(process.execPath, [AGENT], { stdio: ["pipe", "pipe", "inherit"] });
  const [waiting, streams] = [new Map(), new Map()];
  let requests = 0;
  const ask = (method, params, heard) => {
    requests += 1;
    waiting.set(requests, heard);
    agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: requests, method, params })}\n`);
  };
  createInterface({ input: agent.stdout }).on("line", (line) => {
    const { id, params, result } = JSON.parse(line);
    if (id === undefined) streams.get(params.sessionId).write(`data: ${line}\n\n`);
    else waiting.get(id)(result);
  });
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk)).on("end", () => {
      ask("session/new", { cwd: "/", mcpServers: [] }, ({ sessionId }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        streams.set(sessionId, response);
        const prompt = [{ type: "text", text: JSON.parse(body).messages[0].content }];
        ask("session/prompt", { sessionId, prompt }, () => response.end());
      });
    });
  });
  server.listen(0, "127.0.0.1", () => console.error(`listening on http://127.0.0.1:${server.address().port}`));
  process.on("SIGTERM", () => {
    agent.kill();
    process.exit(0);
  });
}

/** Runs an input. Returns the delay of each piece in milliseconds, the number of events, and the last event. */
async function run(url) {
  const messages = [{ id: "u", role: "user", content: `${PIECES} every ${PAUSE_MS}` }];
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: randomUUID(), runId: randomUUID(), messages }),
  });
  assert.equal(response.status, 200);
  const late = [];
  let rest = "";
  let events = 0;
  let end = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const came = now();
    const frames = (rest + chunk).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      events += 1;
      end = frame;
      for (const [, sent] of frame.matchAll(/"(?:delta|text)":"(\d+\.\d+) /g)) late.push(came - Number(sent));
    }
  }
  return { late, events, end };
}

/** Returns the peak memory of a process, in megabytes. */
const peak = (pid) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmHWM:\s+(\d+)/)[1]) / 1024;

async function load(name, program, path) {
  const [, url] = await program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, 15);
  const idle = peak(program.child.pid);
  const began = now();
  const limit = SECONDS * 10 + 60;
  const runs = await within(limit, `${RUNS} runs`, Promise.all(Array.from({ length: RUNS }, () => run(url + path))));
  const seconds = (now() - began) / 1000;
  const late = runs.flatMap((one) => one.late).sort((a, b) => a - b);
  const at = (part) => late[Math.floor((late.length - 1) * part)].toFixed(1);
  const events = runs.reduce((sum, one) => sum + one.events, 0);
  const memory = peak(program.child.pid);
  console.log(
    `${name}: ${RUNS} runs in ${seconds.toFixed(1)} s, ${Math.round(events / seconds)} events/s, ` +
      `delay ${at(0.5)} ms (median), ${at(0.99)} ms (99 %), memory ${idle.toFixed(0)} → ${memory.toFixed(0)} MB`,
  );
  return { runs, memory };
}

if (process.argv[2] === "relay") {
  relay();
} else {
  await check(`load: ${RUNS} runs through a plain relay`, async () => {
    const program = new Program(process.execPath, [process.argv[1], "relay"], process.env);
    const { runs } = await load("relay", program, "/").finally(() => program.child.kill("SIGTERM"));
    for (const { late } of runs) assert.equal(late.length, PIECES);
  });
  await check(`load: ${RUNS} runs through the gateway`, async () => {
    const place = new Place();
    const agent = `'${process.execPath}' '${AGENT}'`;
    const options = ["--no-auth", "--listen", "127.0.0.1:0", "--cwd", place.workspace, "--agent", agent];
    const program = new Program(join(BIN, "gateway"), options, place.env);
    try {
      const { runs, memory } = await load("gateway", program, "/api/ai/chat");
      for (const { late, end } of runs) {
        assert.equal(late.length, PIECES);
        assert.match(end, /"type":"RUN_FINISHED".*"type":"success"/);
      }
      assert.ok(memory < MAX_MEGABYTES, `${memory} MB of ${MAX_MEGABYTES}`);
      assert.equal(await program.stop(15), 0);
    } finally {
      assert.deepEqual([...place.leave().values()], [], "processes left behind");
    }
  });
}
