// Sign-in at an MCP server, at an authorization server in the same browser.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startGateway } from "../gateway.mjs";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "page-sign-in-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const servers = (page) => page.getByRole("group", { name: "MCP servers" });
const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Signs in on the pages of the authorization server, with `name`. */
async function approve(tab, name) {
  const field = tab.locator("input[name=login]");
  const consent = tab.getByRole("button", { name: "Continue" });
  const end = tab.getByText("You are signed in");
  for (let pages = 0; pages < 4; pages += 1) {
    await field.or(consent).or(end).first().waitFor();
    if (await end.isVisible()) return;
    if (await field.isVisible()) {
      await field.fill(name);
      await tab.locator("input[name=password]").fill("x");
      await tab.locator("button[type=submit]").click();
      await field.waitFor({ state: "detached" });
    } else {
      await consent.click();
      await consent.waitFor({ state: "detached" });
    }
  }
  await end.waitFor();
}

/** Presses the button, and returns the page that it opens. */
async function begin(page) {
  const opened = page.waitForEvent("popup");
  await servers(page).getByRole("button", { name: "Sign in to notes" }).click();
  return opened;
}

async function fits(page) {
  const over = await page.locator("html").evaluate((element) => element.scrollWidth - element.clientWidth);
  assert.ok(over <= 0, `the page is ${over} pixels too wide`);
}

/** The whole way of a user. */
async function signInAndOut({ page, shot }, url) {
  await page.goto(url);
  await servers(page).getByText("Sign in to use the tools of notes").waitFor();
  await shot("needed");
  await noViolations(page, "a server that needs a sign-in");
  await fits(page);
  await send(page, "read");
  await turnEnd(page, 1).waitFor();
  // The tools are not known yet.
  assert.match(await turn(page, 1).innerText(), /there is no tool 'notes__read'/);
  await shot("refused");
  const tab = await begin(page);
  await servers(page).getByText("sign in on the page that has opened").waitFor();
  await tab.locator("input[name=login]").waitFor();
  assert.equal(await tab.evaluate(() => window.opener), null, "the other page has no access to this one");
  await shot("waiting");
  await noViolations(page, "an open sign-in");
  await approve(tab, "ada");
  await tab.close();
  const leave = servers(page).getByRole("button", { name: "Sign out of notes" });
  await leave.waitFor();
  await shot("signed-in");
  await noViolations(page, "after the sign-in");
  await fits(page);
  await send(page, "read");
  await turnEnd(page, 2).waitFor();
  assert.match(await turn(page, 2).innerText(), /It says: read done/);
  await leave.press("Enter");
  const again = servers(page).getByRole("button", { name: "Sign in to notes" });
  await again.waitFor();
  assert.ok(await isFocused(again), "the keyboard stays in the row");
  const heard = await page.locator("[aria-live=polite] p").allInnerTexts();
  for (const sentence of ["Signed in to notes.", "Signed out of notes."]) assert.ok(heard.includes(sentence), heard.join("\n"));
  await send(page, "read");
  await turnEnd(page, 3).waitFor();
  assert.match(await turn(page, 3).innerText(), /a user has to sign in at the server/);
  await shot("signed-out");
}

/** Another browser opens the page of this one's sign-in, with the account of its user. */
async function inAnotherBrowser({ page, shot }, url) {
  await page.goto(url);
  const tab = await begin(page);
  await tab.waitForURL(/^http/);
  const other = await page.context().browser().newContext();
  const theirs = await other.newPage();
  const link = await servers(page).getByRole("link").getAttribute("href");
  await theirs.goto(link);
  await theirs.locator("input[name=login]").fill("mallory");
  await theirs.locator("input[name=password]").fill("x");
  await theirs.locator("button[type=submit]").click();
  await theirs.getByRole("button", { name: "Continue" }).click();
  await theirs.getByText("it was begun in another browser").waitFor();
  await other.close();
  await approve(tab, "ada");
  await servers(page).getByRole("button", { name: "Sign out of notes" }).waitFor();
  await shot("signed-in");
}

/** Runs a check with a server, and a gateway whose model calls its tool. */
async function withServer(parts, run) {
  // The packages are those of the folder above, which `interop/run` installs.
  const { startProtected } = await import("../../protected_server.mjs");
  const server = await startProtected();
  const script = path.join(folder, "script.toml");
  writeFileSync(script, `[[answers]]\nword = "read"\nsteps = [{ call = [{ tool = "notes__read" }] }, { say = "It says: {result}." }]\n`);
  const config = path.join(folder, "gateway.toml");
  writeFileSync(config, `[agents.model.model]\nscript = ${JSON.stringify(script)}\n[mcp-servers.notes]\nurl = ${JSON.stringify(server.resource)}\n`);
  const gateway = await startGateway(process.env.GATEWAY_BIN, { variables: { GATEWAY_CONFIG: config } });
  try {
    await run(parts, gateway.url);
    // The page waits for turns of the agent, which fails when the gateway ends.
    await parts.page.goto("about:blank");
  } finally {
    await gateway.stop();
    server.stop();
  }
}

const SIZES = [
  { scheme: "light", width: 390 },
  { scheme: "dark", width: 1280 },
];

export const checks = [
  ...SIZES.map(({ scheme, width }) => ({
    name: `sign in at an MCP server and out, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    opensItself: true,
    run: (parts) => withServer(parts, signInAndOut),
  })),
  {
    name: "sign in at an MCP server, with a page that another browser opens",
    opensItself: true,
    run: (parts) => withServer(parts, inAnotherBrowser),
  },
];
