// An agent on stdio. Each turn runs a command in a terminal of the client, and shows the terminal in a tool call.
import { createInterface } from "node:readline";

const COMMAND = ["sh", ["-c", "seq 1 2000; printf '\\033[32mwaiting\\033[0m\\n'; until [ -e go ]; do sleep 0.05; done; echo behind; exit 3"]];

const waiting = new Map();
let cwd = "";
let asked = 0;

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, content) => say({ method: "session/update", params: { sessionId, update: content } });

function ask(method, params) {
  asked += 1;
  say({ id: asked, method, params });
  return new Promise((resolve) => waiting.set(asked, resolve));
}

async function prompt({ sessionId }) {
  const [command, args] = COMMAND;
  const call = { toolCallId: "call-1", title: "count", kind: "execute", status: "in_progress", rawInput: { command } };
  update(sessionId, { sessionUpdate: "tool_call", ...call });
  const { terminalId } = await ask("terminal/create", { sessionId, command, args, cwd });
  const content = [{ type: "terminal", terminalId }];
  update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "call-1", content });
  const { exitCode } = await ask("terminal/wait_for_exit", { sessionId, terminalId });
  const status = exitCode === 0 ? "completed" : "failed";
  update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: "call-1", status });
  await ask("terminal/release", { sessionId, terminalId });
  return { stopReason: "end_turn" };
}

const methods = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {} }),
  "session/new": (params) => {
    cwd = params.cwd;
    return { sessionId: "session-1" };
  },
  "session/prompt": prompt,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(result);
  else if (method in methods) Promise.resolve(methods[method](params)).then((answer) => say({ id, result: answer }));
}
