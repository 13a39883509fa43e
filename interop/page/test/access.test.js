import assert from "node:assert/strict";
import { test } from "node:test";
import { Access } from "../../../examples/gateway/page/access.js";

const REFUSED = () => new Response("", { status: 401, headers: { "WWW-Authenticate": "Bearer" } });

const NOTHING = { getItem: () => null, setItem() {}, removeItem() {} };

/** @param {Map<string, string>} map */
const storageOf = (map) => ({
  getItem: (/** @type {string} */ key) => map.get(key) ?? null,
  setItem: (/** @type {string} */ key, /** @type {string} */ value) => void map.set(key, value),
  removeItem: (/** @type {string} */ key) => void map.delete(key),
});

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
  const storage = storageOf(kept);
  const keys = storageOf(new Map());
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

test("a key or a token is taken from the address", () => {
  const take = (/** @type {string} */ url) => {
    const { page, offer } = Access.take(new URL(url));
    return [page.href, offer];
  };
  assert.deepEqual(take("http://localhost/c/1?a=b#key=secret"), ["http://localhost/c/1?a=b", { key: "secret" }]);
  assert.deepEqual(take("http://localhost/?token=a%2Bb"), ["http://localhost/", { token: "a+b" }]);
  assert.deepEqual(take("http://localhost/#other"), ["http://localhost/#other", null]);
});

/**
 * A browser with the session of a user, and a gateway with the users alice and mallory.
 *
 * @param {Record<string, string>} before The keys that the browser has.
 * @param {boolean} isConfirmed The answer of the user.
 */
function browser(before, isConfirmed) {
  const keys = new Map(Object.entries(before));
  /** @type {Map<string, string>} */
  const tokens = new Map();
  /** @type {(string | null)[][]} */
  const asked = [];
  /** @type {string[]} */
  const changes = [];
  const users = new Map([
    ["key-of-alice", "alice"],
    ["key-of-mallory", "mallory"],
    ["Bearer token-of-alice", "alice"],
    ["Bearer token-of-mallory", "mallory"],
  ]);
  const gateway = async (/** @type {string} */ path, /** @type {RequestInit} */ init = {}) => {
    const headers = new Headers(init.headers);
    const user = users.get(headers.get("Authorization") ?? headers.get("Sign-In-Key") ?? "");
    if (init.method !== undefined) changes.push(`${init.method} ${path} ${user}`);
    if (user === undefined) return REFUSED();
    if (init.method === "POST") return Response.json({ key: `key-of-${user}` }, { status: 201 });
    return Response.json({ user, current: `session-of-${user}`, sessions: [] });
  };
  const confirm = async (/** @type {string} */ user, /** @type {string | null} */ earlier) => {
    asked.push([user, earlier]);
    return isConfirmed;
  };
  const it = new Access(async () => null, gateway, storageOf(tokens), storageOf(keys));
  return { access: it, accept: (/** @type {any} */ offer) => it.accept(offer, confirm), keys, tokens, asked, changes };
}

const ALICE = { "spanwire.key": "key-of-alice", "spanwire.user": "alice" };
const MALLORY = { "spanwire.key": "key-of-mallory", "spanwire.user": "mallory" };

test("an invalid key or token of an address changes nothing", async () => {
  for (const offer of [{ key: "junk" }, { token: "junk" }]) {
    const { accept, keys, asked, changes } = browser(ALICE, true);
    assert.equal(await accept(offer), false);
    assert.deepEqual([Object.fromEntries(keys), asked, changes], [ALICE, [], []]);
  }
});

test("a key of the same user, or of the first one, is accepted", async () => {
  for (const [before, changed] of /** @type {const} */ ([[{}, true], [ALICE, false]])) {
    const { accept, keys, asked } = browser(before, false);
    assert.equal(await accept({ key: "key-of-alice" }), changed);
    assert.deepEqual([Object.fromEntries(keys), asked], [ALICE, []]);
  }
});

test("another user signs in only if it is confirmed", async () => {
  for (const offer of [{ key: "key-of-mallory" }, { token: "token-of-mallory" }]) {
    for (const isConfirmed of [true, false]) {
      const { accept, keys, tokens, asked } = browser(ALICE, isConfirmed);
      tokens.set("spanwire.token", "token-of-alice");
      assert.equal(await accept(offer), isConfirmed);
      assert.deepEqual(asked, [["mallory", "alice"]]);
      assert.deepEqual(Object.fromEntries(keys), isConfirmed ? MALLORY : ALICE);
      assert.equal(tokens.size, isConfirmed ? 0 : 1);
    }
  }
  // A user that entered a token has no key.
  const entered = browser({}, false);
  entered.tokens.set("spanwire.token", "token-of-alice");
  assert.equal(await entered.accept({ key: "key-of-mallory" }), false);
  assert.deepEqual(entered.asked, [["mallory", "alice"]]);
  // A server on another port has replaced the cookie of the session.
  const tossed = browser({ "spanwire.key": "old", "spanwire.user": "alice" }, false);
  assert.equal(await tossed.accept({ key: "key-of-mallory" }), false);
  assert.deepEqual(tossed.asked, [["mallory", "alice"]]);
  assert.deepEqual(tossed.changes, ["DELETE /api/sessions/session-of-mallory mallory"]);
});

test("a token that the gateway did not exchange needs a confirmation", async () => {
  for (const isConfirmed of [true, false]) {
    const { accept, keys, asked } = browser({}, isConfirmed);
    assert.equal(await accept({ token: "token-of-alice" }), isConfirmed);
    assert.deepEqual(asked, [["alice", null]]);
    assert.deepEqual(Object.fromEntries(keys), isConfirmed ? ALICE : {});
  }
});

test("a sign-out ends the session and forgets the credentials", async () => {
  const { access: it, keys, changes } = browser(ALICE, true);
  assert.equal(it.canSignOut, true);
  await it.signOut();
  assert.deepEqual(changes, ["DELETE /api/sessions/session-of-alice alice"]);
  assert.deepEqual([keys.size, it.canSignOut], [0, false]);
});

test("the key of a session is sent until there is a token", async () => {
  /** @type {RequestInit[]} */
  const sent = [];
  const keys = new Map([["spanwire.key", "secret"]]);
  const gateway = async (/** @type {string} */ _, /** @type {RequestInit} */ init = {}) => {
    sent.push(init);
    return new Headers(init.headers).has("Authorization") ? new Response("in") : REFUSED();
  };
  const it = new Access(async () => "right", gateway, storageOf(new Map()), storageOf(keys));
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
