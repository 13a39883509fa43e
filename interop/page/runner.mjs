// Runs checks in Chromium, each in its own page. Prints PASS or FAIL for each.
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { open } from "./checks/page.mjs";

const CHECK_MS = 120_000;
const STEP_MS = 30_000;
export const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Runs the checks with one of the words of the command line in their names, or all checks without words. Sets the exit status.
 *
 * @param {string} subject the subject of the checks
 * @param {Array<{ name: string, context?: object, variables?: object, opensItself?: boolean, expectNetworkErrors?: boolean, expectErrors?: RegExp, run: Function }>} checks
 * @param {(variables?: object) => Promise<{ url: string, stop: () => Promise<unknown>, log: () => string }>} start
 *   starts the server of the pages: one for all checks, and one for each check with variables for the environment
 */
export async function runChecks(subject, checks, start) {
  const wanted = process.argv.slice(2);
  const shots = await mkdtemp(path.join(tmpdir(), "page-shots-"));
  console.log(`screenshots in ${shots}`);
  const { CHROMIUM_BIN } = process.env;
  assert.ok(CHROMIUM_BIN, "CHROMIUM_BIN names the browser; page/run sets it");
  const browser = await chromium.launch({ executablePath: CHROMIUM_BIN, args: FLAGS });
  const shared = await start().catch(async (error) => {
    await browser.close();
    throw error;
  });
  let failures = 0;
  let passes = 0;
  try {
    for (const one of checks) {
      if (wanted.length > 0 && !wanted.some((word) => one.name.includes(word))) continue;
      const own = one.variables === undefined ? shared : await start(one.variables);
      const began = performance.now();
      const failure = await check(browser, shots, one, own.url);
      if (own !== shared) await own.stop();
      const time = `${Math.round(performance.now() - began)} ms`;
      failures += failure === null ? 0 : 1;
      passes += failure === null ? 1 : 0;
      console.log(failure === null ? `PASS ${subject}: ${one.name} (${time})` : `FAIL ${subject}: ${one.name}\n${failure}`);
    }
  } finally {
    await browser.close();
    await shared.stop();
  }
  const passed = failures === 0 && passes > 0;
  console.log(`${passed ? "PASS" : "FAIL"} ${subject}: ${passes} of ${passes + failures} checks`);
  if (failures > 0) console.log(shared.program.stderr);
  process.exitCode = passed ? 0 : 1;
}

/** Runs a check, and returns the failure or `null`. */
async function check(browser, shots, { name, context: options, opensItself, expectNetworkErrors, expectErrors, run }, url) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 860 }, ...options });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.stack));
  page.on("console", (message) => {
    const network = expectNetworkErrors && message.text().startsWith("Failed to load resource");
    const isExpected = network || expectErrors?.test(message.text());
    if (!isExpected && ["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  const slug = name.replaceAll(/[^a-z0-9]+/gi, "-");
  const shot = (part) => page.screenshot({ path: path.join(shots, `${slug}-${part}.png`) });
  const tooLong = new Promise((_, reject) => setTimeout(() => reject(new Error(`took longer than ${CHECK_MS} ms`)), CHECK_MS).unref());
  try {
    if (!opensItself) {
      await open(page, url);
    }
    await Promise.race([run({ page, shot, url }), tooLong]);
    assert.deepEqual(complaints, [], "errors in the browser");
    return null;
  } catch (error) {
    await shot("FAILED").catch(() => {});
    return `${error.stack}\n${complaints.join("\n")}`;
  } finally {
    await context.close();
  }
}
