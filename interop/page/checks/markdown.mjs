// Text of the agent, rendered as Markdown.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { noViolations, rendered, restore, send, turn, turnEnd } from "./page.mjs";

const ATTEMPTS = JSON.parse(await readFile(new URL("../../../examples/gateway/tests/it/markdown/attempts.json", import.meta.url), "utf8"));

/** A conversation of one answer. */
const answered = (content) => [
  { id: "u", role: "user", content: "Show it" },
  { id: "a", role: "assistant", content },
];

const text = (page, number = 1) => turn(page, number).locator(".agent-text");

/** Replaces the response of the gateway by parts that arrive on demand. */
const answerOnDemand = (page) =>
  page.evaluate(() => {
    const send = globalThis.fetch;
    globalThis.fetch = async (path, init) => {
      if (path !== "/api/ai/chat") return send(path, init);
      const { threadId, runId } = JSON.parse(init.body);
      const body = new ReadableStream({
        start(answer) {
          globalThis.say = (events) =>
            answer.enqueue(new TextEncoder().encode(events.map((event) => `data: ${JSON.stringify({ threadId, runId, ...event })}\n\n`).join("")));
          globalThis.say([{ type: "RUN_STARTED" }, { type: "TEXT_MESSAGE_START", messageId: "m" }]);
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    };
  });

const say = (page, delta) => page.evaluate((delta) => globalThis.say([{ type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta }]), delta);

const finish = (page) =>
  page.evaluate(() => globalThis.say([{ type: "TEXT_MESSAGE_END", messageId: "m" }, { type: "RUN_FINISHED", outcome: { type: "success" } }]));

/** Measures the longest task, and counts the elements that are added to answers, from now on. */
const watchWork = (page) =>
  page.evaluate(() => {
    globalThis.work = { longest: 0, rows: 0, largest: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.work.longest = Math.max(globalThis.work.longest, duration);
    }).observe({ type: "longtask" });
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        for (const node of addedNodes) globalThis.work.rows += node.localName === "tr" ? 1 : (node.querySelectorAll?.("tr").length ?? 0);
        const part = target.parentElement?.closest(".plain > span");
        if (part) globalThis.work.largest = Math.max(globalThis.work.largest, part.textContent.length);
      }
    }).observe(document.querySelector("#transcript"), { childList: true, subtree: true, characterData: true });
  });

