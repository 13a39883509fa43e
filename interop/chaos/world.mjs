// Gateways with the scripted agents, which are killed and restarted on the same store.
import { existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { BIN, INTEROP, Place, Program, within } from "../harness.mjs";

const START_SECONDS = 30;
const EXIT_SECONDS = 30;
const WAIT_SECONDS = 30;
const LEASE_SECONDS = 2;
/** Times of a request that is refused because a killed gateway still has the lease of its threads. */
const LEASE_RETRY_MS = 200;
export const USERS = { alice: "token-of-alice-000", bob: "token-of-bob-00000" };
/** The agents by the way in which they continue sessions. */
export const AGENTS = {
  "claude-agent-acp": "session/resume",
  "codex-acp": "session/resume",
  grok: "session/resume",
  "gemini-cli": "session/load",
  deepagents: null,
};

/** One gateway with a file as its store, or two with a shared Redis server. */
export class World {
  static async open(isShared) {
    const world = new World();
    world.isShared = isShared;
    world.place = new Place();
    const folder = join(world.place.root, "chaos");
    mkdirSync(folder);
    const lines = [`default-agent = "grok"`, `when-busy = "queue"`, ...Object.entries(USERS).map(([user, token]) => `auth.tokens.${user} = "${token}"`)];
    for (const agent of Object.keys(AGENTS)) {
      mkdirSync(join(folder, agent));
      const words = ["python3", join(INTEROP, "chaos/agent.py"), join(INTEROP, `chaos/${agent}.json`), join(folder, agent)];
      lines.push(`[agents.${agent}]`, `command = "${words.map((word) => `'${word}'`).join(" ")}"`);
    }
    writeFileSync(join(world.place.root, "gateway.toml"), lines.join("\n"));
    world.folder = folder;
    world.prefix = randomUUID();
    world.gateways = [];
    for (let number = 0; number < (isShared ? 2 : 1); number++) {
      world.gateways.push({});
      await world.start(number);
    }
    world.current = 0;
    return world;
  }

  async start(number) {
    const { place } = this;
    const store = this.isShared ? process.env.REDIS_URL : join(place.root, "gateway.db");
    const shared = { GATEWAY_REPLICAS_PREFIX: this.prefix, GATEWAY_REPLICAS_LEASE: `${LEASE_SECONDS}` };
    const options = ["--config", join(place.root, "gateway.toml"), "--listen", "127.0.0.1:0", "--cwd", place.workspace, "--store", store];
    const env = { ...place.env, ...(this.isShared ? shared : {}), CHAOS_GATEWAY: `${number}` };
    const program = new Program(join(BIN, "gateway"), options, env);
    const [, url] = await program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, START_SECONDS);
    this.gateways[number] = { program, url };
  }

  /** Returns what sends the requests of a user to the current gateway. */
  as(user) {
    return async (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set("Authorization", `Bearer ${USERS[user]}`);
      for (const until = Date.now() + LEASE_SECONDS * 4000; ; ) {
        const response = await fetch(this.gateways[this.current].url + path, { ...init, headers });
        if (!this.isShared || response.status !== 503 || Date.now() > until) return response;
        await response.arrayBuffer();
        await new Promise((resolve) => setTimeout(resolve, LEASE_RETRY_MS));
      }
    };
  }

  /** Returns the lines of an agent's log, of all its processes. The last line may be being written. */
  log(agent) {
    const file = join(this.folder, agent, "log.jsonl");
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line));
  }

  /** Waits for a line of an agent's log. */
  async logged(agent, what, holds) {
    const watcher = watch(join(this.folder, agent));
    try {
      const found = new Promise((resolve) => watcher.on("change", () => this.log(agent).some(holds) && resolve()));
      await within(WAIT_SECONDS, what, this.log(agent).some(holds) ? undefined : found);
    } finally {
      watcher.close();
    }
  }

  /** Returns the process of an agent that has written the last line, and its gateway, unless it has ended. */
  #process(agent) {
    const lines = this.log(agent);
    const pid = lines.at(-1)?.pid;
    if (!this.place.processes().has(pid)) return undefined;
    const { gateway } = lines.find((line) => line.event === "started" && line.pid === pid);
    return { pid, gateway: Number(gateway) };
  }

  /** Kills the process of an agent, if it runs. Returns whether it ran. */
  killAgent(agent) {
    const found = this.#process(agent);
    if (found) process.kill(found.pid, "SIGKILL");
    return found !== undefined;
  }

  /** Ends the gateway of an agent's process by a signal, and starts it again. */
  async restart(signal, agent) {
    const number = this.#process(agent)?.gateway ?? this.current;
    const { program } = this.gateways[number];
    program.child.kill(signal);
    const status = await within(EXIT_SECONDS, `the end by ${signal}`, program.exited);
    if (signal === "SIGTERM" && status !== 0) throw new Error(`the gateway ended with ${status}: ${program.stderr}`);
    await this.start(number);
  }

  /** Lets an agent open no sessions while `body` runs. */
  async holdingOpen(agent, body) {
    const file = join(this.folder, agent, "hold-open");
    writeFileSync(file, "");
    try {
      await body();
    } finally {
      rmSync(file);
    }
  }

  /** Ends the gateways. Returns the processes that are left. */
  async close() {
    for (const { program } of this.gateways) {
      if (program.child.exitCode === null && program.child.signalCode === null) await program.stop(EXIT_SECONDS);
    }
    return [...this.place.leave().values()];
  }
}
