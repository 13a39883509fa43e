/** Puts the page together. */

import { Announcer } from "./announcer.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { Scroller } from "./scroller.js";
import { UsageView } from "./view-usage.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const DEFAULT_TITLE = "New conversation";

const scroller = new Scroller(byId("conversation"), /** @type {HTMLButtonElement} */ (byId("jump")));
const announcer = new Announcer(byId("announcer"));
const usage = new UsageView(document);

/** @param {string | null} title */
function setTitle(title) {
  byId("title").textContent = title ?? DEFAULT_TITLE;
  document.title = title === null ? "Spanwire" : `${title} · Spanwire`;
}

/** @param {string | null} mode */
function setMode(mode) {
  byId("mode").hidden = mode === null;
  byId("mode").textContent = mode === null ? "" : `mode: ${mode}`;
}

function newChat() {
  setTitle(null);
  setMode(null);
  usage.clear();
  return new Chat({
    root: byId("transcript"),
    scroller,
    announcer,
    usage,
    setTitle,
    setMode,
    setDebugLine: (line) => (byId("debug").textContent = line),
  });
}

let chat = newChat();

const composer = new Composer(document, {
  send(text) {
    const sent = chat.send(text);
    if (sent) byId("welcome").hidden = true;
    return sent;
  },
  stop: () => void chat.stop(),
});
chat.composer = composer;

byId("new-chat").addEventListener("click", () => {
  chat.close();
  composer.setState("idle");
  byId("transcript").replaceChildren();
  byId("welcome").hidden = false;
  chat = newChat();
  chat.composer = composer;
  announcer.say("New conversation.");
  composer.focus();
});

for (const example of document.querySelectorAll("[data-prompt]")) {
  example.addEventListener("click", () => {
    composer.write(/** @type {HTMLElement} */ (example).dataset.prompt ?? "");
    composer.submit();
  });
}

composer.focus();
