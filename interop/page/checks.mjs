// What the page must do, one function a check. A check gets a fresh page of the gateway.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const CHAT = "**/api/ai/chat";
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const prompt = (page) => page.getByRole("textbox", { name: "Message to the agent" });
const turn = (page, number) => page.getByRole("region", { name: `Turn ${number}`, exact: true });
const turnEnd = (page, number = 1) => turn(page, number).locator(".turn-end");
const permission = (page) => page.getByRole("group", { name: /^Permission/ });

async function send(page, text) {
  await prompt(page).fill(text);
  await page.keyboard.press("Enter");
}

/** Presses the first button of the open permission request whose name matches. */
async function answer(page, name) {
  const button = permission(page).getByRole("button", { name }).first();
  await button.click();
}

/** Answers every permission request of a turn until the turn is over. */
async function answerAll(page, name, number = 1) {
  const end = turnEnd(page, number);
  const open = permission(page).getByRole("button", { name }).and(page.locator(":enabled")).first();
  for (let asked = 0; asked < 5; asked += 1) {
    await end.or(open).first().waitFor();
    if (await end.isVisible()) return asked;
    await open.click();
    await open.waitFor({ state: "detached" });
  }
  throw new Error("the agent asked five times and more");
}

/** A gateway's answer out of events, for what the demo agent does not do. */
function answerWith(page, makeEvents) {
  return page.route(CHAT, (route) => {
    const { threadId, runId } = route.request().postDataJSON();
    const body = makeEvents({ threadId, runId })
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join("");
    return route.fulfill({ status: 200, contentType: "text/event-stream", body });
  });
}

/** A conversation that went on for so many turns, of two messages each. */
const turnsOf = (count) =>
  Array.from({ length: count }, (_, at) => [
    { id: `u${at}`, role: "user", content: `Question ${at + 1}` },
    { id: `a${at}`, role: "assistant", content: `Answer **${at + 1}**, with a list:\n\n- one\n- two` },
  ]).flat();

/** A turn that went on for so many calls of a tool, of two messages each. */
const turnOf = (count) => [
  { id: "u", role: "user", content: "Read all of it" },
  ...Array.from({ length: count }, (_, at) => {
    const call = { id: `c${at}`, type: "function", function: { name: `read_${at + 1}`, arguments: "{}" } };
    return [
      { id: `a${at}`, role: "assistant", toolCalls: [call] },
      { id: `t${at}`, role: "tool", toolCallId: call.id, content: `what ${at + 1} says` },
    ];
  }).flat(),
];

/** The page of a conversation that there was before. */
async function restore(page, said) {
  await page.evaluate((messages) => {
    const held = { threadId: crypto.randomUUID(), messages, state: {}, interrupts: [], agent: null, title: null, pending: [], runId: null };
    sessionStorage.setItem("spanwire.conversation.2", JSON.stringify(held));
  }, said);
  await page.reload();
}

async function noViolations(page, where) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ rules: { "target-size": { enabled: true } } }));
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
  assert.deepEqual(found, [], `accessibility of ${where}`);
}

