import assert from "node:assert/strict";
import { test } from "node:test";
import { factsOf } from "../../../examples/gateway/page/tool-arguments.js";
import { placesOf, shortPath, wordsOf } from "../../../examples/gateway/page/tool-words.js";

const PATH = "/home/user/project/src/hello.py";
const SHELL = (/** @type {string} */ command) => ["/bin/bash", "-lc", command];
const DIFF = { type: "diff", path: PATH, oldText: "a", newText: "b" };
const PATCH = "*** Begin Patch\n*** Update File: src/hello.py\n@@\n-a\n+b\n*** End Patch\n";

/** Calls of different agents, and the words for them. @type {[string, any, string][]} */
const CALLS = [
  // Titles of Claude Code are replaced by its descriptions.
  ["read", { title: "Read File", input: { file_path: PATH }, locations: [{ path: PATH, line: 0 }] }, "Read …/src/hello.py"],
  ["read", { title: "Read File", input: { file_path: PATH, offset: 12, limit: 29 }, locations: [{ path: PATH, line: 12 }] }, "Read …/src/hello.py:12–40"],
  ["read", { title: "Read File", input: {} }, "Read File"],
  ["edit", { title: `Edit \`${PATH}\``, input: { file_path: PATH, old_string: "a", new_string: "b" }, diffs: [DIFF] }, "Edit …/src/hello.py"],
  ["edit", { title: "Write", input: { file_path: PATH, content: "a" } }, "Write …/src/hello.py"],
  ["execute", { title: "`seq 1 9000`", input: { command: "seq 1 9000", description: "Print many lines" } }, "Run seq 1 9000"],
  ["execute", { title: "Print many lines", input: { command: "seq 1 9000" } }, "Run seq 1 9000 (Print many lines)"],
  ["execute", { title: "Terminal", input: {} }, "Terminal"],
  ["search", { title: "Find `**/*.py`", input: { pattern: "**/*.py" } }, "Search **/*.py"],
  ["search", { title: "grep", input: { pattern: "hello", path: "/home/user/project" } }, "Search hello in …/user/project"],
  ["fetch", { title: "Fetch", input: { url: "http://127.0.0.1:9/none", prompt: "Summarise it" } }, "Fetch http://127.0.0.1:9/none"],
  ["think", { title: "Count files", input: { description: "Count files", prompt: "Count the files.", subagent_type: "general" } }, "Count files"],
  ["other", { name: "mcp__stub__echo", title: "mcp__stub__echo", input: { text: "a" } }, "Call stub/echo"],
  // Codex.
  ["execute", { title: "seq 1 9000", input: { command: SHELL("seq 1 9000"), cwd: "/home" } }, "Run seq 1 9000"],
  ["read", { title: "Read hello.py", input: { command: SHELL(`cat ${PATH}`) }, locations: [{ path: PATH }] }, "Read hello.py"],
  ["search", { title: "Search hello in src", input: { command: SHELL("grep -rn hello src") } }, "Search hello in src"],
  ["edit", { title: `Edit ${PATH}`, input: { changes: { [PATH]: { type: "update" } } }, diffs: [DIFF] }, "Edit …/src/hello.py"],
  ["edit", { title: "Editing files", input: undefined, diffs: [{ type: "diff", changes: [{ path: "a.py" }, { path: "b.py" }] }] }, "Edit a.py, b.py (Editing files)"],
  ["other", { title: "Tool: stub/echo", input: { server: "stub", tool: "echo", arguments: { text: "a" } } }, "Call stub/echo"],
  // Cline.
  ["read", { title: 'read_files: {"files":[{"path":"/home...', input: { files: [{ path: PATH }] } }, "Read …/src/hello.py"],
  ["execute", { title: "run_commands: seq 1 9000", input: { commands: ["seq 1 9000", "ls"] } }, "Run seq 1 9000; ls"],
  ["other", { name: "apply_patch", title: 'apply_patch: {"input":"*** Begin', input: { input: PATCH } }, "Edit src/hello.py"],
  ["other", { name: "no_such_tool", title: 'no_such_tool: {"x":1}', input: { x: 1 } }, "no_such_tool"],
  ["fetch", { title: "fetch_web_content: it", input: { requests: [{ url: "https://example.com/", prompt: "a" }] } }, "Fetch https://example.com/"],
  // OpenCode.
  ["execute", { title: "bash", input: { cwd: "/home/user/project" }, locations: [{ path: "/home/user/project" }] }, "bash"],
  ["edit", { title: "edit", input: { filePath: PATH, oldString: "a", newString: "b", diff: "--- a" } }, "Edit …/src/hello.py"],
  ["other", { name: "todowrite", title: "3 todos", input: { todos: [{ content: "a" }] } }, "3 todos"],
  // Gemini has only titles and locations.
  ["read", { title: "src/hello.py", locations: [{ path: PATH }] }, "Read src/hello.py"],
  ["read", { title: "src/hello.py" }, "Read src/hello.py"],
  ["execute", { title: "touch made.txt; echo end" }, "Run touch made.txt; echo end"],
  ["edit", { title: "Writing to new.txt", diffs: [{ ...DIFF, oldText: null }] }, "Write …/src/hello.py (Writing to new.txt)"],
  ["search", { title: "'hello' within ./" }, "'hello' within ./"],
  // Others.
  ["move", { title: "move", input: { source: "a.txt", destination: "b.txt" } }, "Move a.txt → b.txt"],
  ["delete", { title: "delete", input: { path: "a.txt" } }, "Delete a.txt"],
  ["read", { title: "view", input: { path: "a.rs", view_range: [3, 9] } }, "Read a.rs:3–9"],
  ["read", { title: "read", input: { path: "a.rs" }, locations: [{ path: "a.rs", line: 12 }] }, "Read a.rs:12"],
  ["read", { title: "read", input: { files: ["a", "b", "c", "d", "e"] } }, "Read a, b, c and 2 more"],
  ["switch_mode", { title: "Ready to code?", input: { plan: "a" } }, "Ready to code?"],
  ["teleport", { title: "Go there", input: { path: "a" } }, "Go there"],
];

