// Shared actions of the page checks.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

export const CHAT = "**/api/ai/chat";
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const prompt = (page) => page.getByRole("textbox", { name: "Message to the agent" });
export const turn = (page, number) => page.getByRole("region", { name: `Turn ${number}`, exact: true });
export const turnEnd = (page, number = 1) => turn(page, number).locator(".turn-end");
/** Waits until no text of the agent is plain. */
export const rendered = (page, number = 1) =>
  turn(page, number).locator(".agent-text .plain").first().waitFor({ state: "detached" });

export const permission = (page) => page.getByRole("group", { name: /^Permission/ });

/**
 * Opens an address. The page signs in first, and has no focus until it is complete or asks for a token.
 * @param {import("playwright-core").Page} page
 * @param {string} url
 */
export async function open(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => document.activeElement?.id === "prompt" || document.querySelector("dialog[open]") !== null);
}

export async function send(page, text) {
  await prompt(page).fill(text);
  await page.keyboard.press("Enter");
}

/** Presses the first button with a matching name in the open permission request. */
export async function answer(page, name) {
  const button = permission(page).getByRole("button", { name }).first();
  await button.click();
}

/** Answers each permission request of a turn until the end of the turn. Returns the number of requests. */
export async function answerAll(page, name, number = 1) {
  const end = turnEnd(page, number);
  const open = permission(page).getByRole("button", { name }).and(page.locator(":enabled")).first();
  for (let asked = 0; asked < 5; asked += 1) {
    await end.or(open).first().waitFor();
    if (await end.isVisible()) return asked;
    await open.click();
    await open.waitFor({ state: "detached" });
  }
  throw new Error("the agent asked five times");
}

/** Replaces the response of the gateway by events, for cases that the demo agent does not produce. */
export function answerWith(page, makeEvents) {
  return page.route(CHAT, (route) => {
    const { threadId, runId } = route.request().postDataJSON();
    const body = makeEvents({ threadId, runId })
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join("");
    return route.fulfill({ status: 200, contentType: "text/event-stream", body });
  });
}

/** Returns a conversation of `count` turns with two messages each. */
export const turnsOf = (count) =>
  Array.from({ length: count }, (_, at) => [
    { id: `u${at}`, role: "user", content: `Question ${at + 1}` },
    { id: `a${at}`, role: "assistant", content: `Answer **${at + 1}**, with a list:\n\n- one\n- two` },
  ]).flat();

/** Returns a turn with `count` tool calls of two messages each. */
export const turnOf = (count) => [
  { id: "u", role: "user", content: "Read all of it" },
  ...Array.from({ length: count }, (_, at) => {
    const call = { id: `c${at}`, type: "function", function: { name: `read_${at + 1}`, arguments: "{}" } };
    return [
      { id: `a${at}`, role: "assistant", toolCalls: [call] },
      { id: `t${at}`, role: "tool", toolCallId: call.id, content: `what ${at + 1} says` },
    ];
  }).flat(),
];

/** Reloads the page with a stored conversation. */
export async function restore(page, said) {
  await store(page, said);
  await page.reload();
}

/** Stores a conversation for the next load of the page. */
export async function store(page, said) {
  await page.evaluate((messages) => {
    const held = { threadId: crypto.randomUUID(), messages, state: {}, interrupts: [], agent: null, title: null, pending: [], runId: null };
    sessionStorage.setItem("spanwire.conversation.2", JSON.stringify(held));
    // The address would name another conversation.
    history.replaceState(null, "", "/");
  }, said);
}

/** Returns the processor time of each task of the page's main thread, in milliseconds. Other programs do not change it. */
function tasksOf(trace) {
  const { traceEvents } = JSON.parse(trace);
  const isMain = ({ name, args }) => name === "thread_name" && args.name === "CrRendererMain";
  const threads = traceEvents.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`);
  const tasks = traceEvents.filter(({ name, pid, tid }) => name === "RunTask" && threads.includes(`${pid} ${tid}`));
  return tasks.map(({ tdur = 0 }) => tdur / 1000);
}

/** Measures the tasks of the page during an action: their processor time in all, and that of the longest, in milliseconds. */
export async function measured(page, action) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  let tasks = [];
  try {
    await action();
  } finally {
    tasks = tasksOf((await browser.stopTracing()).toString());
  }
  assert.ok(tasks.length > 10, "the tasks were recorded");
  return { sum: Math.round(tasks.reduce((all, task) => all + task, 0)), longest: Math.round(Math.max(...tasks)) };
}

/** Waits until the page has had no open request for half a second, except for the wait for a turn of the agent. */
export async function whenIdle(page, limit) {
  const open = new Set();
  let changed = Date.now();
  const note = (change) => (request) => {
    if (request.url().endsWith("/activity")) return;
    open[change](request);
    changed = Date.now();
  };
  const noted = { request: note("add"), requestfinished: note("delete"), requestfailed: note("delete") };
  for (const [event, listener] of Object.entries(noted)) page.on(event, listener);
  const end = Date.now() + limit;
  while (open.size > 0 || Date.now() - changed < 500) {
    assert.ok(Date.now() < end, `open requests after ${limit} ms: ${[...open].map((it) => it.url()).join(" ")}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const [event, listener] of Object.entries(noted)) page.off(event, listener);
}

export async function noViolations(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ rules: { "target-size": { enabled: true } } }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
  assert.deepEqual(found, [], `accessibility of ${where}`);
}
