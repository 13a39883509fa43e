/** Puts the page together. */

import { Announcer } from "./announcer.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { Scroller } from "./scroller.js";
import { forget, held } from "./store.js";
import { SessionsView } from "./view-sessions.js";
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

const picker = /** @type {HTMLSelectElement} */ (byId("agent"));

/** The agent that was picked, where there is a choice. */
const pickedAgent = () => (picker.hidden ? null : picker.value);

/** Shows what the welcome says of an agent. */
function welcome(/** @type {string} */ agent) {
  for (const part of document.querySelectorAll("#welcome [data-agent]")) {
    /** @type {HTMLElement} */ (part).hidden = /** @type {HTMLElement} */ (part).dataset.agent !== agent;
  }
}

/** @param {import("./store.js").Held | null} before The conversation to go on with. */
function openChat(before) {
  setTitle(null);
  setMode(null);
  usage.clear();
  byId("welcome").hidden = before !== null;
  const parts = {
    root: byId("transcript"),
    scroller,
    announcer,
    usage,
    setTitle,
    setMode,
    ended: () => void sessions.refresh(),
    setDebugLine: (/** @type {string} */ line) => (byId("debug").textContent = line),
  };
  return new Chat(parts, before?.agent ?? pickedAgent(), before);
}

/** Offers a choice of agents where the gateway has several; `current` is the one that the conversation is with. */
async function offerAgents(/** @type {string | null} */ current) {
  const response = await fetch("/api/ai/agents");
  if (!response.ok) return;
  const { agents } = await response.json();
  welcome(current ?? agents[0].name);
  if (agents.length < 2) return;
  picker.replaceChildren(...agents.map((/** @type {{name: string}} */ { name }) => new Option(name)));
  picker.value = current ?? agents[0].name;
  picker.hidden = false;
}

const sessions = new SessionsView(/** @type {HTMLDetailsElement} */ (byId("sessions")), (id) => chat.leaveSession(id));
void sessions.refresh();

const before = held();
let chat = openChat(before);
void offerAgents(before?.agent ?? null);

const composer = new Composer(document, {
  send(text) {
    const sent = chat.send(text);
    if (sent) byId("welcome").hidden = true;
    return sent;
  },
  stop: () => void chat.stop(),
});
chat.composer = composer;
composer.setState(chat.restingState);

function newChat() {
  chat.close();
  forget();
  composer.setState("idle");
  byId("transcript").replaceChildren();
  chat = openChat(null);
  chat.composer = composer;
  announcer.say("New conversation.");
  composer.focus();
}

byId("new-chat").addEventListener("click", newChat);
picker.addEventListener("change", () => {
  welcome(picker.value);
  newChat();
});

for (const example of document.querySelectorAll("[data-prompt]")) {
  example.addEventListener("click", () => {
    composer.write(/** @type {HTMLElement} */ (example).dataset.prompt ?? "");
    composer.submit();
  });
}

composer.focus();
