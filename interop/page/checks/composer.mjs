// The message box: files, commands, earlier prompts, drafts, the next message.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { CHAT, noViolations, prompt, send, turn, turnEnd } from "./page.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "page-composer-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const config = path.join(folder, "gateway.toml");
mkdirSync(path.join(folder, "root", "src"), { recursive: true });
for (const name of ["src/greeting.txt", "src/a greeting.md", "greeting.log"]) writeFileSync(path.join(folder, "root", name), "Hello");
writeFileSync(path.join(folder, "root", ".gitignore"), "*.log\n");
writeFileSync(config, `[agents.demo]\nroot = "${path.join(folder, "root")}"\n`);

const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");
const IMAGE = { name: "dot.png", mimeType: "image/png", buffer: PIXEL };
const picker = (page) => page.locator("#files");
const attached = (page) => page.getByRole("list", { name: "Attached files" }).first().getByRole("listitem");
const list = (page) => page.getByRole("listbox");
const selected = (page) => list(page).getByRole("option", { selected: true });
const note = (page) => page.locator("#composer-note");

/** Puts files on the page by an event of the browser. */
const give = (page, kind) =>
  page.evaluate(
    ([type, base64]) => {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], `${type}.png`, { type: "image/png" }));
      const init = { bubbles: true, cancelable: true };
      const event = type === "paste" ? new ClipboardEvent(type, { ...init, clipboardData: data }) : new DragEvent(type, { ...init, dataTransfer: data });
      document.getElementById("prompt").dispatchEvent(event);
    },
    [kind, PIXEL.toString("base64")],
  );

