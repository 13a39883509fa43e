// Actions on turns: copy, regenerate, edit.
import assert from "node:assert/strict";
import { CHAT, noViolations, prompt, send, turn, turnEnd } from "./page.mjs";

const action = (page, number, name) => turn(page, number).getByRole("group", { name: "Actions" }).getByRole("button", { name });

const actions = {
  name: "an answer is copied, asked for again, and its message edited",
  context: { permissions: ["clipboard-read", "clipboard-write"] },
  async run({ page, shot }) {
    const inputs = [];
    await page.route(CHAT, (route) => {
      inputs.push(route.request().postDataJSON());
      return route.continue();
    });
    await send(page, "hello");
    await turnEnd(page, 1).waitFor();
    await send(page, "edit");
    await page.getByRole("button", { name: "Allow", exact: true }).waitFor();
    assert.equal(await action(page, 2, "Regenerate").count(), 0, "not while the agent waits");
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await turnEnd(page, 2).waitFor();
    await shot("actions");
    await noViolations(page, "turns with actions");

    await action(page, 1, "Copy").click();
    await action(page, 1, "Copied").waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "Hello! I am a scripted agent, and there is no model behind me.");

    // The answer and the cards of the turn are replaced.
    const before = inputs.length;
    await action(page, 2, "Regenerate").click();
    await page.getByRole("button", { name: "Allow", exact: true }).click();
    await turnEnd(page, 2).waitFor();
    assert.equal(await page.locator("article.tool").count(), 1);
    assert.deepEqual(inputs[before].messages.map(({ role }) => role), ["user", "assistant", "user"]);
    assert.equal(inputs[before].messages[2].content, "edit");
    assert.equal(inputs[before].messages[2].id, inputs[1].messages[2].id, "the message in its place");

    await prompt(page).fill("and more");
    await action(page, 1, "Edit message").click();
    assert.equal(await page.getByRole("region", { name: /^Turn/ }).count(), 0);
    assert.equal(await prompt(page).inputValue(), "hello\n\nand more");
    assert.ok(await prompt(page).evaluate((area) => area === document.activeElement), "the message box has the focus");
    await page.keyboard.press("Enter");
    await turnEnd(page, 1).waitFor();
    assert.deepEqual(inputs.at(-1).messages.map(({ content }) => content), ["hello\n\nand more"]);
    assert.equal(inputs.at(-1).messages[0].id, inputs[0].messages[0].id, "the message in its place");
    // Turns of an earlier page have the actions too.
    await page.reload();
    await action(page, 1, "Regenerate").waitFor();

    // A message that is being edited keeps its place over a reload.
    await action(page, 1, "Edit message").click();
    await page.reload();
    assert.equal(await prompt(page).inputValue(), "hello\n\nand more");
    await send(page, "hello again");
    await turnEnd(page, 1).waitFor();
    const [edited, ...others] = inputs.at(-1).messages;
    assert.deepEqual([edited.id, edited.content, others], [inputs[0].messages[0].id, "hello again", []]);
  },
};

const branch = {
  name: "a conversation is branched at a turn",
  async run({ page, shot }) {
    const inputs = [];
    page.on("request", (request) => request.url().endsWith("/chat") && inputs.push(request.postDataJSON()));
    for (const [at, text] of ["hello", "think"].entries()) {
      await send(page, text);
      await turnEnd(page, at + 1).waitFor();
    }
    await action(page, 1, "Branch").click();
    await turn(page, 2).waitFor({ state: "detached" });
    assert.equal(await page.getByRole("region", { name: /^Turn/ }).count(), 1);
    assert.ok(await prompt(page).evaluate((area) => area === document.activeElement), "the message box has the focus");
    // A branch of a branch that was not sent.
    await action(page, 1, "Branch").click();
    await turn(page, 1).waitFor();
    await shot("branch");
    await noViolations(page, "a branch");
    await page.reload();
    await action(page, 1, "Branch").waitFor();
    await send(page, "recall");
    await turnEnd(page, 2).waitFor();
    const [first, , last] = inputs;
    assert.notEqual(last.threadId, first.threadId);
    assert.deepEqual(last.messages.filter(({ role }) => role === "user").map(({ content }) => content), ["hello", "recall"]);
    assert.equal(last.messages.length, 3);
    // The agent has the first turn in a fork of its session, and not as text.
    await turn(page, 2).getByText("You have said:").waitFor();
    assert.deepEqual(await turn(page, 2).getByRole("listitem").allInnerTexts(), ["hello"]);
    await page.goBack();
    await turn(page, 2).getByText("I have thought about it: yes.").waitFor();
  },
};

const refused = {
  name: "a conversation with a refused message is left, and branched",
  expectNetworkErrors: true,
  async run({ page }) {
    const turns = page.getByRole("region", { name: /^Turn/ });
    const runs = /\/chat$/;
    const refuse = (route) => route.fulfill({ status: 413, json: { error: "too large" } });
    await page.route(runs, refuse);
    await send(page, "hello");
    await turnEnd(page, 1).waitFor();
    await page.getByRole("button", { name: "New chat" }).click();
    await page.locator("#welcome").waitFor();
    assert.equal(await turns.count(), 0);
    await page.unroute(runs, refuse);
    await send(page, "hello");
    await turnEnd(page, 1).waitFor();
    await page.route(runs, refuse);
    await send(page, "think");
    await turnEnd(page, 2).waitFor();
    await action(page, 2, "Branch").click();
    await turn(page, 2).waitFor({ state: "detached" });
    assert.equal(await turns.count(), 1);
    await page.unroute(runs, refuse);
    await send(page, "think");
    await turn(page, 2).getByText("I have thought about it: yes.").waitFor();
  },
};

export const checks = [actions, branch, refused];
