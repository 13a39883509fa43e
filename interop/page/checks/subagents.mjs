// Subagents: nested below the tool calls that started them.
import assert from "node:assert/strict";
import { answerWith, noViolations, send, turn, turnEnd } from "./page.mjs";

const text = (messageId, delta, more = {}) => [
  { type: "TEXT_MESSAGE_START", messageId, ...more },
  { type: "TEXT_MESSAGE_CONTENT", messageId, delta, ...more },
  { type: "TEXT_MESSAGE_END", messageId, ...more },
];
const call = (toolCallId, toolCallName, more = {}) => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName, ...more },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: "{}", ...more },
  { type: "TOOL_CALL_END", toolCallId, ...more },
];
const result = (toolCallId, more = {}) => ({ type: "TOOL_CALL_RESULT", messageId: `r-${toolCallId}`, toolCallId, content: "found it", ...more });

export const checks = [
  ...[
    { scheme: "light", width: 1280 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `subagents are nested below their tool calls, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      const inner = { subagentRunId: "s1" };
      await answerWith(page, (ids) => [
        { type: "RUN_STARTED", ...ids },
        ...call("t1", "task"),
        { type: "SUBAGENT_STARTED", subagentRunId: "s1", name: "Explorer", description: "Find the parser", parentToolCallId: "t1" },
        ...text("m1", "I look into the crates.", inner),
        ...call("t2", "search", inner),
        result("t2", inner),
        { type: "SUBAGENT_STARTED", subagentRunId: "s2", name: "Reader", parentSubagentRunId: "s1" },
        ...text("m2", "It is in lib.rs.", { subagentRunId: "s2" }),
        { type: "SUBAGENT_ERROR", subagentRunId: "s2", message: "the reader ran out of tokens" },
        { type: "SUBAGENT_FINISHED", subagentRunId: "s1", outcome: { type: "success" } },
        result("t1"),
        { type: "TOOL_CALL_START", toolCallId: "t3", toolCallName: "read", metadata: { acp: { parentToolCallId: "t1" } } },
        { type: "TOOL_CALL_END", toolCallId: "t3" },
        result("t3"),
        { type: "TEXT_MESSAGE_START", messageId: "m4", metadata: { acp: { _meta: { claudeCode: { parentToolUseId: "t1" } } } } },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "m4", delta: "The grammar is small." },
        { type: "TEXT_MESSAGE_END", messageId: "m4" },
        ...text("m3", "The explorer has found the parser."),
        { type: "RUN_FINISHED", ...ids },
      ]);
      await send(page, "Find the parser");
      await turnEnd(page).waitFor();
      const nested = async () => {
        const task = turn(page, 1).locator("article.tool").first();
        const explorer = task.locator("details.subagent").first();
        assert.match(await explorer.locator("> summary").innerText(), /Explorer\s+Find the parser\s+Done/);
        assert.equal(await explorer.evaluate((it) => it.open), false, "a subagent that has ended is folded");
        await explorer.locator("> summary").press("Enter");
        assert.equal(await explorer.locator("article.tool").count(), 1, "the call of the subagent is within it");
        assert.match(await explorer.innerText(), /I look into the crates\./);
        const reader = explorer.locator("details.subagent");
        assert.match(await reader.innerText(), /Reader\s+Failed\s+The reader ran out of tokens\.\s+It is in lib\.rs\./);
        assert.equal(await task.locator("article.tool").count(), 2, "a call with a parent is below it");
        assert.ok(await task.locator(".tool-below > .agent-text", { hasText: "The grammar is small." }).isVisible(), "a text with a parent is below it");
        assert.ok(await turn(page, 1).locator("> .agent-text", { hasText: "The explorer has found the parser." }).isVisible(), "the agent's own text is not nested");
      };
      await nested();
      const inset = await page.locator(".tool-below > .agent-text").first().evaluate((it) => it.getBoundingClientRect().left - it.closest(".tool").getBoundingClientRect().left);
      assert.ok(inset > 8, `a nested text is ${inset} pixels from the edge of its card`);
      await shot("unfolded");
      assert.match(await page.locator("#debug").textContent(), / 0 ignored$/);
      await noViolations(page, "subagents");
      for (const name of ["html", ".turn"]) {
        const over = await page.locator(name).first().evaluate((element) => element.scrollWidth - element.clientWidth);
        assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
      }
      await page.reload();
      await turn(page, 1).waitFor();
      await nested();
    },
  })),
];
