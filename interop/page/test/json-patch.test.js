import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatch, PatchError } from "../../../examples/gateway/page/json-patch.js";

/** Examples of RFC 6902, appendix A, by their numbers there, and some more. `null`: an error. */
const CASES = [
  ["A.1", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { foo: "bar", baz: "qux" }],
  ["A.2", { foo: ["bar", "baz"] }, [{ op: "add", path: "/foo/1", value: "qux" }], { foo: ["bar", "qux", "baz"] }],
  ["A.3", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
  ["A.4", { foo: ["bar", "qux", "baz"] }, [{ op: "remove", path: "/foo/1" }], { foo: ["bar", "baz"] }],
  ["A.5", { baz: "qux", foo: "bar" }, [{ op: "replace", path: "/baz", value: "boo" }], { baz: "boo", foo: "bar" }],
  ["A.6", { foo: { bar: "baz", waldo: "fred" }, qux: {} }, [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }], { foo: { bar: "baz" }, qux: { thud: "fred" } }],
  ["A.7", { foo: ["all", "grass", "cows", "eat"] }, [{ op: "move", from: "/foo/1", path: "/foo/3" }], { foo: ["all", "cows", "eat", "grass"] }],
  ["A.8", { baz: "qux", foo: ["a", 2, "c"] }, [{ op: "test", path: "/baz", value: "qux" }, { op: "test", path: "/foo/1", value: 2 }], { baz: "qux", foo: ["a", 2, "c"] }],
  ["A.9", { baz: "qux" }, [{ op: "test", path: "/baz", value: "bar" }], null],
  ["A.10", { foo: "bar" }, [{ op: "add", path: "/child", value: { grandchild: {} } }], { foo: "bar", child: { grandchild: {} } }],
  ["A.12", { foo: "bar" }, [{ op: "add", path: "/baz/bat", value: "qux" }], null],
  ["A.14", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
  ["A.15", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: "10" }], null],
  ["A.16", { foo: ["bar"] }, [{ op: "add", path: "/foo/-", value: ["abc", "def"] }], { foo: ["bar", ["abc", "def"]] }],
  ["copy", { a: { b: [1] } }, [{ op: "copy", from: "/a", path: "/c" }, { op: "add", path: "/c/b/-", value: 2 }], { a: { b: [1] }, c: { b: [1, 2] } }],
  ["the whole document", { a: 1 }, [{ op: "replace", path: "", value: [null] }], [null]],
  ["all or nothing", { a: 1 }, [{ op: "remove", path: "/a" }, { op: "remove", path: "/a" }], null],
  ["null values", { a: null }, [{ op: "test", path: "/a", value: null }, { op: "add", path: "/b", value: null }], { a: null, b: null }],
  ["a leading zero", [1, 2], [{ op: "remove", path: "/01" }], null],
  ["past the end", [1], [{ op: "add", path: "/2", value: 2 }], null],
  ["into itself", { a: { b: 1 } }, [{ op: "move", from: "/a", path: "/a/b" }], null],
  ["an inherited member", {}, [{ op: "add", path: "/__proto__/x", value: 1 }], null],
  ["an unknown operation", {}, [{ op: "merge", path: "/a", value: 1 }], null],
  ["no leading slash", { a: 1 }, [{ op: "remove", path: "a" }], null],
];

for (const [name, document, operations, expected] of CASES) {
  test(`patches: ${name}`, () => {
    const before = structuredClone(document);
    const apply = () => applyPatch(document, /** @type {any} */ (operations));
    if (expected === null) assert.throws(apply, PatchError);
    else assert.deepEqual(apply(), expected);
    assert.deepEqual(document, before, "the document itself stays as it is");
  });
}
