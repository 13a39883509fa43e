// The first steps of a new user, in a fresh clone: each named block of the gateway's `docs/` is executed unchanged, except for the
// port. The real agent of these pages is gemini-cli, here with the scripted model.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { INTEROP, Place, Program, check, within } from "./harness.mjs";

const BUILD_SECONDS = 1500;
const TURN_SECONDS = 60;
const EXIT_SECONDS = 15;
const ADDRESS = "127.0.0.1:8787";

/** Hard-links a folder of build results, so that the clone does not build them again. */
function linked(from, to) {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linked(source, target);
    else if (entry.isFile()) linkSync(source, target);
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

let running;

/** Signals the process group of bash, cargo and the gateway. */
function signal(name) {
  if (running && running.child.exitCode === null && running.child.signalCode === null) process.kill(-running.child.pid, name);
}

const place = new Place();
const target = mkdtempSync(join(dirname(process.env.INTEROP_BIN), "new-user-"));
const clone = join(place.root, "clone");
const bin = join(place.root, "bin");

try {
  // The checkout may belong to another user.
  const gitConfig = join(place.root, "gitconfig");
  writeFileSync(gitConfig, "[safe]\n\tdirectory = *\n");
  const git = { env: { ...process.env, GIT_CONFIG_GLOBAL: gitConfig } };
  execFileSync("git", ["clone", "--quiet", "--depth", "1", `file://${dirname(INTEROP.replace(/\/$/, ""))}`, clone], git);
  mkdirSync(join(target, "debug"));
  for (const folder of ["build", "deps", ".fingerprint"]) {
    linked(join(process.env.INTEROP_BIN, folder), join(target, "debug", folder));
  }
  mkdirSync(bin);
  writeFileSync(join(bin, "gemini"), `#!/bin/sh\nexec '${join(INTEROP, "agents/start")}' gemini-cli\n`);
  chmodSync(join(bin, "gemini"), 0o755);

  const address = `127.0.0.1:${await freePort()}`;
  const environment = {
    ...place.env,
    PATH: `${bin}:${process.env.PATH}`,
    CARGO_TARGET_DIR: target,
    CARGO_INCREMENTAL: "0",
    CARGO_NET_OFFLINE: "true",
    GATEWAY_LISTEN: address,
    OTEL_EXPORTER_OTLP_ENDPOINT: process.env.INTEROP_OTLP_GRPC,
    OTEL_RESOURCE_ATTRIBUTES: `run=${place.run}`,
  };
  const docs = join(clone, "examples/gateway/docs");
  const blocks = new Map();
  for (const page of readdirSync(docs)) {
    for (const [, name, text] of readFileSync(join(docs, page), "utf8").matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms)) {
      assert.ok(!blocks.has(name), `${page} repeats the block ${name}`);
      blocks.set(name, text);
    }
  }
  const block = (name) => {
    assert.ok(blocks.has(name), `the pages have no block ${name}`);
    return blocks.get(name).replaceAll(ADDRESS, address);
  };
  const bash = (text) => ["-c", `set -euo pipefail\n${text}`];

  /** Runs a block that starts a gateway, after stopping the previous one. */
  const start = async (name) => {
    await stop();
    running = new Program("bash", bash(block(name)), environment, { cwd: clone, detached: true });
    // The pages tell the user to copy the token.
    [, environment.TOKEN] = await running.said(/open http:\S+\?token=(\S+)\n/, BUILD_SECONDS);
  };
  const stop = async () => {
    signal("SIGTERM");
    if (running) await within(EXIT_SECONDS, "the end of the gateway", running.exited);
    running = undefined;
  };
  /** Runs a block that sends a request; returns the response. */
  const request = async (name) => {
    const child = spawn("bash", bash(block(name)), { cwd: clone, env: environment, stdio: ["ignore", "pipe", "ignore"] });
    let told = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (told += text));
    const [status] = await within(TURN_SECONDS, name, once(child, "close"));
    assert.equal(status, 0, told);
    return told;
  };
  /** The same for a response of events. */
  const ask = async (name) => {
    const told = await request(name);
    const events = [...told.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
    assert.ok(events.length > 0, told);
    return events;
  };
  const text = (events) => events.map(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? delta : "")).join("");
  const outcome = (events) => events.at(-1).outcome?.type ?? JSON.stringify(events.at(-1));
  for (const name of blocks.keys()) {
    if (name.includes(".")) writeFileSync(join(clone, name), blocks.get(name));
  }

  await check("new user: start and chat", async () => {
    await start("start");
    const events = await ask("chat");
    assert.equal(outcome(events), "success");
    assert.ok(text(events).length > 0);
    assert.match(await (await fetch(`http://${address}/`)).text(), /^<!doctype html>/);
  });

  await check("new user: Markdown for a page", async () => {
    const [{ blocks: rendered }] = JSON.parse(await request("markdown"));
    assert.equal(rendered.map(({ html }) => html).join(""), "<h3>Plan</h3>\n<p>Read <em>all</em> of</p>\n");
  });

  await check("new user: a tool of the page", async () => {
    const events = await ask("page-tool");
    assert.deepEqual(events.at(-1).outcome.pendingToolCallIds, ["call-2"]);
    const next = await ask("page-tool-result");
    assert.equal(outcome(next), "success");
    assert.match(text(next), /It is dark now/);
  });

  await check("new user: a real agent", async () => {
    await start("agent");
    const events = await ask("chat");
    assert.equal(outcome(events), "success");
    assert.match(text(events), /No scenario was named/, "the text of the scripted model");
  });

  await check("new user: the trace of a run", async () => {
    await start("trace");
    assert.equal(outcome(await ask("chat")), "success");
    await stop();
    const traces = await (await fetch(`${process.env.INTEROP_OTLP_HTTP}/test/session/traces`)).text();
    for (const name of ["POST /api/ai/chat", "run agent", "invoke_agent"]) assert.ok(traces.includes(name), name);
  });

  await check("new user: a tool of the gateway that asks the user", async () => {
    await start("plugin");
    const asked = await ask("plugin-ask");
    assert.equal(outcome(asked), "interrupt");
    const answered = await ask("plugin-answer");
    assert.equal(outcome(answered), "success");
    assert.match(text(answered), /You have .*2 × Espresso/);
  });

  await check("new user: each block was executed", async () => {
    const known = "start chat agent trace markdown page-tool page-tool-result plugin plugin-ask plugin-answer".split(" ");
    const files = [...blocks.keys()].filter((name) => existsSync(join(clone, name)));
    assert.deepEqual([...blocks.keys()].sort(), [...known, ...files].sort());
    await stop();
  });
} finally {
  signal("SIGKILL");
  const left = [...place.leave().values()];
  rmSync(target, { recursive: true, force: true });
  await check("new user: no remaining process", () => assert.deepEqual(left, []));
}
