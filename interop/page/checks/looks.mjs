// Narrow screens, dark mode, reduced motion.
import assert from "node:assert/strict";
import { answerAll, noViolations, permission, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  ...["light", "dark"].map((scheme) => ({
    name: `360 pixels wide, ${scheme}`,
    context: { colorScheme: scheme, viewport: { width: 360, height: 720 }, reducedMotion: "reduce" },
    async run({ page, shot }) {
      const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
      const bright = background.reduce((sum, part) => sum + part, 0) / 3;
      assert.ok(scheme === "dark" ? bright < 60 : bright > 200, `the background of ${scheme} is ${background}`);
      await shot("welcome");
      await send(page, "tour");
      await permission(page).waitFor();
      await shot("permission");
      await answerAll(page, /^allow/i);
      await shot("end");
      for (const name of ["html", "#conversation", ".turn"]) {
        const over = await page.locator(name).first().evaluate((element) => element.scrollWidth - element.clientWidth);
        assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
      }
      assert.ok(await page.getByRole("meter", { name: "Context used" }).isVisible(), "the usage");
      const picker = page.getByRole("combobox", { name: "Agent" });
      assert.ok((await picker.boundingBox()).width > 120, "the name of the agent has room beside the usage");
      const share = await page.locator(".dock").evaluate((dock) => dock.getBoundingClientRect().height / innerHeight);
      assert.ok(share < 0.2, `the dock takes ${share} of the screen`);
      await noViolations(page, `360 pixels, ${scheme}`);
      await page.getByRole("region", { name: "Conversation" }).evaluate((box) => (box.scrollTop = 0));
      await shot("top");
      await send(page, "slow");
      await turn(page, 2).locator(".pulse").first().waitFor();
      assert.equal(await page.evaluate(() => document.getAnimations().length), 0, "no animations with reduced motion");
      await page.keyboard.press("Escape");
      await turnEnd(page, 2).waitFor();
    },
  })),
  {
    name: "dark mode on a wide screen",
    context: { colorScheme: "dark" },
    async run({ page, shot }) {
      await shot("welcome");
      await noViolations(page, "the start page");
      await send(page, "tour");
      await permission(page).waitFor();
      await shot("permission");
      await answerAll(page, /^allow/i);
      await shot("end");
    },
  },
];
