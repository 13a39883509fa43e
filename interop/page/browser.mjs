// Checks of the gateway's page.
import assert from "node:assert/strict";
import { checks as access } from "./checks/access.mjs";
import { checks as accessibility } from "./checks/accessibility.mjs";
import { checks as actions } from "./checks/actions.mjs";
import { checks as answers } from "./checks/answers.mjs";
import { checks as bookFlight } from "./checks/book-flight.mjs";
import { checks as cards } from "./checks/cards.mjs";
import { checks as composer } from "./checks/composer.mjs";
import { checks as events } from "./checks/events.mjs";
import { checks as forms } from "./checks/forms.mjs";
import { checks as history } from "./checks/history.mjs";
import { checks as login } from "./checks/login.mjs";
import { checks as longConversations } from "./checks/long-conversations.mjs";
import { checks as looks } from "./checks/looks.mjs";
import { checks as markdown } from "./checks/markdown.mjs";
import { checks as modules } from "./checks/modules.mjs";
import { checks as pageTools } from "./checks/page-tools.mjs";
import { checks as permission } from "./checks/permission.mjs";
import { checks as picker } from "./checks/picker.mjs";
import { checks as reload } from "./checks/reload.mjs";
import { checks as settings } from "./checks/settings.mjs";
import { checks as signIn } from "./checks/sign-in.mjs";
import { checks as subagents } from "./checks/subagents.mjs";
import { checks as terminal } from "./checks/terminal.mjs";
import { checks as timeline } from "./checks/timeline.mjs";
import { checks as turns } from "./checks/turns.mjs";
import { checks as welcome } from "./checks/welcome.mjs";
import { startGateway } from "./gateway.mjs";
import { runChecks } from "./runner.mjs";

const { GATEWAY_BIN } = process.env;
assert.ok(GATEWAY_BIN, "GATEWAY_BIN names the gateway; page/run sets it");

await runChecks(
  "page",
  [modules, welcome, markdown, cards, turns, subagents, composer, actions, permission, forms, reload, history, accessibility, looks, settings, picker, login, signIn, pageTools, bookFlight, terminal, timeline, answers, access, longConversations, events].flat(),
  (variables) => startGateway(GATEWAY_BIN, { variables }),
);
