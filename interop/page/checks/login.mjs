// The card to sign in to an agent.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { noViolations, prompt, send, turn, turnEnd } from "./page.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "page-login-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

// The agent of the gateway's own tests.
const agent = fileURLToPath(new URL("../../../examples/gateway/tests/agents/signs-in.sh", import.meta.url));
const config = path.join(folder, "gateway.toml");
writeFileSync(config, `default-agent = "demo"\n[agents.demo]\n[agents.vault]\ncommand = "sh '${agent}'"\n`);

/** The environment of a gateway; `name` is that of the file that a login in the terminal leaves. */
const variables = (name) => ({ GATEWAY_CONFIG: config, MARK: path.join(folder, name) });
const picker = (page) => page.getByRole("combobox", { name: "Agent" });
const card = (page) => page.getByRole("region", { name: "Sign in to vault" });
const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);

/** Chooses the agent, and sends a message that it refuses. */
async function refused(page) {
  await picker(page).selectOption("vault");
  await send(page, "hello");
  await card(page).getByRole("button", { name: "Log in" }).waitFor();
}

/** Waits for the answer to the message, which the page has sent again. */
async function answered(page, text) {
  await turnEnd(page, 1).waitFor();
  const shown = await turn(page, 1).innerText();
  assert.match(shown, text);
  assert.match(shown, /✓\s*Signed in to vault/);
  assert.equal(await page.getByRole("article", { name: "You" }).count(), 1, "the message is shown once");
}

const SIZES = [
  { scheme: "light", width: 390 },
  { scheme: "dark", width: 390 },
  { scheme: "light", width: 1280 },
  { scheme: "dark", width: 1280 },
];

