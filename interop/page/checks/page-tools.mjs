// Tools of the page.
import assert from "node:assert/strict";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "tools of the gateway and of the page, with a model",
    async run({ page, shot }) {
      const picker = page.getByRole("combobox", { name: "Agent" });
      await picker.selectOption("hybrid");
      await page.getByRole("button", { name: /^time/ }).click();
      await page.keyboard.press("Enter");
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).locator(".agent-text").last().innerText(), /It is \S+Z\.$/);
      await shot("time");

      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await background();
      await send(page, "dark");
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /The page says: The page is dark now\./);
      assert.notEqual(await background(), light);
      await shot("dark");
      await send(page, "light");
      await turnEnd(page, 3).waitFor();
      assert.equal(await background(), light);

      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/chat") && inputs.push(request.postDataJSON()));
      await send(page, "pick");
      const question = turn(page, 4).getByRole("group", { name: "Question: Which colour shall it be?" });
      await question.waitFor();
      assert.ok(await question.evaluate((group) => group === document.activeElement), "the question has the focus");
      await shot("pick");
      await noViolations(page, "a tool that asks");
      await page.reload();
      await question.getByRole("button", { name: "green" }).click();
      await turnEnd(page, 4).waitFor();
      assert.match(await turn(page, 4).innerText(), /You have picked green\./);
      assert.deepEqual(inputs[0].tools.map((tool) => tool.name), ["set_theme", "set_title", "choose"]);
      assert.equal(inputs.at(-1).messages.at(-1).content, "green");

      await send(page, "both");
      await turn(page, 5).getByRole("button", { name: "yes" }).waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await turnEnd(page, 5).waitFor();
      assert.match(await turnEnd(page, 5).innerText(), /^Stopped/);
      await send(page, "pick");
      await turn(page, 6).getByRole("button", { name: "red" }).waitFor();
      await send(page, "time");
      await turnEnd(page, 7).waitFor();
      assert.match(await turn(page, 6).innerText(), /Not answered/);
      assert.match(await turn(page, 7).innerText(), /It is \S+Z/);
      assert.match(await page.locator("#debug").textContent(), / 0 ignored$/);
    },
  },
  {
    name: "tools of the page, called by an ACP agent in each of three ways",
    async run({ page, shot }) {
      const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const light = await background();
      await send(page, "dark");
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /Your page says: The page is dark now\./);
      assert.notEqual(await background(), light);

      await send(page, "title");
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /The page was told/);
      assert.equal(await page.locator("#title").innerText(), "A conversation with a name");

      await send(page, "ask");
      const question = turn(page, 3).getByRole("group", { name: "Question: Tea or coffee?" });
      await question.waitFor();
      await shot("asked");
      await question.getByRole("button", { name: "coffee" }).click();
      await turnEnd(page, 3).waitFor();
      await shot("answered");
      assert.match(await turn(page, 3).innerText(), /Your page says: coffee\./);
      assert.equal(await turn(page, 3).locator("article.tool").count(), 1, "the call is shown once");
      assert.match(await turn(page, 3).locator("article.tool").innerText(), /choose[\s\S]*frontend[\s\S]*Done/);

      await send(page, "ask");
      await turn(page, 4).getByRole("button", { name: "tea" }).waitFor();
      await send(page, "hello");
      await turnEnd(page, 5).waitFor();
      assert.match(await turn(page, 4).innerText(), /Not answered/);
      assert.match(await turn(page, 5).innerText(), /Hello! I am a scripted agent/);
      assert.match(await page.locator("#debug").textContent(), / 0 ignored$/);
    },
  },
];
