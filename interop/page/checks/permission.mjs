// Permission requests.
import assert from "node:assert/strict";
import { answer, answerAll, answerWith, noViolations, permission, prompt, send, turn, turnEnd } from "./page.mjs";

/** The events of a run that ends with the question of a call. */
const asking = (ids, call, options) => [
  { type: "RUN_STARTED", ...ids },
  { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: call.name },
  { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: JSON.stringify(call.input) },
  { type: "TOOL_CALL_END", toolCallId: "c" },
  {
    type: "RUN_FINISHED",
    ...ids,
    outcome: { type: "interrupt", interrupts: [{ id: "i", reason: "tool_call", message: call.title, toolCallId: "c", metadata: { acp: { options } } }] },
  },
];

const OPTIONS = [
  { optionId: "a", name: "Always allow", kind: "allow_always" },
  { optionId: "n", name: "Reject", kind: "reject_once" },
  { optionId: "y", name: "Allow once", kind: "allow_once" },
];

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
    name: "a permission is answered by a key",
    async run({ page }) {
      await send(page, "edit");
      await permission(page).waitFor();
      assert.ok(await permission(page).evaluate((group) => group === document.activeElement), "the question has the focus");
      await page.keyboard.press("9");
      assert.ok(await permission(page).getByRole("button").first().isEnabled(), "there is no ninth option");
      await page.keyboard.press("1");
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /Your answer: Allow/);
    },
  },
  ...["ask", "ask-in-stream"].map((mode) => ({
    name: `Escape leaves a permission open, ${mode}`,
    variables: { GATEWAY_PERMISSION: mode },
    async run({ page }) {
      const hint = page.getByText("Esc to stop");
      assert.ok(await hint.isVisible());
      await send(page, "edit");
      await permission(page).waitFor();
      assert.ok(await hint.isHidden(), "the key does not stop");
      for (const _ of [1, 2]) {
        await page.keyboard.press("Escape");
        assert.ok(await prompt(page).evaluate((area) => area === document.activeElement), "the message box has the focus");
      }
      assert.ok(await permission(page).getByRole("button").first().isEnabled(), "the question is open");
      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /I have edited greeting\.txt/);
      assert.ok(await hint.isVisible());
    },
  })),
  ...["light", "dark"].map((colorScheme) => ({
    name: `a permission says what would run, ${colorScheme}`,
    context: { colorScheme, viewport: { width: 390, height: 844 } },
    async run({ page, shot }) {
      const command = `cargo test ${"--package some-package ".repeat(20)}&& rm -rf \u200btarget`;
      const call = { name: "bash", title: "Run the tests", input: { command: ["/bin/bash", "-lc", command], cwd: "/home/user/project" } };
      await answerWith(page, (ids) => asking(ids, call, OPTIONS));
      await send(page, "go");
      const group = permission(page);
      await group.waitFor();
      const facts = group.locator("dl");
      const texts = await facts.locator("dt, dd").allInnerTexts();
      assert.deepEqual(texts, ["Command", command.replace("\u200b", "[U+200B]"), "Shell", "/bin/bash -lc", "Folder", "/home/user/project"]);
      const [inner, outer] = await facts.evaluate((list) => [list.scrollWidth, list.clientWidth]);
      assert.ok(inner <= outer, "nothing is clipped");
      const names = await group.getByRole("button").evaluateAll((buttons) => buttons.map((button) => button.firstChild.textContent));
      assert.deepEqual(names, ["Allow once", "Always allow", "Reject"]);
      assert.match(await group.innerText(), /remembered by the agent/);
      await shot("asked");
      await noViolations(page, "a permission with its command");
    },
  })),
  {
    name: "a permission shows the request, not an earlier call with its id",
    async run({ page }) {
      const toolCall = { title: "rm -rf /srv", name: "bash", kind: "execute", rawInput: { command: "rm -rf /srv", cwd: "/w" } };
      const call = { name: "bash", title: "echo hi", input: { command: "echo hi" } };
      await answerWith(page, (ids) => {
        const events = asking(ids, call, OPTIONS);
        const [interrupt] = events.at(-1).outcome.interrupts;
        interrupt.metadata.acp = { options: OPTIONS, toolCall };
        return events;
      });
      await send(page, "go");
      await permission(page).waitFor();
      assert.deepEqual(await permission(page).locator("dt, dd").allInnerTexts(), ["Command", "rm -rf /srv", "Folder", "/w"]);
    },
  },
  {
    name: "a permission for a command shows the command and its reason, one of a newer kind its data",
    async run({ page }) {
      for (const [at, subject, shown] of [
        [1, { type: "command", command: "rm -rf /srv", cwd: "/w" }, ["rm -rf /srv", "/w"]],
        [2, { type: "newer", host: "example.org" }, ["newer", "example.org"]],
      ]) {
        const value = { interruptId: `i${at}`, title: "Run this?", description: "Deletes the data", subject, options: OPTIONS };
        await answerWith(page, (ids) => [
          { type: "RUN_STARTED", ...ids },
          { type: "RUN_FINISHED", ...ids, outcome: { type: "interrupt", interrupts: [{ id: value.interruptId, reason: "confirmation", message: "All of it", metadata: { acp: value } }] } },
        ]);
        await send(page, "go");
        const asked = permission(page).filter({ hasText: shown[0] });
        await asked.waitFor();
        const text = await asked.innerText();
        for (const part of ["Run this?", "Deletes the data", ...shown]) assert.ok(text.includes(part), `${part} in ${text}`);
        assert.ok(!text.includes("All of it"), "the page has the parts of the message");
      }
    },
  },
  ...[
    { name: "a permission is answered only when the change is shown, also while nothing is rendered", isInRun: false },
    { name: "a permission in a run is answered only when the change is shown, also while nothing is rendered", isInRun: true },
  ].map(({ name, isInRun }) => ({
    name,
    async run({ page }) {
      await page.route("**/api/ai/markdown", () => {});
      const diff = { type: "diff", path: "/a.txt", oldText: "one\ntwo\n", newText: "one\n2\n" };
      const content = { toolCallId: "c", title: "Edit a.txt", kind: "edit", status: "pending", locations: [], content: [diff] };
      const call = { name: "edit", title: "Edit a.txt", input: { path: "/a.txt" } };
      const toolCall = { ...content, rawInput: call.input };
      await answerWith(page, (ids) => {
        const events = asking(ids, call, OPTIONS);
        const end = events.pop();
        events.push({ type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "acp.tool", content });
        end.outcome.interrupts[0].metadata.acp.toolCall = toolCall;
        const question = { interruptId: "i", title: call.title, toolCallId: "c", toolCall, options: OPTIONS };
        events.push(isInRun ? { type: "CUSTOM", name: "acp.permission.requested", value: question } : end);
        return events;
      });
      // The state of the page when a button is first enabled.
      await page.evaluate(() => {
        new MutationObserver((_, observer) => {
          if (document.querySelector(".permission button:enabled") === null) return;
          observer.disconnect();
          window.shownWhenEnabled = document.querySelector(".diff")?.textContent ?? "nothing";
        }).observe(document.body, { subtree: true, childList: true, attributes: true });
      });
      await send(page, "go");
      await page.waitForFunction(() => window.shownWhenEnabled !== undefined);
      assert.match(await page.evaluate(() => window.shownWhenEnabled), /-two\n\+2/);
      assert.equal(await page.locator(".diff").count(), 1, "the card shows the change, and the question does not repeat it");
    },
  })),
  {
    name: "a permission is cancelled with its run",
    async run({ page }) {
      await send(page, "edit");
      await permission(page).waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
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