export const checks = [
  ...SIZES.map(({ scheme, width }) => ({
    name: `sign in by a variable, ${scheme}, ${width} pixels`,
    variables: variables(`variable-${scheme}-${width}`),
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      await refused(page);
      assert.match(await card(page).innerText(), /Authentication required/);
      assert.ok(!(await card(page).innerText()).includes("--authenticate"), "no steps outside of the page");
      assert.ok(await isFocused(card(page)), "the card has the focus");
      assert.equal(await page.getByRole("button", { name: /Regenerate|Edit message/ }).count(), 0, "the message waits for the login");
      await shot("methods");
      await noViolations(page, "the ways to sign in");
      await card(page).getByRole("button", { name: "API key" }).click();
      const key = card(page).getByLabel("Key (SOME_KEY)");
      assert.ok(await isFocused(key), "the first field has the focus");
      assert.equal(await key.getAttribute("type"), "password");
      assert.equal(await card(page).getByLabel("SOME_NAME, optional").getAttribute("type"), "text");
      assert.equal(await card(page).getByRole("link").getAttribute("href"), "https://keys.example/");
      await shot("form");
      await noViolations(page, "the form");
      await key.fill("open-barley-1234");
      await page.keyboard.press("Enter");
      await card(page).getByRole("alert").getByText("is wrong").waitFor();
      assert.ok(!(await page.content()).includes("barley"), "the page does not keep the value");
      await shot("failed");
      await noViolations(page, "a failed login");
      await card(page).getByRole("button", { name: "API key" }).click();
      await key.fill("open-sesame-1234");
      await card(page).getByLabel("SOME_NAME, optional").fill("Ada");
      await page.keyboard.press("Enter");
      await answered(page, /hello with Ada/);
      await turn(page, 1).getByRole("button", { name: "Regenerate" }).waitFor();
      assert.ok(await isFocused(prompt(page)), "the focus is back in the message box");
      await shot("answered");
      const over = await page.locator("html").evaluate((element) => element.scrollWidth - element.clientWidth);
      assert.ok(over <= 0, `the page is ${over} pixels too wide`);
      assert.ok(!(await page.evaluate(() => JSON.stringify(sessionStorage))).includes("sesame"), "the value is not stored");
    },
  })),
  {
    name: "sign in by the agent, with the keyboard",
    variables: variables("agent"),
    async run({ page, shot }) {
      await refused(page);
      await page.keyboard.press("Tab");
      assert.ok(await isFocused(card(page).getByRole("button", { name: "Log in" })));
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      const cancel = card(page).getByRole("button", { name: "Cancel" });
      await cancel.waitFor();
      assert.ok(await isFocused(cancel), "a waiting login can be cancelled at once");
      await shot("waiting");
      await noViolations(page, "a waiting login");
      await page.keyboard.press("Enter");
      await card(page).getByText("Cancelled.").waitFor();
      assert.ok(await isFocused(card(page)));
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await answered(page, /hello with no name/);
      const heard = await page.locator("[aria-live=polite] p").allInnerTexts();
      assert.ok(heard.includes("Signed in."), heard.join("\n"));
    },
  },
  ...SIZES.filter(({ scheme, width }) => (scheme === "dark") === (width === 390)).map(({ scheme, width }) => ({
    name: `sign in on a terminal, ${scheme}, ${width} pixels`,
    variables: variables(`terminal-${scheme}-${width}`),
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      await refused(page);
      await card(page).getByRole("button", { name: "Terminal" }).click();
      const screen = card(page).getByRole("group", { name: "Screen of the program" });
      await screen.getByText("Your code?").waitFor();
      assert.equal(await card(page).getByRole("link").getAttribute("href"), "https://login.example/device");
      const input = card(page).getByLabel("Input for the program");
      assert.ok(await isFocused(input), "the input has the focus");
      await shot("asked");
      await noViolations(page, "the terminal");
      await page.keyboard.type("4321");
      await page.keyboard.press("Enter");
      await card(page).getByRole("alert").getByText("the program ended with exit status: 3").waitFor();
      await card(page).getByRole("button", { name: "Terminal" }).click();
      await screen.getByText("Your code?").waitFor();
      await page.keyboard.type("1234");
      await card(page).getByRole("button", { name: "Send" }).click();
      await answered(page, /hello with no name/);
      await shot("answered");
    },
  })),
  {
    name: "an agent that needs a login, before the first message",
    variables: variables("before"),
    async run({ page, shot }) {
      await refused(page);
      await page.getByRole("button", { name: "New chat" }).click();
      await page.reload();
      await picker(page).waitFor();
      assert.deepEqual(await picker(page).locator("option").allInnerTexts(), ["demo", "vault · sign in"]);
      assert.equal(await card(page).count(), 0, "the chosen agent needs none");
      await picker(page).selectOption("vault");
      await card(page).getByRole("button", { name: "Log in" }).click();
      await page.getByText("Signed in to vault").waitFor();
      await shot("signed-in");
      await noViolations(page, "after the login");
      assert.ok(await isFocused(prompt(page)));
      await send(page, "hello");
      await turnEnd(page, 1).waitFor();
      assert.match(await turn(page, 1).innerText(), /hello with no name/);
    },
  },
  ...SIZES.filter(({ scheme, width }) => (scheme === "dark") === (width === 390)).map(({ scheme, width }) => ({
    name: `sign out, ${scheme}, ${width} pixels`,
    variables: variables(`sign-out-${scheme}-${width}`),
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      await refused(page);
      assert.equal(await page.getByRole("button", { name: "Sign out of vault" }).count(), 0, "nothing to sign out of");
      await card(page).getByRole("button", { name: "Log in" }).click();
      await answered(page, /hello with no name/);
      const account = page.getByRole("group", { name: "Account" });
      await account.getByText("Signed in to vault as Ada").waitFor();
      await shot("signed-in");
      await noViolations(page, "the account");
      await prompt(page).focus();
      for (let steps = 0; steps < 5 && !(await isFocused(account.getByRole("button"))); steps++) await page.keyboard.press("Shift+Tab");
      assert.ok(await isFocused(account.getByRole("button", { name: "Sign out of vault" })), "the keyboard reaches the button");
      await page.keyboard.press("Enter");
      await account.waitFor({ state: "hidden" });
      assert.ok(await isFocused(prompt(page)), "the focus is in the message box");
      const heard = await page.locator("[aria-live=polite] p").allInnerTexts();
      assert.ok(heard.includes("Signed out of vault."), heard.join("\n"));
      await send(page, "again");
      await card(page).getByRole("button", { name: "Log in" }).waitFor();
      await shot("signed-out");
    },
  })),
];
