// Tool cards: words, arguments, results, changes of files, and the output of commands.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { noViolations, restore, turn } from "./page.mjs";

const ATTEMPTS = JSON.parse(await readFile(new URL("../../../examples/gateway/tests/it/markdown/attempts.json", import.meta.url), "utf8"));

/** The messages of a tool call: the call, what the agent says about it, and its result. */
const call = (id, { name = "tool", rawInput = {}, result, ...content }) => [
  { id: `a-${id}`, role: "assistant", toolCalls: [{ id, type: "function", function: { name, arguments: JSON.stringify(rawInput) } }] },
  { id: `s-${id}`, role: "activity", activityType: "acp.tool", content: { toolCallId: id, status: "completed", ...content } },
  ...(result === undefined ? [] : [{ id: `t-${id}`, role: "tool", toolCallId: id, content: result }]),
];

const asked = (...calls) => [{ id: "u", role: "user", content: "Do it" }, ...calls.flat()];

const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, at) => `    let line_${from + at} = ${from + at};\n`).join("");
const BEFORE = `fn main() {\n${lines(2, 19)}}\n`;
const AFTER = BEFORE.replace("let line_9 = 9;", 'let line_9 = "nine";').replace("    let line_10 = 10;\n", "");
const PATCH = "--- a/one.py\n+++ b/one.py\n@@ -4 +4 @@\n-print(1)\n+print(2)\n--- a/two.py\n+++ b/two.py\n@@ -1,0 +2 @@\n+pass\n";