export const checks = [
  ...["light", "dark"].flatMap((colorScheme) =>
    [1280, 390].map((width) => ({
      name: `Markdown, ${colorScheme}, ${width} pixels`,
      context: { colorScheme, viewport: { width, height: 900 } },
      async run({ page, shot }) {
        await send(page, "format");
        await turnEnd(page).waitFor();
        await rendered(page);
        const answer = text(page);
        assert.equal(await answer.getByRole("heading", { name: "Two ways to keep a counter", level: 3 }).count(), 1);
        for (const tag of ["em", "strong", "del", "blockquote.markdown-alert-note", "ol > li", "sup", "div.footnote"]) {
          assert.ok((await answer.locator(tag).count()) > 0, tag);
        }
        const link = answer.getByRole("link", { name: "https://doc.rust-lang.org/std/sync/atomic/" });
        assert.deepEqual(await link.evaluate(({ rel, target }) => [rel, target]), ["noopener noreferrer", "_blank"]);
        const cells = await answer.getByRole("region", { name: "Table" }).getByRole("cell").allTextContents();
        assert.deepEqual(cells, ["Mutex<u64>", "blocking", "16", "AtomicU64", "free", "8"]);
        assert.equal(await answer.getByRole("img", { name: "Done" }).count(), 1);
        assert.match(await answer.locator("figure.code .hl-inserted").first().textContent(), /hits: AtomicU64/);
        const colours = await answer.locator("figure.code").last().locator("span[class*=hl-]").evaluateAll((spans) => new Set(spans.map((span) => getComputedStyle(span).color)).size);
        assert.ok(colours > 3, `${colours} colours`);
        for (const name of ["html", "#conversation", ".turn"]) {
          const over = await page.locator(name).first().evaluate((element) => element.scrollWidth - element.clientWidth);
          assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
        }
        await noViolations(page, "rendered text");
        await shot("end");
        await page.getByRole("region", { name: "Conversation" }).evaluate((box) => (box.scrollTop = 0));
        await shot("top");
        const code = answer.locator("figure.code").last();
        await code.getByRole("button", { name: "Wrap" }).click();
        assert.equal(await code.locator("pre").evaluate((block) => getComputedStyle(block).whiteSpace), "pre-wrap");
      },
    })),
  ),
  {
    name: "hostile Markdown has no effect",
    async run({ page }) {
      const elsewhere = [];
      page.on("dialog", (dialog) => (elsewhere.push(dialog.message()), dialog.dismiss()));
      page.on("request", (request) => request.url().startsWith(new URL(page.url()).origin) || elsewhere.push(request.url()));
      await restore(page, answered(ATTEMPTS.join("\n\n")));
      await rendered(page);
      for (const attempt of ATTEMPTS) {
        await restore(page, answered(attempt));
        await rendered(page);
      }
      assert.deepEqual(elsewhere, [], "no dialog, and nothing from elsewhere");
      assert.equal(await text(page).locator("script, iframe, object, embed, form, svg, style, [onerror], [style], [id]").count(), 0);
    },
  },
  {
    name: "Markdown is rendered while it arrives, without flicker",
    async run({ page }) {
      await send(page, "format");
      await turnEnd(page).waitFor();
      await rendered(page);
      const whole = await text(page).innerHTML();
      const source = await readFile(new URL("../../../examples/demo-agent/src/format.md", import.meta.url), "utf8");
      await answerOnDemand(page);
      await send(page, "again");
      await page.waitForFunction(() => globalThis.say !== undefined);
      const parts = source.match(/[\s\S]{1,40}/g);
      await say(page, parts[0]);
      await text(page, 2).waitFor();
      await page.evaluate(() => {
        globalThis.lost = [];
        globalThis.shots = 0;
        const element = document.querySelectorAll(".agent-text")[1];
        const words = () => element.textContent.replaceAll(/[\s#*|`~>:[\]()-]/g, "").length;
        let [most, first] = [0, element.firstElementChild];
        new MutationObserver(() => {
          globalThis.shots += 1;
          // Marks and the names of languages are not counted, buttons are.
          if (words() < most * 0.8) globalThis.lost.push([most, words()]);
          most = Math.max(most, words());
          if (globalThis.shots === 20) first = element.firstElementChild;
          if (globalThis.shots > 20 && element.firstElementChild !== first) globalThis.lost.push("the first block was rendered again");
        }).observe(element, { childList: true, subtree: true, characterData: true });
      });
      for (const part of parts.slice(1)) {
        await say(page, part);
        await page.waitForTimeout(30);
      }
      assert.ok((await text(page, 2).locator("table, figure.code").count()) > 1, "blocks are rendered before the end");
      assert.deepEqual(await page.evaluate(() => globalThis.lost), []);
      await finish(page);
      await turnEnd(page, 2).waitFor();
      await rendered(page, 2);
      await page.waitForFunction((html) => document.querySelectorAll(".agent-text")[1].innerHTML === html, whole);
    },
  },
  {
    name: "a long answer is rendered in parts",
    async run({ page }) {
      const paragraph = `**🎵** ${"word ".repeat(200)}\n\n`;
      await restore(page, answered(paragraph.repeat(600)));
      await text(page).locator("p > strong").nth(599).waitFor({ state: "attached" });
      await rendered(page);
      assert.equal(await text(page).locator("p").count(), 600);
    },
  },
  {
    name: "without rendering, text stays readable",
    expectNetworkErrors: true,
    async run({ page }) {
      await page.route("**/api/ai/markdown", (route) => route.abort("connectionrefused"));
      await restore(page, answered("a **b**\n\n- c"));
      await text(page).waitFor();
      assert.equal(await text(page).textContent(), "a **b**\n\n- c");
    },
  },
  {
    name: "a table of 1,000 rows and a block of 1 MB",
    async run({ page, shot }) {
      await answerOnDemand(page);
      await send(page, "much");
      await page.waitForFunction(() => globalThis.say !== undefined);
      await watchWork(page);
      await say(page, "| row | value |\n|---|---|\n");
      for (let row = 0; row < 1_000; row += 50) {
        await say(page, Array.from({ length: 50 }, (_, at) => `| ${row + at} | value of ${row + at} |\n`).join(""));
        await page.waitForTimeout(50);
      }
      await text(page).locator("tbody tr").nth(999).waitFor({ state: "attached" });
      await say(page, "\n```text\n");
      const line = `${"0123456789".repeat(10)}\n`;
      for (let size = 0; size < 1024 * 1024; size += 64 * 1024) {
        await say(page, line.repeat(650));
        await page.waitForTimeout(50);
      }
      await say(page, "```\n\nThe end.");
      await finish(page);
      await turnEnd(page).waitFor();
      await text(page).getByText("The end.").waitFor();
      await shot("end");
      const work = await page.evaluate(() => globalThis.work);
      console.log(`     the longest task took ${Math.round(work.longest)} ms`);
      assert.ok(work.rows < 1_200, `${work.rows} rows were added for 1,000`);
      assert.ok(work.largest < 64 * 1024, `a part of ${work.largest} characters is laid out again`);
    },
  },
];
