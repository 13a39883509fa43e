// Checks of a page that uses the gateway with a library.
import assert from "node:assert/strict";

/** Returns the checks of a page. */
export function checksOf({ name: library, stop, allow, reject, showsErrors, showsResults }) {
  const box = (page) => page.getByRole("textbox");
  const tool = (page, name) => page.locator(`article[data-tool=${name}]`);
  const says = (page, text) => page.getByText(text).first().waitFor();

  /** Sends a message after the end of the current run. */
  async function send(page, text) {
    await stop(page).and(page.locator(":disabled")).waitFor();
    await box(page).fill(text);
    await box(page).press("Enter");
  }

  /** Opens the page. Returns its requests to the gateway except those for the history (`posted`) and to other hosts (`strangers`). */
  async function open(page, url) {
    const { origin, searchParams, search } = new URL(url);
    const posted = [];
    const strangers = [];
    const gateway = searchParams.get("gateway");
    await page.route(
      (to) => ![origin, gateway].includes(to.origin) && to.protocol.startsWith("http"),
      (route) => {
        strangers.push(route.request().url());
        return route.abort();
      },
    );
    page.on("request", (request) => {
      const path = new URL(request.url()).pathname;
      const isCounted = request.method() === "POST" && request.url().startsWith(gateway) && !path.endsWith("/connect");
      if (isCounted) posted.push({ path, body: request.postDataJSON() });
    });
    await page.goto(`${origin}/pages/${library}.html${search}`);
    await box(page).waitFor();
    return { posted, strangers };
  }

  const check = (name, run, rest = {}) => ({
    name: `${library}: ${name}`,
    opensItself: true,
    ...rest,
    async run({ page, shot, url }) {
      const { posted, strangers } = await open(page, url);
      await run({ page, shot, posted });
      assert.deepEqual(strangers, [], "requests to other hosts");
    },
  });

  return [
    check("text, a thought and a tool, in one thread", async ({ page, shot, posted }) => {
      await send(page, "hello");
      await says(page, "I am a scripted agent");
      await send(page, "read");
      await says(page, "I have read greeting.txt");
      const card = tool(page, "read_file");
      assert.equal(await card.count(), 1);
      assert.equal(await card.getAttribute("data-status"), "complete");
      assert.match(await card.innerText(), /greeting\.txt[\s\S]*Hello\s+world/);
      await send(page, "think");
      await says(page, /think|thought/i);
      await shot("tool");
      assert.equal(new Set(posted.map(({ body }) => body.threadId)).size, 1);
      const roles = posted[2].body.messages.map(({ role }) => role);
      assert.deepEqual(roles, ["user", "assistant", "user", "assistant", "tool", "assistant", "user"]);
    }),

    check("a granted and a refused permission", async ({ page, shot }) => {
      await send(page, "edit");
      await page.getByText("Edit greeting.txt").waitFor();
      await shot("asked");
      await page.getByRole("button", { name: allow, exact: true }).click();
      await says(page, "I have edited greeting.txt");
      const card = tool(page, "edit_file");
      assert.equal(await card.first().getAttribute("data-status"), "complete");
      if (showsResults) assert.match(await card.first().innerText(), /\+dear/);
      await send(page, "edit");
      await page.getByRole("button", { name: reject, exact: true }).click();
      await says(page, "Then I leave greeting.txt as it is");
      if (showsResults) assert.match(await card.nth(1).innerText(), /not allowed/);
      await send(page, "edit");
      await page.getByRole("button", { name: "Always allow in this session" }).click();
      await page.getByText("I have edited greeting.txt").nth(1).waitFor();
      await shot("answered");
    }),

    check("a question that the page cannot answer is cancelled", async ({ page }) => {
      await send(page, "form");
      await page.getByText("Which seat would you like?").waitFor();
      await page.getByRole("button", { name: "Not now" }).click();
      await says(page, "Another time, then");
    }),

    check("a tool of the page", async ({ page, shot, posted }) => {
      await send(page, "dark");
      await says(page, "Your page says: The page is dark now.");
      assert.equal(await page.evaluate(() => document.body.style.background), "black");
      assert.equal(await tool(page, "set_theme").getAttribute("data-status"), "complete");
      assert.equal(posted[0].body.tools[0].name, "set_theme");
      assert.equal(posted[1].body.messages.at(-1).content, "The page is dark now.");
      await shot("dark");
    }),

    check("a stopped run, and a following run", async ({ page, posted }) => {
      await send(page, "slow");
      await says(page, "3 of 50");
      await stop(page).click();
      await send(page, "hello");
      await says(page, "I am a scripted agent");
      assert.ok(!(await page.locator("body").innerText()).includes("50 of 50"));
      const { runId } = posted[0].body;
      assert.deepEqual(posted.map(({ path }) => path), ["/api/ai/agents/demo/chat", `/api/ai/chat/runs/${runId}/cancel`, "/api/ai/agents/demo/chat"]);
    }),

    check("a failed run, and a following run", async ({ page, shot }) => {
      const failed = page.waitForResponse("**/api/ai/agents/demo/chat").then((response) => response.finished());
      await send(page, "error");
      await failed;
      if (showsErrors) await page.getByRole("alert").getByText("The script says that this fails").waitFor();
      await shot("error");
      await send(page, "hello");
      await says(page, "I am a scripted agent");
    }, { expectErrors: /The script says that this fails/ }),

    check("a reload during a run, and after it", async ({ page, posted }) => {
      await send(page, "hello");
      await says(page, "I am a scripted agent");
      await send(page, "slow");
      await says(page, "3 of 50");
      await page.reload();
      await says(page, "50 of 50");
      await says(page, "I am a scripted agent");
      await page.reload();
      await says(page, "50 of 50");
      const text = await page.locator("body").innerText();
      assert.equal(text.match(/\b7 of 50/g).length, 1, "no text is repeated");
      await send(page, "read");
      await says(page, "I have read greeting.txt");
      assert.equal(posted.length, 3, "no additional run began");
      assert.equal(new Set(posted.map(({ body }) => body.threadId)).size, 1);
    }),

    check("a question survives a reload", async ({ page }) => {
      await send(page, "permission");
      const button = page.getByRole("button", { name: allow, exact: true });
      await button.waitFor();
      await page.reload();
      await button.click();
      await says(page, "I will not make use of it");
    }),
  ];
}
