// Many events at once: the page stays responsive.
import assert from "node:assert/strict";
import { prompt, send, turn, turnEnd } from "./page.mjs";

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

// Each of 5,000 calls has a card, which takes a multiple of the time of other events.
const MOST_CARDS_MS = 3 * MOST_MS;

const STREAMS = [
  { name: "a text", events: repeated(() => text("m", words(COUNT - 2))), last: "word19996" },
  { name: "tool calls", events: repeated(call), last: "file_4999.rs", most: MOST_CARDS_MS },
  { name: "thoughts, tool calls and texts", events: repeated((at) => [...thought(at), ...call(at), ...text(`m${at}`, words(9))]), last: "file_999.rs" },
];

/** Returns the processor time of each task of the page's main thread, in milliseconds. Other programs do not change it. */
function tasksOf(trace) {
  const { traceEvents } = JSON.parse(trace);
  const isMain = ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain";
  const threads = traceEvents.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`);
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === "RunTask" && threads.includes(`${pid} ${tid}`));
  return tasks.map(({ tdur = 0 }) => tdur / 1000);
}

export const checks = STREAMS.map(({ name, events, last, most = MOST_MS }) => ({
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
    const browser = page.context().browser();
    await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
    let tasks = [];
    try {
      await send(page, "go");
      // A busy computer takes longer than the tasks.
      await turnEnd(page).waitFor({ timeout: WAIT_MS });
    } finally {
      tasks = tasksOf((await browser.stopTracing()).toString());
    }
    await shot("end");
    const [sum, longest] = [tasks.reduce((all, task) => all + task, 0), Math.max(...tasks)].map(Math.round);
    assert.ok(tasks.length > 10, "the tasks were recorded");
    assert.ok(longest < MOST_TASK_MS, `a task of ${longest} ms`);
    assert.ok(sum < most, `${sum} ms in all`);
    await turn(page, 1).getByText(last).last().waitFor();
    assert.match(await page.locator("#debug").textContent(), /^20002 events · 0 ignored$/);
    const fromEnd = await page.locator("#conversation").evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    assert.ok(fromEnd < 2, `the end is ${fromEnd} pixels below`);
    console.log(`     ${name}: ${sum} ms, the longest task ${longest} ms`);
  },
}));
