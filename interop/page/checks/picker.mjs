// Selection of the agent of a conversation.
import assert from "node:assert/strict";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

const picker = (page) => page.getByRole("combobox", { name: "Agent" });

export const checks = [
  {
    name: "the agent picker",
    async run({ page, shot }) {
      await picker(page).waitFor();
      assert.deepEqual(await picker(page).locator("option").allInnerTexts(), ["demo", "hybrid"], "the default agent is the first");
      await page.getByText("Agents that can be installed").click();
      const install = page.locator("#missing code");
      assert.ok((await install.count()) > 10, "the known agents");
      assert.match((await install.allInnerTexts()).join("\n"), /^npm install --global /m);
      await shot("missing");
      await noViolations(page, "the agents that can be installed");
      await send(page, "hello");
      await turnEnd(page).waitFor();
      await picker(page).focus();
      await page.keyboard.press("ArrowDown");
      await page.waitForFunction(() => document.querySelectorAll(".turn").length === 0);
      assert.ok(await page.getByText("This is a scripted model with tools").isVisible(), "the welcome text of the agent");
      await shot("another");
      await noViolations(page, "another agent");
      const post = page.waitForRequest((request) => request.method() === "POST");
      await send(page, "time");
      assert.equal(new URL((await post).url()).pathname, "/api/ai/agents/hybrid/chat");
      await turnEnd(page).waitFor();
      await page.getByText("Details", { exact: true }).click();
      await page.getByRole("row", { name: /^Request/ }).waitFor();
      await page.reload();
      await picker(page).waitFor();
      assert.equal(await picker(page).inputValue(), "hybrid", "the agent is stored with the conversation");
      assert.match(await turn(page, 1).innerText(), /It is \S+Z/);
    },
  },
  {
    name: "a single agent needs no picker",
    variables: { GATEWAY_DEFAULT_AGENT: "agent", GATEWAY_AGENT: `${process.env.GATEWAY_BIN} demo-agent` },
    async run({ page }) {
      await send(page, "hello");
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /I am a scripted agent/);
      assert.ok(await picker(page).isHidden());
    },
  },
];
