// Random sequences of messages, faults, reloads and edits, after each of which the conversation has every acknowledged message.
//
//   CHAOS_RUNS=200 CHAOS_SEED=7 node gateway_chaos.mjs     default: 32, a quarter with Redis, a random seed
//
// Sequence N of a run has the seed CHAOS_SEED + N, so that CHAOS_RUNS=1 with a printed seed repeats it. CHAOS_SHRINK=1 also
// looks for a shorter sequence that fails. CHAOS_STORE=file or redis selects one store, CHAOS_AGENT agents, and CHAOS_WITHOUT
// leaves out operations and faults.
import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";
import { Conversation } from "./chaos/conversation.mjs";
import { sequenceOf, shown } from "./chaos/sequences.mjs";
import { Tab } from "./chaos/tab.mjs";
import { AGENTS, World } from "./chaos/world.mjs";
import { check } from "./harness.mjs";

const SEED = Number(process.env.CHAOS_SEED ?? randomInt(1e9));
const RUNS = Number(process.env.CHAOS_RUNS ?? 32);
const STORES = process.env.CHAOS_STORE ? [process.env.CHAOS_STORE] : ["file", "redis"];
/** The part of the sequences with Redis. */
const REDIS_SHARE = 0.25;
const MAX_FAILURES = 3;
const WAIT_MS = 20_000;

/** One sequence: a thread of alice, and one with the same id of bob. */
class Sequence {
  /** Messages that were cancelled before the agent had them. */
  withdrawn = new Set();
  /** How often a message may be sent to the agent. */
  allowed = new Map();
  /** Users of whom the agent's session goes on with the next message. */
  continued = new Set();
  number = 0;

  constructor(world, agent) {
    this.world = world;
    this.agent = agent;
    this.threadId = randomUUID();
    this.conversations = { alice: new Conversation(), bob: new Conversation() };
    this.tabs = { alice: this.newTab("alice"), bob: this.newTab("bob") };
    this.logged = world.log(agent).length;
    this.checked = 0;
  }

  newTab(user) {
    return new Tab(this.world.as(user), this.agent, this.threadId);
  }

  /** Returns the tab of a user; a new one if another tab has changed the conversation. */
  async tabOf(user) {
    if (this.tabs[user] === null) {
      this.tabs[user] = this.newTab(user);
      await this.tabs[user].open();
    }
    return this.tabs[user];
  }

  /** Whether a page has left the conversation and cannot load it again: Redis has no list of conversations. */
  isUnread(user) {
    return this.world.isShared && this.tabs[user] === null;
  }

  /** The lines that the agent has written in this sequence. */
  get log() {
    return this.world.log(this.agent).slice(this.logged);
  }

  async perform(operation) {
    await this[operation.name](operation);
    await this.checkAll();
  }

  newId() {
    this.number += 1;
    return `m${this.number}`;
  }

  say(user, id, { kind, option }) {
    this.allowed.set(id, (this.allowed.get(id) ?? 0) + 1);
    // Its user may send a cancelled message again.
    this.withdrawn.delete(id);
    return { user, kind, option, ...this.conversations[user].say(id, kind, option), id };
  }

  // Runs

  /** Runs a turn, answers its question, and has the fault of the operation. Returns the end of its last run. */
  async run(turn, tab, { fault, after, alone, onText = () => {} } = {}) {
    let injected;
    let count = 0;
    const observe = turn.observer();
    const inject = () => (injected ??= this.inject(fault, turn, tab));
    const onEvent = (event) => {
      observe(event);
      count += 1;
      const isText = event.type === "TEXT_MESSAGE_CONTENT";
      if (isText) onText();
      if (fault !== undefined && (count === after || (isText && turn.kind === "hold"))) inject();
    };
    let end = await tab.run(turn.content, { onEvent, alone });
    while (end.kind === "interrupted" && !tab.isLeft) end = await tab.run(null, { onEvent, alone, answer: { optionId: turn.option } });
    if (fault !== undefined) end = (await inject()) ?? end;
    const isCut = end.kind === "truncated" && fault === "kill";
    assert.ok(isCut || !["malformed", "truncated"].includes(end.kind), `${turn.id} ended with ${JSON.stringify(end)}`);
    // A failed message may be sent again with the next one.
    if (isCut || end.kind === "failed") this.allowed.set(turn.id, Infinity);
    // The page has an event that the killed gateway had not stored: its user loads it again.
    if (isCut) {
      this.tabs[turn.user] = null;
      this.conversations[turn.user].doubt(turn.id);
    }
    return end;
  }

