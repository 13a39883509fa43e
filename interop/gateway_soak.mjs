// Concurrent runs through the gateway for a long time, with faults: the agent is killed, stopped and floods its standard error, and
// clients behave badly. The resources of the gateway are sampled during the runs and afterwards.
//
//   SOAK_SECONDS=3600 SOAK_RUNS=50 SOAK_SAMPLE=60 SOAK_FAULT=10 node gateway_soak.mjs     default: 20 s, 50 runs at once, every 2 s
//
// A sample has the resident memory, open files and system threads of the gateway process, and its report on SIGUSR1. With
// SOAK_OUT=FILE, each sample is appended to the file as a line of JSON.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { droppedSockets, manyThreads, oversized, silent, slowReaders } from "./abuse.mjs";
import { BIN, INTEROP, Place, Program, check, within } from "./harness.mjs";

const SECONDS = Number(process.env.SOAK_SECONDS ?? 20);
const RUNS = Number(process.env.SOAK_RUNS ?? 50);
const SAMPLE = Number(process.env.SOAK_SAMPLE ?? Math.max(2, SECONDS / 60));
/** The pause between two faults, in seconds. */
const FAULT = Number(process.env.SOAK_FAULT ?? Math.max(1, SECONDS / 360));
const AGENT = join(INTEROP, "agents/stream-agent.mjs");
const [PIECES, PAUSE_MS] = [30, 100];
/** The number of runs of a thread before a new thread replaces it. */
const RUNS_OF_A_THREAD = 5;
/** Unused resources are released within seconds, so that leaks show. */
const IDLE_SECONDS = 5;
const RUN_SECONDS = 120;
/** Memory in megabytes, without the kept runs: the program, active runs, and fragmentation. */
const [KEPT_MEGABYTES, OTHER_MEGABYTES] = [16, 96];
/** The allowed growth of memory in the second half, in megabytes. */
const GROWTH_MEGABYTES = 12;

const SETTINGS = {
  GATEWAY_TIMES_IDLE: `${IDLE_SECONDS}`,
  GATEWAY_TIMES_QUESTION: "1",
  GATEWAY_TIMES_CANCEL_GRACE: "3",
  GATEWAY_TIMES_DISCONNECT_GRACE: "10",
  GATEWAY_LIMITS_KEPT_BYTES: `${KEPT_MEGABYTES << 20}`,
};

/** Number of runs by the behaviour of their client. */
const ENDS = { reads: 0, comesBack: 0, cancels: 0, goesAway: 0, lost: 0 };
/** Times at which the agent was killed. */
const KILLS = [];
/** Whether the check has ended, also before its time. */
let isOver = false;
/** A run that the agent had received is lost with it, and the loss is reported shortly after. */
const LOSS_MS = 5000;
const LOST = /"type":"RUN_ERROR".*"code":"AGENT_(EXITED|LOST|UNAVAILABLE)"/;
const wanted = (count) => (count % 20 === 7 ? "cancels" : count % 20 === 13 ? "goesAway" : count % 5 === 3 ? "comesBack" : "reads");

/** Yields the frames of a stream. */
async function* frames(response) {
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split("\n\n");
    rest = parts.pop();
    yield* parts;
  }
}

/** Runs an input, and returns how the run ended. An error names the run and what was received of it. */
async function run(url, threadId, does) {
  const [began, runId, seen] = [performance.now(), randomUUID(), []];
  try {
    return await checkedRun(url, { began, threadId, runId, does, seen });
  } catch (error) {
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const received = `${seen.length} frames after ${seconds} s, the last: ${seen.at(-1)}`;
    throw new Error(`run ${runId} of thread ${threadId} (${does}): ${received}`, { cause: error });
  }
}

