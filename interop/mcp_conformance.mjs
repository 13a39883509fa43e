// The official conformance suite of MCP with the server and the client of mcp-http, and with the server that the gateway hosts for a
// thread, for each frozen revision of the suite. mcp_conformance.json lists the exceptions with their reasons. An exception that
// passes is an error.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BIN, INTEROP, NODE_22, Program, check } from "./harness.mjs";
import { hosted } from "./mcp_hosted.mjs";

const SUITE = join(INTEROP, "node_modules/@modelcontextprotocol/conformance");
const EXPECTED = JSON.parse(readFileSync(join(INTEROP, "mcp_conformance.json"), "utf8"));

/** Scenarios of the extension for skills, which the requirements do not list. */
const CLIENT_SKILLS = ["no-prefetch", "verify-digest", "verify-size", "verify-frontmatter"].map((name) => `sep-2640-client-${name}`);
const SERVER_SKILLS = ["directory", "enumeration", "manifest"].map((name) => `sep-2640-skills-${name}`);

/** Returns the scenarios of a revision for one side, including those without a score. */
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
  return [...names.filter(Boolean), ...(side === "client" && revision >= "2026-07-28" ? CLIENT_SKILLS : [])];
}

/** Runs the suite. Returns the checks of each scenario, and the end of the output if the suite failed. */
async function run(side, target) {
  const out = mkdtempSync(join(tmpdir(), "conformance-"));
  const command = [join(SUITE, "dist/index.js"), side, ...target, "-o", out];
  const options = { timeout: 240_000, maxBuffer: 64 << 20 };
  const log = await new Promise((resolve) =>
    execFile(NODE_22, command, options, (error, stdout, stderr) => resolve({ error, text: stdout + stderr })),
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

/** Returns the failures of a scenario, with a text for each check. The list is empty if the scenario passes. */
function problems(checks) {
  if (!checks) return [["", "the scenario did not run"]];
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const shown = bad.map(({ id, status, errorMessage }) => [id, `${status} ${id}: ${errorMessage}`]);
  const passed = checks.filter(({ status }) => status === "SUCCESS").length;
  return shown.length === 0 && passed === 0 ? [["", "the scenario has no checks"]] : shown;
}

/** Checks that a scenario passes, unless the scenario or its failing checks are listed as exceptions. */
async function judge(side, revision, name, find) {
  const expected = EXPECTED[side][revision][name];
  const what = expected?.checks ? ` (except for ${expected.checks.length} checks)` : expected ? " (may fail)" : "";
  await check(`mcp ${side} ${revision} ${name}${what}`, async () => {
    const { checks, failure } = await find();
    const wrong = problems(checks);
    // The suite also fails if a client exits with an error and all checks pass.
    if (failure && wrong.length === 0) wrong.push(["", `the suite failed: ${failure}`]);
    const isExpected = (id) => (expected?.checks ? expected.checks.includes(id) : Boolean(expected));
    const passes = (expected?.checks ?? []).filter((id) => !wrong.some(([it]) => it === id));
    if (passes.length > 0) throw new Error(`listed exceptions that pass: ${passes.join(", ")}`);
    if (expected && wrong.length === 0) throw new Error("the scenario passes, but is listed as an exception");
    const unexpected = wrong.filter(([id]) => !isExpected(id)).map(([, text]) => text);
    if (unexpected.length > 0) throw new Error(unexpected.join("\n"));
  });
}

/** Checks that each listed exception exists. */
const isUpToDate = (side, revision) =>
  check(`mcp ${side} ${revision}: each listed exception exists`, () => {
    const names = scenarios(side === "client" ? "client" : "server", revision);
    const unknown = Object.keys(EXPECTED[side][revision]).filter((name) => !names.includes(name));
    if (unknown.length > 0) throw new Error(`no such scenarios: ${unknown.join(", ")}`);
  });

/** A folder with two skills, one of them with a directory. */
const skills = mkdtempSync(join(tmpdir(), "skills-"));
for (const name of ["billing/refunds", "greeting"]) {
  mkdirSync(join(skills, name), { recursive: true });
  const text = `---\nname: ${name.split("/").at(-1)}\ndescription: A skill for a test\n---\nRead \`notes/policy.md\`.\n`;
  writeFileSync(join(skills, name, "SKILL.md"), text);
}
mkdirSync(join(skills, "billing/refunds/notes"));
writeFileSync(join(skills, "billing/refunds/notes/policy.md"), "30 days\n");

/** Starts the server of mcp-http. */
async function own() {
  const program = new Program(join(BIN, "mcp-http"), ["--listen", "127.0.0.1:0", "--skills", skills], process.env);
  const [, url] = await program.said(/listening on (\S+)\n/, 30);
  return { url, program, stop: (seconds) => program.stop(seconds) };
}

if (!NODE_22) throw new Error("the suite requires Node 22 or later");
for (const [side, begin] of Object.entries({ server: own, hosted })) {
  for (const revision of Object.keys(EXPECTED[side])) {
    await isUpToDate(side, revision);
    const server = await begin();
    const { found } = await run("server", ["--url", server.url, "--requirements", revision]);
    for (const name of scenarios("server", revision)) await judge(side, revision, name, () => ({ checks: found.get(name) }));
    for (const name of side === "server" && revision >= "2026-07-28" ? SERVER_SKILLS : []) {
      const target = ["--url", server.url, "--scenario", name, "--spec-version", revision, "--force"];
      await judge(side, revision, name, async () => ({ checks: (await run("server", target)).found.get(name) }));
    }
    await check(`mcp ${side} ${revision} ends on SIGTERM`, async () => {
      const status = await server.stop(10);
      if (status !== 0) throw new Error(`status ${status}: ${server.program.stderr}`);
    });
  }
}

rmSync(skills, { recursive: true });

// The client scenarios run separately, because those of extensions have to be forced.
const CLIENT = ["--command", join(BIN, "mcp-conformance-client")];
for (const revision of Object.keys(EXPECTED.client)) {
  await isUpToDate("client", revision);
  for (const name of scenarios("client", revision)) {
    const target = [...CLIENT, "--scenario", name, "--spec-version", revision, "--force"];
    await judge("client", revision, name, async () => {
      const { found, failure } = await run("client", target);
      return { checks: found.get(name), failure };
    });
  }
}
