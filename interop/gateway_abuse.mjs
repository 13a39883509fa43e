// Ten honest users beside one that abuses the gateway, with the default store and with Redis. The time to the first token of the
// honest users is measured while the eleventh user is honest too, and during its abuse, in turn, because other work on the machine
// changes. Runs begin at fixed times, so that the load of the honest users is the same in both phases, and a late run counts as late.
//
//   ABUSE_SECONDS=15 node gateway_abuse.mjs     default: 3 s for each of three quiet and three loud phases
//   ABUSE_KINDS=uploads,searches                default: all kinds of abuse
//
// A check fails if an honest user is refused or a run of one is incomplete, if the abuser is not refused, or if the 99th percentile
// exceeds a bound that leaves room for other work on the machine. `gateway_abuse.md` has the measured figures.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  droppedSockets, input, manyThreads, oversized, renames, renderings, searches, sessions, silent, slowReaders, uploads,
} from "./abuse.mjs";
import { BIN, INTEROP, Place, Program, check, within } from "./harness.mjs";

const SECONDS = Number(process.env.ABUSE_SECONDS ?? 3);
const ROUNDS = 3;
const HONEST = 10;
const [PIECES, PAUSE_MS] = [5, 10];
/** Time between the beginnings of two runs of an honest user, in milliseconds. */
const INTERVAL_MS = 250;
const RUN_SECONDS = 60;
/** Pause of the abuser between two acts of one kind, in milliseconds. */
const ABUSE_MS = 100;
/** Time of the abuse before a loud phase. */
const START_MS = 2000;
/** Runs of an honest user before a new thread replaces the last one. */
const RUNS_OF_A_THREAD = 5;
/** The abuser reaches its share of these, a quarter, within the time of the check. */
const LIMITS = "[limits]\nthreads = 80\nruns = 320\nrequests-a-minute = 600\n";
const ABUSER = "abuser";
/** The conversation that the abuser renames. */
const RENAMED = "renamed";
const KINDS = process.env.ABUSE_KINDS ? { ABUSE_KINDS: process.env.ABUSE_KINDS } : {};
const AGENT = join(INTEROP, "agents/stream-agent.mjs");

const token = (user) => `token-of-${user}-0123456789`;
const target = (url, user) => ({ url, headers: { authorization: `Bearer ${token(user)}` } });

/** Runs an input of an honest user, and returns the time from `began` to its first token in milliseconds. */
async function run({ url, headers }, threadId, began = performance.now()) {
  const response = await fetch(`${url}/api/ai/chat`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: input(`${PIECES} every ${PAUSE_MS}`, threadId),
    signal: AbortSignal.timeout(RUN_SECONDS * 1000),
  });
  assert.equal(response.status, 200, response.ok ? "" : await response.text());
  let [text, first] = ["", undefined];
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (first === undefined && text.includes('"TEXT_MESSAGE_CONTENT"')) first = performance.now() - began;
  }
  assert.match(text, /"type":"RUN_FINISHED".*"outcome":\{"type":"success"/);
  assert.equal(text.match(/"TEXT_MESSAGE_CONTENT"/g).length, PIECES);
  return first;
}

/** Lets users run at fixed times for a while, and returns the times to a first token of the honest ones. */
async function honest(url, users) {
  const began = performance.now();
  const user = async (name, number) => {
    let [times, threadId] = [[], undefined];
    for (let count = 0; count < (SECONDS * 1000) / INTERVAL_MS; count++) {
      const due = began + (count + number / users.length) * INTERVAL_MS;
      await sleep(Math.max(0, due - performance.now()));
      if (count % RUNS_OF_A_THREAD === 0) threadId = randomUUID();
      times.push(await run(target(url, name), threadId, due));
    }
    return name === ABUSER ? [] : times;
  };
  return (await Promise.all(users.map(user))).flat();
}

/** Waits until the requests of a user are admitted. */
async function admitted({ url, headers }) {
  while ((await fetch(`${url}/api/tools`, { headers })).status === 429) await sleep(ABUSE_MS);
}

const at = (times, part) => times[Math.floor((times.length - 1) * part)];
const shown = (times) => `${times.length} runs, ${at(times, 0.5).toFixed(0)} ms (median), ${at(times, 0.99).toFixed(0)} ms (99 %)`;

