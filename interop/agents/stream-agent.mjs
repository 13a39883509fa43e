// An ACP agent for load tests. It answers a prompt with pieces of text, each of which contains the time when it was sent. The
// last block of the prompt has the number of pieces and the pause in milliseconds: `100 every 50`. Blocks before it are the
// conversation with an earlier process. On SIGUSR2 the agent writes half a megabyte to its standard error.
import { createInterface } from "node:readline";

let sessions = 0;
const cancelled = new Set();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const now = () => performance.timeOrigin + performance.now();

process.on("SIGUSR2", () => process.stderr.write("a line of standard error\n".repeat(20_000)));

function stream(id, { sessionId, prompt }) {
  const [, count, pause] = prompt.at(-1).text.match(/(\d+) every (\d+)/).map(Number);
  cancelled.delete(sessionId);
  if (count === 0) return send({ id, result: { stopReason: "end_turn" } });
  let said = 0;
  const timer = setInterval(() => {
    if (said === count || cancelled.has(sessionId)) {
      clearInterval(timer);
      return send({ id, result: { stopReason: said === count ? "end_turn" : "cancelled" } });
    }
    said += 1;
    const content = { type: "text", text: `${now().toFixed(2)} ` };
    send({ method: "session/update", params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content } } });
  }, pause);
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === "session/new") send({ id, result: { sessionId: `s${++sessions}` } });
  else if (method === "session/prompt") stream(id, params);
  else if (method === "session/cancel") cancelled.add(params.sessionId);
  else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
}).on("close", () => process.exit(0));
