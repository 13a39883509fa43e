// A server of MCP with the official TypeScript SDK, over stdin and stdout: it asks which tea, and returns the answer.
import { Server } from "mcp-sdk-1/server/index.js";
import { StdioServerTransport } from "mcp-sdk-1/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "mcp-sdk-1/types.js";

const server = new Server({ name: "tea", version: "1" }, { capabilities: { tools: {} } });
const numbers = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } };
const tea = { type: "object", properties: { tea: { type: "string" } }, required: ["tea"] };

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: "book_flight", description: "Brings tea.", inputSchema: { type: "object" } },
    { name: "add", description: "Adds two numbers.", inputSchema: numbers },
  ],
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const text = (text) => ({ content: [{ type: "text", text }] });
  if (params.name === "add") return text(String(params.arguments.a + params.arguments.b));
  const answer = await server.elicitInput({ message: "Which tea?", requestedSchema: tea });
  return text(answer.action === "accept" ? `${answer.content.tea} tea` : answer.action);
});
await server.connect(new StdioServerTransport());
