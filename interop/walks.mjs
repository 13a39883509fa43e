// The walk of a message: the files of this repository with code that runs for it, counted by a coverage build.
//
//   node walks.mjs               prints the number of files of each walk, and fails above its limit
//   node walks.mjs --files       also prints the files, each with the number of its lines that run
//
// A program runs twice, with more messages of a kind in the second run. A region of code belongs to the walk with all its lines if it
// ran more often in the second run, at least once for every other message more, and a file if that many of its lines do that it has
// to be read to follow the message: a getter is not enough. The environment has the folder of the programs (INTEROP_BIN, built with
// `-C instrument-coverage`), and that of `llvm-profdata` and `llvm-cov` (LLVM_TOOLS).
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createServer } from "node:http";
import { readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { BIN, INTEROP, Place, Program, check, within } from "./harness.mjs";

const FEW = 10;
const MANY = 40;
/** Fewest lines of a file of a walk. */
const LINES = 16;
/** The kind of regions of code in an export of `llvm-cov`. */
const CODE = 0;
/** Time limit of a run. The programs are not optimized. */
const RUN_SECONDS = 60;
const ROOT = resolve(INTEROP, "..");
const AGENT = join(INTEROP, "agents/walk-agent.mjs");

/** Most files of a walk, a little more than at present. */
const LIMITS = {
  "a chunk through the gateway": 24,
  "a permission through the gateway, and its answer": 120,
  "a question of a tool through the gateway, and its answer": 108,
  "a line through acp-traces": 6,
};

/** Yields the events of a response. */
async function* events(response) {
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split("\n\n");
    rest = frames.pop();
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined) yield JSON.parse(data.slice(6));
    }
  }
}

/** Runs one prompt through the gateway, and answers each question in the stream. Returns the number of answers. */
async function chat(url, text, answer) {
  const headers = { "Content-Type": "application/json" };
  const messages = [{ id: "u", role: "user", content: text }];
  // An agent is offered the gateway's tools beside those of a page.
  const tools = [{ name: "show_note", description: "", parameters: { type: "object" } }];
  const input = { threadId: "t", runId: "r", messages, tools, context: [], state: {}, forwardedProps: {} };
  const response = await fetch(`${url}/api/ai/chat`, { method: "POST", headers, body: JSON.stringify(input) });
  assert.equal(response.status, 200);
  let answers = 0;
  let last;
  for await (const event of events(response)) {
    last = event;
    const id = event.name?.endsWith(".requested") ? event.value.interruptId : undefined;
    if (id === undefined) continue;
    const answered = await fetch(`${url}/api/ai/chat/interrupts/${id}`, { method: "POST", headers, body: JSON.stringify(answer) });
    assert.equal(answered.status, 202, await answered.text());
    answers += 1;
  }
  assert.equal(last.type, "RUN_FINISHED", JSON.stringify(last));
  return answers;
}

/** Runs the gateway with one prompt. */
const gateway = (kind, answer) => async (place, count) => {
  const agent = `'${process.execPath}' '${AGENT}'`;
  const options = ["--no-auth", "--listen", "127.0.0.1:0", "--cwd", place.workspace, "--agent", agent];
  const program = new Program(join(BIN, "gateway"), options, place.env);
  try {
    const [, url] = await program.said(/(http:\/\/127\.0\.0\.1:\d+)/, RUN_SECONDS);
    const answers = await within(RUN_SECONDS, `${count} ${kind}`, chat(url, `${count} ${kind}`, answer));
    assert.equal(answers, answer === undefined ? 0 : count);
  } finally {
    assert.equal(await program.stop(RUN_SECONDS), 0, program.stderr);
  }
};

/** Runs acp-traces between a client and the agent, with a collector. */
async function traced(place, count) {
  const collector = createServer((request, response) => request.resume().on("end", () => response.end()));
  await new Promise((listens) => collector.listen(0, "127.0.0.1", listens));
  const endpoint = `http://127.0.0.1:${collector.address().port}`;
  const options = ["--protocol", "http/protobuf", "--otlp-endpoint", endpoint, "--", process.execPath, AGENT];
  const child = spawn(join(BIN, "acp-traces"), options, { env: place.env, stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.on("close", resolve));
  const waiting = new Map();
  const ask = (id, method, params) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return within(RUN_SECONDS, method, new Promise((resolve) => waiting.set(id, resolve)));
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
  });
  await ask(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await ask(2, "session/new", { cwd: place.workspace, mcpServers: [] });
  const end = await ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: `${count} chunks` }] });
  assert.equal(end.stopReason, "end_turn");
  child.stdin.end();
  assert.equal(await within(RUN_SECONDS, "the exit", exited), 0);
  collector.close();
}

/** Returns how often each region of code has run, by file and place. */
async function executions(program, run, count) {
  const place = new Place();
  place.env.LLVM_PROFILE_FILE = join(place.root, "%p.profraw");
  place.env.GATEWAY_STORE = "none";
  try {
    await run(place, count);
    const raw = readdirSync(place.root).filter((name) => name.endsWith(".profraw")).map((name) => join(place.root, name));
    const profile = join(place.root, "all.profdata");
    const tool = (name) => join(process.env.LLVM_TOOLS, name);
    execFileSync(tool("llvm-profdata"), ["merge", "-sparse", ...raw, "-o", profile]);
    const options = ["export", "-instr-profile", profile, "-skip-expansions", join(BIN, program)];
    const exported = JSON.parse(execFileSync(tool("llvm-cov"), options, { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "ignore"] }));
    const executed = new Map();
    for (const { filenames, regions } of exported.data[0].functions) {
      const file = relative(ROOT, filenames[0]);
      if (file.startsWith("..")) continue;
      const places = executed.get(file) ?? new Map();
      executed.set(file, places);
      for (const [from, column, to, end, count, , , kind] of regions) {
        if (kind !== CODE) continue;
        const key = `${from}:${column}:${to}:${end}`;
        places.set(key, (places.get(key) ?? 0) + count);
      }
    }
    return executed;
  } finally {
    assert.deepEqual([...place.leave().values()], [], "processes left behind");
  }
}

/** Returns the files of a walk, each with the number of its lines that run for each message. */
async function walk(program, run) {
  const few = await executions(program, run, FEW);
  const many = await executions(program, run, MANY);
  const files = [];
  for (const [file, places] of many) {
    const lines = new Set();
    for (const [key, count] of places) {
      const isMore = count - (few.get(file)?.get(key) ?? 0) >= (MANY - FEW) / 2;
      const [from, , to] = key.split(":").map(Number);
      for (let line = from; isMore && line <= to; line++) lines.add(line);
    }
    if (lines.size >= LINES) files.push([lines.size, file]);
  }
  return files.sort(([a], [b]) => b - a);
}

const runs = {
  "a chunk through the gateway": ["gateway", gateway("chunks")],
  "a permission through the gateway, and its answer": ["gateway", gateway("permissions", { optionId: "yes" })],
  "a question of a tool through the gateway, and its answer": ["gateway", gateway("tools", { action: "decline" })],
  "a line through acp-traces": ["acp-traces", traced],
};
for (const [name, [program, run]] of Object.entries(runs)) {
  await check(`walk: ${name}`, async () => {
    const files = await walk(program, run);
    const listed = files.map(([lines, file]) => `${lines} ${file}`).join("\n");
    console.log(`${files.length} files, at most ${LIMITS[name]}`);
    if (process.argv.includes("--files")) console.log(listed);
    assert.ok(files.length > 0 && files.length <= LIMITS[name], listed);
  });
}
