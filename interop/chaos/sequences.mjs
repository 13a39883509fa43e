// Sequences of operations, chosen by a seed.
import { AGENTS } from "./world.mjs";

const OFFERED_AGENTS = process.env.CHAOS_AGENT?.split(",") ?? Object.keys(AGENTS);
const MAX_OPERATIONS = 9;

/** Faults during a run, after a number of its events. */
const FAULTS = ["kill-agent", "kill", "term", "cancel", "reload", "reader"];
const LEFT_OUT = process.env.CHAOS_WITHOUT?.split(",") ?? [];
const KINDS = ["text", "tool", "ask", "slow"];
/** Operations and how often they are chosen. */
const OPERATIONS = {
  message: 6, "kill-agent": 1, kill: 1, term: 1, reload: 1, "second-tab": 1, "second-tab-queued": 1,
  "cancel-unsent": 1, "cancel-queued": 1, edit: 1, regenerate: 1, neighbour: 1, "other-replica": 1,
};
const REDIS_ONLY = ["other-replica"];
/** Without a history, a tab cannot open a conversation that another tab has changed. */
const FILE_ONLY = ["neighbour", "reload", "reader", "second-tab", "second-tab-queued", "cancel-queued"];

/**
 * Agents that answer `session/load` before they repeat the conversation. Of a turn that was cut off, what they repeat in the
 * next turn cannot be told from a new text: it is shown again.
 */
const LATE_AGENTS = ["gemini-cli"];
const CUTTING_FAULTS = ["kill-agent", "kill", "term", "cancel"];

/** Returns random numbers below 1 (mulberry32). */
function randomNumbers(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the sequence of a seed: an agent, and operations as data. */
export function sequenceOf(seed, store) {
  const random = randomNumbers(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const agent = pick(OFFERED_AGENTS);
  const names = Object.entries(OPERATIONS).flatMap(([name, weight]) => Array(weight).fill(name));
  const isLate = LATE_AGENTS.includes(agent);
  const leftOut = [...LEFT_OUT, ...(store === "redis" ? FILE_ONLY : REDIS_ONLY), ...(isLate ? ["cancel-queued"] : [])];
  const offered = names.filter((name) => !leftOut.includes(name));
  const operations = Array.from({ length: 3 + Math.floor(random() * (MAX_OPERATIONS - 2)) }, (_, number) => {
    const operation = { name: number === 0 ? "message" : pick(offered), kind: pick(KINDS), option: pick(["allow-once", "reject-once"]), at: random() };
    const faults = FAULTS.filter((fault) => !leftOut.includes(fault) && !(isLate && CUTTING_FAULTS.includes(fault)));
    const fault = random() < 0.4 && faults.length > 0 ? pick(faults) : undefined;
    if (["message", "edit"].includes(operation.name) && fault) {
      operation.fault = fault;
      operation.after = 1 + Math.floor(random() * 8);
      // A turn that waits is ended by its fault.
      if (random() < 0.4 && !isLate) operation.kind = "hold";
    }
    return operation;
  });
  // In the end, a client without the conversation continues it: the gateway passes on what it has kept.
  if (store === "redis" && random() < 0.5) operations.push({ name: "kill" }, { name: "second-tab", kind: "text" });
  return { agent, operations };
}

/** Names an operation in one word. */
export const shown = ({ name, kind, option, fault, after }) => {
  const isTurn = /message|tab|cancel|edit|regenerate/.test(name);
  return name + (isTurn ? `:${kind}${kind === "ask" ? `=${option}` : ""}` : "") + (fault ? `/${fault}@${after}` : "");
};
