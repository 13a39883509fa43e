// Streams of agui-bridge in the first-party clients: each is accepted, and results in the messages of the reducer of agui-types.
// The streams come from worked examples, from recordings, and from generated updates in any order.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { HttpAgent as Modern } from "ag-ui-client-1.0.0";
import { HttpAgent as Legacy } from "ag-ui-client-0.0.59";
import { INTEROP, check } from "./harness.mjs";

const FIXTURES = join(INTEROP, "../agui-bridge/tests/fixtures/v1");
const expected = JSON.parse(readFileSync(join(FIXTURES, "messages.json"), "utf8"));
let body;
globalThis.fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
// The clients warn of each ignored event. No warning is expected.
const warnings = [];
console.warn = (...words) => warnings.push(words.map(String).join(" "));
console.error = (...words) => warnings.push(words.map(String).join(" "));

/** Splits a stream into runs, each a separate response: a client of 0.x ignores everything after a RUN_ERROR. */
function runs(lines) {
  const runs = [];
  for (const line of lines.filter((line) => !line.startsWith('{"toAgent"'))) {
    if (JSON.parse(line).type === "RUN_STARTED") runs.push([]);
    runs.at(-1).push(`data: ${line}\n\n`);
  }
  return runs.map((run) => run.join(""));
}

/** Returns whether two lists of messages are equal. A member that is `undefined` counts as absent. */
const same = (one, other) => isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));

async function play(Agent, lines) {
  warnings.length = 0;
  const agent = new Agent({ url: "http://127.0.0.1/", threadId: "thread" });
  for (const run of runs(lines)) {
    body = run;
    const id = JSON.parse(run.split("\n")[0].slice("data: ".length)).runId;
    const open = (agent.pendingInterrupts ?? []).map(({ id }) => ({ interruptId: id, status: "cancelled" }));
    const failures = [];
    await agent.runAgent({ runId: id, ...(open.length > 0 && { resume: open }) }, { onRunFailed: ({ error }) => void failures.push(error) });
    if (failures.length > 0) throw failures[0];
  }
  if (warnings.length > 0) throw new Error(`the client warned: ${warnings[0].slice(0, 500)}`);
  return agent.messages;
}

for (const [name, messages] of Object.entries(expected)) {
  const [client, Agent] = name.includes("0.x") ? ["0.0.59", Legacy] : ["1.0.0", Modern];
  await check(`client ${client}: ${name}`, async () => {
    const made = await play(Agent, readFileSync(join(FIXTURES, name), "utf8").trimEnd().split("\n"));
    if (!same(made, messages)) {
      throw new Error(`the client has ${JSON.stringify(made)}\nthe reducer has ${JSON.stringify(messages)}`);
    }
  });
}

const CLIENTS = [["1.0", "1.0.0", Modern], ["legacy", "0.0.59", Legacy]];

/** Checks each stream that a program prints for clients of a profile. */
async function checkStreams(what, Agent, client, program, args) {
  const path = join(process.env.INTEROP_RUST_BIN, program);
  const streams = execFileSync(path, args, { maxBuffer: 1 << 30 }).toString().trimEnd().split("\n");
  await check(`client ${client}: ${streams.length} ${what}`, async () => {
    for (const [number, stream] of streams.entries()) {
      const { name = `stream ${number}`, lines, messages } = JSON.parse(stream);
      const made = await play(Agent, lines).catch((error) => {
        throw new Error(`${name}: ${error.message}`);
      });
      if (!same(made, messages)) {
        throw new Error(`${name}: the client has ${JSON.stringify(made)}\nthe reducer has ${JSON.stringify(messages)}`);
      }
    }
  });
}

const RECORDED = join(FIXTURES, "recorded");
for (const [profile, client, Agent] of CLIENTS) {
  await checkStreams("recorded sessions of agents", Agent, client, "bridge-recorded", [RECORDED, profile]);
}
// Number of generated streams for each client.
const STREAMS = process.env.BRIDGE_STREAMS ?? "300";
for (const [profile, client, Agent] of CLIENTS) {
  await checkStreams("streams of generated updates", Agent, client, "bridge-streams", [STREAMS, profile]);
}
