// Runs the checks of the page in Chromium. Prints PASS or FAIL for each.
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { checks } from "./checks.mjs";
import { startGateway } from "./gateway.mjs";

const CHECK_MS = 30_000;
const STEP_MS = 15_000;
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const wanted = process.argv.slice(2);
const shots = await mkdtemp(path.join(tmpdir(), "page-shots-"));
console.log(`screenshots in ${shots}`);

const { GATEWAY_BIN, CHROMIUM_BIN } = process.env;
assert.ok(GATEWAY_BIN && CHROMIUM_BIN, "GATEWAY_BIN and CHROMIUM_BIN name the programs; page/run sets them");
const browser = await chromium.launch({ executablePath: CHROMIUM_BIN, args: FLAGS });
const gateway = await startGateway(GATEWAY_BIN).catch(async (error) => {
  await browser.close();
  throw error;
});
let failures = 0;
let passes = 0;

async function check({ name, context: options, variables, expectNetworkErrors, run }) {
  const own = variables === undefined ? gateway : await startGateway(GATEWAY_BIN, variables);
  const context = await browser.newContext({ viewport: { width: 1100, height: 860 }, ...options });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("console", (message) => {
    const network = expectNetworkErrors && message.text().startsWith("Failed to load resource");
    if (!network && ["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  const slug = name.replaceAll(/[^a-z0-9]+/gi, "-");
  const shot = (part) => page.screenshot({ path: path.join(shots, `${slug}-${part}.png`) });
  const began = performance.now();
  const tooLong = new Promise((_, reject) => setTimeout(() => reject(new Error(`took longer than ${CHECK_MS} ms`)), CHECK_MS).unref());
  try {
    await page.goto(own.url);
    await Promise.race([run({ page, shot }), tooLong]);
    assert.deepEqual(complaints, [], "what the browser complains of");
    passes += 1;
    console.log(`PASS page: ${name} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    failures += 1;
    await shot("FAILED").catch(() => {});
    console.log(`FAIL page: ${name}\n${error.stack}\n${complaints.join("\n")}`);
  }
  await context.close();
  if (own !== gateway) await own.stop();
}

try {
  for (const one of checks) if (wanted.length === 0 || wanted.some((word) => one.name.includes(word))) await check(one);
} finally {
  await browser.close();
  await gateway.stop();
}
console.log(`${failures === 0 && passes > 0 ? "PASS" : "FAIL"} page: ${passes} of ${passes + failures} checks`);
if (failures > 0) console.log(gateway.log());
process.exitCode = failures === 0 && passes > 0 ? 0 : 1;