  /** Does something during a run. Returns the end of the run, if another tab has read it. */
  async inject(fault, turn, tab) {
    const { world, agent } = this;
    if (fault === "kill-agent") this.mayLack = world.killAgent(agent);
    if (fault === "kill") await world.restart("SIGKILL", agent);
    if (fault === "term") await world.restart("SIGTERM", agent);
    if (fault === "cancel") await tab.active?.cancel();
    if (fault !== "reload" && fault !== "reader") return undefined;
    if (fault === "reload") tab.leave();
    const reader = this.newTab(turn.user);
    const observe = turn.observer();
    const onEvent = (event) => {
      observe(event);
      if (turn.kind === "hold" && event.type === "TEXT_MESSAGE_CONTENT") void reader.active.cancel();
    };
    const { exists, end } = await reader.open(onEvent);
    assert.ok(exists, "the conversation of an active run is in the list");
    if (fault === "reader") return undefined;
    this.tabs[turn.user] = reader;
    return end.kind === "interrupted" ? reader.run(null, { onEvent, answer: { optionId: turn.option } }) : end;
  }

  // Operations

  async message(operation, user = "alice", { tab, alone = tab === undefined && this.isUnread(user), id = this.newId() } = {}) {
    const { fault } = operation;
    const isContinued = this.continued.has(user) && tab === undefined;
    const opened = this.log.length;
    const writer = tab ?? (alone ? this.newTab(user) : await this.tabOf(user));
    const turn = this.say(user, id, operation);
    const end = await this.run(turn, writer, { ...operation, alone });
    this.continued.delete(user);
    if (fault === undefined) {
      const isLost = this.mayLack && end.kind === "failed" && end.code.startsWith("AGENT_");
      assert.ok(end.kind === "finished" || isLost, `${id} ended with ${JSON.stringify(end)}`);
      // The gateway compares the next whole conversation with the messages of the last input.
      if (!isLost && !alone) this.continued.add(user);
      if (!isLost && isContinued) this.checkContinued(opened, id);
      this.mayLack = false;
    }
    if (alone) this.tabs[user] = null;
  }

  /** Checks that the session of the thread went on, if the agent can continue sessions. */
  checkContinued(opened, id) {
    const methods = this.log.slice(opened).filter(({ event }) => event === "open").map(({ method }) => method);
    if (AGENTS[this.agent] !== null) assert.ok(!methods.includes("session/new"), `${id}: the agent's session did not go on`);
  }

  "kill-agent"() {
    this.mayLack = this.world.killAgent(this.agent);
  }

  kill() {
    return this.world.restart("SIGKILL", this.agent);
  }

  term() {
    return this.world.restart("SIGTERM", this.agent);
  }

  reload() {
    this.tabs.alice = null;
  }

  "second-tab"(operation) {
    return this.message(operation, "alice", { alone: true });
  }

  neighbour(operation) {
    return this.message(operation, "bob");
  }

  "other-replica"() {
    this.world.current = 1 - this.world.current;
  }

  async edit(operation, isAgain = false) {
    if (this.isUnread("alice")) return;
    const tab = await this.tabOf("alice");
    const { prompts } = tab;
    const message = prompts[Math.floor(operation.at * prompts.length)];
    if (message === undefined) return;
    const [, sameId, sameKind] = message.content.match(/\[\[(\S+) (\w+)\]\]/);
    const isSame = isAgain && sameKind !== "hold";
    tab.thread.cut(message);
    this.conversations.alice.cut(message.content);
    const kind = isSame ? sameKind : operation.kind;
    await this.message({ ...operation, kind }, "alice", { tab, id: isSame ? sameId : this.newId() });
  }

  /** Asks for another answer to a message, unless its turn waits. */
  regenerate(operation) {
    return this.edit(operation, true);
  }

  /** Cancels a message while the session is being opened. */
  async "cancel-unsent"({ at }) {
    if (this.isUnread("alice")) return;
    const { world, agent } = this;
    const tab = await this.tabOf("alice");
    await world.restart(at < 0.5 ? "SIGKILL" : "SIGTERM", agent);
    const opened = world.log(agent).length;
    const turn = this.say("alice", this.newId(), { kind: "text" });
    await world.holdingOpen(agent, async () => {
      const run = this.run(turn, tab);
      await world.logged(agent, "a session that is being opened", ({ event }, index) => event === "open" && index >= opened);
      await tab.active.cancel();
      const end = await run;
      assert.equal(end.kind, "cancelled", JSON.stringify(end));
      this.withdrawn.add(turn.id);
    });
    this.continued.delete("alice");
  }

  /** Cancels a message of another tab while it waits for the end of a turn. */
  async "cancel-queued"() {
    const other = this.newTab("alice");
    const tab = await this.tabOf("alice");
    const turn = this.say("alice", this.newId(), { kind: "hold" });
    const queued = this.say("alice", this.newId(), { kind: "text" });
    const ended = () => tab.active.cancel();
    await this.runBoth(turn, tab, () => this.cancelWaiting(queued, other, ended));
    this.withdrawn.add(queued.id);
    this.leaveStale();
  }

  async cancelWaiting(queued, other, then) {
    const run = this.run(queued, other, { alone: true });
    // The gateway knows the run as soon as it waits.
    const until = Date.now() + WAIT_MS;
    while (!(await other.active.cancel()).ok) assert.ok(Date.now() < until, `the gateway does not know the run of ${queued.id}`);
    await then();
    const end = await run;
    assert.equal(end.kind, "cancelled", JSON.stringify(end));
  }

