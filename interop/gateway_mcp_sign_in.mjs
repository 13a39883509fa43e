// The gateway signs in at an MCP server with an authorization server. A user visits its pages with cookies and forms.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, Place, Program, check, within } from "./harness.mjs";
import { machine, startProtected } from "./protected_server.mjs";

const SECONDS = 60;

const server = await startProtected();
const { resource, issuer, tokens, grants, ended, revoked } = server;

/** Visits a page as a user who approves everything, and returns the last response. */
async function visit(url, cookies = new Map()) {
  let [target, form] = [url, undefined];
  for (let pages = 0; pages < 20; pages += 1) {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    const options = { headers, redirect: "manual", method: form ? "POST" : "GET", body: form };
    const response = await within(SECONDS, target, fetch(target, options));
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      value ? cookies.set(name, value) : cookies.delete(name);
    }
    const location = response.headers.get("location");
    const page = location ? "" : await response.text();
    const prompt = /<form[^>]* action="([^"]+)"[\s\S]*?name="prompt" value="(\w+)"/.exec(page);
    if (!location && !prompt) return { status: response.status, page, url: target };
    target = new URL(location ?? prompt[1], target).href;
    form = prompt ? new URLSearchParams({ prompt: prompt[2], login: "ada", password: "x" }) : undefined;
  }
  throw new Error(`the pages do not end: ${target}`);
}

const place = new Place();
const script = join(place.root, "script.toml");
const answer = (name) => `[[answers]]
word = "${name}"
steps = [{ call = [{ tool = "notes__${name}" }] }, { say = "It says: {result}." }]
`;
writeFileSync(script, answer("read") + answer("write"));
const settings = join(place.root, "gateway.toml");
const model = `[agents.model.model]
script = ${JSON.stringify(script)}
[mcp-servers.notes]
url = ${JSON.stringify(resource)}
`;
writeFileSync(settings, model);

async function start() {
  const env = { ...place.env, GATEWAY_STORE: join(place.root, "gateway.db") };
  const program = new Program(`${BIN}/gateway`, ["--config", settings, "--listen", "127.0.0.1:0", "--no-auth"], env);
  const [, url] = await program.said(/listening on (\S+)\n/, SECONDS);
  return { program, url };
}

