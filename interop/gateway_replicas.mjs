// Two gateways on one Redis server, behind nginx with round robin; one of them is killed.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { BIN, Place, Program, check, within } from "./harness.mjs";

const START_SECONDS = 15;
const TURN_SECONDS = 60;
const EXIT_SECONDS = 15;
const LEASE_SECONDS = 4;
const { HttpAgent } = await import("ag-ui-client-1.0.0");

/** Returns a free port. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts nginx in front of gateways: round robin, without buffering. */
async function nginx(place, gateways) {
  const port = await freePort();
  const servers = gateways.map(({ url }) => `server ${new URL(url).host} max_fails=1 fail_timeout=1s;`).join(" ");
  const file = join(place.root, "nginx.conf");
  writeFileSync(
    file,
    `daemon off; pid ${place.root}/nginx.pid; error_log stderr notice; worker_processes 1;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path ${place.root}/body; proxy_temp_path ${place.root}/proxy; fastcgi_temp_path ${place.root}/fastcgi;
  uwsgi_temp_path ${place.root}/uwsgi; scgi_temp_path ${place.root}/scgi;
  upstream gateways { ${servers} }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
      add_header X-Served-By $upstream_addr always;
    }
  }
}`,
  );
  const program = new Program("nginx", ["-e", "stderr", "-p", place.root, "-c", file], place.env);
  await program.said(/start worker process /, START_SECONDS);
  return { program, url: `http://127.0.0.1:${port}` };
}

/** Two gateways with the demo agent, behind nginx. */
class Replicas {
  static async open() {
    const replicas = new Replicas();
    replicas.place = new Place();
    const shared = {
      GATEWAY_STORE: process.env.REDIS_URL,
      GATEWAY_REPLICAS_PREFIX: randomUUID(),
      GATEWAY_REPLICAS_LEASE: `${LEASE_SECONDS}`,
    };
    const options = ["--no-auth", "--listen", "127.0.0.1:0", "--cwd", replicas.place.workspace];
    replicas.gateways = [];
    for (let i = 0; i < 2; i++) {
      const program = new Program(join(BIN, "gateway"), options, { ...replicas.place.env, ...shared });
      const [, url] = await program.said(/listening on (http:\/\/127\.0\.0\.1:\d+)\n/, START_SECONDS);
      replicas.gateways.push({ program, url });
    }
    replicas.proxy = await nginx(replicas.place, replicas.gateways);
    return replicas;
  }

  chat(threadId = randomUUID()) {
    return new HttpAgent({ url: `${this.proxy.url}/api/ai/chat`, threadId });
  }

  async close() {
    const status = await this.proxy.program.stop(EXIT_SECONDS);
    assert.equal(status, 0, `nginx: ${this.proxy.program.stderr}`);
    for (const { program } of this.gateways) {
      if (program.child.exitCode === null && program.child.signalCode === null) await program.stop(EXIT_SECONDS);
    }
    assert.deepEqual([...this.place.leave().values()], [], "processes left behind");
  }
}

/** Runs a turn of a client, and returns its events. */
async function turn(client, word, onEvent = () => {}, parameters = {}) {
  const runId = randomUUID();
  const events = [];
  if (word) client.addMessage({ id: randomUUID(), role: "user", content: word });
  const subscriber = {
    onEvent: ({ event }) => {
      events.push(event);
      onEvent(event, runId);
    },
  };
  await within(TURN_SECONDS, `the turn ${word}`, client.runAgent({ runId, ...parameters }, subscriber));
  return { runId, events, last: events.at(-1) };
}

/** Returns the events of a run for a reader that connects late or reconnects. */
async function read(url, runId, after) {
  const headers = after ? { "Last-Event-ID": after } : {};
  const signal = AbortSignal.timeout(TURN_SECONDS * 1000);
  const response = await fetch(`${url}/api/ai/chat/runs/${runId}/events`, { headers, signal });
  assert.equal(response.status, 200, await (response.ok ? "" : response.text()));
  const text = await response.text();
  return text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
}

const replicas = await Replicas.open();

await check("replicas: nginx alternates between the gateways", async () => {
  const served = new Set();
  for (let i = 0; i < 4; i++) served.add((await fetch(`${replicas.proxy.url}/healthz`)).headers.get("x-served-by"));
  assert.equal(served.size, 2, [...served].join(" "));
});

await check("replicas: ten turns of one thread at either gateway, in one session", async () => {
  const client = replicas.chat();
  for (let i = 0; i < 10; i++) {
    const { events, last } = await turn(client, "hello");
    assert.equal(last.type, "RUN_FINISHED", JSON.stringify(last));
    const notices = events.filter(({ type, name }) => type === "CUSTOM" && name === "acp.notice");
    assert.deepEqual(notices, [], "the session is new");
  }
  assert.equal(client.messages.filter(({ role }) => role === "user").length, 10);
});

await check("replicas: a permission is requested by one run, and answered by the next", async () => {
  const client = replicas.chat();
  const { last } = await turn(client, "edit");
  assert.equal(last.outcome?.type, "interrupt", JSON.stringify(last));
  const [{ id }] = last.outcome.interrupts;
  const resume = [{ interruptId: id, status: "resolved", payload: { optionId: "allow-once" } }];
  const answered = await turn(client, undefined, undefined, { resume });
  assert.equal(answered.last.outcome?.type, "success", JSON.stringify(answered.last));
});

await check("replicas: a run reads the same at either gateway", async () => {
  const { runId, events } = await turn(replicas.chat(), "noise");
  for (const url of [replicas.gateways[0].url, replicas.gateways[1].url, replicas.proxy.url]) {
    assert.deepEqual((await read(url, runId)).map(({ type }) => type), events.map(({ type }) => type));
  }
});

await check("replicas: a gateway is killed during a run, and the other gateway reports the loss", async () => {
  const [one, other] = replicas.gateways;
  const [threadId, runId] = [randomUUID(), randomUUID()];
  const messages = [{ id: randomUUID(), role: "user", content: "slow" }];
  const response = await fetch(`${one.url}/api/ai/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId, runId, messages }),
  });
  let [seen, reading, last] = ["", undefined, undefined];
  const cut = async () => {
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      seen += chunk;
      if (reading || !seen.includes("TEXT_MESSAGE_CONTENT")) continue;
      reading = read(other.url, runId);
      one.program.child.kill("SIGKILL");
    }
  };
  await assert.rejects(within(TURN_SECONDS, "the loss of the connection", cut()), /terminated/);
  const events = await reading;
  assert.equal(events[0].type, "RUN_STARTED");
  assert.deepEqual([events.at(-1).type, events.at(-1).code], ["RUN_ERROR", "GATEWAY_LOST"]);
  assert.deepEqual(await read(replicas.proxy.url, runId), events, "a later reader receives the same events");
  last = seen.match(/^id: .+$/gm)[0].slice("id: ".length);
  const rest = await read(replicas.proxy.url, runId, last);
  assert.deepEqual(rest, events.slice(1), "a reader that reconnects receives the remaining events");

  const next = replicas.chat(threadId);
  next.setMessages(messages);
  const answered = await turn(next, "hello");
  assert.equal(answered.last.outcome?.type, "success", JSON.stringify(answered.last));
});

await check("replicas: no remaining process", () => replicas.close());
