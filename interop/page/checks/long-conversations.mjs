// Long conversations.
import assert from "node:assert/strict";
import { noViolations, prompt, restore, send, turn, turnEnd, turnOf, turnsOf } from "./page.mjs";

export const checks = [
  {
    name: "10,000 messages in one turn",
    async run({ page, shot }) {
      const MOST_ELEMENTS = 3_000;
      const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
      await restore(page, turnOf(5_000));
      const earlier = turn(page, 1).getByRole("button", { name: "Show earlier steps (4950)" });
      await earlier.waitFor({ state: "attached" });
      assert.ok((await elements()) < MOST_ELEMENTS, `${await elements()} elements`);
      assert.ok(await turn(page, 1).getByText("Read all of it").isVisible(), "the user's message stays");
      await shot("end");
      await earlier.focus();
      await page.keyboard.press("Enter");
      await turn(page, 1).getByRole("button", { name: "Show earlier steps (4900)" }).waitFor({ state: "attached" });
      const cards = turn(page, 1).locator("article.tool");
      assert.equal(await cards.count(), 100);
      assert.match(await cards.first().innerText(), /read_4901/);
      const focused = cards.nth(49);
      assert.match(await focused.innerText(), /read_4950/);
      assert.ok(await focused.evaluate((card) => card === document.activeElement), "the reader continues backwards");
      await noViolations(page, "earlier steps");

      // A response with parts that arrive on demand.
      await page.evaluate(() => {
        const send = globalThis.fetch;
        globalThis.fetch = async (path, init) => {
          if (path !== "/api/ai/chat") return send(path, init);
          const { threadId, runId } = JSON.parse(init.body);
          const frame = (event) => `data: ${JSON.stringify({ threadId, runId, ...event })}\n\n`;
          const body = new ReadableStream({
            start(answer) {
              globalThis.say = (events) => answer.enqueue(new TextEncoder().encode(events.map(frame).join("")));
              globalThis.say([{ type: "RUN_STARTED" }]);
            },
          });
          return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
        };
      });
      const look = (from, to) =>
        page.evaluate(
          (numbers) =>
            globalThis.say(
              numbers.flatMap((number) => [
                { type: "TOOL_CALL_START", toolCallId: `n${number}`, toolCallName: `look_${number}` },
                { type: "TOOL_CALL_END", toolCallId: `n${number}` },
                { type: "TOOL_CALL_RESULT", messageId: `m${number}`, toolCallId: `n${number}`, content: "seen" },
              ]),
            ),
          Array.from({ length: to - from + 1 }, (_, at) => from + at),
        );
      const steps = turn(page, 2).locator("article.tool");
      const last = (number) => steps.last().getByText(`look_${number}`, { exact: true }).waitFor();
      await send(page, "look");
      await page.waitForFunction(() => globalThis.say !== undefined);
      await look(1, 90);
      await last(90);
      await steps.first().locator("summary").first().evaluate((fold) => fold.focus({ preventScroll: true }));
      await look(91, 150);
      await last(150);
      assert.equal(await steps.count(), 150, "the focused step stays, with all after it");
      await prompt(page).focus();
      await look(151, 200);
      await last(200);
      // Steps leave by fifties until at most 100 remain, however many arrive in a frame.
      assert.equal(await steps.count(), 100, "the oldest steps were removed during the run");
      await page.evaluate(() => globalThis.say([{ type: "RUN_FINISHED", outcome: { type: "success" } }]));
      await turnEnd(page, 2).waitFor();
      assert.match(await steps.last().innerText(), /look_200[\s\S]*Done/);
      await turn(page, 2).getByRole("button", { name: "Show earlier steps (100)" }).click();
      assert.equal(await steps.count(), 150);
      await shot("earlier");
      assert.match(await page.locator("#debug").textContent(), / 0 ignored$/);
    },
  },
  ...[
    { scheme: "light", width: 1100 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `10,000 messages, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      const MOST_ELEMENTS = 3_000;
      const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
      const shown = () => page.locator(".turn").evaluateAll((turns) => turns.map((one) => Number(one.getAttribute("aria-label").slice("Turn ".length))));
      const upTo = (last, count) => Array.from({ length: count }, (_, at) => last - count + 1 + at);
      const box = page.getByRole("region", { name: "Conversation" });
      await restore(page, turnsOf(5_000));
      await turn(page, 5_000).waitFor();
      assert.ok((await elements()) < MOST_ELEMENTS, `${await elements()} elements`);
      assert.deepEqual(await shown(), upTo(5_000, 50));
      assert.equal(await page.locator("#announcer").innerText(), "", "old messages are not announced again");
      assert.ok((await box.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)) < 2, "the end is in sight");
      await shot("end");

      // Rendered texts of earlier turns are not elements of the new one.
      await page.locator(".agent-text .plain").first().waitFor({ state: "detached" });
      await page.evaluate(() => {
        globalThis.added = 0;
        const count = (changes) => (globalThis.added += changes.reduce((sum, change) => sum + change.addedNodes.length, 0));
        new MutationObserver(count).observe(document.querySelector("#transcript"), { childList: true, subtree: true });
      });
      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/api/ai/chat") && inputs.push(request.postDataJSON()));
      await send(page, "hello");
      await turnEnd(page, 5_001).waitFor();
      assert.match(await turnEnd(page, 5_001).innerText(), /^Done/);
      assert.equal(inputs[0].messages.length, 10_001, "the input has all messages");
      assert.ok((await page.evaluate(() => globalThis.added)) < 100, "a turn adds only its own elements");

      const earlier = page.getByRole("button", { name: "Show earlier turns (4950)" });
      await box.evaluate((element) => (element.scrollTop = 0));
      const first = turn(page, 4_951);
      const top = () => first.evaluate((element) => element.getBoundingClientRect().top);
      const at = await top();
      await earlier.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Show earlier turns (4900)" }).waitFor({ state: "attached" });
      assert.deepEqual(await shown(), upTo(5_001, 101));
      assert.ok(Math.abs((await top()) - at) < 60, `the view stays in place: ${at}, ${await top()}`);
      assert.ok(await turn(page, 4_950).evaluate((element) => element === document.activeElement), "the reader continues backwards");
      await turn(page, 4_950).getByText("Answer 4950, with a list:").waitFor({ state: "attached" });
      assert.match(await turn(page, 4_950).innerText(), /Question 4950[\s\S]*Answer 4950/);
      await noViolations(page, "earlier turns");
      await box.evaluate((element) => (element.scrollTop = 0));
      await shot("earlier");

      await send(page, "hello");
      await turnEnd(page, 5_002).waitFor();
      assert.deepEqual(await shown(), upTo(5_002, 52), "the oldest are removed again");
      assert.ok((await elements()) < MOST_ELEMENTS);
      await page.getByRole("button", { name: "Show earlier turns (4950)" }).click();
      assert.deepEqual(await shown(), upTo(5_002, 102));
      await turn(page, 4_950).getByText("Answer 4950, with a list:").waitFor({ state: "attached" });
      assert.match(await turn(page, 4_950).innerText(), /Question 4950[\s\S]*Answer 4950/, "the content of the turn is unchanged");
    },
  })),
];
