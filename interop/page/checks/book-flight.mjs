// A tool that asks while it runs.
import assert from "node:assert/strict";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "a flight is booked: list, seat map, confirmation; declined, ended",
    async run({ page, shot }) {
      await page.getByRole("combobox", { name: "Agent" }).selectOption("hybrid");
      await page.getByRole("button", { name: /^book/ }).click();
      const flights = turn(page, 1).getByRole("group", { name: /^Question: Which flight from Oslo to Lisbon/ });
      await flights.waitFor();
      await shot("flights");
      await noViolations(page, "the flights");
      assert.equal(await flights.getByRole("radio").count(), 3);
      await page.getByText("1 tool goes on").waitFor();
      await page.reload();
      await flights.getByText("Cloud Air").click();
      await flights.getByRole("button", { name: "Take this flight" }).click();

      const seats = turn(page, 1).getByRole("group", { name: /^Question: Which seat on CA-/ });
      await seats.waitFor();
      await shot("seats");
      await noViolations(page, "the seats");
      assert.ok((await seats.getByRole("radio", { name: /taken/ }).count()) > 0);
      assert.ok(await seats.getByRole("radio", { name: /taken/ }).first().isDisabled());
      const free = seats.getByRole("radio").and(page.locator(":enabled")).first();
      const seat = await free.getAttribute("value");
      await free.focus();
      await page.keyboard.press("Space");
      await page.keyboard.press("Enter");
      await turnEnd(page).waitFor();
      await shot("booked");
      const booked = await turn(page, 1).getByRole("group", { name: "Booking" }).innerText();
      for (const part of ["Booked", "TKT-", "Cloud Air", seat, "Take the train"]) assert.ok(booked.includes(part), `${part} in ${booked}`);
      assert.ok(await page.locator("#sessions").isHidden(), "nothing goes on");
      await noViolations(page, "the booking");

      await send(page, "book");
      await turn(page, 2).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /No flight was booked: you declined/);

      await send(page, "book");
      await turn(page, 3).getByRole("radio").first().waitFor();
      await page.getByText("1 tool goes on").click();
      await page.getByRole("button", { name: "End book_flight" }).click();
      await turnEnd(page, 3).waitFor();
      assert.match(await turn(page, 3).innerText(), /the session was aborted/);

      await send(page, "book");
      await turn(page, 4).getByRole("radio").first().waitFor();
      await send(page, "time");
      await turnEnd(page, 5).waitFor();
      assert.match(await turn(page, 4).innerText(), /Not answered/);
      assert.match(await page.locator("#debug").innerText(), / 0 ignored$/);
    },
  },
];
