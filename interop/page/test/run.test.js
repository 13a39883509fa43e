import assert from "node:assert/strict";
import { test } from "node:test";
import { answerInterrupt, cancelRun } from "../../../examples/gateway/page/requests.js";
import { follow, run, runInput } from "../../../examples/gateway/page/run.js";
import { Thread } from "../../../examples/gateway/page/thread.js";

const STARTED = { type: "RUN_STARTED", threadId: "t", runId: "r" };
const FINISHED = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
const TEXT = { type: "TEXT_MESSAGE_START", messageId: "m" };

const input = () => runInput(new Thread("t"), "r", []);
const frames = (/** @type {object[]} */ ...events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const stream = (/** @type {BodyInit | null} */ body) => new Response(body, { headers: { "Content-Type": "text/event-stream" } });

/**
 * @param {() => Response | Promise<Response>} respond
 * @param {AbortSignal} [signal]
 */
async function ended(respond, signal = new AbortController().signal) {
  /** @type {string[]} */
  const seen = [];
  const end = await run(input(), (event) => seen.push(event.type), signal, { send: async () => respond() });
  return { ...end, seen };
}

test("sends the required members of AG-UI 1.0, without activities", () => {
  const thread = new Thread("t");
  const message = { id: "u", role: "user", content: "hi" };
  thread.add(message);
  thread.add({ id: "a", role: "activity", activityType: "PLAN", content: {} });
  assert.deepEqual(runInput(thread, "r", []), {
    threadId: "t",
    runId: "r",
    protocolVersion: "1.0",
    state: {},
    messages: [message],
    tools: [],
    context: [],
    forwardedProps: {},
  });
  thread.state = null;
  const resume = [{ interruptId: "i", status: "cancelled" }];
  assert.deepEqual(runInput(thread, "r", resume).resume, resume);
  assert.ok(!("state" in runInput(thread, "r", [])), "state is never null");
});

test("names the thread that a branch is of", () => {
  const thread = new Thread("t", { messages: [], state: {}, branchOf: "first" });
  assert.deepEqual(runInput(thread, "r", []).forwardedProps, { acp: { branchOf: "first" } });
  assert.deepEqual(runInput(thread, "r", [], [], true).forwardedProps, { acp: { follow: true, branchOf: "first" } });
  assert.equal(thread.held.branchOf, "first");
});

test("posts the input as JSON and accepts an event stream", async () => {
  /** @type {any[]} */
  const calls = [];
  const send = async (/** @type {any} */ ...call) => {
    calls.push(call);
    return stream(frames(STARTED, FINISHED));
  };
  await run(input(), () => {}, new AbortController().signal, { send });
  const [path, { method, headers, body }] = calls[0];
  assert.deepEqual([path, method, headers], ["/api/ai/chat", "POST", { "Content-Type": "application/json", Accept: "text/event-stream" }]);
  assert.deepEqual(JSON.parse(body), input());
});

test("returns events in order up to the terminal event", async () => {
  const end = await ended(() => stream(frames(STARTED, TEXT, FINISHED, TEXT)));
  assert.deepEqual(end.seen, ["RUN_STARTED", "TEXT_MESSAGE_START", "RUN_FINISHED"]);
  assert.equal(end.kind, "finished");
});

const ENDS = [
  ["success", { ...FINISHED, outcome: { type: "success" }, result: { stopReason: "max_tokens" } }, { kind: "finished", result: { stopReason: "max_tokens" }, usage: undefined, pending: [] }],
  ["a stopped run", { ...FINISHED, outcome: { type: "cancelled" } }, { kind: "cancelled", reason: undefined }],
  ["a run without a reader", { ...FINISHED, result: { cancelReason: "no-reader" }, outcome: { type: "cancelled" } }, { kind: "cancelled", reason: "no-reader" }],
  ["an interrupt", { ...FINISHED, outcome: { type: "interrupt", interrupts: [{ id: "i" }] } }, { kind: "interrupted", interrupts: [{ id: "i" }] }],
  ["an error", { type: "RUN_ERROR", message: "no", code: "ACP_REFUSAL" }, { kind: "failed", message: "no", code: "ACP_REFUSAL" }],
];

for (const [name, terminal, expected] of ENDS) {
  test(`ends with ${name}`, async () => {
    const { seen, ...end } = await ended(() => stream(frames(STARTED, /** @type {object} */ (terminal))));
    assert.equal(seen.length, 2);
    assert.deepEqual(end, expected);
  });
}

test("accepts an error as the whole stream", async () => {
  assert.equal((await ended(() => stream(frames({ type: "RUN_ERROR", message: "no" })))).kind, "failed");
});

const MALFORMED = [
  ["another first event", frames(TEXT), /starts with TEXT_MESSAGE_START/],
  ["another run's end", frames(STARTED, { ...FINISHED, runId: "x" }), /names another run/],
  ["another thread's start", frames({ ...STARTED, threadId: "x" }), /names another run/],
  ["no JSON", frames(STARTED) + "data: [DONE]\n\n", /not JSON: \[DONE\]/],
  ["no object", "data: 7\n\n", /no type: 7/],
  ["no type", "data: {}\n\n", /no type/],
  ["a member of a wrong type", frames(STARTED, { type: "TEXT_MESSAGE_CONTENT", messageId: 42, delta: "" }), /has number as "messageId", not string/],
  ["a member missing", frames(STARTED, { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c" }), /has nothing as "content", not string or array/],
];

for (const [name, body, message] of MALFORMED) {
  test(`reports an invalid stream: ${name}`, async () => {
    const end = await ended(() => stream(/** @type {string} */ (body)));
    assert.equal(end.kind, "malformed");
    assert.match(/** @type {any} */ (end).message, /** @type {RegExp} */ (message));
  });
}

test("forwards events of unknown types", async () => {
  const end = await ended(() => stream(frames(STARTED, { type: "FROM_THE_FUTURE" }, FINISHED)));
  assert.deepEqual(end.seen, ["RUN_STARTED", "FROM_THE_FUTURE", "RUN_FINISHED"]);
});

test("reports a stream without a terminal event as truncated", async () => {
  assert.equal((await ended(() => stream(frames(STARTED, TEXT)))).kind, "truncated");
  assert.equal((await ended(() => stream(""))).kind, "truncated");
  assert.equal((await ended(() => stream(null))).kind, "truncated");
  const failing = new ReadableStream({
    pull(controller) {
      controller.error(new TypeError("network"));
    },
  });
  assert.equal((await ended(() => stream(failing))).kind, "truncated");
});

const REFUSALS = [
  ['{"error":"too many runs"}', "too many runs"],
  ['{"error":{"message":"busy"}}', "busy"],
  ['{"message":"bad body"}', "bad body"],
  ['{"other":1}', '{"other":1}'],
  ["plain words\n", "plain words"],
];

for (const [body, message] of REFUSALS) {
  test(`shows the message of a refusal: ${body.trim()}`, async () => {
    const { seen, ...end } = await ended(() => new Response(body, { status: 503 }));
    assert.deepEqual(end, { kind: "refused", status: 503, message });
    assert.deepEqual(seen, []);
  });
}

test("rejects an HTML page as a stream", async () => {
  const end = await ended(() => new Response("<html>", { headers: { "Content-Type": "text/html" } }));
  assert.deepEqual(end, { kind: "malformed", message: "The response is text/html, not an event stream.", seen: [] });
});

test("distinguishes an unreachable gateway from an aborted request", async () => {
  const fail = () => Promise.reject(new TypeError("Failed to fetch"));
  assert.deepEqual(await ended(fail), { kind: "unreachable", message: "Failed to fetch", seen: [] });
  const aborted = AbortSignal.abort();
  assert.equal((await ended(fail, aborted)).kind, "disconnected");
  const failing = new ReadableStream({ pull: (controller) => controller.error(new Error("aborted")) });
  assert.equal((await ended(() => stream(failing), aborted)).kind, "disconnected");
});

test("does not report an error of the page as a lost connection", async () => {
  const broken = run(input(), () => assert.fail("a mistake"), new AbortController().signal, { send: async () => stream(frames(STARTED)) });
  await assert.rejects(broken, /a mistake/);
});

test("cancels a run and answers an interrupt by their ids", async () => {
  /** @type {any[]} */
  const calls = [];
  const send = async (/** @type {any} */ path, /** @type {any} */ init) => {
    calls.push([path, init.method, JSON.parse(init.body)]);
    return new Response(calls.length === 1 ? null : '{"error":"gone"}', { status: calls.length === 1 ? 202 : 404 });
  };
  assert.deepEqual(await cancelRun("a/b", send), { ok: true, status: 202, message: "" });
  assert.deepEqual(await answerInterrupt("int-1", { optionId: "yes" }, send), { ok: false, status: 404, message: "gone" });
  assert.deepEqual(calls, [
    ["/api/ai/chat/runs/a%2Fb/cancel", "POST", {}],
    ["/api/ai/chat/interrupts/int-1", "POST", { optionId: "yes" }],
  ]);
  const down = await cancelRun("r", () => Promise.reject(new TypeError("no route")));
  assert.deepEqual(down, { ok: false, status: 0, message: "no route" });
});

/**
 * Events with ids, and an error of the connection behind them.
 *
 * @param {[number, object][]} numbered
 */
function broken(numbered) {
  const bytes = new TextEncoder().encode(numbered.map(([id, event]) => `id: r:${id}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  return stream(new ReadableStream({
    pull(controller) {
      if (this.given) controller.error(new TypeError("network error"));
      else controller.enqueue(bytes);
      this.given = true;
    },
  }));
}

test("continues after the last event when the connection is lost", async () => {
  const answers = [() => broken([[1, STARTED], [2, TEXT]]), () => { throw new TypeError("Failed to fetch"); }, () => broken([[3, FINISHED]])];
  /** @type {any[]} */
  const calls = [];
  const send = async (/** @type {any} */ ...call) => {
    calls.push(call);
    return /** @type {any} */ (answers.shift())();
  };
  /** @type {any[]} */
  const seen = [];
  const onConnection = (/** @type {boolean} */ lost) => seen.push(lost);
  const end = await run(input(), (event) => seen.push(event.type), new AbortController().signal, { send, onConnection });
  assert.equal(end.kind, "finished");
  assert.deepEqual(seen, ["RUN_STARTED", "TEXT_MESSAGE_START", true, false, "RUN_FINISHED"]);
  for (const [path, { headers }] of calls.slice(1)) {
    assert.equal(path, "/api/ai/chat/runs/r/events");
    assert.equal(headers["Last-Event-ID"], "r:2");
  }
});

test("stops if the run is unknown to the gateway", async () => {
  const answers = [broken([[1, STARTED]]), new Response("{}", { status: 404 })];
  const send = async () => /** @type {Response} */ (answers.shift());
  const end = await run(input(), () => {}, new AbortController().signal, { send });
  assert.deepEqual([end.kind, answers.length], ["truncated", 0]);
});

test("sends the run to the selected agent", async () => {
  /** @type {any[]} */
  const paths = [];
  const send = async (/** @type {any} */ path) => {
    paths.push(path);
    return stream(frames(STARTED, FINISHED));
  };
  await run(input(), () => {}, new AbortController().signal, { send, agent: "a/b" });
  assert.deepEqual(paths, ["/api/ai/agents/a%2Fb/chat"]);
});

test("follows a run from its beginning", async () => {
  /** @type {any[]} */
  const paths = [];
  const send = async (/** @type {any} */ path) => {
    paths.push(path);
    return stream(frames(STARTED, TEXT, FINISHED));
  };
  const end = await follow({ threadId: "t", runId: "r" }, () => {}, new AbortController().signal, { send });
  assert.deepEqual([end.kind, paths], ["finished", ["/api/ai/chat/runs/r/events"]]);
});
