// Compares acp-types with the zod types of the TypeScript SDK, over the values of the comparison with the official Rust types.
// The lines of `acp-instances` are read from stdin.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { INTEROP, check } from "./harness.mjs";

const sdk = join(INTEROP, "node_modules/@agentclientprotocol/sdk/dist");
const ZOD = {
  v1: await import(join(sdk, "v1/unstable/schema/zod.gen.js")),
  v2: await import(join(sdk, "v2/unstable/schema/zod.gen.js")),
};

/** Intended differences: the values, the side that rejects them, and the reason. */
const INTENDED = [
  {
    // The SDK reads an invalid `terminal`, or a `type` that is not a string, as an agent's own method and drops the terminal's
    // members. In acp-types and the official Rust types, a known tag with an invalid body is an error.
    is: (line) => line.version === "v1" && line.type === "AuthMethod",
    refused: "ours",
  },
  {
    // The SDK rejects an unknown kind as a document. The official Rust type reads it as `other`; acp-types keeps it.
    is: (line) => line.version === "v1" && line.type === "ToolKind" && line.change === "OtherName",
    refused: "zod",
  },
];

/**
 * The newest release of the SDK has schema 1.15.1: it lacks types, and has other rules for values with the members, updates and
 * variants of schema 1.20.
 */
const NEWER = /"(prompt_suggestions_update|cursor_update|replay_complete|compaction_update|cursorId|idempotencyKey)"|"type":"(session|skill)"/;
const isNewer = ({ version, type, value }) =>
  !ZOD[version][`z${type}`] ||
  type === "CompactionUpdate" ||
  (/^(New|Load|Resume|Fork)SessionRequest$/.test(type) && value?.configOptions !== undefined) ||
  NEWER.test(JSON.stringify(value));

const lines = readFileSync(0, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const part = (value, pointer) => {
  const names = pointer.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce((value, name) => value?.[name], value);
};
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

await check(`acp-types × zod types of the TypeScript SDK: ${lines.length} values`, () => {
  if (lines.length < 30_000) throw new Error("too few values");
  const tally = { taken: 0, refused: 0, open: 0, newer: 0 };
  const seen = new Set();
  const differences = [];
  for (const line of lines) {
    const { version, type, change, at, value, official, ours, told } = line;
    if (isNewer(line)) {
      tally.newer += 1;
      continue;
    }
    const theirs = ZOD[version][`z${type}`].safeParse(value);
    let problem;
    if (theirs.success && ours === null) problem = "ours";
    else if (theirs.success) {
      tally.taken += 1;
      if (told.some((pointer) => same(part(theirs.data, pointer), part(value, pointer)))) problem = "left out by ours";
    } else if (ours === null) tally.refused += 1;
    // Values that the official Rust types also reject are listed in the comparison with them.
    else if (!official) tally.open += 1;
    else problem = "zod";
    if (!problem) continue;
    const intended = INTENDED.find((one) => one.refused === problem && one.is(line));
    if (intended) seen.add(intended);
    else differences.push(`${version} ${type} ${change} ${at}, refused by ${problem}: ${JSON.stringify(value)}`);
  }
  if (differences.length) throw new Error(`${differences.length} differences\n${differences.slice(0, 50).join("\n")}`);
  if (tally.newer > lines.length / 5) throw new Error(`${tally.newer} values are not compared`);
  if (seen.size !== INTENDED.length) throw new Error("an intended difference does not occur");
  console.log(`     accepted by both ${tally.taken}, refused by both ${tally.refused}, accepted only by acp-types ${tally.open}, newer than the SDK ${tally.newer}`);
});