const files = {
  name: "files by button, paste and drop are parts of the message",
  async run({ page, shot }) {
    const asked = [];
    await page.route(CHAT, (route) => {
      asked.push(route.request().postDataJSON());
      return route.continue();
    });
    await picker(page).setInputFiles([IMAGE, { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Some notes") }]);
    await give(page, "paste");
    await give(page, "drop");
    await attached(page).nth(3).waitFor();
    await shot("attached");
    await noViolations(page, "attached files");
    await page.getByRole("button", { name: "Remove drop.png" }).click();
    assert.equal(await attached(page).count(), 3);
    await send(page, "hello with files");
    await turnEnd(page).getByText(/^Done/).or(turnEnd(page)).first().waitFor();
    const { content } = asked[0].messages.at(-1);
    assert.deepEqual(content[0], { type: "text", text: "hello with files" });
    assert.deepEqual(content.slice(1).map(({ type, source, metadata }) => [type, source.type, source.mimeType, metadata.filename]), [
      ["image", "data", "image/png", "dot.png"],
      ["document", "data", "text/plain", "notes.txt"],
      ["image", "data", "image/png", "paste.png"],
    ]);
    assert.equal(content[1].source.value, PIXEL.toString("base64"));
    assert.equal(Buffer.from(content[2].source.value, "base64").toString(), "Some notes");
    assert.equal(await turn(page, 1).getByRole("img", { name: "dot.png" }).count(), 1);
    assert.equal(await turn(page, 1).getByText("notes.txt").count(), 1);
    assert.equal(await page.locator("#attachments li").count(), 0, "the files are sent once");
    await shot("sent");
    await noViolations(page, "a message with files");
  },
};

const refused = {
  name: "a file that the agent or the gateway does not accept is named with the reason",
  async run({ page }) {
    await picker(page).setInputFiles([{ name: "song.mp3", mimeType: "audio/mpeg", buffer: Buffer.from("la la") }]);
    await note(page).getByText("song.mp3 was not attached: this agent does not accept audio.").waitFor();
    await picker(page).setInputFiles([{ name: "large.bin", mimeType: "", buffer: Buffer.alloc(3 * 1024 * 1024, 1) }]);
    await note(page).getByText("large.bin was not attached: the files of a message have up to 2.5 MB, with this one 3.0 MB.").waitFor();
    assert.equal(await attached(page).count(), 0);
    assert.equal(await page.getByRole("button", { name: "Send" }).isDisabled(), true);
    // Three messages with files of 1.5 MB are more than a request.
    const large = { name: "photo.png", mimeType: "image/png", buffer: Buffer.alloc(1.5 * 1024 * 1024, 1) };
    for (const number of [1, 2]) {
      await picker(page).setInputFiles([large]);
      await attached(page).first().waitFor();
      await send(page, `hello ${number}`);
      if (number === 1) await turnEnd(page, 1).waitFor();
    }
    await picker(page).setInputFiles([large]);
    await send(page, "hello again");
    await note(page).getByText(/too large together/).waitFor();
    assert.equal(await prompt(page).inputValue(), "hello again", "the message stays in the box");
  },
};

const commands = {
  name: "a slash suggests the commands of the agent",
  async run({ page, shot }) {
    await send(page, "hello");
    await turnEnd(page).waitFor();
    await prompt(page).pressSequentially("/f");
    await list(page).waitFor();
    assert.deepEqual(await list(page).getByRole("option").locator(".suggestion-name").allTextContents(), ["/format", "/form", "/refuse"]);
    assert.match(await selected(page).textContent(), /answers with Markdown/);
    assert.equal(await prompt(page).getAttribute("aria-activedescendant"), await selected(page).getAttribute("id"));
    await shot("commands");
    await noViolations(page, "suggested commands");
    await page.keyboard.press("ArrowDown");
    assert.match(await selected(page).textContent(), /^\/form asks/);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.match(await selected(page).textContent(), /^\/refuse/);
    await page.keyboard.press("Escape");
    await list(page).waitFor({ state: "hidden" });
    assert.equal(await prompt(page).inputValue(), "/f");
    await prompt(page).pressSequentially("orm");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await prompt(page).inputValue(), "/format ");
    await page.keyboard.press("Enter");
    await turn(page, 2).getByRole("table").first().waitFor();
    // Known commands are suggested in the next conversation.
    await turnEnd(page, 2).waitFor();
    await page.getByRole("button", { name: "New chat" }).click();
    await prompt(page).fill("/tou");
    await selected(page).getByText("/tour").waitFor();
    await selected(page).click();
    assert.equal(await prompt(page).inputValue(), "/tour ");
    await prompt(page).fill("/summ");
    await selected(page).getByText("Skill: summarizes what you say after it").waitFor();
    await selected(page).click();
    await prompt(page).pressSequentially("one two three");
    await page.keyboard.press("Enter");
    await turn(page, 1).getByText("these words, 3 in number").waitFor();
    assert.equal(await turn(page, 1).getByText("/summarize one two three").count(), 1, "the agent's repetition is not shown");
  },
};

const mentions = {
  name: "an at sign suggests files below the root of the agent",
  variables: { GATEWAY_CONFIG: config },
  async run({ page, shot }) {
    await prompt(page).pressSequentially("read @GREE");
    await list(page).waitFor();
    assert.deepEqual(await list(page).getByRole("option").allTextContents(), ["src/greeting.txt ", "src/a greeting.md "]);
    await shot("files");
    await noViolations(page, "suggested files");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    assert.equal(await prompt(page).inputValue(), "read @src/a\\ greeting.md ");
  },
};

const recall = {
  name: "arrow keys recall prompts, and drafts stay with their conversation",
  async run({ page }) {
    await send(page, "hello");
    await turnEnd(page, 1).waitFor();
    await send(page, "usage");
    await turnEnd(page, 2).waitFor();
    await prompt(page).fill("not sent");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowUp");
    assert.equal(await prompt(page).inputValue(), "usage");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    assert.equal(await prompt(page).inputValue(), "hello");
    for (const text of ["usage", "not sent"]) {
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowDown");
      assert.equal(await prompt(page).inputValue(), text);
    }
    await page.reload();
    await turnEnd(page, 2).or(turn(page, 2)).first().waitFor();
    assert.equal(await prompt(page).inputValue(), "not sent");
    await page.getByRole("button", { name: "New chat" }).click();
    assert.equal(await prompt(page).inputValue(), "");
  },
};

const next = {
  name: "a message that is written during a run follows it",
  context: { reducedMotion: "reduce" },
  async run({ page, shot }) {
    await send(page, "slow");
    await turn(page, 1).getByText("Working").waitFor();
    await send(page, "hello");
    const waiting = page.getByRole("group", { name: "Next message" });
    await waiting.getByText("hello").waitFor();
    await shot("queued");
    await noViolations(page, "a message that waits");
    await turnEnd(page, 2).waitFor();
    await waiting.waitFor({ state: "hidden" });
    // After a stop, the message returns to the box.
    await send(page, "slow");
    await turn(page, 3).getByText("Working").waitFor();
    await send(page, "usage");
    await page.getByRole("button", { name: "Stop" }).click();
    await turnEnd(page, 3).getByText(/^Stopped/).waitFor();
    assert.equal(await prompt(page).inputValue(), "usage");
    assert.equal(await waiting.isVisible(), false);
    await note(page).getByText("Your next message was not sent.").waitFor();
  },
};

export const checks = [files, refused, commands, mentions, recall, next];