/** Runs an input, checks the received frames, and returns how the run ended. */
async function checkedRun(url, { began, threadId, runId, does, seen }) {
  const messages = [{ id: randomUUID(), role: "user", content: `${PIECES} every ${PAUSE_MS}` }];
  const signal = AbortSignal.timeout(RUN_SECONDS * 1000);
  const begin = () =>
    fetch(`${url}/api/ai/chat`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ protocolVersion: "1.0", threadId, runId, messages }),
      signal,
    });
  let response = await begin();
  // The previous run of the thread may not have ended yet.
  while (response.status === 409 && (await response.text()).includes("going on")) {
    await sleep(500, undefined, { signal });
    response = await begin();
  }
  assert.equal(response.status, 200);
  let left = false;
  for await (const frame of frames(response)) {
    if (frame.startsWith(":")) continue;
    seen.push(frame);
    if (seen.length !== PIECES / 2 || does === "reads") continue;
    if (does === "cancels") await fetch(`${url}/api/ai/chat/runs/${runId}/cancel`, { method: "POST", signal });
    if (does === "goesAway") return does;
    left = does === "comesBack" && !LOST.test(frame);
    if (left) break;
  }
  if (left) {
    const last = seen.at(-1).match(/^id: (.+)$/m)[1];
    response = await fetch(`${url}/api/ai/chat/runs/${runId}/events`, { headers: { "Last-Event-ID": last }, signal });
    assert.equal(response.status, 200);
    for await (const frame of frames(response)) if (!frame.startsWith(":")) seen.push(frame);
  }
  if (LOST.test(seen.at(-1)) && KILLS.some((time) => time > began - LOSS_MS)) return "lost";
  const outcome = seen.at(-1).match(/"type":"RUN_FINISHED".*"outcome":\{"type":"(\w+)"/)?.[1];
  // A slow client may cancel a run that has ended already.
  const isLate = does === "cancels" && outcome === "success";
  assert.equal(outcome, does === "cancels" && !isLate ? "cancelled" : "success", seen.at(-1));
  if (outcome === "success") assert.equal(seen.filter((frame) => frame.includes('"TEXT_MESSAGE_CONTENT"')).length, PIECES);
  return isLate ? "reads" : does;
}

/** Runs a client: consecutive runs, with a new thread after some of them. */
async function client(url, number, until) {
  let threadId;
  for (let count = number; !isOver && performance.now() < until; count++) {
    if ((count - number) % RUNS_OF_A_THREAD === 0) threadId = randomUUID();
    ENDS[await run(url, threadId, wanted(count))] += 1;
  }
}

/** Sends a signal to the agent's process, and returns its number. */
function signalAgent(place, signal) {
  const [pid] = [...place.processes()].find(([, command]) => command.includes(AGENT) && command.startsWith(process.execPath)) ?? [];
  if (pid) process.kill(pid, signal);
  return pid;
}

/** The faults, in turn. */
const FAULTS = {
  agentIsKilled: ({ place }) => {
    KILLS.push(performance.now());
    signalAgent(place, "SIGKILL");
  },
  silent: ({ target }) => silent(target, 40, 2),
  oversized: ({ target, signal }) => oversized(target, signal),
  agentStops: async ({ place }) => {
    const pid = signalAgent(place, "SIGSTOP");
    await sleep(1000);
    if (pid && place.processes().has(pid)) process.kill(pid, "SIGCONT");
  },
  slowReaders: ({ target }) => slowReaders(target, 10, 2, "200 every 5"),
  flood: ({ place }) => signalAgent(place, "SIGUSR2"),
  droppedSockets: ({ target }) => droppedSockets(target, 20, 1),
  manyThreads: ({ target, signal }) => manyThreads(target, 50, signal),
};

/** Causes one fault after another, and returns the number of each. */
async function faults(place, url, until) {
  const caused = Object.fromEntries(Object.keys(FAULTS).map((name) => [name, 0]));
  for (let count = 0; !isOver && performance.now() + FAULT * 1000 < until; count++) {
    await sleep(FAULT * 1000);
    const [name, fault] = Object.entries(FAULTS)[count % Object.keys(FAULTS).length];
    await fault({ place, target: { url }, signal: AbortSignal.timeout(RUN_SECONDS * 1000) });
    caused[name] += 1;
  }
  return caused;
}

