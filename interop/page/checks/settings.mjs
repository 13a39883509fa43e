// What can be set in a session.
import assert from "node:assert/strict";
import { answer, noViolations, permission, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "the mode of the agent's session",
    async run({ page, shot }) {
      assert.ok(await page.locator("#settings").isHidden(), "nothing is to be set before there is a session");
      await send(page, "edit");
      await permission(page).waitFor();
      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      const mode = page.getByRole("combobox", { name: "Mode" });
      await mode.waitFor();
      assert.equal(await mode.inputValue(), "ask");
      await shot("mode");
      const set = page.waitForResponse((response) => response.url().endsWith("/settings") && response.request().method() === "POST");
      await mode.selectOption("auto");
      assert.equal((await set).status(), 200);
      await send(page, "edit");
      await turnEnd(page, 2).waitFor();
      assert.equal(await turn(page, 2).locator(".permission").count(), 0, "it does not ask any more");
      await page.reload();
      await mode.waitFor();
      assert.equal(await mode.inputValue(), "auto");
      await noViolations(page, "the mode");
      await page.getByRole("button", { name: "New chat" }).click();
      assert.ok(await page.locator("#settings").isHidden());
    },
  },
];
