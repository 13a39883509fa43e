// The timeline of the last turn.
import assert from "node:assert/strict";
import { answer, noViolations, permission, send, turnEnd } from "./page.mjs";

const panel = (page) => page.locator("#timeline");
const fold = (page) => page.getByText("Details", { exact: true });
const step = (page, name) => page.getByRole("row", { name });

/** Returns the states of the steps, by name. */
async function states(page) {
  const rows = await panel(page).locator("tbody tr").all();
  const shown = await Promise.all(rows.map(async (row) => [await row.getByRole("rowheader").innerText(), await row.locator("td").nth(2).innerText()]));
  return Object.fromEntries(shown);
}

export const checks = [
  ...[
    { scheme: "light", width: 1100 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `the timeline of a turn, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      const asked = [];
      page.on("request", (request) => request.url().endsWith("/spans") && asked.push(request.url()));
      assert.ok(await panel(page).isHidden(), "no timeline before the first turn");
      assert.ok(await page.locator("#debug").isHidden(), "no counters before the details are unfolded");
      await send(page, "edit");
      await permission(page).waitFor();
      assert.deepEqual(asked, [], "spans are not requested while the timeline is folded");

      await fold(page).focus();
      await page.keyboard.press("Enter");
      await step(page, /^session\/request_permission .* running$/).waitFor();
      const bar = step(page, /^session\/request_permission/).locator(".timeline-bar");
      const before = (await bar.boundingBox()).width;
      await page.waitForFunction((width) => [...document.querySelectorAll("#timeline tr")].at(-1).querySelector(".timeline-bar").getBoundingClientRect().width > width + 1, before);
      await shot("asked");
      await noViolations(page, "the timeline of a running turn");

      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      await step(page, /^session\/request_permission .* done$/).waitFor();
      await page.waitForFunction(() => !document.querySelector("#timeline").innerText.includes("running"));
      const shown = await states(page);
      const names = Object.keys(shown);
      assert.deepEqual(Object.values(shown), names.map(() => "done"));
      const tree = ["Request", "run demo", "invoke_agent", "execute_tool", "session/request_permission"];
      for (const name of tree) assert.ok(names.some((it) => it.startsWith(name)), `${name} in ${names}`);
      assert.equal(names.filter((name) => name === "run demo").length, 1, "spans with one name are one entry");
      assert.equal(await panel(page).locator("tbody tr").count(), names.length + 2, "the run that asked, and the run that resumed");
      await panel(page).scrollIntoViewIfNeeded();
      await shot("done");
      await noViolations(page, "the timeline of a turn");
      for (const name of ["html", "#timeline"]) {
        const over = await page.locator(name).evaluate((element) => element.scrollWidth - element.clientWidth);
        assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
      }
      await page.reload();
      await fold(page).click();
      await step(page, /^session\/request_permission .* done$/).waitFor();
      assert.deepEqual(await states(page), shown, "the states are the same after a reload");

      await send(page, "error");
      await turnEnd(page, 2).waitFor();
      await step(page, /^invoke_agent.* failed$/).waitFor();
      assert.equal(await step(page, /^session\/request_permission/).count(), 0, "only the last turn is shown");
      await shot("failed");
      await page.getByRole("button", { name: "New chat" }).click();
      assert.ok(await panel(page).isHidden());
    },
  })),
  {
    name: "a gateway without a timeline",
    variables: { GATEWAY_TELEMETRY_TIMELINE: "false" },
    expectNetworkErrors: true,
    async run({ page }) {
      await send(page, "hello");
      await turnEnd(page).waitFor();
      await fold(page).click();
      await page.getByText("The gateway has no timeline of this turn.").waitFor();
    },
  },
];
