// Consecutive turns.
import assert from "node:assert/strict";
import { answerAll, noViolations, permission, prompt, rendered, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "a full turn: text, thought, plan, tools, permission",
    async run({ page, shot }) {
      await send(page, "tour");
      await permission(page).waitFor();
      await shot("permission");
      assert.ok(await permission(page).evaluate((group) => group.contains(document.activeElement)), "the question has the focus");
      const pinned = page.locator("#plans summary");
      assert.match(await pinned.innerText(), /Plan\s+3 of 3/, "the plan is pinned and folded, with its progress");
      assert.ok(await page.locator("#plans li").first().isHidden());
      await pinned.press("Enter");
      assert.ok(await page.locator("#plans li").first().isVisible(), "the plan unfolds with the keyboard");
      await pinned.press("Enter");
      const asked = await answerAll(page, /^allow/i);
      assert.ok(asked > 0, "the agent asked");
      await shot("tour-end");
      assert.match(await turnEnd(page).innerText(), /^Done/);

      const text = await turn(page, 1).locator(".agent-text").allInnerTexts();
      assert.ok(text.join("").trim().length > 0, "text");
      const thought = page.locator("details.thought").first();
      assert.equal(await thought.evaluate((details) => details.open), false, "the thought is folded");
      await thought.locator("summary").click();
      assert.ok((await thought.locator(".thought-text").innerText()).trim().length > 0, "the thought can be read");

      const entries = page.getByRole("region", { name: "Plan" }).getByRole("listitem");
      const done = page.getByRole("region", { name: "Plan" }).getByRole("img", { name: "Done" });
      assert.ok((await entries.count()) >= 2, "plan entries");
      assert.equal(await done.count(), await entries.count(), "all entries are done");

      const tools = page.locator("article.tool");
      const states = await tools.evaluateAll((cards) => cards.map((card) => card.dataset.status));
      assert.ok(states.length >= 3, "tool cards");
      assert.deepEqual([...new Set(states)], ["completed"], "all tools are done");
      // The gateway renders changes.
      await page.locator(".diff ins").first().waitFor();
      assert.ok((await page.locator(".terminal").first().innerText()).trim().length > 0, "terminal output");
      for (const card of await tools.all()) await card.evaluate((article) => article.querySelectorAll("details").forEach((fold) => (fold.open = true)));
      const input = tools.first().getByRole("table").filter({ has: page.getByRole("rowheader", { name: "path" }) });
      assert.match(await input.innerText(), /^path\s+\S+greeting\.txt$/, "arguments as a table");
      assert.match(await tools.first().locator(".long").getByText("Hello").innerText(), /Hello\s+world/, "a result");
      assert.ok(await page.getByRole("meter", { name: "Context used" }).isVisible(), "the usage meter");
      assert.match(await page.locator("#debug").textContent(), / 0 ignored$/, "no unknown or misplaced events");
      await noViolations(page, "a full turn");
    },
  },
  {
    name: "a turn that the agent begins is shown while it runs",
    async run({ page, shot }) {
      await send(page, "later");
      const back = turn(page, 1).getByText("I have come back without a prompt.");
      await back.waitFor();
      await page.getByRole("button", { name: "Send" }).waitFor();
      assert.equal(await page.getByRole("heading", { name: "Turn 2" }).count(), 0, "it belongs to the turn of the user");
      await shot("own-turn");
      await noViolations(page, "a turn of the agent");
      await send(page, "hello");
      await turnEnd(page, 2).waitFor();
      assert.equal(await back.count(), 1, "it is shown once");
      await page.reload();
      await turn(page, 2).waitFor();
      assert.equal(await back.count(), 1, "it is kept");
    },
  },
  {
    name: "the stop button ends a run",
    async run({ page, shot }) {
      await send(page, "slow");
      const text = turn(page, 1).locator(".agent-text");
      await text.first().waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await turnEnd(page).waitFor();
      assert.match(await turnEnd(page).innerText(), /^Stopped/);
      await shot("stopped");
      await page.getByRole("button", { name: "Send" }).waitFor();
      assert.ok(await prompt(page).evaluate((area) => area === document.activeElement), "the focus is back in the message box");
      await send(page, "hello");
      await turnEnd(page, 2).waitFor();
      assert.match(await turnEnd(page, 2).innerText(), /^Done/, "the next turn works");
    },
  },
  ...[
    { scheme: "light", width: 1280 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `an error of the agent is shown in its turn, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      await send(page, "error");
      const alert = turn(page, 1).getByRole("alert");
      await alert.waitFor();
      await shot("error");
      assert.match(await alert.innerText(), /^The agent failed\n+The script says that this fails\.\n+Read the reason above/, "a title, a sentence, and the next step");
      assert.match(await alert.locator("code").innerText(), /^[A-Z_]+$/, "the code of the error");
      assert.ok((await alert.locator(".notice-text").innerText()).trim().length > 0, "the message of the error");
      assert.match(await turnEnd(page).innerText(), /^Failed/);
      await noViolations(page, "an error");
      await alert.getByRole("button", { name: "Try again" }).click();
      await turn(page, 2).getByRole("alert").waitFor();
    },
  })),
  {
    name: "a second turn keeps the first, and sends it to the gateway",
    async run({ page }) {
      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/api/ai/chat") && inputs.push(request.postDataJSON()));
      await send(page, "hello");
      await turnEnd(page, 1).waitFor();
      await rendered(page);
      const first = await turn(page, 1).textContent();
      await send(page, "read");
      await answerAll(page, /^allow/i, 2);
      assert.equal(await turn(page, 1).textContent(), first);
      await send(page, "hello");
      await turnEnd(page, 3).waitFor();

      assert.equal(new Set(inputs.map((input) => input.threadId)).size, 1);
      assert.equal(new Set(inputs.map((input) => input.runId)).size, 3);
      const roles = inputs[2].messages.map((message) => message.role);
      assert.deepEqual([roles[0], roles[1], roles.at(-1)], ["user", "assistant", "user"]);
      assert.ok(roles.includes("tool") && !roles.includes("activity"), roles.join(" "));
      const calls = inputs[2].messages.flatMap((message) => message.toolCalls ?? []);
      const answers = inputs[2].messages.filter((message) => message.role === "tool");
      assert.deepEqual(answers.map((message) => message.toolCallId), calls.map((call) => call.id));
      for (const call of calls) JSON.parse(call.function.arguments);
    },
  },
  {
    name: "a new chat starts empty",
    async run({ page }) {
      await send(page, "slow");
      await turn(page, 1).locator(".agent-text").first().waitFor();
      const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/ai/chat"));
      await page.getByRole("button", { name: "New chat" }).click();
      await ended;
      assert.equal(await page.locator(".turn").count(), 0);
      assert.ok(await page.getByRole("heading", { name: "What can I help with?" }).isVisible());
      await page.getByRole("button", { name: /^help/ }).click();
      await page.keyboard.press("Enter");
      await turnEnd(page).waitFor();
      assert.match(await turnEnd(page).innerText(), /^Done/);
      assert.match(await turn(page, 1).locator(".agent-text").innerText(), /tour/);
    },
  },
  {
    name: "the view stays where the reader scrolled",
    async run({ page }) {
      const box = page.getByRole("region", { name: "Conversation" });
      const top = () => box.evaluate((element) => element.scrollTop);
      const fromEnd = () => box.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
      await page.setViewportSize({ width: 800, height: 400 });
      await send(page, "tour");
      await answerAll(page, /^allow/i);
      assert.ok((await fromEnd()) < 2, "the end is in sight");
      await send(page, "slow");
      await turn(page, 2).locator(".agent-text").first().waitFor();
      await box.hover();
      await page.mouse.wheel(0, -150);
      const jump = page.getByRole("button", { name: "Jump to the end" });
      await jump.waitFor();
      const at = await top();
      const text = await turn(page, 2).innerText();
      await page.waitForFunction((old) => document.querySelector(".turn:last-child").innerText.length > old + 20, text.length);
      assert.equal(await top(), at, "the scroll position is unchanged");
      await jump.click();
      assert.ok((await fromEnd()) < 2, "the button scrolls to the end");
      await page.keyboard.press("Escape");
      await turnEnd(page, 2).waitFor();
    },
  },
];
