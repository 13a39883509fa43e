// A tool that asks while it runs, called by a model and by an ACP agent.
import assert from "node:assert/strict";
import { noViolations, prompt, send, turn, turnEnd } from "./page.mjs";

const flights = (page, number) => turn(page, number).getByRole("group", { name: /^Question: Which flight from Oslo to Lisbon/ });
const seats = (page, number) => turn(page, number).getByRole("group", { name: /^Question: Which seat on CA-/ });
const backgroundTool = (page) => page.getByText("1 background tool");
const ignoredNothing = async (page) => assert.match(await page.locator("#debug").textContent(), / 0 ignored$/);

/** Selects a flight and, by the keyboard only, a seat. Returns the seat. */
async function book(page, number, shot = async () => {}) {
  await flights(page, number).getByText("Cloud Air").click();
  await flights(page, number).getByRole("button", { name: "Select this flight" }).click();
  await seats(page, number).waitFor();
  await shot("seats");
  await noViolations(page, "the seats");
  const taken = seats(page, number).getByRole("radio", { name: /taken/ });
  assert.ok((await taken.count()) > 0);
  assert.ok(await taken.first().isDisabled());
  const free = seats(page, number).getByRole("radio").and(page.locator(":enabled")).first();
  const seat = await free.getAttribute("value");
  await free.focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await turnEnd(page, number).waitFor();
  await shot("booked");
  return seat;
}

/** Checks that the ticket of a turn contains these parts. */
async function expectTicket(page, number, parts) {
  const ticket = await turn(page, number).getByRole("group", { name: "Booking" }).innerText();
  for (const part of ["Booked", "TKT-", "Cloud Air", ...parts]) assert.ok(ticket.includes(part), `${part} in ${ticket}`);
}

export const checks = [
  {
    name: "a flight is booked for a model: list, seat map, confirmation; declined, ended",
    async run({ page, shot }) {
      await page.getByRole("combobox", { name: "Agent" }).selectOption("hybrid");
      await page.getByRole("button", { name: /^book/ }).click();
      await page.keyboard.press("Enter");
      await flights(page, 1).waitFor();
      await shot("flights");
      await noViolations(page, "the flights");
      assert.equal(await flights(page, 1).getByRole("radio").count(), 3);
      await backgroundTool(page).waitFor();
      await page.reload();
      const seat = await book(page, 1, shot);
      await expectTicket(page, 1, [seat, "Take the train"]);
      await page.locator("#sessions").waitFor({ state: "hidden" });
      await noViolations(page, "the booking");

      await send(page, "book");
      await turn(page, 2).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /No flight was booked: you declined/);

      await send(page, "book");
      await flights(page, 3).waitFor();
      await backgroundTool(page).click();
      await page.getByRole("button", { name: "End book_flight" }).click();
      await turnEnd(page, 3).waitFor();
      assert.match(await turn(page, 3).innerText(), /the session was aborted/);

      await send(page, "book");
      await flights(page, 4).waitFor();
      await send(page, "time");
      await turnEnd(page, 5).waitFor();
      assert.match(await turn(page, 4).innerText(), /Not answered/);
      await ignoredNothing(page);

      await send(page, "book");
      await flights(page, 6).waitFor();
      await backgroundTool(page).waitFor();
      const listed = page.waitForResponse((response) => response.url().endsWith("/api/tools/sessions"));
      await page.getByRole("button", { name: "New chat" }).click();
      assert.equal((await (await listed).json()).sessions.length, 1, "the call still waits");
      await prompt(page).fill("another");
      assert.ok(await page.locator("#sessions").isHidden(), "another conversation does not show the call");
    },
  },
  ...[
    { scheme: "light", width: 1100 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `a flight is booked for an ACP agent: list, seat map, confirmation, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      await page.getByRole("button", { name: /^book/ }).click();
      await page.keyboard.press("Enter");
      await flights(page, 1).waitFor();
      assert.ok(await flights(page, 1).evaluate((group) => group.contains(document.activeElement)), "the question has the focus");
      await shot("flights");
      await noViolations(page, "the flights");
      assert.equal(await turn(page, 1).locator("article.tool").count(), 1, "the call is shown once");
      await page.reload();
      const seat = await book(page, 1, shot);
      await expectTicket(page, 1, [seat]);
      assert.match(await turn(page, 1).innerText(), /The tool says: .*booked/);
      assert.equal(await turn(page, 2).count(), 0, "the answers belong to one turn");
      await page.locator("#sessions").waitFor({ state: "hidden" });
      for (const name of ["html", ".turn"]) {
        const over = await page.locator(name).first().evaluate((element) => element.scrollWidth - element.clientWidth);
        assert.ok(over <= 0, `${name} is ${over} pixels too wide`);
      }
      await noViolations(page, "the booking");
      await ignoredNothing(page);
    },
  })),
  {
    name: "a flight for an ACP agent is declined, postponed, ended, abandoned, stopped",
    async run({ page }) {
      for (const [number, button, said] of [[1, "Decline", /No flight was booked: you declined/], [2, "Not now", /No flight was booked\./]]) {
        await send(page, "book");
        await turn(page, number).getByRole("button", { name: button }).click();
        await turnEnd(page, number).waitFor();
        assert.match(await turn(page, number).innerText(), said);
      }

      await send(page, "book");
      await flights(page, 3).waitFor();
      await backgroundTool(page).click();
      await page.getByRole("button", { name: "End book_flight" }).click();
      await turnEnd(page, 3).waitFor();
      assert.match(await turn(page, 3).innerText(), /the user ended it/);

      await send(page, "book");
      await flights(page, 4).waitFor();
      await send(page, "hello");
      await turnEnd(page, 5).waitFor();
      assert.match(await turn(page, 4).innerText(), /Not answered/);
      assert.match(await turn(page, 5).innerText(), /I am a scripted agent/);

      await send(page, "book");
      await flights(page, 6).waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await turnEnd(page, 6).waitFor();
      assert.match(await turn(page, 6).innerText(), /No flight was booked\./, "stopping leaves the question without an answer");
      await page.locator("#sessions").waitFor({ state: "hidden" });
      await ignoredNothing(page);
    },
  },
  {
    name: "a flight is booked in a run that stays open",
    variables: { GATEWAY_PERMISSION: "ask-in-stream" },
    async run({ page }) {
      await send(page, "book");
      const seat = await book(page, 1);
      await expectTicket(page, 1, [seat]);
      await send(page, "book");
      await turn(page, 2).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /you declined/);
      await ignoredNothing(page);
    },
  },
];
