// The official conformance suite of MCP against our server, the server that the gateway hosts for a thread, and our client, for each
// revision that the suite has frozen. mcp_conformance.json lists the exceptions with their reasons; an exception that passes is an
// error.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BIN, INTEROP, Program, check } from "./harness.mjs";
import { hosted } from "./mcp_hosted.mjs";

const SUITE = join(INTEROP, "node_modules/@modelcontextprotocol/conformance");
const EXPECTED = JSON.parse(readFileSync(join(INTEROP, "mcp_conformance.json"), "utf8"));

/** A Node version that the suite supports. */
const NODE =
  Number(process.versions.node.split(".")[0]) >= 22
    ? process.execPath
    : ["x64", "arm64"].map((cpu) => join(INTEROP, `node_modules/node-linux-${cpu}/bin/node`)).find(existsSync);

/** The scenarios that a revision lists for one side, including those that it does not count. */
function scenarios(side, revision) {
  const text = readFileSync(join(SUITE, `requirements/${revision}.yaml`), "utf8");
  const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  const names = [];
  let section;
  for (const [index, line] of lines.entries()) {
    section = line.match(/^(\w+):/)?.[1] ?? section;
    if (section === side) names.push(line.match(/^ +- (\S+)$/)?.[1]);
    const leg = lines[index + 1]?.match(/^ +leg: (\w+)/)?.[1];
    if (section === "not_scored" && leg === side) names.push(line.match(/scenario: (\S+)/)?.[1]);
  }
  return names.filter(Boolean);
}

/** Runs the suite; returns the checks of each scenario, and the end of its output if it failed. */
async function run(side, target) {
  const out = mkdtempSync(join(tmpdir(), "conformance-"));
  const command = [join(SUITE, "dist/index.js"), side, ...target, "-o", out];
  const options = { timeout: 240_000, maxBuffer: 64 << 20 };
  const log = await new Promise((resolve) =>
    execFile(NODE, command, options, (error, stdout, stderr) => resolve({ error, text: stdout + stderr })),
  );
  const found = new Map();
  const folders = readdirSync(out, { recursive: true }).filter((name) => name.endsWith("checks.json"));
  for (const name of folders) {
    const scenario = name.replace(/^(server|client)-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    found.set(scenario, JSON.parse(readFileSync(join(out, name), "utf8")));
  }
  rmSync(out, { recursive: true });
  if (found.size === 0) throw new Error(`the suite did not run: ${log.error} ${log.text.slice(-2000)}`);
  return { found, failure: log.error && log.text.slice(-2000) };
}

/** The failures of a scenario, a text for each check; empty if it passes. */
function problems(checks) {
  if (!checks) return [["", "it did not run"]];
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const shown = bad.map(({ id, status, errorMessage }) => [id, `${status} ${id}: ${errorMessage}`]);
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  return shown.length === 0 && passed === 0 ? [["", "nothing was checked"]] : shown;
}

/** Whether the scenario passes, or it or its failing checks are listed as exceptions. */
async function judge(side, revision, name, find) {
  const expected = EXPECTED[side][revision][name];
  const what = expected?.checks ? ` (but for ${expected.checks.length} checks)` : expected ? " (need not pass)" : "";
  await check(`mcp ${side} ${revision} ${name}${what}`, async () => {
    const { checks, failure } = await find();
    const wrong = problems(checks);
    // The suite also fails a client that exits with an error, whatever its checks say.
    if (failure && wrong.length === 0) wrong.push(["", `the suite failed: ${failure}`]);
    const isExpected = (id) => (expected?.checks ? expected.checks.includes(id) : Boolean(expected));
    const passes = (expected?.checks ?? []).filter((id) => !wrong.some(([it]) => it === id));
    if (passes.length > 0) throw new Error(`listed as if they did not pass: ${passes.join(", ")}`);
    if (expected && wrong.length === 0) throw new Error("it passes, and is listed as if it did not");
    const unexpected = wrong.filter(([id]) => !isExpected(id)).map(([, text]) => text);
    if (unexpected.length > 0) throw new Error(unexpected.join("\n"));
  });
}

/** Whether each name of the list exists. A name that ends with / is a prefix. */
const isUpToDate = (side, revision) =>
  check(`mcp ${side} ${revision}: the list of what need not pass is up to date`, () => {
    const names = scenarios(side === "client" ? "client" : "server", revision);
    const isThere = (name) => names.some((it) => (name.endsWith("/") ? it.startsWith(name) : it === name));
    const unknown = Object.keys(EXPECTED[side][revision]).filter((name) => !isThere(name));
    if (unknown.length > 0) throw new Error(`no such scenarios: ${unknown.join(", ")}`);
  });

/** The server of mcp-http, at `url`. */
async function own() {
  const program = new Program(join(BIN, "mcp-http"), ["--listen", "127.0.0.1:0"], process.env);
  const [, url] = await program.said(/listening on (\S+)\n/, 30);
  return { url, program, stop: (seconds) => program.stop(seconds) };
}

if (!NODE) throw new Error("the suite needs Node 22 or later, and there is none");
for (const [side, begin] of Object.entries({ server: own, hosted })) {
  for (const revision of Object.keys(EXPECTED[side])) {
    await isUpToDate(side, revision);
    const server = await begin();
    const { found } = await run("server", ["--url", server.url, "--requirements", revision]);
    for (const name of scenarios("server", revision)) await judge(side, revision, name, () => ({ checks: found.get(name) }));
    await check(`mcp ${side} ${revision} ends on SIGTERM`, async () => {
      const status = await server.stop(10);
      if (status !== 0) throw new Error(`status ${status}: ${server.program.stderr}`);
    });
  }
}

// One by one, because the excluded scenarios take minutes.
const CLIENT = ["--command", join(BIN, "mcp-conformance-client")];
for (const revision of Object.keys(EXPECTED.client)) {
  await isUpToDate("client", revision);
  const left = Object.keys(EXPECTED.client[revision]).filter((name) => name.endsWith("/"));
  for (const name of scenarios("client", revision).filter((name) => !left.some((it) => name.startsWith(it)))) {
    const target = [...CLIENT, "--scenario", name, "--spec-version", revision];
    await judge("client", revision, name, async () => {
      const { found, failure } = await run("client", target);
      return { checks: found.get(name), failure };
    });
  }
}
