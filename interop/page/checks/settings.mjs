// Settings of the session.
import assert from "node:assert/strict";
import { answer, noViolations, permission, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "the mode of the agent's session",
    async run({ page, shot }) {
      const mode = page.getByRole("combobox", { name: "Mode" });
      await mode.waitFor();
      await shot("mode before the first message");
      assert.equal(await mode.inputValue(), "ask");
      await send(page, "edit");
      await permission(page).waitFor();
      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      assert.equal(await mode.inputValue(), "ask");
      await shot("mode");
      const set = page.waitForResponse((response) => response.url().endsWith("/settings") && response.request().method() === "POST");
      await mode.selectOption("auto");
      assert.equal((await set).status(), 200);
      await send(page, "edit");
      await turnEnd(page, 2).waitFor();
      assert.equal(await turn(page, 2).locator(".permission").count(), 0, "no question in this mode");
      await page.reload();
      await mode.waitFor();
      assert.equal(await mode.inputValue(), "auto");
      await noViolations(page, "the mode");
      const opened = page.waitForResponse((response) => response.url().endsWith("/session"));
      await page.getByRole("button", { name: "New chat" }).click();
      assert.equal((await opened).status(), 200);
      await page.waitForFunction(() => document.querySelector("#settings select")?.value === "ask");
      const chosen = page.waitForResponse((response) => response.url().endsWith("/settings") && response.request().method() === "POST");
      await mode.selectOption("auto");
      assert.equal((await chosen).status(), 200);
      await send(page, "edit");
      await turnEnd(page).waitFor();
      assert.equal(await page.locator(".permission").count(), 0, "the first message is sent in the chosen mode");
      assert.equal(await mode.inputValue(), "auto");
    },
  },
  {
    name: "messages that the agent suggests",
    async run({ page, shot }) {
      await send(page, "suggest");
      await turnEnd(page).waitFor();
      const prompts = page.getByRole("group", { name: "Suggested messages" });
      await prompts.getByRole("button", { name: "hello" }).waitFor();
      await shot("suggestions");
      await noViolations(page, "the suggestions");
      await prompts.getByRole("button", { name: "make a plan" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).locator(".user-text").textContent(), /^make a plan$/);
      assert.ok(await prompts.isHidden(), "they were those of the turn before");
    },
  },
  {
    name: "the options of the agent's session",
    async run({ page, shot }) {
      // The demo agent has only modes.
      const option = (id, name, currentValue, options, category) => ({ id, name, currentValue, options, category });
      const values = { model: "small", thinking: true };
      const settings = () => ({
        configOptions: [
          option("m", "Mode", "ask", [{ value: "ask", name: "Ask" }], "other"),
          option("model", "Model", values.model, [{ name: "Fast", options: [{ value: "small", name: "Small" }] }, { name: "Slow", options: [{ value: "large", name: "Large" }] }]),
          option("thinking", "Thinking", values.thinking),
        ],
      });
      const set = [];
      let refuses = false;
      await page.route(/\/(settings|session)$/, (route) => {
        if (route.request().url().endsWith("/session")) return route.fulfill({ json: settings() });
        const change = route.request().postDataJSON();
        if (change !== null) set.push(change);
        if (change !== null && refuses) return route.fulfill({ status: 400, json: { error: "no" } });
        if (change !== null) values[change.configId] = change.value;
        return route.fulfill({ json: settings() });
      });
      await send(page, "hello");
      await turnEnd(page).waitFor();
      const group = page.getByRole("group", { name: "Agent settings" });
      const model = group.getByRole("combobox", { name: "Model" });
      const thinking = group.getByRole("combobox", { name: "Thinking" });
      await model.waitFor();
      await shot("options");
      await noViolations(page, "the options");
      await model.selectOption("Large");
      await page.waitForFunction(() => [...document.querySelectorAll("#settings select")].some((select) => select.value === "large" && !select.disabled));
      await thinking.selectOption("off");
      await page.waitForFunction(() => [...document.querySelectorAll("#settings select")].some((select) => select.value === "false" && !select.disabled));
      assert.deepEqual(set, [{ configId: "model", value: "large" }, { configId: "thinking", value: false }]);
      refuses = true;
      await model.selectOption("Small");
      await page.waitForFunction(() => [...document.querySelectorAll("#settings select")].every((select) => !select.disabled));
      assert.equal(await model.inputValue(), "large", "a rejected change is reverted");
    },
    expectNetworkErrors: true,
  },
];
