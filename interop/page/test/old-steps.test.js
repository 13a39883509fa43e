import assert from "node:assert/strict";
import { test } from "node:test";
import { stepsOf } from "../../../examples/gateway/page/old-steps.js";

/** @import { Message } from "../../../examples/gateway/page/thread.js" */

/** @param {string[]} ids @returns {Message} */
const calling = (...ids) => ({ id: `m-${ids}`, role: "assistant", toolCalls: ids.map((id) => ({ id, type: "function", function: { name: "read", arguments: "" } })) });
/** @param {string} id @returns {Message} */
const result = (id) => ({ id: `r-${id}`, role: "tool", toolCallId: id, content: "" });
/** @param {string} id @returns {Message} */
const said = (id) => ({ id, role: "assistant", content: "so" });
/** @param {any} content @returns {Message} */
const activity = (content) => ({ id: JSON.stringify(content), role: "activity", activityType: "acp.tool", content });
const ids = (/** @type {Message[]} */ messages) => stepsOf(messages).map((step) => step.map(({ id }) => id));

test("a call is one step with its result and its activity", () => {
  const own = activity({ toolCallId: "a" });
  assert.deepEqual(ids([said("x"), calling("a"), own, result("a"), said("y"), calling("b"), result("b")]), [["x"], ["m-a", own.id, "r-a"], ["y"], ["m-b", "r-b"]]);
});

test("calls at the same time are one step", () => {
  assert.deepEqual(ids([calling("a", "b"), calling("c"), result("a"), result("c"), result("b"), said("x")]), [["m-a,b", "m-c", "r-a", "r-c", "r-b"], ["x"]]);
});

test("a subagent is one step with its messages", () => {
  const begun = activity({ subagentRunId: "s", parentToolCallId: "a" });
  const inner = { ...said("x"), subagentRunId: "s" };
  assert.deepEqual(ids([calling("a"), begun, inner, said("y"), { ...calling("b"), subagentRunId: "s" }, result("b"), said("z")]), [["m-a", begun.id, "x", "y", "m-b", "r-b"], ["z"]]);
});
