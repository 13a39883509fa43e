/** Connects the parts of the page. */

import { Access } from "./access.js";
import { AgentPicker } from "./agent-picker.js";
import { AgentWords } from "./agent-words.js";
import { Announcer } from "./announcer.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { listAgents } from "./login.js";
import { Markdown } from "./markdown.js";
import { Scroller } from "./scroller.js";
import { forget, held } from "./store.js";
import { acceptedFiles, sessionSettings } from "./requests.js";
import { HeaderView } from "./view-header.js";
import { contentOf } from "./user-content.js";
import { LoginView } from "./view-login.js";
import { SettingsView } from "./view-settings.js";
import { SessionsView } from "./view-sessions.js";
import { TimelineView } from "./view-timeline.js";
import { TokenView } from "./view-token.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The key of the text for a conversation that has not begun. */
const NEW = "new";

const scroller = new Scroller(byId("conversation"), /** @type {HTMLButtonElement} */ (byId("jump")));
const announcer = new Announcer(byId("announcer"));
const header = new HeaderView(document);
const token = new TokenView(document.body);
const access = new Access((refused) => token.ask(refused));

const markdown = new Markdown(access.sendQuietly, () => scroller.isFollowing && scroller.follow());

const timeline = new TimelineView(/** @type {HTMLDetailsElement} */ (byId("timeline")), access.sendQuietly);

const words = new AgentWords(access.sendQuietly);

const picker = new AgentPicker(/** @type {HTMLSelectElement} */ (byId("agent")), byId("missing"), (agent) => {
  agentName = agent;
  words.setAgent(agent);
  welcome(agentName);
  newChat();
});

/** The selected agent, if there is a choice. */
const pickedAgent = () => picker.picked;

/** Shows the welcome of an agent. */
function welcome(/** @type {string} */ agent) {
  for (const part of document.querySelectorAll("#welcome [data-agent]")) {
    /** @type {HTMLElement} */ (part).hidden = /** @type {HTMLElement} */ (part).dataset.agent !== agent;
  }
}

/** @param {import("./store.js").Held | null} before The conversation to continue. */
function openChat(before) {
  header.clear();
  timeline.clear();
  byId("welcome").hidden = before !== null;
  const parts = {
    send: access.send,
    markdown,
    root: byId("transcript"),
    scroller,
    announcer,
    header,
    words,
    timeline,
    ended: () => {
      void sessions.refresh();
      // The user may have entered a token since.
      if (agentName === "") void offerAgents(pickedAgent(), access.sendQuietly);
      else void showSettings();
    },
    login: (/** @type {string} */ why, /** @type {() => void} */ done) => loginView(why, done).element,
    setDebugLine: (/** @type {string} */ line) => (byId("debug").textContent = line),
  };
  return new Chat(parts, before?.agent ?? pickedAgent(), before);
}

/** The name of the conversation's agent, once it is known. */
let agentName = "";

/**
 * @param {string} why The reason of the agent.
 * @param {() => void} done Called after a login.
 * @returns {LoginView}
 */
function loginView(why, done) {
  return new LoginView(agentName, why, {
    send: access.send,
    say: (sentence) => announcer.say(sentence),
    mayTakeFocus: () => composer.isIdle(),
    done: () => {
      void offerAgents(agentName, access.sendQuietly);
      done();
    },
  });
}

/** Offers a login if the agent of a new conversation needs one. */
function offerLogin() {
  const isNeeded = picker.needsLogin(agentName) && !chat.hasBegun;
  byId("login").hidden = !isNeeded;
  const view = isNeeded ? loginView("", () => composer.focus()).element : null;
  byId("login").replaceChildren(...(view === null ? [] : [view]));
}

const settings = new SettingsView(byId("settings"), (change) => sessionSettings(agentName, chat.threadId, change, access.send));

/** Shows the settings of the agent's session. */
async function showSettings() {
  const asked = chat;
  const shown = agentName !== "" && asked.hasBegun ? await sessionSettings(agentName, asked.threadId, undefined, access.sendQuietly) : null;
  if (chat === asked) settings.show(shown);
}

/**
 * Offers a choice of agents if the gateway has several.
 *
 * @param {string | null} current The agent of the conversation.
 * @param {import("./access.js").Send} send
 */
async function offerAgents(current, send) {
  const list = await listAgents(send);
  const [first] = list?.agents ?? [];
  if (list === null || first === undefined) return;
  agentName = current ?? first.name;
  words.setAgent(agentName);
  welcome(agentName);
  void showSettings();
  picker.show(list.agents, list.missing, agentName);
}

const sessions = new SessionsView(/** @type {HTMLDetailsElement} */ (byId("sessions")), access, (id) => chat.leaveSession(id));

const before = held();
let chat = openChat(before);
void offerAgents(before?.agent ?? null, access.send).then(() => {
  offerLogin();
  return sessions.refresh();
});

const composer = new Composer(document, {
  send(draft) {
    const why = chat.send(contentOf(draft));
    if (why === "") for (const part of ["welcome", "login"]) byId(part).hidden = true;
    return why;
  },
  stop: () => void chat.stop(),
  accepted: () => acceptedFiles(agentName, access.send),
  sources: words.sources,
  say: (sentence) => announcer.say(sentence),
});

/** Connects the message box with the conversation. */
function connectComposer() {
  chat.composer = composer;
  composer.setState(chat.restingState);
  composer.open(() => (chat.hasBegun ? chat.threadId : NEW), chat.prompts);
}

connectComposer();

function newChat() {
  chat.close();
  settings.clear();
  forget();
  byId("transcript").replaceChildren();
  chat = openChat(null);
  connectComposer();
  announcer.say("New conversation.");
  composer.focus();
  offerLogin();
}

byId("new-chat").addEventListener("click", newChat);

for (const example of document.querySelectorAll("[data-prompt]")) {
  example.addEventListener("click", () => {
    composer.write({ text: /** @type {HTMLElement} */ (example).dataset.prompt ?? "", files: [] });
    composer.submit();
  });
}

composer.focus();