let gateway = await start();
const request = async (path, options) => {
  const response = await within(SECONDS, path, fetch(gateway.url + path, options));
  return { status: response.status, body: await response.json() };
};
const servers = async () => (await request("/api/ai/mcp-servers")).body;
/** Begins a sign-in, and returns its page and the cookies of the browser. */
const login = async () => {
  const response = await within(SECONDS, "the login", fetch(`${gateway.url}/api/ai/mcp-servers/notes/login`, { method: "POST" }));
  const body = await response.json();
  assert.equal(response.status, 200, JSON.stringify(body));
  const [cookie] = response.headers.getSetCookie();
  return { page: body.url, cookies: new Map([cookie.split(";")[0].split("=")]) };
};
const cookiesOf = (cookies) => ({ headers: { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") } });
/** Waits for a state, which follows the connection. */
const until = (state) =>
  within(SECONDS, `the state ${state}`, (async () => {
    let now;
    do now = (await servers()).servers[0]; while (now.state !== state);
    return now;
  })());

async function say(text) {
  const input = {
    protocolVersion: "1.0",
    threadId: crypto.randomUUID(),
    runId: crypto.randomUUID(),
    messages: [{ id: "u", role: "user", content: text }],
  };
  const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(input) };
  const response = await within(SECONDS, "the run", fetch(`${gateway.url}/api/ai/chat`, options));
  const body = await within(SECONDS, "the end of the run", response.text());
  const events = [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data));
  return events.map((event) => (event.type === "TEXT_MESSAGE_CONTENT" ? event.delta : "")).join("");
}

const title = (what) => `gateway × oidc-provider × mcp server: ${what}`;
await check(title("a server that requires authorization is listed, without a registration"), async () => {
  const { message } = await until("needs-login");
  assert.match(message, /a user has to sign in/);
  assert.equal((await servers()).enabled, true);
});
await check(title("a user signs in, and a model calls a tool"), async () => {
  const begun = await login();
  const { status, page, url } = await visit(begun.page, begun.cookies);
  assert.equal(status, 200, page);
  assert.match(page, /You are signed in/);
  assert.ok(url.startsWith(`${gateway.url}/mcp/servers/notes/callback?`), url);
  await until("ready");
  assert.equal(await say("read"), "It says: read done.");
});
await check(title("tokens are sealed, with a key that only the owner can read"), () => {
  const files = readdirSync(place.root).filter((name) => name.startsWith("gateway.") && name !== "gateway.toml");
  assert.ok(files.includes("gateway.key"), files.join());
  assert.equal(statSync(join(place.root, "gateway.key")).mode & 0o777, 0o600);
  assert.ok(tokens.size >= 2);
  for (const file of files) {
    const text = readFileSync(join(place.root, file), "latin1");
    for (const token of tokens) assert.ok(!text.includes(token), file);
  }
});
await check(title("a tool that needs a further scope, which the user grants"), async () => {
  assert.match(await say("write"), /a user has to sign in at the server again, and to grant further permissions/);
  await until("needs-login");
  const first = await login();
  const refused = new URL(first.page).searchParams;
  const query = new URLSearchParams({ error: "access_denied", state: refused.get("state"), iss: issuer });
  const response = await fetch(`${refused.get("redirect_uri")}?${query}`, cookiesOf(first.cookies));
  assert.equal(response.status, 403);
  assert.match(await response.text(), /The sign-in failed: .*access_denied/);
  const { page, cookies } = await login();
  const scope = new URL(page).searchParams.get("scope").split(" ");
  assert.deepEqual(scope.toSorted(), ["offline_access", "read", "write"]);
  const forged = await fetch(`${gateway.url}/mcp/servers/notes/callback?code=x&state=x`, cookiesOf(cookies));
  assert.equal(forged.status, 409, await forged.text());
  assert.equal((await visit(page)).status, 403, "another user's browser");
  assert.equal((await visit(page, cookies)).status, 200);
  assert.equal(await say("write"), "It says: write done.");
});
await check(title("another run of the gateway refreshes the stored token"), async () => {
  assert.equal(await gateway.program.stop(30), 0);
  for (const token of tokens) revoked.add(token);
  const before = grants.length;
  gateway = await start();
  assert.equal(await say("write"), "It says: write done.");
  assert.deepEqual(grants.slice(before), ["refresh_token"]);
});
await check(title("a user signs out, and in again"), async () => {
  const { status, body } = await request("/api/ai/mcp-servers/notes/logout", { method: "POST" });
  assert.deepEqual([status, body], [200, { revoked: true }]);
  assert.ok(ended.size > 0, "the provider has ended the tokens");
  await until("needs-login");
  assert.match(await say("read"), /a user has to sign in at the server/);
  const { page, cookies } = await login();
  assert.equal((await visit(page, cookies)).status, 200);
  await until("ready");
  assert.equal(await say("read"), "It says: read done.");
});
await check(title("the gateway signs in for itself, and again after the end of its token and for a further scope"), async () => {
  assert.equal(await gateway.program.stop(30), 0);
  writeFileSync(settings, `${model}sign-in.grant = "client-credentials"
sign-in.issuer = ${JSON.stringify(issuer)}
sign-in.client-id = ${JSON.stringify(machine.client_id)}
sign-in.client-secret = ${JSON.stringify(machine.client_secret)}
`);
  const before = grants.length;
  gateway = await start();
  await until("ready");
  assert.equal(await say("read"), "It says: read done.");
  for (const token of tokens) revoked.add(token);
  assert.equal(await say("read"), "It says: read done.");
  assert.equal(await say("write"), "It says: write done.");
  assert.deepEqual(grants.slice(before), Array(3).fill("client_credentials"));
});
await check(title("a wrong secret has an error with the next step"), async () => {
  assert.equal(await gateway.program.stop(30), 0);
  writeFileSync(settings, readFileSync(settings, "utf8").replace(machine.client_secret, "canary-other"));
  gateway = await start();
  const { message } = await until("unavailable");
  assert.match(message, /rejects this client \(invalid_client.*\): check its id, its secret/);
  assert.doesNotMatch(message, /canary/);
});
await gateway.program.stop(30);
server.stop();
place.leave();
