// Shared parts of the Node checks: named checks, bounded waits, workspaces, programs, leftover processes, taps.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const INTEROP = fileURLToPath(new URL(".", import.meta.url));
export const BIN = process.env.INTEROP_BIN;
export const AGENTS = JSON.parse(readFileSync(join(INTEROP, "agents/agents.json"), "utf8"));
export const SCENARIOS = JSON.parse(readFileSync(join(INTEROP, "scenarios.json"), "utf8"));
/** The executable of Node 22, which some packages require. npm installs one next to an older version. */
export const NODE_22 =
  Number(process.versions.node.split(".")[0]) >= 22
    ? process.execPath
    : ["x64", "arm64"].map((cpu) => join(INTEROP, `node_modules/node-linux-${cpu}/bin/node`)).find(existsSync);
const MARK = "INTEROP_RUN";

/** Runs one check and prints its line; `body` throws on failure. */
export async function check(name, body) {
  const start = performance.now();
  try {
    await body();
    console.log(`PASS ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAIL ${name}\n${error.stack}${error.cause ? `\ncaused by ${error.cause.stack}` : ""}`);
  }
}

process.on("unhandledRejection", (error) => {
  process.exitCode = 1;
  console.log(`FAIL unhandled rejection of a promise\n${error.stack}`);
});

/** Adds a time limit to a promise. `what` names the expected event in the error. */
export function within(seconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Returns the prompt that selects a scenario. */
export const prompt = (agent, scenario) => agent.prompts?.[scenario] ?? `Please do this: scenario:${scenario}`;

/** The workspace, home and tap folder of one run. Each process of the run has `run` in its environment. */
export class Place {
  constructor() {
    this.run = randomUUID();
    this.root = mkdtempSync(join(tmpdir(), "interop-"));
    this.workspace = join(this.root, "workspace");
    cpSync(join(INTEROP, "workspace"), this.workspace, { recursive: true });
    for (const folder of ["home", "tap"]) mkdirSync(join(this.root, folder));
    this.env = { ...process.env, [MARK]: this.run, INTEROP_HOME: join(this.root, "home") };
  }

  /** Returns the command line of an agent behind a tap, with quoted words. */
  agentCommand(agent) {
    const tap = ["python3", join(INTEROP, "tap.py"), join(this.root, "tap"), "--"];
    const words = [...tap, join(INTEROP, "agents/start"), agent.name];
    return words.map((word) => `'${word}'`).join(" ");
  }

  /**
   * Returns the messages of all taps in one direction, `in` (to the agent) or `out`, ordered by process.
   * Lines that are not JSON objects are skipped.
   */
  tapped(direction) {
    const folder = join(this.root, "tap");
    const files = readdirSync(folder).filter((name) => name.endsWith(`.${direction}`));
    files.sort((a, b) => parseInt(a) - parseInt(b));
    return files.flatMap((name) => {
      const lines = readFileSync(join(folder, name), "utf8").split("\n");
      return lines.slice(0, -1).filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    });
  }

  /** Waits until a condition on the taps' messages holds. */
  async until(what, seconds, holds) {
    const watcher = watch(join(this.root, "tap"));
    try {
      const seen = new Promise((resolve) => watcher.on("change", () => holds() && resolve()));
      await within(seconds, what, holds() ? undefined : seen);
    } finally {
      watcher.close();
    }
  }

  /** Returns the live processes of this run, as `pid → command`. */
  processes() {
    const found = new Map();
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
        if (environment.includes(`${MARK}=${this.run}`)) {
          found.set(Number(pid), readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " "));
        }
      } catch (error) {
        if (!["ENOENT", "ESRCH", "EACCES"].includes(error.code)) throw error;
      }
    }
    return found;
  }

  /** Ends the remaining processes, removes the folders, and returns those processes. */
  leave() {
    const left = this.processes();
    for (const pid of left.keys()) process.kill(pid, "SIGKILL");
    rmSync(this.root, { recursive: true, force: true });
    return left;
  }
}

/** A program in the background; `options` are those of `spawn`. */
export class Program {
  constructor(command, args, env, options = {}) {
    this.stderr = "";
    this.child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"], ...options });
    this.child.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
    // The event `exit` may precede the last output.
    this.exited = new Promise((resolve, reject) => {
      this.child.on("error", reject).on("close", (code, signal) => resolve(signal ?? code));
    });
  }

  /** Waits for the first match on stderr. */
  said(pattern, seconds) {
    const match = new Promise((resolve, reject) => {
      const look = () => pattern.test(this.stderr) && resolve(this.stderr.match(pattern));
      this.child.stderr.on("data", look);
      this.exited.then((status) => reject(new Error(`ended with ${status}: ${this.stderr}`)), reject);
      look();
    });
    return within(seconds, `output that matches ${pattern}`, match);
  }

  /** Sends SIGTERM, and returns the exit status or signal. */
  stop(seconds) {
    this.child.kill("SIGTERM");
    return within(seconds, "the exit after SIGTERM", this.exited);
  }
}
