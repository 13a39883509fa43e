import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { CODES, failureTitle, nextStep, refusal, sentence } from "../../../examples/gateway/page/next-steps.js";

test("each documented code has a title and a next step", async () => {
  const page = await readFile(new URL("../../../examples/gateway/docs/failures.md", import.meta.url), "utf8");
  const [, table] = /## Error codes\n([\s\S]*?)\nThe chat over a \[WebSocket\]/.exec(page);
  const documented = [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  assert.ok(documented.length > 30, `${documented}`);
  assert.deepEqual([...CODES].sort(), documented.sort());
  for (const code of CODES) {
    assert.match(failureTitle(code), /^[A-Z].*[^.]$/, code);
    assert.match(nextStep(code), /^[A-Z].*\.$/, code);
  }
});

test("each documented status of a refused request has a title and a next step", async () => {
  const page = await readFile(new URL("../../../examples/gateway/docs/http.md", import.meta.url), "utf8");
  const [, table] = /## Errors\n([\s\S]*?)\nA failure after the start/.exec(page);
  const statuses = [...table.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, list]) => list.split(", ").map(Number));
  assert.ok(statuses.includes(429), `${statuses}`);
  const [other] = refusal(418);
  for (const status of statuses.filter((status) => ![405, 408, 426].includes(status))) assert.notEqual(refusal(status)[0], other, `${status}`);
});

test("an unknown code has a general next step", () => {
  assert.equal(failureTitle("NEWER"), "The run failed");
  assert.match(nextStep(undefined), /^Try again\./);
});

test("messages of programs are sentences", () => {
  const table = [
    ["the agent closed the connection (exit status: 3)", "The agent closed the connection (exit status: 3)."],
    ["gemini: command not found", "Gemini: command not found."],
    ["Is it there?", "Is it there?"],
    ["read `log.txt`", "Read `log.txt`"],
    ["/usr/bin/agent is missing", "/usr/bin/agent is missing."],
    ["  ", ""],
  ];
  for (const [given, expected] of table) assert.equal(sentence(given), expected);
});
