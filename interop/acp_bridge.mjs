// acp-bridge between real agents and the official TypeScript clients: agents of version 2 with the client of version 1, and an
// agent of version 1 with the client of version 2. A linter is on each side of the bridge.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import * as one from "@agentclientprotocol/sdk";
import * as two from "@agentclientprotocol/sdk/experimental/v2";
import { BIN, check, INTEROP, Place, Program, within } from "./harness.mjs";

const TURN_SECONDS = 60;
const EXIT_SECONDS = 10;
const HELLO = "Hello from the scripted model";
const INFO = { name: "interop", version: "1" };
const BRIDGES = [
  { version: 1, acp: one, agents: ["claude-agent-acp", "codex-acp-2"] },
  { version: 2, acp: two, agents: ["gemini-cli"] },
];
const LOGINS = { "gemini-cli": "gemini-api-key" };
// The scenario in which the agent asks, if it runs commands without a question; and the file that it changes.
const ASKS = { "codex-acp-2": "edit" };
const CHANGED = { shell: ["made.txt", "made\n"], edit: ["greeting.txt", "hello, world\n"] };

/** A session with an agent behind the bridge. */
class Session {
  constructor({ version, acp }, name) {
    Object.assign(this, { version, name, updates: [], asked: [], waiting: [] });
    this.place = new Place();
    const { env, workspace: cwd } = this.place;
    const agent = ["python3", join(INTEROP, "tap.py"), join(this.place.root, "tap"), "--", join(INTEROP, "agents/start"), name];
    const versions = ["--editor", `${version}`, "--agent", `${3 - version}`];
    const bridge = [join(BIN, "acp-bridge"), ...versions, "--", ...this.linted("agent", agent)];
    const [program, ...args] = this.linted("editor", bridge);
    this.program = new Program(program, args, env, { cwd, stdio: "pipe" });
    const { stdin, stdout } = this.program.child;
    const app = acp
      .client({ name: "interop" })
      .onRequest("session/request_permission", ({ params }) => this.permit(params))
      .onNotification("session/update", ({ params }) => this.take(params.update));
    const stream = acp.ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout));
    this.connection = app.connect(stream);
    this.agent = this.connection.agent;
  }

  linted(side, command) {
    const output = join(this.place.root, side);
    return [join(BIN, "acp-lint"), "--format", "json", "--output", output, "--fail-on", "never", "--", ...command];
  }

  permit({ options, toolCall, subject }) {
    this.asked.push((toolCall ?? subject.toolCall).toolCallId);
    const { optionId } = options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  }

  take(update) {
    this.updates.push(update);
    this.waiting = this.waiting.filter((waits) => !waits(update));
  }

  /** Waits for an update. */
  until(what, holds) {
    const seen = new Promise((resolve) => this.waiting.push((update) => holds(update) && (resolve(update), true)));
    return within(TURN_SECONDS, what, seen);
  }

  request(method, params) {
    return within(TURN_SECONDS, method, this.agent.request(method, params));
  }

  async open() {
    const client = this.version === 1 ? { clientInfo: INFO, clientCapabilities: {} } : { info: INFO, capabilities: {} };
    const initialized = await this.request("initialize", { protocolVersion: this.version, ...client });
    assert.equal(initialized.protocolVersion, this.version);
    const login = LOGINS[this.name];
    if (login) await this.request(this.version === 1 ? "authenticate" : "auth/login", { methodId: login });
    this.opened = await this.request("session/new", { cwd: this.place.workspace, mcpServers: [] });
    this.id = this.opened.sessionId;
  }

  /** Prompts, and returns the stop reason. */
  async turn(scenario) {
    this.updates = [];
    this.asked = [];
    const prompt = [{ type: "text", text: `Please do this: scenario:${scenario} in ${this.place.workspace}` }];
    const idle = this.version === 2 && this.until("the idle state", ({ state }) => state === "idle");
    const answered = await this.request("session/prompt", { sessionId: this.id, prompt });
    return this.version === 1 ? answered.stopReason : (await idle).stopReason;
  }

  text() {
    const chunks = this.updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    return chunks.map(({ content }) => content.text ?? "").join("");
  }

  /** Ends the session, and returns the errors on the editor's side that the agent has not made itself. */
  async close() {
    this.program.child.stdin.end();
    await within(EXIT_SECONDS, "the exit of the bridge", this.program.exited);
    const found = (side) => {
      const path = join(this.place.root, side);
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
      return lines.map((line) => JSON.parse(line)).filter(({ severity }) => severity === "error");
    };
    const own = new Set(found("agent").map(({ rule, message }) => `${rule} ${message}`));
    return found("editor").filter(({ rule, message }) => !own.has(`${rule} ${message}`));
  }
}

async function turns(session) {
  await session.open();
  const spoken = `acp-bridge: the editor speaks version ${session.version}, the agent version ${3 - session.version}`;
  await session.program.said(new RegExp(spoken), TURN_SECONDS);
  assert.equal(await session.turn("text"), "end_turn");
  assert.ok(session.text().includes(HELLO), session.text());

  const scenario = ASKS[session.name] ?? "shell";
  assert.equal(await session.turn(scenario), "end_turn");
  const calls = new Set(session.updates.map(({ toolCallId }) => toolCallId).filter(Boolean));
  assert.ok(session.asked.length > 0 && session.asked.every((id) => calls.has(id)), `asked about ${session.asked} of ${[...calls]}`);
  const [file, content] = CHANGED[scenario];
  assert.equal(readFileSync(join(session.place.workspace, file), "utf8"), content);

  const begun = session.until("the first text", ({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
  const cancelled = session.turn("slow");
  await begun;
  await session.agent.notify("session/cancel", { sessionId: session.id });
  assert.equal(await cancelled, "cancelled");
  assert.equal(await session.turn("text"), "end_turn");
}

for (const bridge of BRIDGES) {
  for (const name of bridge.agents) {
    const title = `acp-bridge × ${name} in version ${3 - bridge.version} × TypeScript client of version ${bridge.version}`;
    await check(title, async () => {
      const session = new Session(bridge, name);
      try {
        await turns(session);
        assert.deepEqual(await session.close(), []);
      } catch (error) {
        error.message += `\n${session.program.stderr.slice(-3000)}`;
        throw error;
      } finally {
        session.program.child.kill();
        session.place.leave();
      }
    });
  }
}
process.exit();
