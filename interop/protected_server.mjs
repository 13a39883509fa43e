// An MCP server that requires a sign-in: the server of the official TypeScript SDK, and the authorization server `oidc-provider`
// with dynamic registration, resource indicators, rotated refresh tokens and revocation.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { Server } from "mcp-sdk-1/server/index.js";
import { StreamableHTTPServerTransport } from "mcp-sdk-1/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "mcp-sdk-1/types.js";
import { Provider } from "oidc-provider";

async function listen(handler) {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  server.on("request", await handler(origin));
  return { origin, stop: () => server.closeAllConnections() ?? server.close() };
}

/** Returns a server with a tool that needs the scope `read`, and one that needs `write`. */
function notes() {
  const server = new Server({ name: "notes", version: "1" }, { capabilities: { tools: {} } });
  const inputSchema = { type: "object" };
  const tools = ["read", "write"].map((name) => ({ name, inputSchema }));
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: "text", text: `${params.name} done` }],
  }));
  return server;
}

/** A client that acts for itself. */
export const machine = { client_id: "machine", client_secret: "canary-secret" };

/**
 * Starts both servers. `tokens` are those that were issued, of the requests in `grants`; `ended` are those that the client has
 * revoked. The MCP server refuses those in `revoked`.
 */
export async function startProtected() {
  const [tokens, grants, ended, revoked] = [new Set(), [], new Set(), new Set()];
  let resource;
  let provider;
  const authorization = await listen((issuer) => {
    provider = new Provider(issuer, {
      scopes: ["openid", "offline_access"],
      clientAuthMethods: ["none", "client_secret_basic"],
      clients: [{ ...machine, grant_types: ["client_credentials"], redirect_uris: [], response_types: [] }],
      ttl: { AccessToken: 600, RefreshToken: 3600, Grant: 3600, Interaction: 600, Session: 3600 },
      rotateRefreshToken: true,
      features: {
        clientCredentials: { enabled: true },
        registration: { enabled: true },
        revocation: { enabled: true },
        resourceIndicators: {
          enabled: true,
          useGrantedResource: () => true,
          getResourceServerInfo: (_, uri) => {
            assert.equal(uri, resource, "the token is for the MCP server");
            return { scope: "read write", audience: uri, accessTokenFormat: "opaque", accessTokenTTL: 600 };
          },
        },
      },
    });
    provider.on("grant.success", ({ oidc, body }) => {
      grants.push(oidc.params.grant_type);
      for (const token of [body.access_token, body.refresh_token]) tokens.add(token);
    });
    provider.on("access_token.destroyed", ({ jti }) => ended.add(jti));
    provider.on("grant.revoked", () => ended.add("grant"));
    provider.on("server_error", (_, error) => console.log(error.stack));
    return provider.callback();
  });

  const protectedServer = await listen((origin) => {
    resource = `${origin}/mcp`;
    const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
    const refuse = (response, status, more) => {
      const challenge = `Bearer resource_metadata="${metadata}", ${more}`;
      response.writeHead(status, { "www-authenticate": challenge }).end();
    };
    return async (request, response) => {
      if (request.url === new URL(metadata).pathname) {
        const body = { resource, authorization_servers: [authorization.origin], scopes_supported: ["read"] };
        return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      }
      const value = request.headers.authorization?.replace("Bearer ", "");
      const find = async () => (await provider.AccessToken.find(value)) ?? provider.ClientCredentials.find(value);
      const token = value && !revoked.has(value) ? await find() : undefined;
      if (token?.aud !== resource) return refuse(response, 401, 'scope="read"');
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = chunks.length ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
      if (body?.method === "tools/call" && !token.scope.split(" ").includes(body.params.name)) {
        return refuse(response, 403, `error="insufficient_scope", scope="${body.params.name}"`);
      }
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      await notes().connect(transport);
      await transport.handleRequest(request, response, body);
    };
  });
  const stop = () => {
    authorization.stop();
    protectedServer.stop();
  };
  return { resource, issuer: authorization.origin, tokens, grants, ended, revoked, stop };
}
