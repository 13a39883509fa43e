// Tokens.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "page-access-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const twoUsers = path.join(folder, "gateway.toml");
writeFileSync(twoUsers, `[auth.tokens]\nalice = "the-token-of-alice"\nmallory = "the-token-of-mallory"\n`);

/**
 * Opens a page of a server on another port of the host.
 *
 * @returns {Promise<string>} The cookies that the server received.
 */
async function otherPort(context, hostname) {
  let received = "";
  const server = createServer((request, response) => {
    received ||= request.headers.cookie ?? "";
    response.end();
  });
  await once(server.listen(0, hostname), "listening");
  const page = await context.newPage();
  try {
    await page.goto(`http://${hostname}:${server.address().port}/`);
  } finally {
    await page.close();
    server.close();
    server.closeAllConnections();
  }
  return received;
}

export const checks = [
  {
    name: "the address that the gateway prints signs in",
    variables: {},
    expectNetworkErrors: true,
    async run({ page }) {
      const address = new URL(page.url());
      assert.deepEqual([address.search, address.hash], ["", ""], "neither token nor key is left in the address");
      const [cookie] = await page.context().cookies();
      assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
      assert.equal(await page.evaluate(() => document.cookie), "", "scripts cannot read the cookie");
      await send(page, "hello");
      await turnEnd(page, 1).waitFor();
      const tab = await page.context().newPage();
      await tab.goto(address.origin);
      await tab.getByRole("combobox", { name: "Agent" }).waitFor();
      await tab.close();
      const received = await otherPort(page.context(), address.hostname);
      assert.match(received, /gateway-\d+=/, "a server on another port receives the cookie");
      const replayed = await fetch(new URL("/api/ai/agents", address), { headers: { Cookie: received } });
      assert.equal(replayed.status, 401, "the cookie alone is worthless");
      await page.context().clearCookies();
      await page.reload();
      await page.getByRole("dialog", { name: "Sign in" }).waitFor();
    },
  },
  {
    name: "the name of the user, the list of sessions and the sign-out",
    variables: {},
    expectNetworkErrors: true,
    async run({ page, shot }) {
      const name = page.getByRole("button", { name: "Signed in as user" });
      await name.click();
      const dialog = page.getByRole("dialog", { name: "Signed in as user" });
      await dialog.getByRole("listitem").getByText("this browser").waitFor();
      assert.equal(await dialog.getByRole("listitem").count(), 1);
      await shot("sessions");
      await noViolations(page, "the list of sessions");
      await dialog.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("dialog", { name: "Sign in" }).waitFor();
      assert.ok(await name.isHidden());
      assert.equal(await page.evaluate(() => localStorage.length), 0, "no key is left");
    },
  },
  {
    name: "an address with a key that is not valid changes nothing",
    variables: {},
    expectNetworkErrors: true,
    async run({ page, url }) {
      await page.getByRole("button", { name: "Signed in as user" }).waitFor();
      await page.goto("about:blank");
      await page.goto(`${new URL(url).origin}/#key=junk`);
      await page.getByRole("button", { name: "Signed in as user" }).waitFor();
      assert.equal(new URL(page.url()).hash, "");
      await send(page, "hello");
      await turnEnd(page, 1).waitFor();
    },
  },
  ...[
    { scheme: "light", width: 1100 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `an address that signs in another user asks, ${scheme}, ${width} pixels`,
    variables: { GATEWAY_CONFIG: twoUsers },
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    expectNetworkErrors: true,
    async run({ page, shot, url }) {
      const { origin } = new URL(url);
      const user = (name) => page.getByRole("button", { name: `Signed in as ${name}`, exact: true });
      const open = async (token) => {
        await page.goto("about:blank");
        await page.goto(`${origin}/?token=the-token-of-${token}`);
      };
      await open("alice");
      await user("alice").waitFor();
      await open("mallory");
      const dialog = page.getByRole("dialog", { name: "Sign in as mallory?" });
      await dialog.getByText("You are signed in as alice.").waitFor();
      assert.ok(!page.url().includes("token"), page.url());
      await shot("asked");
      await noViolations(page, "the confirmation");
      await page.keyboard.press("Enter");
      await user("alice").waitFor();
      await open("mallory");
      await dialog.getByRole("button", { name: "Sign in as mallory" }).click();
      await user("mallory").waitFor();
      await page.reload();
      await user("mallory").waitFor();
    },
  })),
  ...[
    { scheme: "light", width: 1100 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `a gateway that needs a token, ${scheme}, ${width} pixels`,
    variables: { GATEWAY_TOKEN: "open-sesame" },
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    expectNetworkErrors: true,
    async run({ page, shot }) {
      const urls = [];
      page.on("request", (request) => urls.push(request.url()));
      const dialog = page.getByRole("dialog", { name: "Sign in" });
      const token = dialog.getByLabel("Token", { exact: true });
      await dialog.waitFor();
      assert.ok(await token.evaluate((input) => input === document.activeElement), "the token has the focus");
      await shot("asked");
      await noViolations(page, "the token dialog");
      await page.keyboard.type("with space");
      await page.keyboard.press("Enter");
      assert.ok(await token.evaluate((input) => input.validity.patternMismatch), "such a token is not valid in a header");
      await token.fill("open-barley");
      await page.keyboard.press("Enter");
      await dialog.getByRole("alert").getByText("rejected this token").waitFor();
      assert.equal(await token.inputValue(), "");
      await shot("refused");
      await noViolations(page, "a refused token");

      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await send(page, "hello");
      await dialog.waitFor();
      await dialog.getByRole("button", { name: "Not now" }).click();
      await turn(page, 1).getByRole("alert").waitFor();
      assert.match(await turn(page, 1).innerText(), /The gateway needs your token\s+A bearer token is needed\.\s+Enter the token/);
      await turn(page, 1).getByRole("button", { name: "Try again" }).click();
      await dialog.waitFor();
      await token.fill("open-sesame");
      await dialog.getByRole("button", { name: "Sign in" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turnEnd(page, 2).innerText(), /^Done/);
      await page.getByRole("combobox", { name: "Agent" }).waitFor();

      await page.reload();
      await send(page, "hello");
      await turnEnd(page, 2).waitFor();
      assert.ok(await dialog.isHidden(), "the valid token is kept after a reload, the rejected token is not");
      const [stored, cookie] = await page.evaluate(() => [JSON.stringify(localStorage), document.cookie]);
      assert.deepEqual([/open-/.test(stored), cookie], [false, ""], "the token is stored only for the tab");
      assert.deepEqual(urls.concat(page.url()).filter((url) => url.includes("open-")), [], "no URL contains a token");
    },
  })),
];
