// Keyboard and screen reader.
import assert from "node:assert/strict";
import { answer, permission, prompt, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "keyboard operation without a mouse",
    async run({ page }) {
      await page.keyboard.type("slow");
      await page.keyboard.press("Shift+Enter");
      await page.keyboard.type("and on");
      assert.equal(await prompt(page).inputValue(), "slow\nand on");
      await page.keyboard.press("Enter");
      await turn(page, 1).locator(".agent-text").first().waitFor();
      await page.keyboard.press("Escape");
      await turnEnd(page, 1).waitFor();
      assert.match(await turnEnd(page, 1).innerText(), /^Stopped/);

      await page.keyboard.type("edit");
      await page.keyboard.press("Enter");
      await permission(page).waitFor();
      await page.keyboard.press("Enter");
      assert.equal(await permission(page).count(), 1, "Enter without a focused button does not answer");
      await page.keyboard.press("Tab");
      assert.match(await page.evaluate(() => document.activeElement.textContent), /^allow/i);
      await page.keyboard.press("Enter");
      await turnEnd(page, 2).waitFor();
      assert.match(await turnEnd(page, 2).innerText(), /^Done/);
      assert.ok(await prompt(page).evaluate((area) => area === document.activeElement), "the focus is back in the message box");

      await page.keyboard.press("Shift+Tab");
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.equal(outline, "solid", "the focus is visible");
    },
  },
  {
    name: "a screen reader receives whole sentences",
    async run({ page }) {
      await send(page, "hello");
      await turnEnd(page).waitFor();
      const heard = await page.locator("[aria-live=polite] p").allInnerTexts();
      assert.equal(heard.at(-1), "The answer is complete.");
      for (const sentence of heard) assert.match(sentence, /[.!?:]$/);
      const said = await turn(page, 1).locator(".agent-text").innerText();
      const letters = (text) => text.replaceAll(/\P{L}/gu, "");
      assert.ok(letters(heard.join("")).startsWith(letters(said)), `${heard} for ${said}`);
      for (const landmark of ["banner", "main"]) assert.equal(await page.getByRole(landmark).count(), 1, landmark);
    },
  },
  {
    name: "a screen reader receives thoughts, tools and questions",
    async run({ page }) {
      await page.evaluate(() => {
        globalThis.heard = [];
        const hear = (changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach(({ textContent }) => globalThis.heard.push(textContent)));
        new MutationObserver(hear).observe(document.querySelector("#announcer"), { childList: true, subtree: true });
      });
      await send(page, "tour");
      await permission(page).waitFor();
      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      await send(page, "form");
      await turn(page, 2).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page, 2).waitFor();
      const heard = await page.evaluate(() => globalThis.heard.join("\n"));
      for (const sentence of ["The agent is thinking.", /The agent asks for permission: .*greeting\.txt/, /Edit greeting\.txt: done\./, "The agent asks: Which seat would you like?", "The answer is complete."]) {
        assert.match(heard, sentence instanceof RegExp ? sentence : new RegExp(sentence.replaceAll(/[.?]/g, "\\$&")));
      }
      const names = await page.getByRole("article").evaluateAll((articles) => articles.map((article) => article.getAttribute("aria-label") ?? article.textContent));
      assert.ok(names.every((name) => name !== ""), "each card has a name");
    },
  },
];
