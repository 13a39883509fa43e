// Tokens.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

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
