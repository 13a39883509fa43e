// Runs the checks of one agent of the table, and prints the results as JSON: `node row.mjs NAME [CELL...]`.
import { readFileSync } from "node:fs";
import { Chat } from "../chat.mjs";
import { CELLS } from "./cells.mjs";

const VERSION = "1.0.0";
const END_SECONDS = 15;
const FAILURE_BYTES = 600;

const [name, ...wanted] = process.argv.slice(2);
const agents = JSON.parse(readFileSync(new URL("table.json", import.meta.url), "utf8"));
const agent = agents.find((one) => one.name === name);
const row = {};

/** Runs the cells of the agent with or without a key, behind one gateway. */
async function runCells(isWithoutKey) {
  const isMeant = (cell) => Boolean(cell.isWithoutKey) === isWithoutKey && (wanted.length === 0 || wanted.includes(cell.name));
  const cells = CELLS.filter(isMeant);
  if (cells.length === 0 || (agent.hasNoKey && !isWithoutKey)) return;
  const { authenticate, ...rest } = agent;
  if (isWithoutKey) process.env.INTEROP_KEY = "";
  const chat = await Chat.open({ ...rest, ...(!isWithoutKey && { authenticate }) }, VERSION, ["--permission", "ask"]);
  for (const cell of cells) {
    const began = performance.now();
    try {
      row[cell.name] = { note: await cell.run(chat) };
    } catch (error) {
      row[cell.name] = { failure: error.message.slice(0, FAILURE_BYTES) };
    }
    row[cell.name].seconds = Math.round((performance.now() - began) / 100) / 10;
  }
  // What the agent wrote shows its own faults.
  const wrote = chat.place.tapped("out").map((line) => JSON.stringify(line)).concat(chat.gateway.stderr.split("\n"));
  for (const cell of cells) if (row[cell.name].failure) row[cell.name].lines = wrote;
  // Some agents do not end at the end of their input.
  await chat.gateway.stop(END_SECONDS).catch(() => {});
  chat.place.leave();
}

await runCells(false);
await runCells(true);
process.stdout.write(JSON.stringify(row), () => process.exit(0));