/** Output in each colour, alone and on each background, and in each effect. */
const COLOURS = [...[30, 90].flatMap((first) => Array.from({ length: 8 }, (_, at) => first + at)), 1, 2, 3, 4, 7, 9]
  .map((code) => `\x1b[${code}mabc\x1b[0m ${Array.from({ length: 8 }, (_, at) => `\x1b[${code};${40 + at}mx\x1b[0m`).join("")}`)
  .join("\n");

const shownCard = (page, name) => turn(page, 1).getByRole("article", { name: `Tool: ${name}` });

/** Returns the lowest contrast of the texts in a box with their backgrounds. */
const lowestContrast = (box) =>
  box.evaluate((root) => {
    const parts = (color) => color.match(/[\d.]+/g).map(Number);
    const luminance = (color) => {
      const [red, green, blue] = parts(color).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const groundOf = (element) => {
      const { backgroundColor } = getComputedStyle(element);
      return parts(backgroundColor)[3] === 0 ? groundOf(element.parentElement) : backgroundColor;
    };
    const contrasts = [...root.querySelectorAll("span[class]")].map((span) => {
      const [dark, bright] = [luminance(getComputedStyle(span).color), luminance(groundOf(span))].sort((a, b) => a - b);
      return (bright + 0.05) / (dark + 0.05);
    });
    return Math.min(...contrasts);
  });

const fits = async (page) => {
  for (const name of ["html", "#conversation", ".turn", ".tool"]) {
    for (const part of await page.locator(name).all()) {
      const over = await part.evaluate((element) => element.scrollWidth - element.clientWidth);
      assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
    }
  }
};

export const checks = [
  ...[
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 1280 },
    { colorScheme: "light", width: 390 },
    { colorScheme: "dark", width: 360 },
  ].map(({ colorScheme, width }) => ({
    name: `cards of changes and output, ${colorScheme}, ${width} pixels`,
    context: { colorScheme, viewport: { width, height: 900 } },
    async run({ page, shot }) {
      await restore(
        page,
        asked(
          call("edit", { title: "Change main", kind: "edit", content: [{ type: "diff", path: "/work/src/main.rs", oldText: BEFORE, newText: AFTER }], result: "--- /work/src/main.rs\n+++ /work/src/main.rs\n@@ -1 +1 @@\n-a\n+b\n" }),
          call("patch", { title: "Change two files", kind: "edit", content: [{ type: "diff", changes: [{ operation: "modify", path: "one.py" }, { operation: "move", oldPath: "2.py", path: "two.py" }], patch: { text: PATCH } }] }),
          call("run", { title: "Show colours", kind: "execute", content: [{ type: "content", content: { type: "text", text: COLOURS } }] }),
        ),
      );
      const edit = shownCard(page, "Edit …/src/main.rs");
      await edit.locator("tr.diff-added").first().waitFor();
      const row = (of) => of.evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
      const removed = [["9", "", "−", "    let line_9 = 9;"], ["10", "", "−", "    let line_10 = 10;"]];
      assert.deepEqual(await row(edit.locator("tr.diff-removed")), removed);
      assert.deepEqual(await row(edit.locator("tr.diff-added")), [["", "9", "+", '    let line_9 = "nine";']]);
      assert.deepEqual(await edit.locator("tr.diff-gap").allTextContents(), ["5 unchanged lines", "7 unchanged lines"]);
      assert.ok((await edit.locator("ins .hl-mark").allTextContents()).join("").includes("nine"), "the changed words are marked");
      assert.match(await edit.locator("figcaption").innerText(), /\/work\/src\/main\.rs\s+\+1\s+−2/);
      assert.equal(await edit.getByText("Result").count(), await edit.getByText("Result").and(page.locator(":not(:visible)")).count(), "the change is shown once");

      const patch = shownCard(page, "Edit one.py, two.py");
      await patch.locator("tr.diff-gap").first().waitFor();
      assert.deepEqual(await patch.locator("tr.diff-gap").allTextContents(), ["one.py, line 4", "two.py, line 2"]);
      assert.match(await patch.locator("figcaption").innerText(), /one\.py, 2\.py → two\.py\s+\+2\s+−1/);

      const output = shownCard(page, "Show colours").getByRole("group", { name: "Terminal output" });
      await output.locator(".ansi-fg-1").first().waitFor();
      const styles = await output.locator("span[class]").evaluateAll((spans) => new Set(spans.map((span) => span.className)).size);
      assert.equal(styles, 22 * 9, "each combination is shown");
      assert.ok((await lowestContrast(output)) >= 4.5, `a contrast of ${await lowestContrast(output)}`);
      await noViolations(page, "cards of changes and output");
      await fits(page);
      await edit.scrollIntoViewIfNeeded();
      await shot("changes");
      await output.scrollIntoViewIfNeeded();
      await shot("output");
    },
  })),
  ...[
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 390 },
    { colorScheme: "light", width: 360 },
  ].map(({ colorScheme, width }) => ({
    name: `cards of all states and results, ${colorScheme}, ${width} pixels`,
    context: { colorScheme, viewport: { width, height: 900 } },
    async run({ page, shot }) {
      const code = Array.from({ length: 60 }, (_, at) => `pub const LINE_${at}: &str = "${"long ".repeat(at % 30)}";`).join("\n");
      const input = { file_path: "/home/user/project/src/main.rs", offset: 12, limit: 60, options: { deep: [1, { more: null }] }, [`name_${"x".repeat(80)}`]: "y".repeat(300) };
      await restore(
        page,
        asked(
          call("read", { title: "Read File", kind: "read", rawInput: input, locations: [{ path: input.file_path, line: 12 }], result: code }),
          call("fetch", { title: "fetch", kind: "fetch", rawInput: { url: `https://example.com/${"path/".repeat(40)}` }, result: "## Page\n\n- **one**\n- `two`\n\n| a | b |\n|---|---|\n| 1 | 2 |" }),
          call("json", { name: "mcp__stub__look_up", title: "mcp__stub__look_up", kind: "other", rawInput: { query: "a" }, result: JSON.stringify({ found: [1, 2] }) }),
          call("search", { title: "grep", kind: "search", rawInput: { pattern: "*TODO*" }, result: "src/a.rs:1: *TODO* a\nsrc/b.rs:2: *TODO* b" }),
          call("run", { title: "Test all of it", kind: "execute", rawInput: { command: ["/bin/sh", "-c", "cargo test"] }, result: Array.from({ length: 1200 }, (_, at) => `test case_${at} ... ${at < 3 ? "\x1b[32mok\x1b[0m" : "ok"}`).join("\n") }),
          ...["pending", "in_progress", "failed", "cancelled"].map((status) => call(status, { title: `A tool in the state ${status}`, kind: "think", status })),
          call("late", { title: "A kind of the future", kind: "teleport" }),
        ),
      );
      const card = (name) => shownCard(page, name);
      const titles = await turn(page, 1).locator(".tool-title").allTextContents();
      assert.deepEqual(titles.slice(0, 5), ["Read …/src/main.rs:12–71", `Fetch https://example.com/${"path/".repeat(40)}`, "Call stub/look_up", "Search *TODO*", "Run cargo test"]);
      await noViolations(page, "folded cards");
      await fits(page);
      await shot("folded");
      await turn(page, 1).locator(".tool > details:not([open]) > summary").evaluateAll((folds) => folds.forEach((fold) => fold.click()));

      const read = card("Read …/src/main.rs:12–71");
      await read.locator("figure.code").waitFor();
      assert.equal(await read.locator(".tool-locations code").innerText(), "/home/user/project/src/main.rs:12");
      const box = read.locator(".long", { has: page.locator("figure.code") });
      const height = () => box.evaluate((long) => long.firstElementChild.getBoundingClientRect().height);
      const folded = await height();
      await box.getByRole("button", { name: "Show all 60 lines", expanded: false }).click();
      assert.ok((await height()) > folded + 200, "all lines are shown");
      await box.getByRole("button", { name: "Show less", expanded: true }).press("Enter");
      assert.equal(await height(), folded);
      await read.getByText("Arguments").click();
      const rows = read.locator("table.arguments tr");
      await rows.nth(4).waitFor();
      const shown = await rows.evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
      assert.deepEqual(shown.slice(0, 4), [["file_path", input.file_path], ["offset", "12"], ["limit", "60"], ["options", JSON.stringify(input.options, null, 2)]]);

      const fetched = turn(page, 1).locator("article.tool").nth(1);
      await fetched.locator(".result-text").getByText("Page", { exact: true }).waitFor();
      await fetched.locator(".result-text table").waitFor();
      assert.equal(await fetched.locator(".result-text li strong, .result-text td").count(), 3, "Markdown");
      await card("Call stub/look_up").locator("figure.code").waitFor();
      assert.match(await card("Search *TODO*").locator("pre").last().innerText(), /^src\/a\.rs:1: \*TODO\* a\n/);
      const run = card("Run cargo test");
      await run.locator(".ansi-fg-2").first().waitFor({ state: "attached" });
      assert.ok(await run.getByRole("button", { name: "Show all 1,200 lines" }).isVisible());
      assert.equal(await run.locator(".tool-note").innerText(), "Test all of it");
      const states = await turn(page, 1).locator(".tool-status").allInnerTexts();
      assert.deepEqual(states.slice(5, 9), ["Waiting", "Running", "Failed", "Cancelled"]);
      assert.ok(await card("A kind of the future").getByText("teleport").isVisible() || width < 544, "an unknown kind is named");
      await noViolations(page, "unfolded cards");
      await fits(page);
      await read.scrollIntoViewIfNeeded();
      await shot("unfolded");
      await run.scrollIntoViewIfNeeded();
      await shot("output");
    },
  })),
  {
    name: "hostile changes and output have no effect",
    async run({ page }) {
      const elsewhere = [];
      page.on("dialog", (dialog) => (elsewhere.push(dialog.message()), dialog.dismiss()));
      page.on("request", (request) => request.url().startsWith(new URL(page.url()).origin) || elsewhere.push(request.url()));
      const diffs = ATTEMPTS.map((attempt) => ({ type: "diff", path: attempt, oldText: `a ${attempt}`, newText: attempt }));
      const patches = ATTEMPTS.map((attempt) => ({ type: "diff", changes: [{ path: attempt }], patch: { text: `+++ ${attempt}\n@@ -1 +1,9 @@\n-${attempt}\n+x${attempt}\n` } }));
      const outputs = ATTEMPTS.map((attempt) => call(attempt, { title: attempt, kind: "execute", result: `\x1b[31m${attempt}\x1b[0m${attempt}` }));
      await restore(page, asked(call("d", { title: "diffs", kind: "edit", content: diffs }), call("p", { title: "patches", kind: "edit", content: patches }), ...outputs));
      const earlier = turn(page, 1).getByRole("button", { name: /^Show earlier steps/ });
      await turn(page, 1).locator("article.tool").last().waitFor();
      while ((await earlier.count()) > 0) await earlier.click();
      await turn(page, 1).locator(".terminal .ansi-fg-1").nth(ATTEMPTS.length - 1).waitFor({ state: "attached" });
      await turn(page, 1).locator(".diff table").nth(2 * ATTEMPTS.length - 1).waitFor({ state: "attached" });
      assert.deepEqual(elsewhere, [], "no dialog, and nothing from elsewhere");
      const unwanted = ".diff :is(script, iframe, object, embed, form, svg, img, style, a, [onerror], [style], [id])";
      assert.equal(await turn(page, 1).locator(`${unwanted}, ${unwanted.replace(".diff", ".terminal")}`).count(), 0);
    },
  },
];
