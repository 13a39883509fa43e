// Questions with forms.
import assert from "node:assert/strict";
import { noViolations, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "a form: filled in, wrong, declined, and left for something else",
    async run({ page, shot }) {
      const formOf = (number) => turn(page, number).getByRole("group", { name: "Question: Which seat would you like?" });
      const form = formOf(1);
      await send(page, "form");
      await form.waitFor();
      await shot("form");
      await noViolations(page, "the form");
      await form.getByRole("button", { name: "Send" }).click();
      assert.ok(await form.getByLabel("Name (required)").evaluate((input) => !input.validity.valid), "a name is required");
      await form.getByLabel("Name (required)").fill("Ada");
      await form.getByLabel("Seat (required)").selectOption("At the aisle");
      await form.getByLabel("Bags").fill("9");
      await form.getByRole("button", { name: "Send" }).click();
      assert.ok(await form.getByLabel("Bags").evaluate((input) => !input.validity.valid), "no more than three bags");
      await form.getByLabel("Bags").fill("2");
      await form.getByLabel("lunch").check();
      await form.getByLabel("With insurance").check();
      await form.getByRole("button", { name: "Send" }).click();
      await turnEnd(page).waitFor();
      await shot("booked");
      const said = 'Booked: bags 2, insured true, meals ["lunch"], name "Ada", seat "aisle".';
      assert.ok((await turn(page, 1).innerText()).includes(said), "all of it reached the agent");

      await send(page, "form");
      await formOf(2).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page, 2).waitFor();
      assert.match(await turn(page, 2).innerText(), /No seat, then/);

      await send(page, "form");
      await formOf(3).waitFor();
      await send(page, "hello");
      await turnEnd(page, 4).waitFor();
      assert.match(await turn(page, 3).innerText(), /Not answered/);
      assert.match(await turn(page, 4).innerText(), /Hello! I am a scripted agent/);
    },
  },
];