/** The abuser: all kinds of abuse at the same time, until the process is ended. */
async function abuse(url) {
  const statuses = new Map();
  const onStatus = (status) => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const [abuser, stranger] = [target(url, ABUSER), { url, headers: { authorization: "Bearer a-guess" } }];
  abuser.onStatus = stranger.onStatus = onStatus;
  const signal = new AbortController().signal;
  const forever = async (act) => {
    for (;;) {
      await act();
      await sleep(ABUSE_MS);
    }
  };
  process.on("SIGTERM", () => {
    console.error(`statuses: ${JSON.stringify(Object.fromEntries(statuses))}`);
    process.exit(0);
  });
  const kinds = {
    silent: () => silent({ url }, 150, 1),
    "slow-readers": () => slowReaders(abuser, 10, 1, "100 every 10"),
    "dropped-sockets": () => droppedSockets(abuser, 20, 0.5),
    oversized: () => oversized(abuser, signal),
    threads: () => manyThreads(abuser, 40, signal),
    guesses: () => manyThreads(stranger, 5, signal),
    uploads: () => uploads(abuser, 4, signal),
    searches: () => searches(abuser, 12, signal),
    renderings: () => renderings(abuser, 8, signal),
    renames: () => renames(abuser, RENAMED, 20, signal),
    sessions: () => sessions(abuser, 20, signal),
  };
  const wanted = process.env.ABUSE_KINDS?.split(",") ?? Object.keys(kinds);
  setTimeout(() => console.error("at work"), START_MS);
  await Promise.all(wanted.map((kind) => forever(kinds[kind])));
}

async function compare(name, location, variables = {}) {
  const place = new Place();
  const honestUsers = Array.from({ length: HONEST }, (_, number) => `honest${number}`);
  const users = [...honestUsers, ABUSER];
  const settings = join(place.root, "gateway.toml");
  writeFileSync(settings, `${LIMITS}[auth.tokens]\n${users.map((user) => `${user} = "${token(user)}"\n`).join("")}`);
  const agent = `'${process.execPath}' '${AGENT}'`;
  const store = location ?? join(place.root, "gateway.db");
  const options = ["--config", settings, "--listen", "127.0.0.1:0", "--cwd", place.workspace, "--agent", agent, "--store", store];
  const program = new Program(join(BIN, "gateway"), options, { ...place.env, ...variables });
  try {
    const [, url] = await program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, 15);
    await run(target(url, "honest0"), randomUUID());
    await run(target(url, ABUSER), RENAMED);
    const [quiet, loud, statuses] = [[], [], {}];
    for (let round = 0; round < ROUNDS; round++) {
      await within(30, "the end of the abuser's debt of large bodies", admitted(target(url, ABUSER)));
      quiet.push(...(await honest(url, users)));
      // The abuser has a lower priority, because a real one has a processor of its own.
      const abuser = new Program("nice", ["-n", "10", process.execPath, process.argv[1], ABUSER, url], { ...place.env, ...KINDS });
      await abuser.said(/at work\n/, 60);
      loud.push(...(await honest(url, honestUsers)));
      assert.equal(await abuser.stop(30), 0, abuser.stderr);
      const [, counted] = abuser.stderr.match(/statuses: (.*)\n/);
      for (const [status, count] of Object.entries(JSON.parse(counted))) statuses[status] = (statuses[status] ?? 0) + count;
    }
    for (const times of [quiet, loud]) times.sort((a, b) => a - b);
    const ratio = (part) => (at(loud, part) / at(quiet, part)).toFixed(2);
    console.log(`${name}, quiet: ${shown(quiet)}`);
    console.log(`${name}, with abuse: ${shown(loud)}; ratio of the medians ${ratio(0.5)}, of the 99th percentiles ${ratio(0.99)}`);
    console.log(`${name}, responses to the abuser: ${JSON.stringify(statuses)}`);
    assert.ok(statuses[429] > 0 || process.env.ABUSE_KINDS, "the abuser was not refused");
    await within(30, "a run after the abuse", run(target(url, "honest1"), randomUUID()));
    assert.equal(await program.stop(30), 0);
    assert.deepEqual([...place.processes().values()], [], "processes left behind");
  } finally {
    place.leave();
  }
}

if (process.argv[2] === ABUSER) {
  await abuse(process.argv[3]);
} else {
  await check(`abuse: ${HONEST} honest users and an abuser, with the default store`, () => compare("default store"));
  assert.ok(process.env.REDIS_URL, "REDIS_URL is not set");
  const prefix = { GATEWAY_REPLICAS_PREFIX: randomUUID() };
  await check(`abuse: ${HONEST} honest users and an abuser, with Redis`, () => compare("Redis", process.env.REDIS_URL, prefix));
}
