// The gateway with tokens of a real OpenID provider, `oidc-provider`, over HTTP and over a WebSocket.
import assert from "node:assert/strict";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { WebSocket } from "ws";
import { BIN, Place, Program, check, within } from "./harness.mjs";

const AUDIENCE = "urn:spanwire:gateway";
const START_SECONDS = 60;
const SECRET = randomUUID();
const FOREIGN = "urn:example:other";

function jwk(kind, options, alg) {
  const { privateKey } = generateKeyPairSync(kind, options);
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg };
}

/** Starts a provider on a free port, with clients that get a token in their own name, one for each algorithm. */
async function startProvider() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const keys = [
    jwk("rsa", { modulusLength: 2048 }, "RS256"),
    jwk("rsa", { modulusLength: 2048 }, "PS256"),
    jwk("ec", { namedCurve: "P-256" }, "ES256"),
    jwk("ed25519", {}, "EdDSA"),
  ];
  const client = { client_secret: SECRET, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] };
  const provider = new Provider(issuer, {
    clients: [...keys.map(({ alg }) => alg), "ES384"].map((alg) => ({ ...client, client_id: `service-${alg}` })),
    ttl: { ClientCredentials: 600 },
    jwks: { keys: [...keys, jwk("ec", { namedCurve: "P-384" }, "ES384")] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource, { clientId }) => ({
          scope: "chat",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
          jwt: { sign: { alg: clientId.slice("service-".length) } },
        }),
      },
    },
  });
  server.on("request", provider.callback());
  const token = async (alg, resource = AUDIENCE, scope = "chat") => {
    const body = new URLSearchParams({ grant_type: "client_credentials", resource, scope });
    const basic = Buffer.from(`service-${alg}:${SECRET}`).toString("base64");
    const response = await fetch(`${issuer}/token`, { method: "POST", body, headers: { authorization: `Basic ${basic}` } });
    const answer = await response.json();
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer.access_token;
  };
  return { issuer, token, stop: () => server.closeAllConnections() ?? server.close() };
}

const place = new Place();
const provider = await startProvider();
const settings = {
  GATEWAY_AUTH_OIDC_ISSUER: provider.issuer,
  GATEWAY_AUTH_OIDC_AUDIENCE: AUDIENCE,
  GATEWAY_AUTH_OIDC_USER_CLAIM: "client_id",
  GATEWAY_AUTH_OIDC_SCOPE: "chat",
};
const gateway = new Program(`${BIN}/gateway`, ["--listen", "127.0.0.1:0"], { ...place.env, ...settings });
const [, url] = await gateway.said(/listening on (http:\S+)/, START_SECONDS);

const input = (threadId) => ({
  threadId,
  runId: randomUUID(),
  messages: [{ id: randomUUID(), role: "user", content: "hello" }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
});

const post = (token, threadId = randomUUID()) =>
  fetch(`${url}/api/ai/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(input(threadId)),
    signal: AbortSignal.timeout(START_SECONDS * 1000),
  });

for (const alg of ["RS256", "PS256", "ES256", "EdDSA"]) {
  await check(`gateway × oidc-provider: a run with a token signed with ${alg}`, async () => {
    const response = await post(await provider.token(alg));
    assert.equal(response.status, 200);
    assert.match(await response.text(), /RUN_FINISHED/);
  });
}

await check("gateway × oidc-provider: a WebSocket with a token", async () => {
  const headers = { authorization: `Bearer ${await provider.token("ES256")}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/api/ai/ws`, { headers });
  const opened = new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
  await within(START_SECONDS, "the socket", opened);
  socket.close();
});

await check("gateway × oidc-provider: refused tokens", async () => {
  const valid = await provider.token("RS256");
  const [header, , signature] = valid.split(".");
  const claims = Buffer.from(JSON.stringify({ iss: provider.issuer, aud: AUDIENCE, exp: 4102444800, client_id: "a" }));
  const cases = {
    "another audience": [await provider.token("RS256", FOREIGN), 401, "the token is for another audience"],
    "another algorithm": [await provider.token("ES384"), 401, "with a permitted algorithm"],
    "no scope": [await provider.token("RS256", AUDIENCE, ""), 403, "the needed scope `chat`"],
    "other claims": [`${header}.${claims.toString("base64url")}.${signature}`, 401, "the signature is invalid"],
    "no token": ["", 401, ""],
  };
  for (const [name, [token, status, reason]] of Object.entries(cases)) {
    const response = await post(token);
    const { error } = await response.json();
    assert.equal(response.status, status, `${name}: ${error}`);
    assert.ok(error.includes(reason), `${name}: ${error}`);
  }
});

await check("gateway × oidc-provider: the gateway goes on without the provider, and ends", async () => {
  const token = await provider.token("EdDSA");
  provider.stop();
  assert.equal((await post(token)).status, 200);
  assert.equal(await gateway.stop(START_SECONDS), 0);
  assert.ok(!gateway.stderr.includes(token), "the token is in the log");
});
assert.equal(place.leave().size, 0, "processes are left");
