// Reloads and lost connections.
import assert from "node:assert/strict";
import { answer, answerAll, permission, rendered, send, turn, turnEnd } from "./page.mjs";

export const checks = [
  {
    name: "turns and thoughts keep their durations over a reload",
    async run({ page }) {
      await send(page, "tour");
      await answerAll(page, /^allow/i);
      await send(page, "error");
      await turnEnd(page, 2).waitFor();
      await send(page, "hello");
      await turnEnd(page, 3).waitFor();
      const lines = async () => [await page.locator(".turn-end").allInnerTexts(), await page.locator(".thought summary").allInnerTexts()];
      const [ends, thoughts] = await lines();
      assert.match(ends[0], /^Done · \d/);
      // A failure at once has no duration.
      assert.match(ends[1], /^Failed( · \d+\.\d s)?$/);
      assert.match(ends[2], /^Done · \d/);
      assert.match(thoughts[0], /^Thought for /);
      await page.reload();
      await turnEnd(page, 3).waitFor();
      assert.deepEqual(await lines(), [ends, thoughts], "of this tab");
      await page.evaluate(() => sessionStorage.clear());
      await page.reload();
      await turnEnd(page, 3).waitFor();
      assert.deepEqual(await lines(), [ends, thoughts], "of the conversation at the gateway");
    },
  },
  {
    name: "a reload during a run continues the run",
    async run({ page }) {
      await send(page, "hello");
      await turnEnd(page).waitFor();
      await rendered(page);
      const paragraph = turn(page, 1).locator(".agent-text p:not(.plain)");
      const before = await paragraph.innerText();
      await send(page, "slow");
      await turn(page, 2).getByText("1 of 50").waitFor();
      await page.reload();
      assert.equal(await paragraph.innerText(), before, "the first turn is restored");
      await turn(page, 2).getByText("1 of 50").waitFor();
      assert.ok(await page.getByRole("button", { name: "Stop" }).isVisible(), "the run can be stopped");
      await turn(page, 2).getByText("50 of 50").waitFor();
      assert.match(await turnEnd(page, 2).innerText(), /^Done/);
      assert.equal((await turn(page, 2).innerText()).match(/\b7 of 50/g)?.length, 1, "no text is repeated");
      await page.reload();
      // The run is restored after its end.
      await turn(page, 2).getByText("50 of 50").waitFor();
      await send(page, "hello");
      await turnEnd(page, 3).waitFor();
      await page.getByRole("button", { name: "New chat" }).click();
      await page.reload();
      assert.equal(await turn(page, 1).count(), 0, "a new chat has no turns");
    },
  },
  {
    name: "a question survives a reload, and its answer continues the turn",
    async run({ page, shot }) {
      await send(page, "permission");
      await permission(page).waitFor();
      await page.reload();
      await permission(page).waitFor();
      await shot("reloaded");
      await answer(page, /^allow/i);
      await turnEnd(page).waitFor();
      assert.match(await turn(page, 1).innerText(), /Your answer: Allow/);
      assert.match(await turn(page, 1).innerText(), /I will not make use of it/);
      assert.equal(await turn(page, 2).count(), 0, "the answer belongs to the same turn");
    },
  },
  {
    name: "a connection that is lost during a run is restored",
    async run({ page, shot }) {
      await page.evaluate(() => {
        const send = globalThis.fetch;
        globalThis.fetch = async (path, init) => {
          const response = await send(path, init);
          if (path !== "/api/ai/chat") return response;
          globalThis.fetch = async (...again) => {
            if (!String(again[0]).endsWith("/events")) return send(...again);
            await new Promise((resolve) => (globalThis.mend = resolve));
            globalThis.fetch = send;
            return send(...again);
          };
          const broken = new TransformStream({
            transform(chunk, stream) {
              const isFar = new TextDecoder().decode(chunk).includes("5 of 50");
              if (isFar) stream.error(new TypeError("network error"));
              else stream.enqueue(chunk);
            },
          });
          return new Response(response.body.pipeThrough(broken), response);
        };
      });
      await send(page, "slow");
      await turn(page, 1).getByText("Reconnecting").waitFor();
      await shot("broken");
      await page.waitForFunction(() => globalThis.mend !== undefined);
      await page.evaluate(() => globalThis.mend());
      await turnEnd(page).waitFor();
      assert.match(await turnEnd(page).innerText(), /^Done/);
      const said = await turn(page, 1).locator(".agent-text").innerText();
      assert.deepEqual(said.match(/\d+(?= of 50)/g).map(Number), Array.from({ length: 50 }, (_, at) => at + 1), "each piece of text appears once");
    },
  },
  {
    name: "a gateway that stops when a run has ended leaves the page in order",
    expectNetworkErrors: true,
    opensItself: true,
    async run({ page, url }) {
      let isRefusing = false;
      await page.route(/\/api\//, (route) => {
        const isRun = new URL(route.request().url()).pathname === "/api/ai/chat";
        return isRun || !isRefusing ? route.continue() : route.abort("connectionrefused");
      });
      const listed = page.waitForResponse(/\/api\/ai\/agents$/);
      await page.goto(url);
      await listed;
      isRefusing = true;
      const refused = [/\/api\/ai\/agents$/, /\/settings$/, /\/api\/tools\/sessions$/, /\/api\/ai\/mcp-servers$/].map((path) =>
        page.waitForEvent("requestfailed", (request) => path.test(request.url())),
      );
      await send(page, "hello");
      await turnEnd(page).waitFor();
      await Promise.all(refused);
      assert.match(await turnEnd(page).innerText(), /^Done/);
    },
  },
];
