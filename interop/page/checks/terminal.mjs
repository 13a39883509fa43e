// A command that the gateway runs for an agent, in the agent's tool card.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "page-terminal-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

const root = path.join(folder, "root");
const config = path.join(folder, "gateway.toml");
const agent = fileURLToPath(new URL("../agents/runs-command.mjs", import.meta.url));
mkdirSync(root);
writeFileSync(config, `[agents.shell]\ncommand = "node '${agent}'"\nroot = "${root}"\nterminal = true\n`);

export const checks = [
  {
    name: "the output of a running command, and its exit status",
    variables: { GATEWAY_CONFIG: config },
    context: { colorScheme: "dark", viewport: { width: 390, height: 844 } },
    async run({ page, shot }) {
      await send(page, "count");
      const card = turn(page, 1).getByRole("article", { name: "Tool: Run sh" });
      const screen = card.getByRole("group", { name: "Terminal output" });
      // The shown output may be a kilobyte behind.
      await screen.getByText(/^1790$/m).waitFor();
      await screen.locator(".ansi-fg-2", { hasText: "waiting" }).waitFor();
      assert.equal(await card.getAttribute("data-status"), "in_progress", "the command is still running");
      assert.ok(!(await screen.innerText()).includes("exit status"), "the command has not ended");
      await shot("running");
      writeFileSync(path.join(root, "go"), "");
      await turnEnd(page).waitFor();
      assert.match(await screen.innerText(), /\nbehind\s+exit status 3$/);
      assert.equal(await screen.count(), 1, "the terminal is shown once");
      assert.equal(await card.getAttribute("data-status"), "failed");
      await shot("ended");
      await noViolations(page, "a command's output");

      await page.reload();
      await screen.getByText("exit status 3").waitFor();
      assert.match(await screen.innerText(), /\nbehind\s+exit status 3$/, "the output is shown after a reload");
    },
  },
];
