// Many events at once: the page stays responsive.
import assert from "node:assert/strict";
import { measured, prompt, rendered, send, store, turn, turnEnd, turnOf, whenIdle } from "./page.mjs";

const COUNT = 20_000;
const MOST_MS = 4_000;
const MOST_TASK_MS = 100;
const WAIT_MS = 100_000;

/** Repeats the events of `make` until there are as many as wanted. */
const repeated = (make) => {
  const events = [];
  for (let at = 0; events.length < COUNT; at += 1) events.push(...make(at));
  return events.slice(0, COUNT);
};
const text = (messageId, deltas) => [
  { type: "TEXT_MESSAGE_START", messageId },
  ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
  { type: "TEXT_MESSAGE_END", messageId },
];
const call = (at) => [
  { type: "TOOL_CALL_START", toolCallId: `c${at}`, toolCallName: "read" },
  { type: "TOOL_CALL_ARGS", toolCallId: `c${at}`, delta: JSON.stringify({ path: `src/file_${at}.rs` }) },
  { type: "TOOL_CALL_END", toolCallId: `c${at}` },
  { type: "TOOL_CALL_RESULT", messageId: `r${at}`, toolCallId: `c${at}`, content: "fn main() {}\n" },
];
const thought = (at) => [
  { type: "REASONING_START", messageId: `s${at}` },
  { type: "REASONING_MESSAGE_START", messageId: `h${at}`, role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: `h${at}`, delta: "I read the next file." },
  { type: "REASONING_MESSAGE_END", messageId: `h${at}` },
  { type: "REASONING_END", messageId: `s${at}` },
];
const words = (count) => Array.from({ length: count }, (_, at) => (at % 80 === 79 ? "end.\n\n- one\n- two\n\n" : `word${at} `));

const STREAMS = [
  { name: "a text", events: repeated(() => text("m", words(COUNT - 2))), last: "word19996" },
  { name: "tool calls", events: repeated(call), last: "file_4999.rs" },
  { name: "thoughts, tool calls and texts", events: repeated((at) => [...thought(at), ...call(at), ...text(`m${at}`, words(9))]), last: "file_999.rs" },
];

/** A conversation of one answer. */
const answered = (content) => [
  { id: "u", role: "user", content: "Show it" },
  { id: "a", role: "assistant", content },
];
const line = `${"0123456789".repeat(10)}\n`;
const megabyte = line.repeat((1024 * 1024) / line.length);
const rows = Array.from({ length: 1_000 }, (_, row) => `| ${row} | value of ${row} |\n`).join("");

// Conversations of an earlier page, and the text at their end.
const RESTORED = [
  { name: "a turn of 5,000 tool calls", said: turnOf(5_000), last: "read_5000" },
  { name: "50 turns of 100 tool calls", said: Array.from({ length: 50 }, (_, at) => renamed(turnOf(100), at)).flat(), last: "read_100", number: 50 },
  { name: "a code block of 1 MB", said: answered(`\`\`\`text\n${megabyte}\`\`\`\n\nThe end.`), last: "The end." },
  { name: "a text of 1 MB", said: answered(`${megabyte}\n\nThe end.`), last: "The end." },
  { name: "1 MB of paragraphs", said: answered(`${`**word** ${"word ".repeat(100)}\n\n`.repeat(2_000)}The end.`), last: "The end." },
  { name: "a table of 1,000 rows", said: answered(`| row | value |\n|---|---|\n${rows}\nThe end.`), last: "The end." },
];

/** Messages with other ids. */
function renamed(messages, number) {
  return messages.map(({ toolCalls, toolCallId, ...message }) => ({
    ...message,
    id: `${number}-${message.id}`,
    ...(toolCalls && { toolCalls: toolCalls.map((call) => ({ ...call, id: `${number}-${call.id}` })) }),
    ...(toolCallId && { toolCallId: `${number}-${toolCallId}` }),
  }));
}

const streams = STREAMS.map(({ name, events, last }) => ({
  name: `20,000 events at once: ${name}`,
  async run({ page, shot }) {
    await prompt(page).waitFor();
    await page.evaluate((said) => {
      const send = globalThis.fetch;
      globalThis.fetch = async (path, init) => {
        if (path !== "/api/ai/chat") return send(path, init);
        const { threadId, runId } = JSON.parse(init.body);
        const all = [{ type: "RUN_STARTED", threadId, runId }, ...said, { type: "RUN_FINISHED", threadId, runId }];
        const body = all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
        return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
      };
    }, events);
    const { sum, longest } = await measured(page, async () => {
      await send(page, "go");
      // A busy computer takes longer than the tasks.
      await turnEnd(page).waitFor({ timeout: WAIT_MS });
    });
    await shot("end");
    assert.ok(longest < MOST_TASK_MS, `a task of ${longest} ms`);
    assert.ok(sum < MOST_MS, `${sum} ms in all`);
    await turn(page, 1).getByText(last).last().waitFor();
    assert.match(await page.locator("#debug").textContent(), /^20002 events · 0 ignored$/);
    const fromEnd = await page.locator("#conversation").evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    assert.ok(fromEnd < 2, `the end is ${fromEnd} pixels below`);
    console.log(`     ${name}: ${sum} ms, the longest task ${longest} ms`);
    // Cards that left the page before a frame are drawn when they are shown.
    const earlier = turn(page, 1).getByRole("button", { name: "Show earlier steps" });
    if ((await earlier.count()) > 0) await earlier.click();
    const names = await turn(page, 1).locator("article.tool").evaluateAll((cards) => cards.map((card) => card.querySelector("summary")?.textContent ?? ""));
    assert.ok(names.every((shown) => shown.includes("file_")), `cards without a name: ${names}`);
  },
}));

const restored = RESTORED.map(({ name, said, last, number = 1 }) => ({
  name: `restored: ${name}`,
  async run({ page, shot }) {
    await store(page, said);
    const { sum, longest } = await measured(page, async () => {
      const idle = whenIdle(page, WAIT_MS);
      await page.reload();
      // Without a search for texts, which would be a long task of the page as well.
      await page.locator("#transcript .turn").last().waitFor();
      await idle;
    });
    await turn(page, number).getByText(last).last().waitFor({ state: "attached" });
    if (said.length === 2 && !said[1].content.includes(megabyte)) await rendered(page);
    await shot("end");
    console.log(`     ${name}: ${sum} ms, the longest task ${longest} ms`);
    assert.ok(longest < MOST_TASK_MS, `a task of ${longest} ms`);
    // Reading backwards lays out what was skipped.
    const box = page.locator("#conversation");
    const { longest: scrolling } = await measured(page, async () => {
      for (let part = 0; part <= 10; part += 1) {
        await box.evaluate((it, part) => (it.scrollTop = (it.scrollHeight * part) / 10), part);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      }
    });
    console.log(`     scrolling: the longest task ${scrolling} ms`);
    assert.ok(scrolling < MOST_TASK_MS, `a task of ${scrolling} ms while scrolling`);
  },
}));

export const checks = [...streams, ...restored];
