// The first screen.
import assert from "node:assert/strict";
import { noViolations, prompt, send, turnEnd } from "./page.mjs";

const screen = (page) => page.locator("#first-screen");
const agents = (page) => page.getByRole("list", { name: "Choose an agent" }).getByRole("button");
const examples = (page) => page.getByRole("list", { name: "Examples" }).getByRole("button");

export const checks = [
  ...[
    { scheme: "light", width: 390 },
    { scheme: "dark", width: 1280 },
  ].map(({ scheme, width }) => ({
    name: `the first screen shows the agent, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 }, reducedMotion: "reduce" },
    async run({ page, shot }) {
      const name = screen(page).locator(".about-name");
      await name.waitFor();
      assert.match(await name.innerText(), /^Demo agent\s+version \d/);
      const facts = await screen(page).locator(".about-facts").innerText();
      assert.match(facts, /Directory\s+\S*page-cwd-/);
      assert.match(facts, /Reads attached images and files/);
      assert.match(facts, /Continues earlier conversations/);
      assert.deepEqual(await agents(page).allInnerTexts().then((all) => all.map((text) => text.replace(/\s+/g, " "))), ["demo Ready", "hybrid Ready"]);
      await shot("demo");
      await noViolations(page, "the first screen");

      await examples(page).filter({ hasText: "edit" }).press("Enter");
      assert.equal(await prompt(page).inputValue(), "edit", "a suggestion fills the message box");
      assert.ok(await prompt(page).evaluate((area) => area === document.activeElement));
      assert.equal(await page.locator(".turn").count(), 0, "a suggestion is not sent");

      await agents(page).filter({ hasText: "hybrid" }).press("Enter");
      await page.getByText("Calls tools: ").waitFor();
      assert.equal(await page.getByRole("combobox", { name: "Agent" }).inputValue(), "hybrid");
      assert.equal(await agents(page).filter({ hasText: "hybrid" }).getAttribute("aria-pressed"), "true");
      await shot("hybrid");
      await noViolations(page, "the first screen of another agent");
      for (const name of ["html", "#conversation", ".top", ".dock"]) {
        const over = await page.locator(name).first().evaluate((element) => element.scrollWidth - element.clientWidth);
        assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
      }
    },
  })),
  {
    name: "the first screen suggests the agent's commands, and shows its last settings",
    variables: { GATEWAY_DEFAULT_AGENT: "agent", GATEWAY_AGENT: `${process.env.GATEWAY_BIN} demo-agent` },
    async run({ page, shot }) {
      await examples(page).filter({ hasText: "Explain this project" }).waitFor();
      assert.equal(await agents(page).count(), 0, "there is no choice");
      await send(page, "hello");
      await turnEnd(page).waitFor();
      await page.getByRole("combobox", { name: "Mode" }).waitFor();
      await page.getByRole("button", { name: "New chat" }).click();
      await screen(page).getByText("Ask in the last conversation").waitFor();
      await examples(page).filter({ hasText: "/plan" }).click();
      assert.equal(await prompt(page).inputValue(), "/plan ");
      await shot("commands");
      await page.reload();
      await screen(page).getByText("Ask in the last conversation").waitFor();
    },
  },
  {
    name: "the first screen explains an agent that cannot be reached",
    variables: { GATEWAY_DEFAULT_AGENT: "agent", GATEWAY_AGENT: "/bin/false" },
    expectNetworkErrors: true,
    async run({ page, shot }) {
      const notice = screen(page).locator(".notice");
      await notice.waitFor();
      await shot("unreachable");
      assert.match(await notice.innerText(), /^The agent cannot be reached\n+[A-Z].*exit status: 1\)\.\n+Check that the agent is installed/);
      await noViolations(page, "an agent that cannot be reached");
      const again = page.waitForResponse((response) => response.url().endsWith("/capabilities"));
      await notice.getByRole("button", { name: "Try again" }).click();
      assert.equal((await again).status(), 503);
    },
  },
];
