// Makes the screenshots of the README: the page during a turn, and the report of that session.
//
//   interop/page/pictures.mjs    requires a previous interop/page/run, and INTEROP_BIN with the folder of the programs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { answer, permission, prompt, send } from "./checks/page.mjs";
import { startGateway } from "./gateway.mjs";
import { FLAGS } from "./runner.mjs";

const { INTEROP_BIN, CHROMIUM_BIN = "/usr/bin/chromium" } = process.env;
assert.ok(INTEROP_BIN, "INTEROP_BIN names the folder of the programs");
const program = (name) => path.join(INTEROP_BIN, name);
const pictures = fileURLToPath(new URL("../../docs/", import.meta.url));
const scratch = await mkdtemp(path.join(tmpdir(), "pictures-"));
const transcript = path.join(scratch, "session.jsonl");
const agent = `${program("acp-traces")} --file /dev/null --record ${transcript} -- ${program("demo-agent")}`;

const browser = await chromium.launch({ executablePath: CHROMIUM_BIN, args: FLAGS });
try {
  const context = await browser.newContext({ viewport: { width: 1000, height: 720 }, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  const gateway = await startGateway(program("gateway"), { options: ["--agent", agent] });
  try {
    await page.goto(gateway.url);
    await prompt(page).waitFor();
    await send(page, "tour");
    await permission(page).getByRole("button").first().waitFor();
    await page.locator(".diff table").waitFor();
    await page.screenshot({ path: path.join(pictures, "page.png") });
    await answer(page, /allow/i);
    await page.getByRole("region", { name: "Turn 1", exact: true }).locator(".turn-end").waitFor();
  } finally {
    await gateway.stop();
  }
  const report = path.join(scratch, "report.html");
  execFileSync(program("acp-traces"), ["report", transcript, "--record-content", "--policy", "titles=always", "-o", report]);
  await page.goto(pathToFileURL(report).href);
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.screenshot({ path: path.join(pictures, "report.png") });
} finally {
  await browser.close();
  await rm(scratch, { recursive: true, force: true });
}
