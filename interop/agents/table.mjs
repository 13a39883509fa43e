// The table of agents: each real agent behind the gateway, two at a time, compared with the expected cells of `table.json`.
//
//   node agents/table.mjs [--write] [NAME...]
//
// `--write` writes RESULTS.md, which otherwise has to have the same cells.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { check } from "../harness.mjs";
import { CELLS } from "./cells.mjs";

const ROW_SECONDS = 240;
const AT_ONCE = 2;
const RESULTS = new URL("RESULTS.md", import.meta.url);

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const words = process.argv.slice(2);
const named = words.filter((word) => !word.startsWith("--"));
const all = JSON.parse(read("table.json"));
const agents = all.filter(({ name }) => named.length === 0 || named.includes(name));

/** Returns the version of a package in the pins. */
function versionOf({ package: name }) {
  if (name.startsWith("pypi:")) {
    const pins = read(`packages/requirements-${name.slice(5).replace(/-(agent|acp)$/, "")}.txt`);
    return pins.match(new RegExp(`^${name.slice(5)}(?:\\[[^\\]]*\\])?==(\\S+)`, "m"))[1];
  }
  const manifests = ["packages/package.json", "../package.json"].map((file) => JSON.parse(read(file)));
  return manifests.map((it) => ({ ...it.dependencies, ...it.optionalDependencies })[name.slice(4)]).find(Boolean);
}

/** Runs the checks of an agent in a process of their own, and returns the results. */
function rowOf(name) {
  const args = [new URL("row.mjs", import.meta.url).pathname, name];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const late = setTimeout(() => child.kill("SIGKILL"), ROW_SECONDS * 1000);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code, signal) => {
      clearTimeout(late);
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`the checks of ${name} ended with ${signal ?? code}`));
    });
  });
}

/** Returns the text of a cell: `ok`, or the expected other result with its number among the lines, or the difference. */
function judge(agent, cell, result, lines) {
  const expected = agent.cells?.[cell.name];
  if (agent.hasNoKey && !cell.isWithoutKey) return { text: "needs an account" };
  if (!result) return { text: "FAILED", differs: "no result" };
  if (!expected && result.failure) return { text: "FAILED", differs: result.failure };
  if (!expected) return { text: result.note ? `ok (${result.note})` : "ok" };
  if (!result.failure) return { text: "ok", differs: `works now, but ${JSON.stringify(expected.is)} is expected` };
  const line = result.lines.find((one) => one.includes(expected.line));
  if (!line) return { text: "FAILED", differs: `no line of the agent has ${JSON.stringify(expected.line)}: ${result.failure}` };
  lines.push(expected);
  return { text: `${expected.is} [${lines.length}]` };
}

const rows = new Map();
const lines = [];
const waiting = [...agents];
async function work() {
  for (let agent = waiting.shift(); agent; agent = waiting.shift()) {
    await check(`agents: ${agent.name} ${versionOf(agent)}`, async () => {
      rows.set(agent.name, await rowOf(agent.name));
    });
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));

const heads = ["agent", "version", "written in", ...CELLS.map(({ name }) => name)];
const table = [heads, heads.map(() => "---")];
for (const agent of agents) {
  const row = rows.get(agent.name) ?? {};
  const cells = CELLS.map((cell) => {
    const { text, differs } = judge(agent, cell, row[cell.name], lines);
    if (differs) {
      process.exitCode = 1;
      console.log(`FAIL agents: ${agent.name}: ${cell.name}: ${differs}`);
    }
    return text;
  });
  table.push([agent.name, versionOf(agent), agent.language, ...cells]);
}
const notes = lines.map(({ because, line }, index) => `${index + 1}. ${because}: \`${line}\``);
const body = [...table.map((cells) => `| ${cells.join(" | ")} |`), "", ...notes, ""].join("\n");
console.log(body);

if (words.includes("--write")) {
  const date = new Date().toISOString().slice(0, 10);
  const head = read("RESULTS.head.md").replace("DATE", date);
  writeFileSync(RESULTS, `${head}\n${body}`);
} else if (named.length === 0 && !read("RESULTS.md").endsWith(`\n${body}`)) {
  process.exitCode = 1;
  console.log("FAIL agents: RESULTS.md has other cells; `interop/run agents` with AGENTS_WRITE=1 writes it");
}
