import assert from "node:assert/strict";
import { test } from "node:test";
import { Access } from "../../../examples/gateway/page/access.js";

const REFUSED = () => new Response("", { status: 401, headers: { "WWW-Authenticate": "Bearer" } });

const NOTHING = { getItem: () => null, setItem() {}, removeItem() {} };

/**
 * A gateway that accepts one token, and a user that enters these.
 *
 * @param {(string | null)[]} tokens
 */
function access(tokens) {
  /** @type {Map<string, string>} */
  const kept = new Map();
  /** @type {boolean[]} */
  const asked = [];
  /** @type {RequestInit[]} */
  const sent = [];
  const storage = {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void kept.set(key, value),
    removeItem: (/** @type {string} */ key) => void kept.delete(key),
  };
  /** @type {Map<string, string>} */
  const known = new Map();
  const keys = {
    getItem: (/** @type {string} */ key) => known.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void known.set(key, value),
  };
  const ask = async (/** @type {boolean} */ refused) => {
    asked.push(refused);
    return tokens.shift() ?? null;
  };
  const gateway = async (/** @type {string} */ _, /** @type {RequestInit} */ init = {}) => {
    sent.push(init);
    return new Headers(init.headers).get("Authorization") === "Bearer right" ? new Response("in") : REFUSED();
  };
  return { access: new Access(ask, gateway, storage, keys), asked, sent, kept };
}

test("requests a token until one is accepted, and keeps it", async () => {
  const { access: it, asked, sent, kept } = access(["wrong", "right"]);
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  assert.equal((await it.send("/", init)).status, 200);
  assert.deepEqual(asked, [false, true]);
  assert.equal((await it.send("/")).status, 200);
  assert.equal(asked.length, 2, "it is known now");
  assert.deepEqual([...kept.values()], ["right"]);
  assert.deepEqual([sent[2].method, sent[2].body], ["POST", "{}"]);
  assert.equal(new Headers(sent[2].headers).get("Content-Type"), "application/json");
});

test("concurrent requests open one token dialog", async () => {
  const { access: it, asked } = access(["right"]);
  const answers = await Promise.all([it.send("/a"), it.send("/b"), it.send("/c")]);
  assert.deepEqual(answers.map((answer) => answer.status), [200, 200, 200]);
  assert.deepEqual(asked, [false]);
});

test("without a token the refusal is returned", async () => {
  const { access: it, asked, kept } = access(["wrong", null]);
  assert.equal((await it.send("/")).status, 401);
  assert.deepEqual(asked, [false, true]);
  assert.equal(kept.size, 0, "a rejected token is not kept");
});

test("a request without a dialog sends the known token", async () => {
  const { access: it, asked } = access(["right"]);
  assert.equal((await it.sendQuietly("/")).status, 401);
  assert.deepEqual(asked, []);
  await it.send("/");
  assert.equal((await it.sendQuietly("/")).status, 200);
});

test("the key of a session is taken from the address, and sent until there is a token", async () => {
  const { access: it, sent } = access(["right"]);
  assert.equal(it.takeKey(new URL("http://localhost/c/1?a=b#key=secret")).href, "http://localhost/c/1?a=b");
  assert.equal(it.takeKey(new URL("http://localhost/#other")).href, "http://localhost/#other");
  await it.send("/", { headers: { Accept: "text/plain" } });
  const headers = sent.map((init) => Object.fromEntries(new Headers(init.headers)));
  assert.deepEqual(headers, [
    { accept: "text/plain", "sign-in-key": "secret" },
    { accept: "text/plain", authorization: "Bearer right" },
  ]);
});

test("no token is requested if none is required", async () => {
  for (const answer of [new Response("", { status: 401 }), new Response("", { status: 403 }), new Response("")]) {
    const it = new Access(() => assert.fail("asked"), async () => answer, NOTHING, NOTHING);
    assert.equal(await it.send("/"), answer);
  }
});