for (const [kind, call, expected] of CALLS) {
  test(`${kind} ${call.title}: ${expected}`, () => {
    const { verb, target, note } = wordsOf({ name: "", input: undefined, locations: [], diffs: [], ...call, kind });
    assert.equal(`${verb} ${target}${note === "" ? "" : ` (${note})`}`.trim(), expected);
  });
}

test("arguments of any shape have words", () => {
  const values = [null, 1, "a", [], [1], {}, { path: 1 }, { files: 1 }, { files: [null] }, { commands: [null] }, { requests: [null] }, { changes: null }, { view_range: ["a", {}] }, { offset: -1, limit: 1e9 }];
  for (const kind of ["read", "edit", "delete", "move", "search", "execute", "fetch", "think", "other", "", "constructor"]) {
    for (const value of values) {
      const words = wordsOf({ name: "constructor", title: "A title", kind, input: value, locations: [null, {}, { path: 1, line: "a" }], diffs: [{}, { changes: [null] }] });
      assert.equal(typeof words.target, "string");
    }
  }
});

test("a long command is cut", () => {
  assert.equal(wordsOf({ name: "", title: "", kind: "execute", input: { command: "a".repeat(1e6) }, locations: [], diffs: [] }).target.length, 2000);
});

test("similar tools have the same icon", () => {
  const kind = (/** @type {string} */ name) => wordsOf({ name, title: name, kind: "other", input: {}, locations: [], diffs: [] }).kind;
  assert.deepEqual(["readFile", "web_fetch", "run_query", "Grep", "mcp__a__read", "stub_echo"].map(kind), ["read", "fetch", "execute", "search", "other", "other"]);
});

test("paths are shortened, and other places are named", () => {
  assert.deepEqual(["/a/b", "/a/b/c", "C:\\a\\b\\c", "a/b/c/d"].map((path) => shortPath(path)), ["/a/b", "…/b/c", "…/b/c", "a/b/c/d"]);
  assert.equal(shortPath(PATH, "Read other_hello.py"), "…/src/hello.py", "a name that only ends so");
  assert.equal(shortPath("hello.py", "Read it"), "hello.py");
  const call = { name: "", title: "", kind: "edit", input: {}, locations: [{ path: PATH }, { path: "/b", line: 3 }, { path: "c", line: 0 }, {}], diffs: [DIFF] };
  assert.deepEqual(placesOf(call, "Edit c"), ["/b:3"]);
});

test("what a call would do is whole", () => {
  const facts = (/** @type {any} */ call) => factsOf({ name: "", title: "", kind: "other", input: undefined, locations: [], diffs: [], ...call });
  const long = "echo a; ".repeat(1000);
  assert.deepEqual(facts({ input: { command: SHELL(long), cwd: "/home" } }), [["Command", long], ["Shell", "/bin/bash -lc"], ["Folder", "/home"]]);
  assert.deepEqual(facts({ input: { command: ["rm", "-rf", "a b"] } }), [["Command", "rm -rf a b"]]);
  assert.deepEqual(facts({ kind: "read", input: { command: `cat ${PATH}` }, locations: [{ path: PATH }] }), [["Command", `cat ${PATH}`], ["Files", PATH]]);
  const many = ["/a", "/b", "/c", "/d", "/e"].map((path) => ({ type: "diff", path, newText: "" }));
  assert.deepEqual(facts({ kind: "edit", diffs: many }), [["Files", "/a\n/b\n/c\n/d\n/e"]]);
  assert.deepEqual(facts({ kind: "move", input: { from: "/a", to: "/b" } }), [["Files", "/a → /b"]]);
  assert.deepEqual(facts({ kind: "fetch", input: { url: "https://example.com/" } }), [["Address", "https://example.com/"]]);
  assert.deepEqual(facts({ input: { x: 1 } }), []);
});
