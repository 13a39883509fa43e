// Streams of the producer of agui-types in the first-party clients, and output of the first-party encoder in agui-types.
// `agui-streams` prints the streams, each with the messages, the state and the calls of the reducer.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import * as modern from "ag-ui-client-1.0.0";
import * as legacy from "ag-ui-client-0.0.59";
import { EventEncoder } from "@ag-ui/encoder";
import { INTEROP, check } from "./harness.mjs";

const STREAMS = "300";
const program = join(process.env.INTEROP_RUST_BIN, "agui-streams");
const produced = (profile) =>
  execFileSync(program, [STREAMS, profile], { maxBuffer: 1 << 28 }).toString().trimEnd().split("\n").map((line) => JSON.parse(line));
const readByUs = (bodies) => {
  const lines = bodies.map((body) => JSON.stringify(body)).join("\n");
  return execFileSync(program, ["read"], { input: lines, maxBuffer: 1 << 28 }).toString().trimEnd().split("\n").map((line) => JSON.parse(line));
};

/** Runs `test` with a server that returns the next body, in pieces. */
async function serve(bodies, type, test) {
  let next = 0;
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": type });
      const body = bodies[next++];
      for (let at = 0; at < body.length; at += 777) response.write(body.subarray(at, at + 777));
      response.end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    await test(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.close();
  }
}

/** Checks that the messages and the state of a client equal those of the reducer. */
async function understood(client, streams, type, bodies) {
  const warnings = [];
  const { warn } = console;
  console.warn = (...words) => warnings.push(words.join(" "));
  try {
    await serve(bodies, type, async (url) => {
      for (const [index, stream] of streams.entries()) {
        const agent = new client.HttpAgent({ url, threadId: "t", initialMessages: stream.input.messages });
        agent.messages = structuredClone(stream.input.messages);
        agent.state = {};
        let failed;
        await agent.runAgent({ runId: stream.input.runId, tools: stream.input.tools }).catch((error) => (failed = error));
        assert.equal(failed, undefined, `stream ${index}: ${failed?.message}`);
        assert.deepEqual(agent.messages, stream.messages, `stream ${index}`);
        assert.deepEqual(agent.state, stream.state, `stream ${index}`);
      }
    });
  } finally {
    console.warn = warn;
  }
  // A client warns of a patch that cannot be applied, like the reducer.
  const others = warnings.filter((words) => !words.includes("Failed to apply") && !words.includes("ACTIVITY_DELTA"));
  assert.deepEqual(others, []);
}

const bytes = (hex) => Buffer.from(hex, "hex");
const streams = produced("1.0");
const old = produced("legacy");
const SSE = "text/event-stream";
const PROTOBUF = "application/vnd.ag-ui.event+proto";

await check("agui × @ag-ui/client 1.0.0: streams as server-sent events", () =>
  understood(modern, streams, SSE, streams.map((stream) => Buffer.from(stream.sse))));
await check("agui × @ag-ui/client 1.0.0: streams as protobuf", () =>
  understood(modern, streams, PROTOBUF, streams.map((stream) => bytes(stream.protobuf))));
await check("agui × @ag-ui/client 0.0.59: streams for clients before 1.0", () =>
  understood(legacy, old, SSE, old.map((stream) => Buffer.from(stream.sse))));

await check("agui × @ag-ui/encoder 1.0.0: its text and bytes are decoded, and equal those of agui-types", () => {
  const encoder = new EventEncoder({ accept: PROTOBUF });
  const bodies = [];
  for (const stream of streams) {
    bodies.push({ sse: stream.events.map((event) => encoder.encodeSSE(event)).join("") });
    const frames = Buffer.concat(stream.events.map((event) => Buffer.from(encoder.encodeBinary(event))));
    assert.equal(frames.toString("hex"), stream.protobuf);
    bodies.push({ protobuf: frames.toString("hex") });
  }
  const read = readByUs(bodies);
  for (const [index, stream] of streams.entries()) {
    assert.deepEqual(read[2 * index], stream.events);
    assert.deepEqual(read[2 * index + 1], stream.events);
  }
});

await check("agui × @ag-ui/encoder 1.0.0: the corpus of all events", () => {
  const corpus = join(INTEROP, "../agui-types/tests/fixtures/1.0/Event/vectors.jsonl");
  const events = readFileSync(corpus, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line).event);
  const encoder = new EventEncoder({ accept: PROTOBUF });
  const read = readByUs(events.flatMap((event) => [
    { sse: encoder.encodeSSE(event) },
    { protobuf: Buffer.from(encoder.encodeBinary(event)).toString("hex") },
  ]));
  for (const [index, event] of events.entries()) {
    assert.deepEqual(read[2 * index], [event]);
    assert.deepEqual(read[2 * index + 1], [event]);
  }
});
