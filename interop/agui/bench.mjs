// Cost of the first-party packages in Node: microseconds for each event, the median of five rounds. `interop/run agui` installs the
// packages; then run `node agui/bench.mjs` in `interop`.
import { createServer } from "node:http";
import { from, lastValueFrom, toArray } from "rxjs";
import { HttpAgent, verifyEvents } from "ag-ui-client-1.0.0";
import { EventEncoder } from "@ag-ui/encoder";

const ID = "0198a2b4-7c00-7000-8000-000000000001";
const LINE = '    let total = items.iter().map(|it| it.len()).sum::<usize>();\n\tprintln!("{total}");\n';
const delta = (text) => ({ type: "TEXT_MESSAGE_CONTENT", messageId: ID, delta: text });
const texts = { "6 bytes of text": "token ", "2 KB of code": LINE.repeat(30).slice(0, 2048) };
const stream = (count) => [
  { type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" },
  { type: "TEXT_MESSAGE_START", messageId: ID },
  ...Array.from({ length: count }, () => delta("token ")),
  { type: "TEXT_MESSAGE_END", messageId: ID },
  { type: "RUN_FINISHED", threadId: "t", runId: "r" },
];

async function measure(name, count, body) {
  const rounds = [];
  for (let round = 0; round < 6; round++) {
    const start = performance.now();
    await body();
    if (round > 0) rounds.push(((performance.now() - start) * 1000) / count);
  }
  console.log(`| ${name} | ${rounds.sort((a, b) => a - b)[2].toFixed(2)} |`);
}

console.log("| path | microseconds an event |\n|---|---|");
const encoder = new EventEncoder();
for (const [name, text] of Object.entries(texts)) {
  const event = delta(text);
  const frame = encoder.encodeSSE(event);
  await measure(`@ag-ui/encoder: encodeSSE, ${name}`, 20_000, () => {
    for (let at = 0; at < 20_000; at++) encoder.encodeSSE(event);
  });
  await measure(`JSON.parse alone, ${name}`, 20_000, () => {
    for (let at = 0; at < 20_000; at++) JSON.parse(frame.slice(6));
  });
}
await measure("@ag-ui/client: verifyEvents, 6 bytes of text", 10_000, () =>
  lastValueFrom(from(stream(10_000)).pipe(verifyEvents(false), toArray())));

const server = createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
    response.end(stream(Number(request.url.slice(1))).map((event) => encoder.encodeSSE(event)).join(""));
  });
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
for (const count of [1_000, 10_000]) {
  await measure(`@ag-ui/client: HttpAgent, all stages, ${count} deltas`, count, async () => {
    const agent = new HttpAgent({ url: `http://127.0.0.1:${server.address().port}/${count}`, threadId: "t" });
    await agent.runAgent({ runId: "r" });
  });
}
server.close();