  /** Runs a turn, and another one from its first text on. */
  async runBoth(turn, tab, other) {
    let waiting;
    const end = (error) => {
      tab.leave();
      return error;
    };
    await this.run(turn, tab, { onText: () => (waiting ??= other().then(() => undefined, end)) });
    const error = await waiting;
    if (error) throw error;
  }

  /** A message of another tab during a turn. */
  async "second-tab-queued"(operation) {
    const other = this.newTab("alice");
    const tab = await this.tabOf("alice");
    const turn = this.say("alice", this.newId(), { kind: "slow" });
    const queued = this.say("alice", this.newId(), operation);
    await this.runBoth(turn, tab, () => this.run(queued, other, { alone: true }));
    this.leaveStale();
  }

  /** The conversation was changed by another tab. */
  leaveStale() {
    this.tabs.alice = null;
    this.continued.delete("alice");
    this.mayLack = false;
  }

  // Checks

  async checkAll() {
    for (const [user, conversation] of Object.entries(this.conversations)) {
      if (this.tabs[user] !== null) conversation.check(`the page of ${user}`, this.tabs[user].texts);
      if (this.world.isShared) continue;
      const reader = this.newTab(user);
      const { exists, end } = await reader.open();
      const isRead = exists && !["truncated", "malformed", "refused", "unreachable"].includes(end.kind);
      assert.ok(isRead, `the stored conversation of ${user} cannot be read: ${JSON.stringify({ exists, end })}`);
      conversation.check(`the stored conversation of ${user}`, reader.texts);
    }
    this.checkPrompts();
  }

  /** Checks what the agent has received. */
  checkPrompts() {
    const prompts = this.log.filter(({ event }) => event === "prompt");
    const counts = new Map();
    for (const id of prompts.flatMap(({ ids }) => ids)) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
      assert.ok(!this.withdrawn.has(id), `the agent has received ${id}, which was cancelled before`);
      assert.ok(counts.get(id) <= this.allowed.get(id), `the agent has received ${id} twice`);
    }
    for (const { ids, passedOn } of prompts.slice(this.checked)) {
      const conversation = Object.values(this.conversations).find(({ entries }) => entries.some(({ id }) => id === ids[0]));
      // A message that was cancelled before the agent had it is not passed on.
      const isOptional = (id) => this.withdrawn.has(id) || !counts.has(id);
      if (passedOn !== null) conversation?.checkPassedOn(passedOn, ids[0], isOptional);
    }
    this.checked = prompts.length;
  }
}

async function perform(world, { agent, operations }) {
  const sequence = new Sequence(world, agent);
  if (!world.isShared) await sequence.message({ kind: "text" }, "bob");
  for (const [index, operation] of operations.entries()) {
    try {
      await sequence.perform(operation);
    } catch (error) {
      error.message = `operation ${index + 1}, ${shown(operation)}: ${error.message}`;
      throw error;
    }
  }
}

/** Returns the failure of a sequence, if any, in a world of its own. */
async function failureOf(store, sequence) {
  const world = await World.open(store === "redis");
  try {
    await perform(world, sequence);
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await world.close();
  }
}

/** Returns the sequence without the operations that the failure does not need. */
async function shrunk(store, sequence) {
  let { agent, operations } = sequence;
  for (let index = operations.length - 1; index >= 0; index--) {
    const fewer = operations.filter((_, each) => each !== index);
    if (await failureOf(store, { agent, operations: fewer })) operations = fewer;
  }
  return { agent, operations };
}

const words = ({ agent, operations }) => `${agent}: ${operations.map(shown).join(" ")}`;

async function report(store, seed, sequence, error) {
  console.log(`sequence with ${store} and CHAOS_SEED=${seed}, ${words(sequence)}\n  ${error.message}`);
  if (!process.env.CHAOS_SHRINK) return;
  const fewer = await shrunk(store, sequence);
  console.log(`  shorter: ${words(fewer)}\n  ${(await failureOf(store, fewer))?.message}`);
}

async function runStore(store, from, count) {
  let world = await World.open(store === "redis");
  let failures = 0;
  for (let seed = from; seed < from + count && failures < MAX_FAILURES; seed++) {
    const sequence = sequenceOf(seed, store);
    try {
      await perform(world, sequence);
    } catch (error) {
      failures += 1;
      await world.close();
      await report(store, seed, sequence, error);
      world = await World.open(store === "redis");
    }
  }
  assert.deepEqual(await world.close(), [], "processes left behind");
  assert.equal(failures, 0, "sequences that failed");
}

for (const store of STORES) {
  const share = STORES.length === 1 ? 1 : store === "redis" ? REDIS_SHARE : 1 - REDIS_SHARE;
  const count = Math.ceil(RUNS * share);
  await check(`chaos: ${count} sequences from seed ${SEED}, with ${store}`, () => runStore(store, SEED, count));
}