/** Returns the current resources of the gateway. */
async function sample(program, began) {
  const { pid } = program.child;
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const told = program.stderr.length;
  program.child.kill("SIGUSR1");
  const open = /open: (\d+) threads, (\d+) of (\d+) runs, (\d+) tasks\n/;
  while (!open.test(program.stderr.slice(told))) {
    assert.ok(program.child.exitCode === null && program.child.signalCode === null, `the gateway has ended: ${program.stderr}`);
    await sleep(10);
  }
  const [, threads, goingOn, kept, tasks] = program.stderr.slice(told).match(open).map(Number);
  return {
    seconds: Math.round((performance.now() - began) / 1000),
    megabytes: Number(status.match(/VmRSS:\s+(\d+)/)[1]) / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
    systemThreads: Number(status.match(/Threads:\s+(\d+)/)[1]),
    threads,
    goingOn,
    kept,
    tasks,
  };
}

const shown = (it) =>
  `${it.seconds} s: ${it.megabytes.toFixed(1)} MB, ${it.files} files, ${it.systemThreads} system threads, ` +
  `${it.threads} threads, ${it.goingOn} of ${it.kept} runs, ${it.tasks} tasks`;

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

await check(`soak: ${RUNS} concurrent runs for ${SECONDS} s, a fault every ${FAULT} s`, async () => {
  const place = new Place();
  let left;
  const agent = `'${process.execPath}' '${AGENT}'`;
  const options = ["--no-auth", "--listen", "127.0.0.1:0", "--cwd", place.workspace, "--agent", agent];
  const program = new Program(join(BIN, "gateway"), options, { ...place.env, ...SETTINGS });
  try {
    const [, url] = await program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, 15);
    const began = performance.now();
    const look = async () => {
      const found = await within(30, "an answer to SIGUSR1", sample(program, began));
      console.log(shown(found));
      if (process.env.SOAK_OUT) appendFileSync(process.env.SOAK_OUT, `${JSON.stringify(found)}\n`);
      return found;
    };
    const idle = await look();
    const until = began + SECONDS * 1000;
    let [clients, samples] = [Array.from({ length: RUNS }, (_, number) => client(url, number, until)), []];
    const all = Promise.all([faults(place, url, until), ...clients]);
    all.then(() => (isOver = true), () => (isOver = true));
    while (!isOver && performance.now() < until) {
      await sleep(SAMPLE * 1000);
      samples.push(await look());
    }
    const [caused] = await all;
    console.log(`faults: ${JSON.stringify(caused)}`);
    console.log(`${Object.values(ENDS).reduce((a, b) => a + b)} runs: ${JSON.stringify(ENDS)}`);

    const most = Math.max(...samples.map(({ megabytes }) => megabytes));
    assert.ok(most < idle.megabytes + KEPT_MEGABYTES + OTHER_MEGABYTES, `${most} MB`);
    const half = samples.length >> 1;
    const [first, second] = [samples.slice(half >> 1, half), samples.slice(half)].map((part) => median(part.map((it) => it.megabytes)));
    console.log(`memory: ${first.toFixed(1)} MB in the second quarter, ${second.toFixed(1)} MB in the second half (medians)`);
    if (SECONDS >= 300) assert.ok(second < first + GROWTH_MEGABYTES, "memory grows");

    // After the last client has ended, only the kept runs remain.
    let [last, tries] = [await look(), 0];
    while ((last.threads > 0 || last.goingOn > 0 || last.files > idle.files + 8) && tries++ < 30) {
      await sleep(1000);
      last = await look();
    }
    assert.deepEqual([last.threads, last.goingOn], [0, 0]);
    assert.ok(last.files <= idle.files + 8, `${last.files} files, ${idle.files} at the beginning`);
    assert.ok(last.tasks <= idle.tasks + last.kept + 8, `${last.tasks} tasks, ${idle.tasks} at the beginning`);
    assert.equal(await program.stop(30), 0);
  } finally {
    left = place.leave();
  }
  assert.deepEqual([...left.values()], [], "processes left behind");
});
