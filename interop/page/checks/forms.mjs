// Questions with forms.
import assert from "node:assert/strict";
import { answerWith, noViolations, send, turn, turnEnd } from "./page.mjs";

/** Returns what is wrong with the fields of a form, as a screen reader receives it, by their names. */
const problems = (form) =>
  form.locator("[aria-describedby]").evaluateAll((fields) => {
    const nameOf = (field) => (field.querySelector("legend") ?? field.labels[0].querySelector("span")).textContent;
    return Object.fromEntries(fields.map((field) => [nameOf(field), document.getElementById(field.getAttribute("aria-describedby")).innerText]));
  });

export const checks = [
  {
    name: "a form is filled in, invalid, declined, and abandoned for another message",
    async run({ page, shot }) {
      const formOf = (number) => turn(page, number).getByRole("group", { name: "Question: Which seat would you like?" });
      const form = formOf(1);
      await send(page, "form");
      await form.waitFor();
      await shot("form");
      await noViolations(page, "the form");
      await form.getByRole("button", { name: "Send" }).click();
      assert.deepEqual(await problems(form), { "Name (required)": "Fill in this field." });
      assert.match(await form.innerText(), /Not sent: a field needs another value\./);
      assert.ok(await form.getByLabel("Name (required)").evaluate((input) => input === document.activeElement), "the invalid field has the focus");
      await shot("invalid");
      await noViolations(page, "an invalid form");
      await form.getByLabel("Name (required)").fill("Ada");
      await form.getByLabel("Seat (required)").selectOption("At the aisle");
      await form.getByLabel("Bags").fill("9");
      await form.getByRole("button", { name: "Send" }).click();
      assert.deepEqual(await problems(form), { Bags: "Write a number, 0 to 3." });
      await form.getByLabel("Bags").fill("2");
      assert.deepEqual(await problems(form), {}, "a corrected field says nothing");
      await form.getByLabel("lunch").check();
      await form.getByLabel("With insurance").check();
      await form.getByRole("button", { name: "Send" }).click();
      await turnEnd(page).waitFor();
      await shot("booked");
      const said = 'Booked: bags 2, insured true, meals ["lunch"], name "Ada", seat "aisle".';
      assert.ok((await turn(page, 1).innerText()).includes(said), "each value reached the agent");

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
  ...[
    { scheme: "light", width: 1280 },
    { scheme: "dark", width: 390 },
  ].map(({ scheme, width }) => ({
    name: `a form of each kind of field, by its schema, ${scheme}, ${width} pixels`,
    context: { colorScheme: scheme, viewport: { width, height: 844 } },
    async run({ page, shot }) {
      const schema = {
        type: "object",
        title: "All of it",
        required: ["text", "code", "size", "tags"],
        properties: {
          text: { type: "string", title: "Text", description: "Two letters at least.", minLength: 2, maxLength: 5 },
          code: { type: "string", pattern: "[0-9]$" },
          email: { type: "string", format: "email" },
          link: { type: "string", format: "uri" },
          day: { type: "string", format: "date" },
          moment: { type: "string", format: "date-time" },
          count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
          ratio: { type: "number" },
          sure: { type: "boolean", default: true },
          size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"], default: "l" },
          colour: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] },
          tags: { type: "array", minItems: 1, maxItems: 2, items: { anyOf: [{ const: "a", title: "Tag a" }, { const: "b", title: "Tag b" }, { const: "c", title: "Tag c" }] } },
          none: { type: "array", items: { type: "string", enum: ["x"] } },
        },
      };
      const interrupts = [{ id: "i", reason: "input_required", message: "What would you like?", responseSchema: schema, metadata: { acp: { mode: "form" } } }];
      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/api/ai/chat") && inputs.push(request.postDataJSON()));
      await answerWith(page, (ids) => {
        const outcome = inputs.length > 1 ? { type: "success" } : { type: "interrupt", interrupts };
        return [{ type: "RUN_STARTED", ...ids }, { type: "RUN_FINISHED", ...ids, outcome }];
      });
      await send(page, "form");
      const form = turn(page, 1).getByRole("group", { name: "Question: What would you like?" });
      const field = (name) => form.getByLabel(name, { exact: true });
      await form.waitFor();
      await noViolations(page, "a form of each kind of field");
      await form.scrollIntoViewIfNeeded();
      await shot("fields");

      await form.getByLabel("Text (required)").focus();
      await page.keyboard.type("a");
      await page.keyboard.press("Tab");
      await page.keyboard.type("7a");
      await page.keyboard.press("Enter");
      for (const [name, text] of [["email", "nobody"], ["link", "there"], ["count", "10"]]) await field(name).fill(text);
      await field("ratio").pressSequentially("1e");
      await form.getByRole("button", { name: "Send" }).click();
      assert.deepEqual(await problems(form), {
        "Text (required)": "Write 2 to 5 characters.",
        "code (required)": "Write a value that matches [0-9]$.",
        email: "Write an email address, such as name@example.org.",
        link: "Write a whole address, such as https://example.org/.",
        count: "Write a number, 1 to 9.",
        ratio: "Write a number.",
        "tags (required)": "Choose 1 or more.",
      });
      assert.match(await form.innerText(), /Not sent: 7 fields need another value\./);
      await noViolations(page, "an invalid form of each kind of field");
      await form.scrollIntoViewIfNeeded();
      await shot("problems");
      assert.equal(inputs.length, 1, "nothing was sent");

      await form.getByLabel("Text (required)").fill("abc");
      await field("code (required)").fill("7");
      assert.ok(!("code (required)" in (await problems(form))), "the pattern is not anchored at the start");
      await field("code (required)").fill("a7");
      await field("email").fill("ada@example.org");
      await field("link").fill("https://example.org/");
      await field("day").fill("2026-11-20");
      await field("moment").fill("2026-11-20T20:00");
      await field("count").fill("0.5");
      assert.equal((await problems(form)).count, "Write a number, 1 to 9.");
      await field("count").fill("1.5");
      assert.equal((await problems(form)).count, "Write a whole number.");
      await field("count").fill("9");
      await field("ratio").fill("0.5");
      await field("sure").uncheck();
      for (const tag of ["Tag a", "Tag b", "Tag c"]) await field(tag).check();
      assert.deepEqual(await problems(form), { "tags (required)": "Choose no more than 2." });
      await field("Tag b").uncheck();
      assert.deepEqual(await problems(form), {});
      await form.getByRole("button", { name: "Send" }).click();
      await turnEnd(page).waitFor();
      const moment = await page.evaluate(() => new Date("2026-11-20T20:00").toISOString());
      assert.deepEqual(inputs[1].resume, [
        {
          interruptId: "i",
          status: "resolved",
          payload: {
            action: "accept",
            content: { text: "abc", code: "a7", email: "ada@example.org", link: "https://example.org/", day: "2026-11-20", moment, count: 9, ratio: 0.5, sure: false, size: "l", tags: ["a", "c"] },
          },
        },
      ]);
    },
  })),
  {
    name: "a URL that the agent asks the user to visit",
    async run({ page, shot }) {
      const interrupts = ["https://example.org/sign-in", "javascript:alert(1)"].map((url, at) => ({ id: `i${at}`, reason: "confirmation", message: `Visit ${at}`, metadata: { acp: { mode: "url", elicitationId: `e${at}`, url } } }));
      const inputs = [];
      page.on("request", (request) => request.url().endsWith("/api/ai/chat") && inputs.push(request.postDataJSON()));
      await answerWith(page, (ids) => {
        const outcome = inputs.length > 1 ? { type: "success" } : { type: "interrupt", interrupts };
        return [{ type: "RUN_STARTED", ...ids }, { type: "RUN_FINISHED", ...ids, outcome }];
      });
      await send(page, "visit");
      const asked = (at) => turn(page, 1).getByRole("group", { name: `Question: Visit ${at}` });
      await asked(1).waitFor();
      await shot("visit");
      await noViolations(page, "a URL to visit");
      const link = asked(0).getByRole("link", { name: "https://example.org/sign-in" });
      assert.deepEqual([await link.getAttribute("rel"), await link.getAttribute("target")], ["noopener noreferrer", "_blank"]);
      assert.equal(await asked(1).getByRole("link").count(), 0, "only web pages are links");
      await asked(0).getByRole("button", { name: "Done" }).click();
      assert.equal(inputs.length, 1, "there is another question");
      await asked(1).getByRole("button", { name: "Decline" }).click();
      await turnEnd(page).waitFor();
      assert.deepEqual(inputs[1].resume.map(({ interruptId, payload }) => [interruptId, payload]), [["i0", { action: "accept" }], ["i1", { action: "decline" }]]);
    },
  },
];