export const checks = [
  ...[
    { scheme: "light", width: 1100 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `a gateway that wants a token, ${scheme}, ${width} pixels`,
    variables: { GATEWAY_TOKEN: "open-sesame" },
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    expectNetworkErrors: true,
    async run({ page, shot }) {
      const urls = [];
      page.on("request", (request) => urls.push(request.url()));
      const dialog = page.getByRole("dialog", { name: "Who is there?" });
      const token = dialog.getByLabel("Token", { exact: true });
      await dialog.waitFor();
      assert.ok(await token.evaluate((input) => input === document.activeElement), "the token has the focus");
      await shot("asked");
      await noViolations(page, "the question for a token");
      await page.keyboard.type("with space");
      await page.keyboard.press("Enter");
      assert.ok(await token.evaluate((input) => input.validity.patternMismatch), "no header has such a token");
      await token.fill("open-barley");
      await page.keyboard.press("Enter");
      await dialog.getByRole("alert").getByText("does not take this token").waitFor();
      assert.equal(await token.inputValue(), "");
      await shot("refused");
      await noViolations(page, "a token that is refused");

      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
      await send(page, "hello");
      await dialog.waitFor();
      await dialog.getByRole("button", { name: "Not now" }).click();
      await turn(page, 1).getByRole("alert").waitFor();
      assert.match(await turn(page, 1).innerText(), /a bearer token is needed/);
      await turn(page, 1).getByRole("button", { name: "Try again" }).click();
      await dialog.waitFor();
      await token.fill("open-sesame");
      await dialog.getByRole("button", { name: "Go on" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turnEnd(page, 2).innerText(), /^Done/);
      await page.getByRole("combobox", { name: "Agent" }).waitFor();

      await page.reload();
      await send(page, "hello");
      await turnEnd(page, 2).waitFor();
      assert.ok(await dialog.isHidden(), "it is kept over a reload, and what was refused is not");
      assert.deepEqual(await page.evaluate(() => [localStorage.length, document.cookie]), [0, ""], "and by nothing else than the tab");
      assert.deepEqual(urls.concat(page.url()).filter((url) => url.includes("open-")), [], "no address has it");
    },
  })),
  {
    name: "10,000 messages in one turn",
    async run({ page, shot }) {
      const MOST_ELEMENTS = 3_000;
      const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
      await restore(page, turnOf(5_000));
      const earlier = turn(page, 1).getByRole("button", { name: "Show earlier steps (4950)" });
      await earlier.waitFor({ state: "attached" });
      assert.ok((await elements()) < MOST_ELEMENTS, `${await elements()} elements`);
      assert.ok(await turn(page, 1).getByText("Read all of it").isVisible(), "what the user said stays");
      await shot("end");
      await earlier.focus();
      await page.keyboard.press("Enter");
      await turn(page, 1).getByRole("button", { name: "Show earlier steps (4900)" }).waitFor({ state: "attached" });
      const cards = turn(page, 1).locator("article.tool");
      assert.equal(await cards.count(), 100);
      assert.match(await cards.first().innerText(), /read_4901/);
      const focused = cards.nth(49);
      assert.match(await focused.innerText(), /read_4950/);
      assert.ok(await focused.evaluate((card) => card === document.activeElement), "the reader goes on backwards");
      await noViolations(page, "earlier steps");

      // An answer whose parts come when they are told to.
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
      assert.equal(await steps.count(), 150, "what has the focus stays, and all that follows");
      await prompt(page).focus();
      await look(151, 200);
      await last(200);
      assert.equal(await steps.count(), 50, "the oldest have left while it went on");
      await page.evaluate(() => globalThis.say([{ type: "RUN_FINISHED", outcome: { type: "success" } }]));
      await turnEnd(page, 2).waitFor();
      assert.match(await steps.last().innerText(), /look_200[\s\S]*Done/);
      await turn(page, 2).getByRole("button", { name: /^Show earlier steps/ }).click();
      await shot("earlier");
      assert.match(await page.locator("#debug").innerText(), / 0 ignored$/);
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
      assert.equal(await page.locator("#announcer").innerText(), "", "what is old is not said again");
      assert.ok((await box.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight)) < 2, "the end is in sight");
      await shot("end");

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
      assert.equal(inputs[0].messages.length, 10_001, "the gateway is told of all of them");
      assert.ok((await page.evaluate(() => globalThis.added)) < 100, "a turn adds what it shows and no more");

      const earlier = page.getByRole("button", { name: "Show earlier turns (4950)" });
      await box.evaluate((element) => (element.scrollTop = 0));
      const first = turn(page, 4_951);
      const top = () => first.evaluate((element) => element.getBoundingClientRect().top);
      const at = await top();
      await earlier.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Show earlier turns (4900)" }).waitFor({ state: "attached" });
      assert.deepEqual(await shown(), upTo(5_001, 101));
      assert.ok(Math.abs((await top()) - at) < 60, `what the reader sees stays: ${at}, ${await top()}`);
      assert.ok(await turn(page, 4_950).evaluate((element) => element === document.activeElement), "the reader goes on backwards");
      assert.match(await turn(page, 4_950).innerText(), /Question 4950[\s\S]*Answer 4950/);
      await noViolations(page, "earlier turns");
      await box.evaluate((element) => (element.scrollTop = 0));
      await shot("earlier");

      await send(page, "hello");
      await turnEnd(page, 5_002).waitFor();
      assert.deepEqual(await shown(), upTo(5_002, 50), "the oldest have left again");
      assert.ok((await elements()) < MOST_ELEMENTS);
      await page.getByRole("button", { name: "Show earlier turns (4952)" }).click();
      assert.deepEqual(await shown(), upTo(5_002, 100));
      assert.match(await turn(page, 4_952).innerText(), /Question 4952[\s\S]*Answer 4952/, "as they were");
    },
  })),
  {
    name: "a full turn: text, thought, plan, tools, permission",
    async run({ page, shot }) {
      await send(page, "tour");
      await permission(page).waitFor();
      await shot("permission");
      assert.ok(await permission(page).evaluate((group) => group.contains(document.activeElement)), "the question has the focus");
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
      assert.ok((await page.locator(".diff ins").count()) > 0, "added lines");
      assert.ok((await page.locator(".terminal").first().innerText()).trim().length > 0, "terminal output");
      for (const card of await tools.all()) await card.evaluate((article) => article.querySelectorAll("details").forEach((fold) => (fold.open = true)));
      const results = await page.locator(".tool-body pre:visible").allInnerTexts();
      assert.ok(results.some((result) => result.trim().startsWith("{")), "arguments as JSON");
      assert.ok(results.filter((result) => result.trim() !== "").length > states.length, "results");
      assert.ok(await page.getByRole("meter", { name: "Context used" }).isVisible(), "the usage meter");
      assert.match(await page.locator("#debug").innerText(), / 0 ignored$/, "nothing unknown or out of place");
      await noViolations(page, "a full turn");
    },
  },
  {
    name: "a permission that is rejected",
    async run({ page, shot }) {
      await send(page, "edit");
      await permission(page).waitFor();
      const asked = await answerAll(page, /^(reject|deny|no)/i);
      assert.ok(asked > 0, "the agent asked");
      assert.equal(await page.locator(".permission.is-rejected").count(), asked, "the answer stays to be seen");
      const states = await page.locator("article.tool").evaluateAll((cards) => cards.map((card) => card.dataset.status));
      assert.ok(states.includes("failed"), `the tool failed, not ${states}`);
      assert.match(await turnEnd(page).innerText(), /^Done/);
      await shot("rejected");
    },
  },
  {
    name: "a run that is stopped by the button",
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
  {
    name: "an error of the agent, in place",
    async run({ page, shot }) {
      await send(page, "error");
      const alert = turn(page, 1).getByRole("alert");
      await alert.waitFor();
      await shot("error");
      assert.match(await alert.innerText(), /The run failed/);
      assert.match(await alert.locator("code").innerText(), /^[A-Z_]+$/, "the code of the error");
      assert.ok((await alert.locator(".notice-text").innerText()).trim().length > 0, "the message of the error");
      assert.match(await turnEnd(page).innerText(), /^Failed/);
      await noViolations(page, "an error");
      await alert.getByRole("button", { name: "Try again" }).click();
      await turn(page, 2).getByRole("alert").waitFor();
    },
  },
  {
    name: "a second turn keeps the first, and tells the gateway of it",
    async run({ page }) {
      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/api/ai/chat") && inputs.push(request.postDataJSON()));
      await send(page, "hello");
      await turnEnd(page, 1).waitFor();
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
    name: "the keyboard alone",
    async run({ page }) {
      await page.keyboard.type("slow");
      await page.keyboard.press("Shift+Enter");
      await page.keyboard.type("and on");
      assert.equal(await prompt(page).inputValue(), "slow\nand on");
      await page.keyboard.press("Enter");
      await turn(page, 1).locator(".agent-text").first().waitFor();
      await page.keyboard.press("Escape");
      await turnEnd(page, 1).waitFor();
      assert.match(await turnEnd(page, 1).innerText(), /^Stopped/);

      await page.keyboard.type("edit");
      await page.keyboard.press("Enter");
      await permission(page).waitFor();
      await page.keyboard.press("Enter");
      assert.equal(await permission(page).count(), 1, "Enter alone answers nothing");
      await page.keyboard.press("Tab");
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^allow/i);
      await page.keyboard.press("Enter");
      await turnEnd(page, 2).waitFor();
      assert.match(await turnEnd(page, 2).innerText(), /^Done/);
      assert.ok(await prompt(page).evaluate((area) => area === document.activeElement), "the focus is back in the message box");

      await page.keyboard.press("Shift+Tab");
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.equal(outline, "solid", "the focus can be seen");
    },
  },
  {
    name: "a permission that is cancelled with its run",
    async run({ page }) {
      await send(page, "edit");
      await permission(page).waitFor();
      await page.keyboard.press("Escape");
      await turnEnd(page).waitFor();
      assert.match(await turnEnd(page).innerText(), /^Stopped/);
      assert.equal(await permission(page).getByRole("button").count(), 0, "no buttons stay");

      const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
      await answerWith(page, (ids) => [
        { type: "RUN_STARTED", ...ids },
        { type: "CUSTOM", name: "acp.permission.requested", value: { interruptId: "i", title: "Go on", options } },
        { type: "RUN_ERROR", message: "gone", code: "AGENT_EXITED" },
      ]);
      await send(page, "edit");
      await turnEnd(page, 2).waitFor();
      assert.equal(await permission(page).getByRole("button").count(), 0, "not even where the agent is gone");
    },
  },
  {
    name: "a screen reader hears sentences, not letters",
    async run({ page }) {
      await send(page, "hello");
      await turnEnd(page).waitFor();
      const heard = await page.locator("[aria-live=polite] p").allInnerTexts();
      assert.equal(heard.at(-1), "The answer is complete.");
      for (const sentence of heard) assert.match(sentence, /[.!?:]$/);
      const said = await turn(page, 1).locator(".agent-text").innerText();
      const letters = (text) => text.replaceAll(/\P{L}/gu, "");
      assert.ok(letters(heard.join("")).startsWith(letters(said)), `${heard} for ${said}`);
      for (const landmark of ["banner", "main"]) assert.equal(await page.getByRole(landmark).count(), 1, landmark);
    },
  },
  {
    name: "refused, unreachable, broken and malformed answers, in words",
    expectNetworkErrors: true,
    async run({ page, shot }) {
      const answers = [
        [(route) => route.fulfill({ status: 503, contentType: "application/json", body: '{"error":"too many runs"}' }), /refused[\s\S]*HTTP 503[\s\S]*too many runs/],
        [(route) => route.abort("connectionrefused"), /does not answer/],
        [(route) => route.fulfill({ status: 200, contentType: "text/event-stream", body: "" }), /connection broke/],
        [(route) => route.fulfill({ status: 200, contentType: "text/event-stream", body: "data: [DONE]\n\n" }), /cannot be read[\s\S]*not JSON/],
        [(route) => route.fulfill({ status: 200, contentType: "text/html", body: "<p>" }), /cannot be read[\s\S]*text\/html/],
      ];
      for (const [at, [fulfil, expected]] of answers.entries()) {
        await page.route(CHAT, fulfil);
        await send(page, "hello");
        const alert = turn(page, at + 1).getByRole("alert");
        await alert.waitFor();
        assert.match(await alert.innerText(), expected);
        await page.unroute(CHAT);
      }
      await shot("failures");
      const [request] = await Promise.all([page.waitForRequest(CHAT), send(page, "hello")]);
      const messages = request.postDataJSON().messages.filter((message) => message.role === "user");
      assert.equal(messages.length, 4, "what was never taken is not sent again");
      await turnEnd(page, 6).waitFor();
      assert.match(await turnEnd(page, 6).innerText(), /^Done/);
    },
  },
  {
    name: "unknown events are counted, and data is never markup",
    async run({ page }) {
      const evil = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
      await answerWith(page, (ids) => [
        { type: "RUN_STARTED", ...ids },
        { type: "FROM_THE_FUTURE", x: 1 },
        { type: "FROM_THE_FUTURE", x: 2 },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "nobody", delta: "lost" },
        { type: "TEXT_MESSAGE_START", messageId: "m" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: `${evil}\n\n\`\`\`${evil}\n${evil}\n\`\`\`\n\`${evil}\`` },
        { type: "TEXT_MESSAGE_END", messageId: "m" },
        { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: evil },
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: JSON.stringify({ evil }) },
        { type: "TOOL_CALL_END", toolCallId: "c" },
        { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "acp.tool", content: { toolCallId: "c", title: evil, kind: evil, status: evil, locations: [{ path: evil }], content: [{ type: "diff", path: evil, oldText: evil, newText: evil + evil }] } },
        { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: evil },
        { type: "ACTIVITY_SNAPSHOT", messageId: "p", activityType: "PLAN", content: { entries: [{ content: evil, status: evil, priority: evil }] } },
        { type: "CUSTOM", name: "acp.session_info", value: { title: evil } },
        { type: "CUSTOM", name: "acp.notice", value: { severity: evil, title: evil, description: evil } },
        { type: "RUN_ERROR", message: evil, code: evil },
      ]);
      await send(page, evil);
      await turnEnd(page).waitFor();
      assert.match(await page.locator("#debug").innerText(), /3 ignored \(FROM_THE_FUTURE ×2, TEXT_MESSAGE_CONTENT out of place ×1\)/);
      assert.equal(await page.locator("main img, main script").count(), 0);
      assert.deepEqual([await page.locator(".diff del").allTextContents(), await page.locator(".diff ins").allTextContents()], [[evil], [evil + evil]]);
      assert.equal(await page.title(), `${evil} · Spanwire`);
    },
  },
  {
    name: "a snapshot of the messages is shown in place of what was there",
    async run({ page }) {
      const call = { id: "c", type: "function", function: { name: "read_file", arguments: '{"path":"a.txt"}' } };
      await answerWith(page, (ids) => [
        { type: "RUN_STARTED", ...ids },
        { type: "TEXT_MESSAGE_START", messageId: "old" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "old", delta: "forgotten" },
        { type: "TEXT_MESSAGE_END", messageId: "old" },
        {
          type: "MESSAGES_SNAPSHOT",
          messages: [
            { id: "u1", role: "user", content: "first question" },
            { id: "r1", role: "reasoning", content: "first thought" },
            { id: "a1", role: "assistant", content: "first answer", toolCalls: [call] },
            { id: "t1", role: "tool", toolCallId: "c", content: "file text" },
            { id: "u2", role: "user", content: "second question" },
          ],
        },
        { type: "TEXT_MESSAGE_START", messageId: "a2" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "a2", delta: "second answer" },
        { type: "TEXT_MESSAGE_END", messageId: "a2" },
        { type: "RUN_FINISHED", ...ids, outcome: { type: "success" } },
      ]);
      await send(page, "hello");
      await turnEnd(page, 2).waitFor();
      assert.equal(await page.locator(".turn").count(), 2);
      const first = await turn(page, 1).textContent();
      for (const part of ["first question", "first thought", "first answer", "read_file", "a.txt", "file text"]) assert.ok(first.includes(part), part);
      const texts = await page.locator(".turn").allTextContents();
      assert.ok(!texts.join("").includes("forgotten"));
      assert.match(texts[1], /second question[\s\S]*second answer[\s\S]*Done/);
      assert.equal(await page.locator("article.tool").getAttribute("data-status"), "completed");
      assert.equal(await page.locator(".working").count(), 0);
    },
  },
  {
    name: "a reload in the middle of a run goes on with it",
    async run({ page }) {
      await send(page, "hello");
      await turnEnd(page).waitFor();
      const before = await turn(page, 1).locator(".agent-text").innerText();
      await send(page, "slow");
      await turn(page, 2).getByText("1 of 50").waitFor();
      await page.reload();
      assert.equal(await turn(page, 1).locator(".agent-text").innerText(), before, "the first turn is there");
      await turn(page, 2).getByText("1 of 50").waitFor();
      assert.ok(await page.getByRole("button", { name: "Stop" }).isVisible(), "the run can be stopped");
      await turn(page, 2).getByText("50 of 50").waitFor();
      assert.match(await turnEnd(page, 2).innerText(), /^Done/);
      assert.equal((await turn(page, 2).innerText()).match(/\b7 of 50/g)?.length, 1, "nothing is said twice");
      await page.reload();
      assert.match(await turn(page, 2).innerText(), /50 of 50/, "also when it is over");
      await send(page, "hello");
      await turnEnd(page, 3).waitFor();
      await page.getByRole("button", { name: "New chat" }).click();
      await page.reload();
      assert.equal(await turn(page, 1).count(), 0, "a new chat is not the old one");
    },
  },
  {
    name: "a question outlives a reload, and its answer goes on with the turn",
    async run({ page, shot }) {
      await send(page, "permission");
      await permission(page).waitFor();
      await page.reload();
      await permission(page).waitFor();
      await shot("reloaded");
      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /Your answer: Allow/);
      assert.match(await turn(page, 1).innerText(), /I will not make use of it/);
      assert.equal(await turn(page, 2).count(), 0, "it is the same turn");
    },
  },
  {
    name: "a form: filled in, wrong, declined, and left for something else",
    async run({ page, shot }) {
      const formOf = (number) => turn(page, number).getByRole("group", { name: "Question: Which seat would you like?" });
      const form = formOf(1);
      await send(page, "form");
      await form.waitFor();
      await shot("form");
      await noViolations(page, "the form");
      await form.getByRole("button", { name: "Send" }).click();
      assert.ok(await form.getByLabel("Name (required)").evaluate((input) => !input.validity.valid), "a name is required");
      await form.getByLabel("Name (required)").fill("Ada");
      await form.getByLabel("Seat (required)").selectOption("At the aisle");
      await form.getByLabel("Bags").fill("9");
      await form.getByRole("button", { name: "Send" }).click();
      assert.ok(await form.getByLabel("Bags").evaluate((input) => !input.validity.valid), "no more than three bags");
      await form.getByLabel("Bags").fill("2");
      await form.getByLabel("lunch").check();
      await form.getByLabel("With insurance").check();
      await form.getByRole("button", { name: "Send" }).click();
      await turnEnd(page).waitFor();
      await shot("booked");
      const said = 'Booked: bags 2, insured true, meals ["lunch"], name "Ada", seat "aisle".';
      assert.ok((await turn(page, 1).innerText()).includes(said), "all of it reached the agent");

      await send(page, "form");
      await formOf(2).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /No seat, then/);

      await send(page, "form");
      await formOf(3).waitFor();
      await send(page, "hello");
      await turnEnd(page, 4).waitFor();
      assert.match(await turn(page, 3).innerText(), /Not answered/);
      assert.match(await turn(page, 4).innerText(), /Hello! I am a scripted agent/);
    },
  },
  {
    name: "tools of the gateway and of the page, with a model",
    async run({ page, shot }) {
      const picker = page.getByRole("combobox", { name: "Agent" });
      await picker.selectOption("hybrid");
      await page.getByRole("button", { name: /^time/ }).click();
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).locator(".agent-text").last().innerText(), /It is \S+Z\.$/);
      await shot("time");

      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await background();
      await send(page, "dark");
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /The page says: The page is dark now\./);
      assert.notEqual(await background(), light);
      await shot("dark");
      await send(page, "light");
      await turnEnd(page, 3).waitFor();
      assert.equal(await background(), light);

      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/chat") && inputs.push(request.postDataJSON()));
      await send(page, "pick");
      const question = turn(page, 4).getByRole("group", { name: "Question: Which colour shall it be?" });
      await question.waitFor();
      assert.ok(await question.evaluate((group) => group === document.activeElement), "the question has the focus");
      await shot("pick");
      await noViolations(page, "a tool that asks");
      await page.reload();
      await question.getByRole("button", { name: "green" }).click();
      await turnEnd(page, 4).waitFor();
      assert.match(await turn(page, 4).innerText(), /You have picked green\./);
      assert.deepEqual(inputs[0].tools.map((tool) => tool.name), ["set_theme", "set_title", "choose"]);
      assert.equal(inputs.at(-1).messages.at(-1).content, "green");

      await send(page, "both");
      await turn(page, 5).getByRole("button", { name: "yes" }).waitFor();
      await page.keyboard.press("Escape");
      await turnEnd(page, 5).waitFor();
      assert.match(await turnEnd(page, 5).innerText(), /^Stopped/);
      await send(page, "pick");
      await turn(page, 6).getByRole("button", { name: "red" }).waitFor();
      await send(page, "time");
      await turnEnd(page, 7).waitFor();
      assert.match(await turn(page, 6).innerText(), /Not answered/);
      assert.match(await turn(page, 7).innerText(), /It is \S+Z/);
      assert.match(await page.locator("#debug").innerText(), / 0 ignored$/);
    },
  },
  {
    name: "tools of the page, called by an ACP agent in each of three ways",
    async run({ page, shot }) {
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await background();
      await send(page, "dark");
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /Your page says: The page is dark now\./);
      assert.notEqual(await background(), light);

      await send(page, "title");
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /The page was told/);
      assert.equal(await page.locator("#title").innerText(), "A conversation with a name");

      await send(page, "ask");
      const question = turn(page, 3).getByRole("group", { name: "Question: Tea or coffee?" });
      await question.waitFor();
      await shot("asked");
      await question.getByRole("button", { name: "coffee" }).click();
      await turnEnd(page, 3).waitFor();
      await shot("answered");
      assert.match(await turn(page, 3).innerText(), /Your page says: coffee\./);
      assert.equal(await turn(page, 3).locator("article.tool").count(), 1, "the call is shown once");
      assert.match(await turn(page, 3).locator("article.tool").innerText(), /choose[\s\S]*frontend[\s\S]*Done/);

      await send(page, "ask");
      await turn(page, 4).getByRole("button", { name: "tea" }).waitFor();
      await send(page, "hello");
      await turnEnd(page, 5).waitFor();
      assert.match(await turn(page, 4).innerText(), /Not answered/);
      assert.match(await turn(page, 5).innerText(), /Hello! I am a scripted agent/);
      assert.match(await page.locator("#debug").innerText(), / 0 ignored$/);
    },
  },
  {
    name: "a flight is booked: list, seat map, confirmation; declined, ended",
    async run({ page, shot }) {
      await page.getByRole("combobox", { name: "Agent" }).selectOption("hybrid");
      await page.getByRole("button", { name: /^book/ }).click();
      const flights = turn(page, 1).getByRole("group", { name: /^Question: Which flight from Oslo to Lisbon/ });
      await flights.waitFor();
      await shot("flights");
      await noViolations(page, "the flights");
      assert.equal(await flights.getByRole("radio").count(), 3);
      await page.getByText("1 tool goes on").waitFor();
      await page.reload();
      await flights.getByText("Cloud Air").click();
      await flights.getByRole("button", { name: "Take this flight" }).click();

      const seats = turn(page, 1).getByRole("group", { name: /^Question: Which seat on CA-/ });
      await seats.waitFor();
      await shot("seats");
      await noViolations(page, "the seats");
      assert.ok((await seats.getByRole("radio", { name: /taken/ }).count()) > 0);
      assert.ok(await seats.getByRole("radio", { name: /taken/ }).first().isDisabled());
      const free = seats.getByRole("radio").and(page.locator(":enabled")).first();
      const seat = await free.getAttribute("value");
      await free.focus();
      await page.keyboard.press("Space");
      await page.keyboard.press("Enter");
      await turnEnd(page).waitFor();
      await shot("booked");
      const booked = await turn(page, 1).getByRole("group", { name: "Booking" }).innerText();
      for (const part of ["Booked", "TKT-", "Cloud Air", seat, "Take the train"]) assert.ok(booked.includes(part), `${part} in ${booked}`);
      assert.ok(await page.locator("#sessions").isHidden(), "nothing goes on");
      await noViolations(page, "the booking");

      await send(page, "book");
      await turn(page, 2).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /No flight was booked: you declined/);

      await send(page, "book");
      await turn(page, 3).getByRole("radio").first().waitFor();
      await page.getByText("1 tool goes on").click();
      await page.getByRole("button", { name: "End book_flight" }).click();
      await turnEnd(page, 3).waitFor();
      assert.match(await turn(page, 3).innerText(), /the session was aborted/);

      await send(page, "book");
      await turn(page, 4).getByRole("radio").first().waitFor();
      await send(page, "time");
      await turnEnd(page, 5).waitFor();
      assert.match(await turn(page, 4).innerText(), /Not answered/);
      assert.match(await page.locator("#debug").innerText(), / 0 ignored$/);
    },
  },
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
  {
    name: "a new chat begins anew",
    async run({ page }) {
      await send(page, "slow");
      await turn(page, 1).locator(".agent-text").first().waitFor();
      const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/api/ai/chat"));
      await page.getByRole("button", { name: "New chat" }).click();
      await ended;
      assert.equal(await page.locator(".turn").count(), 0);
      assert.ok(await page.getByRole("heading", { name: "What shall the agent do?" }).isVisible());
      await page.getByRole("button", { name: /^help/ }).click();
      await turnEnd(page).waitFor();
      assert.match(await turnEnd(page).innerText(), /^Done/);
      assert.match(await turn(page, 1).locator(".agent-text").innerText(), /tour/);
    },
  },
  {
    name: "the reader who goes up stays there",
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
      assert.equal(await top(), at, "the page stays where the reader is");
      await jump.click();
      assert.ok((await fromEnd()) < 2, "the button leads to the end");
      await page.keyboard.press("Escape");
      await turnEnd(page, 2).waitFor();
    },
  },
  ...["light", "dark"].map((scheme) => ({
    name: `360 pixels wide, ${scheme}`,
    context: { colorScheme: scheme, viewport: { width: 360, height: 720 }, reducedMotion: "reduce" },
    async run({ page, shot }) {
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
      const bright = background.reduce((sum, part) => sum + part, 0) / 3;
      assert.ok(scheme === "dark" ? bright < 60 : bright > 200, `the background of ${scheme} is ${background}`);
      await shot("welcome");
      await send(page, "tour");
      await permission(page).waitFor();
      await shot("permission");
      await answerAll(page, /^allow/i);
      await shot("end");
      for (const name of ["html", "#conversation", ".turn"]) {
        const over = await page.locator(name).first().evaluate((element) => element.scrollWidth - element.clientWidth);
        assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
      }
      await noViolations(page, `360 pixels, ${scheme}`);
      await page.getByRole("region", { name: "Conversation" }).evaluate((box) => (box.scrollTop = 0));
      await shot("top");
      await send(page, "slow");
      await turn(page, 2).locator(".pulse").first().waitFor();
      assert.equal(await page.evaluate(() => document.getAnimations().length), 0, "nothing moves when motion is unwanted");
      await page.keyboard.press("Escape");
      await turnEnd(page, 2).waitFor();
    },
  })),
  {
    name: "dark mode on a wide screen",
    context: { colorScheme: "dark" },
    async run({ page, shot }) {
      await shot("welcome");
      await noViolations(page, "the welcome");
      await send(page, "tour");
      await permission(page).waitFor();
      await shot("permission");
      await answerAll(page, /^allow/i);
      await shot("end");
    },
  },
];
