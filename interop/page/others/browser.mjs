// Checks of pages that use the gateway with CopilotKit and assistant-ui.
import assert from "node:assert/strict";
import { runChecks } from "../runner.mjs";
import { checksOf } from "./checks.mjs";
import { startSite } from "./site.mjs";

const { GATEWAY_BIN } = process.env;
assert.ok(GATEWAY_BIN, "GATEWAY_BIN names the gateway; page/others/run sets it");

const pages = [
  { name: "copilotkit", stop: (page) => page.getByTestId("copilot-send-button"), allow: "Allow", reject: "Reject", showsErrors: false, showsResults: false },
  { name: "assistant-ui", stop: (page) => page.getByRole("button", { name: "Stop" }), allow: "Approve", reject: "Deny", showsErrors: true, showsResults: true },
];

await runChecks("other pages", pages.flatMap(checksOf), async () => {
  const site = await startSite(GATEWAY_BIN);
  return { ...site, url: `${site.url}/pages/?gateway=${encodeURIComponent(site.gateway)}` };
});
