// Permission requests.
import assert from "node:assert/strict";
import { answer, answerAll, answerWith, permission, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "a rejected permission",
    async run({ page, shot }) {
      await send(page, "edit");
      await permission(page).waitFor();
      const asked = await answerAll(page, /^(reject|deny|no)/i);
      assert.ok(asked > 0, "the agent asked");
      assert.equal(await page.locator(".permission.is-rejected").count(), asked, "the answer stays visible");
      const states = await page.locator("article.tool").evaluateAll((cards) => cards.map((card) => card.dataset.status));
      assert.ok(states.includes("failed"), `the tool failed, not ${states}`);
      assert.match(await turnEnd(page).innerText(), /^Done/);
      await shot("rejected");
    },
  },
  {
    name: "a permission is cancelled with its run",
    async run({ page }) {
      await send(page, "edit");
      await permission(page).waitFor();
      await page.keyboard.press("Escape");
      await turnEnd(page).waitFor();
      assert.match(await turnEnd(page).innerText(), /^Stopped/);
      assert.equal(await permission(page).getByRole("button").count(), 0, "no buttons remain");

      const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
      await answerWith(page, (ids) => [
        { type: "RUN_STARTED", ...ids },
        { type: "CUSTOM", name: "acp.permission.requested", value: { interruptId: "i", title: "Go on", options } },
        { type: "RUN_ERROR", message: "gone", code: "AGENT_EXITED" },
      ]);
      await send(page, "edit");
      await turnEnd(page, 2).waitFor();
      assert.equal(await permission(page).getByRole("button").count(), 0, "no buttons remain after the exit of the agent");
    },
  },
  {
    name: "a permission in a run that stays open",
    variables: { GATEWAY_PERMISSION: "ask-in-stream" },
    async run({ page }) {
      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/api/ai/chat") && inputs.push(request.postDataJSON()));
      await send(page, "edit");
      await permission(page).waitFor();
      await page.reload();
      await permission(page).waitFor();
      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /Your answer: Allow[\s\S]*I have edited greeting\.txt/);
      assert.equal(inputs.length, 1, "the answer belongs to the same run");
    },
  },
];
