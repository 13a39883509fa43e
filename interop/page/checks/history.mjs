// The list of conversations, their addresses, and what a reload shows.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "../gateway.mjs";
import { noViolations, open, permission, prompt, send, turn, turnEnd } from "./page.mjs";

const dialog = (page) => page.getByRole("dialog", { name: "Conversations" });
const link = (page, name) => dialog(page).getByRole("link", { name });
const pathname = (page) => new URL(page.url()).pathname;
const openList = (page) => page.getByRole("button", { name: "History", exact: true }).click();

/** Begins a conversation, and waits for its answer. */
async function talk(page, text) {
  await page.getByRole("button", { name: "New chat" }).click();
  await send(page, text);
  await turnEnd(page).waitFor();
  return pathname(page);
}

const SIZES = [
  { scheme: "light", width: 1280 },
  { scheme: "dark", width: 390 },
];

export const checks = [
  ...SIZES.map(({ scheme, width }) => ({
    name: `conversations are listed, searched, renamed, deleted and opened, ${scheme}, ${width} pixels`,
    variables: {},
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      await openList(page);
      await dialog(page).getByText("No conversations yet.").waitFor();
      await noViolations(page, "an empty list");
      await page.keyboard.press("Escape");
      const first = await talk(page, "hello");
      const answer = await turn(page, 1).locator(".agent-text").innerText();
      const second = await talk(page, "plan of the whole release, with a title that does not fit into one line of the list");
      assert.notEqual(first, second);
      assert.match(first, /^\/c\/./);
      assert.match(await page.locator("#title").innerText(), /^plan of the whole release.*…$/, "as in the list");

      await openList(page);
      const search = dialog(page).getByRole("searchbox", { name: "Search conversations" });
      assert.ok(await search.evaluate((input) => input === document.activeElement), "the search has the focus");
      await link(page, /plan of the whole/).waitFor();
      assert.equal(await dialog(page).getByRole("listitem").count(), 2);
      assert.equal(await link(page, /plan of the whole/).getAttribute("aria-current"), "page");
      await shot("list");
      await noViolations(page, "a list of conversations");
      const { clientWidth, scrollWidth } = await dialog(page).evaluate(({ clientWidth, scrollWidth }) => ({ clientWidth, scrollWidth }));
      assert.ok(scrollWidth <= clientWidth, `nothing is clipped: ${scrollWidth} > ${clientWidth}`);
      await search.fill("no such words");
      await dialog(page).getByText("No conversation matches.").waitFor();
      await search.fill("HELLO");
      await link(page, /plan of the whole/).waitFor({ state: "detached" });
      await link(page, /hello/).waitFor();

      await dialog(page).getByRole("button", { name: "Rename hello" }).click();
      await page.keyboard.type("A greeting");
      await noViolations(page, "a title being changed");
      await page.keyboard.press("Enter");
      await link(page, /A greeting/).waitFor();
      assert.ok(await link(page, /A greeting/).evaluate((it) => it === document.activeElement), "the focus returns");
      await page.keyboard.press("Enter");
      await dialog(page).waitFor({ state: "hidden" });
      await turn(page, 1).locator(".agent-text").getByText(answer.slice(0, 20)).waitFor();
      await turnEnd(page).waitFor();
      assert.equal(pathname(page), first);
      assert.equal(await page.locator("#title").innerText(), "A greeting");

      await page.goBack();
      await turn(page, 1).getByText("plan of the whole").first().waitFor();
      assert.equal(pathname(page), second, "back to the conversation before");
      await page.goForward();
      await turn(page, 1).locator(".agent-text").getByText(answer.slice(0, 20)).waitFor();
      await send(page, "hello again");
      await turnEnd(page, 2).waitFor();
      assert.equal(pathname(page), first, "an opened conversation continues");

      await openList(page);
      await dialog(page).getByRole("button", { name: "Delete A greeting" }).click();
      await dialog(page).getByText("to the trash?").waitFor();
      await shot("confirm");
      await noViolations(page, "a conversation about to be deleted");
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter");
      await dialog(page).getByText("to the trash?").waitFor({ state: "detached" });
      await link(page, /plan of the whole/).waitFor();
      assert.equal(await link(page, /A greeting/).count(), 0);
      assert.equal(pathname(page), "/", "its address is gone");
      await dialog(page).getByRole("button", { name: "Trash (1)" }).click();
      await dialog(page).getByText("kept for 30 more days").waitFor();
      await noViolations(page, "the trash");
      await dialog(page).getByRole("button", { name: "Restore A greeting" }).click();
      await dialog(page).getByText("The trash is empty.").waitFor();
      await dialog(page).getByRole("button", { name: "Back to conversations" }).click();
      await link(page, /A greeting/).waitFor();
      await page.keyboard.press("Escape");
      assert.equal(await turn(page, 1).count(), 0, "the open conversation was deleted");
    },
  })),
  {
    name: "an address opens its conversation in another tab, also while it runs",
    async run({ page }) {
      const other = await page.context().newPage();
      await send(page, "slow");
      await turn(page, 1).getByText("3 of 50").waitFor();
      await other.goto(page.url());
      await turn(other, 1).getByText("3 of 50").waitFor();
      await other.getByRole("button", { name: "Stop" }).waitFor();
      await turn(other, 1).getByText("50 of 50").waitFor();
      await turnEnd(other).waitFor();
      assert.equal((await turn(other, 1).innerText()).match(/\b7 of 50/g)?.length, 1, "no text is repeated");
      await send(other, "hello");
      await turnEnd(other, 2).waitFor();
      await turnEnd(page).waitFor();
      await page.reload();
      await turnEnd(page, 2).waitFor();
    },
  },
  {
    name: "a question of an opened conversation can be answered",
    async run({ page }) {
      await send(page, "permission");
      await permission(page).waitFor();
      const asked = page.url();
      await page.getByRole("button", { name: "New chat" }).click();
      assert.equal(await turn(page, 1).count(), 0);
      await page.goBack();
      await permission(page).waitFor();
      assert.equal(page.url(), asked);
      await permission(page).getByRole("button", { name: /^allow/i }).first().click();
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /I will not make use of it/);
    },
  },
  {
    name: "a conversation is told again to an agent that can neither load nor resume it, after a restart",
    opensItself: true,
    // While the gateway is stopped.
    expectNetworkErrors: true,
    async run({ page, shot }) {
      const folder = await mkdtemp(path.join(tmpdir(), "page-store-"));
      const agent = fileURLToPath(new URL("../../../examples/gateway/tests/agents/tells-prompts.sh", import.meta.url));
      const options = ["--store", path.join(folder, "gateway.db"), "--agent", `bash ${agent}`];
      let gateway = await startGateway(process.env.GATEWAY_BIN, { options });
      try {
        await page.goto(gateway.url);
        await send(page, "one");
        await turnEnd(page).waitFor();
        const address = pathname(page);
        await gateway.stop();
        gateway = await startGateway(process.env.GATEWAY_BIN, { options });
        await open(page, gateway.url);
        await page.goto(new URL(address, gateway.url).href);
        await turn(page, 1).getByText("one", { exact: true }).waitFor();
        await send(page, "two");
        await turnEnd(page, 2).waitFor();
        const notice = turn(page, 2).locator(".notice.is-warning");
        assert.match(await notice.innerText(), /continues in a new session[\s\S]*as text[\s\S]*say it again/);
        await gateway.program.said(/The conversation so far[^\n]*User: one[^\n]*two/, 60);
        await noViolations(page, "a conversation that was told again");
        await shot("told-again");
        await send(page, "three");
        await turnEnd(page, 3).waitFor();
        assert.equal(await turn(page, 3).locator(".notice").count(), 0);
      } finally {
        await gateway.stop();
        await rm(folder, { recursive: true, force: true });
      }
    },
  },
  {
    name: "an address without a conversation says so",
    expectNetworkErrors: true,
    async run({ page, shot }) {
      await page.goto(new URL("/c/missing", page.url()).href);
      await page.getByRole("alert").getByText("not at the gateway").waitFor();
      await shot("gone");
      await noViolations(page, "a missing conversation");
      assert.equal(pathname(page), "/");
      await prompt(page).fill("hello");
      await page.keyboard.press("Enter");
      await turnEnd(page).waitFor();
      assert.ok(await page.getByRole("alert").isHidden());
    },
  },
];
