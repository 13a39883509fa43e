// The modules of the page.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { answerAll, send } from "./page.mjs";

const FOLDER = new URL("../../../examples/gateway/page/", import.meta.url);

export const checks = [
  {
    name: "only plain modules from the gateway",
    async run({ page }) {
      const files = new Map();
      const others = [];
      page.on("response", (response) => {
        const { origin, pathname } = new URL(response.url());
        if (origin !== new URL(page.url()).origin) others.push(response.url());
        else if (pathname.startsWith("/assets/")) files.set(pathname.slice("/assets/".length), response.text());
      });
      await page.reload();
      await send(page, "tour");
      await answerAll(page, /^allow/i);
      assert.deepEqual(others, []);
      const own = (await readdir(FOLDER)).filter((name) => name !== "index.html");
      assert.deepEqual([...files.keys()].sort(), own.sort(), "each file is used, and no other");
      for (const [name, text] of files) assert.equal(await text, await readFile(new URL(name, FOLDER), "utf8"), `${name} is served unchanged`);
    },
  },
];
