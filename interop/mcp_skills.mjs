// Skills of one folder, between mcp-http and the official SDKs for TypeScript and Rust: each serves the folder, and the other one
// reads and verifies every file.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { loadSkills } from "@modelcontextprotocol/server/ext/skills/node";
import { BIN, INTEROP, NODE_22, Program, check, within } from "./harness.mjs";

const run = promisify(execFile);
const ME = { name: "interop", version: "1" };
const CLIENT = join(BIN, "mcp-conformance-client");
const RMCP = join(process.env.INTEROP_RUST_BIN, "peer-rmcp-skills");

// Values that parsers of YAML 1.1 and 1.2 read differently, and names that a URI encodes.
const FILES = {
  "billing/refunds/SKILL.md": `---
name: refunds
description: >
  Handles refunds: "all" of them
license: MIT
metadata: { version: "1.0", author: größe }
x-own: { since: 2026-01-02, country: no, count: 0o17, share: 1e3, nothing: ~, flag: True, list: [1, 2.5, true] }
---
# Refunds
Read \`policy.md\` first.
`,
  "billing/refunds/policy.md": "30 days\r\n",
  "billing/refunds/data/größe 1.txt": "\ufeffgröße",
  "billing/refunds/data/logo.bin": Buffer.from([0, 255, 1]),
  "a1/SKILL.md": "---\nname: a1\ndescription: |\n  Über\n  zwei Zeilen\n---\n",
};
const folder = mkdtempSync(join(tmpdir(), "skills-"));
for (const [path, bytes] of Object.entries(FILES)) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), bytes);
}
const uri = (path) => `skill://${path.split("/").map(encodeURIComponent).join("/")}`;
const CHILDREN = ["SKILL.md", "data", "policy.md"].map((name) => `skill://billing/refunds/${name}`);
const EXPECTED = Object.fromEntries(Object.entries(FILES).map(([path, bytes]) => [uri(path), Buffer.from(bytes)]));

/** Serves the folder with the TypeScript SDK. */
async function theirs() {
  const skills = await loadSkills(folder);
  const handler = createMcpHandler(() => {
    const server = new McpServer(ME);
    skills.attach(server);
    return server;
  });
  const http = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = request.method === "POST" ? Buffer.concat(chunks) : undefined;
    const sent = new Request(`http://localhost${request.url}`, { method: request.method, headers: request.headers, body });
    const answer = await handler.fetch(sent);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${http.address().port}/mcp`, stop: () => http.close() };
}

const ours = new Program(join(BIN, "mcp-http"), ["--listen", "127.0.0.1:0", "--skills", folder], process.env);
const [, url] = await ours.said(/listening on (\S+)\n/, 30);

await check("mcp skills, typescript 2.4.0 reads ours", async () => {
  const client = new Client(ME, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await within(20, "the connection", client.connect(new StreamableHTTPClientTransport(new URL(url))));
  const skills = new SkillsClient(client);
  assert.ok(skills.supported && skills.directoryRead);
  const listed = await skills.list();
  const found = {};
  for (const skill of listed.skills) {
    assert.deepEqual((await skills.get(skill.uri)).skill, skill);
    for (const file of skill.resources) {
      const read = await skills.read(skill, file.uri);
      assert.equal(read.verified, true);
      found[file.uri] = Buffer.from(read.bytes);
    }
  }
  assert.deepEqual(found, EXPECTED);
  const { resources } = await skills.readDirectory("skill://billing/refunds");
  assert.deepEqual(resources.map((it) => it.uri).toSorted(), CHILDREN);
  await client.close();
});

/** Reads the skills of a server with our client. */
async function oursReads(url) {
  const env = { ...process.env, MCP_CONFORMANCE_SCENARIO: "skills" };
  const { stderr } = await run(CLIENT, [url], { timeout: 60_000, env });
  const skills = stderr.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(skills.filter((skill) => skill.rejected), []);
  const found = Object.assign({}, ...skills.map((skill) => skill.files));
  assert.deepEqual(found, Object.fromEntries(Object.entries(EXPECTED).map(([uri, bytes]) => [uri, bytes.toString()])));
}

await check("mcp skills, ours reads typescript 2.4.0", async () => {
  const server = await theirs();
  await oursReads(server.url).finally(server.stop);
});

await check("mcp skills, rmcp 3.11.0 reads ours", async () => {
  const { stdout } = await run(RMCP, [url], { timeout: 60_000 });
  const { files, folders } = JSON.parse(stdout);
  assert.deepEqual(files, Object.fromEntries(Object.entries(EXPECTED).map(([uri, bytes]) => [uri, bytes.toString("base64")])));
  assert.deepEqual(folders, { "skill://a1": ["skill://a1/SKILL.md"], "skill://billing/refunds": CHILDREN });
});

await check("mcp skills, ours reads rmcp 3.11.0", async () => {
  const server = new Program(RMCP, [folder], process.env);
  try {
    const [, url] = await server.said(/listening on (\S+)\n/, 30);
    await oursReads(url);
  } finally {
    await server.stop(10);
  }
});

await ours.stop(10);
