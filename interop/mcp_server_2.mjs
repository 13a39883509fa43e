// A server of MCP with the second official TypeScript SDK, over stdin and stdout: it asks which tea, and returns the answer.
import { McpServer, acceptedContent, fromJsonSchema, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const tea = { type: "object", properties: { tea: { type: "string" } }, required: ["tea"] };
const numbers = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } };
const text = (text) => ({ content: [{ type: "text", text }] });

serveStdio(() => {
  const server = new McpServer({ name: "tea", version: "1" });
  server.registerTool("book_flight", { description: "Brings tea." }, (context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, "tea");
    if (answer) return text(`${answer.tea} tea`);
    const question = inputRequired.elicit({ message: "Which tea?", requestedSchema: tea });
    return inputRequired({ inputRequests: { tea: question } });
  });
  const inputSchema = fromJsonSchema(numbers);
  server.registerTool("add", { description: "Adds two numbers.", inputSchema }, ({ a, b }) => text(String(a + b)));
  return server;
});
