// Responses that the demo agent never sends.
import assert from "node:assert/strict";
import { CHAT, answerWith, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "rejected, unreachable, broken and malformed responses are explained",
    expectNetworkErrors: true,
    async run({ page, shot }) {
      const answers = [
        [(route) => route.fulfill({ status: 503, contentType: "application/json", body: '{"error":"too many runs"}' }), /The gateway is busy[\s\S]*Too many runs\.[\s\S]*Wait a moment[\s\S]*HTTP 503/],
        [(route) => route.abort("connectionrefused"), /not responding/],
        [(route) => route.fulfill({ status: 200, contentType: "text/event-stream", body: "" }), /connection was lost/],
        [(route) => route.fulfill({ status: 200, contentType: "text/event-stream", body: "data: [DONE]\n\n" }), /response is invalid[\s\S]*not JSON/],
        [(route) => route.fulfill({ status: 200, contentType: "text/html", body: "<p>" }), /response is invalid[\s\S]*text\/html/],
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
      assert.equal(messages.length, 4, "rejected messages are not sent again");
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
      assert.match(await page.locator("#debug").textContent(), /3 ignored \(FROM_THE_FUTURE ×2, TEXT_MESSAGE_CONTENT out of place ×1\)/);
      assert.equal(await page.locator("main img, main script").count(), 0);
      await page.locator(".diff ins").waitFor({ state: "attached" });
      assert.deepEqual([await page.locator(".diff del").allTextContents(), await page.locator(".diff ins").allTextContents()], [[evil], [evil + evil]]);
      assert.equal(await page.title(), `${evil} · Spanwire`);
    },
  },
  {
    name: "a snapshot of the messages replaces the shown ones",
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
      for (const part of ["first question", "first thought", "first answer", "Read a.txt", "file text"]) assert.ok(first.includes(part), part);
      const texts = await page.locator(".turn").allTextContents();
      assert.ok(!texts.join("").includes("forgotten"));
      assert.match(texts[1], /second question[\s\S]*second answer[\s\S]*Done/);
      assert.equal(await page.locator("article.tool").getAttribute("data-status"), "completed");
      assert.equal(await page.locator(".working").count(), 0);
    },
  },
];
