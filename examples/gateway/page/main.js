/** Connects the parts of the page. */

import { keepSettings } from "./about-agent.js";
import { Access } from "./access.js";
import { AgentPicker } from "./agent-picker.js";
import { AgentWords } from "./agent-words.js";
import { Announcer } from "./announcer.js";
import { Chat } from "./chat.js";
import { Composer } from "./composer.js";
import { el } from "./dom.js";
import { listAgents } from "./login.js";
import { Markdown } from "./markdown.js";
import { Pace } from "./pace.js";
import { Scroller } from "./scroller.js";
import { Activity } from "./activity.js";
import { Address } from "./address.js";
import { History } from "./history.js";
import { newId } from "./ids.js";
import { HistoryView } from "./view-history.js";
import { forget, forgetAgents, held, keep } from "./store.js";
import { acceptedFiles, openSession, sessionSettings } from "./requests.js";
import { AccountView } from "./view-account.js";
import { DetailsView } from "./view-details.js";
import { HeaderView } from "./view-header.js";
import { contentOf } from "./user-content.js";
import { LoginView } from "./view-login.js";
import { PromptsView } from "./view-prompts.js";
import { SettingsView } from "./view-settings.js";
import { ServersView } from "./view-servers.js";
import { pageTools } from "./tools.js";
import { SessionsView } from "./view-sessions.js";
import { TimelineView } from "./view-timeline.js";
import { TokenView } from "./view-token.js";
import { UserView } from "./view-user.js";
import { WelcomeView } from "./view-welcome.js";

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** The key of the text for a conversation that has not begun. */
const NEW = "new";

const scroller = new Scroller(byId("conversation"), /** @type {HTMLButtonElement} */ (byId("jump")));
const announcer = new Announcer(byId("announcer"));
const header = new HeaderView(document);
const token = new TokenView(document.body);
const access = new Access((refused) => token.ask(refused));
const user = new UserView(/** @type {HTMLButtonElement} */ (byId("user")), document.body, {
  access,
  // The conversation belongs to the user, and what is known of the agents.
  signedOut: () => {
    forget();
    forgetAgents();
    location.assign("/");
  },
});
const { page, offer } = Access.take(new URL(location.href));
history.replaceState(history.state, "", page);
if (offer !== null && (await access.accept(offer, (name, before) => user.confirm(name, before)))) forget();

const markdown = new Markdown(access.sendQuietly, () => scroller.isFollowing && scroller.followSoon());
const timeline = new TimelineView(byId("timeline"), /** @type {HTMLDetailsElement} */ (byId("details")), access.sendQuietly);
const details = new DetailsView(byId("details-body"), timeline);
const words = new AgentWords(access.sendQuietly);
const picker = new AgentPicker(/** @type {HTMLSelectElement} */ (byId("agent")), byId("missing"), (agent) => {
  agentName = agent;
  words.setAgent(agent);
  newChat(true);
});

const welcome = new WelcomeView(byId("first-screen"), {
  send: access.sendQuietly,
  choose: (agent) => picker.choose(agent),
  write: (text) => composer.fill(text),
  commands: (agent) => words.commandsOf(agent),
});

const prompts = new PromptsView(byId("prompts"), {
  send(text) {
    const why = send(text);
    if (why !== "") announcer.say(why);
    composer.focus();
  },
  write: (text) => composer.fill(text),
});

/** @param {import("./store.js").Held | null} before The conversation to continue. */
function openChat(before) {
  header.clear();
  timeline.clear();
  byId("welcome").hidden = before !== null;
  const parts = {
    send: access.send,
    markdown,
    root: byId("transcript"),
    pinned: byId("plans"),
    scroller,
    announcer,
    header,
    words,
    timeline,
    prompts,
    ended: () => {
      void sessions.refresh();
      void servers.refresh();
      void user.refresh();
      // The user may have entered a token since.
      if (agentName === "") return void offerAgents(picker.picked, access.sendQuietly);
      void showSettings();
      void showAccount();
    },
    branch: branchChat,
    login: (/** @type {string} */ why, /** @type {() => void} */ done) => loginView(why, done).element,
    showDetails: (/** @type {string} */ events, /** @type {string} */ threadId) => details.show(events, threadId),
  };
  return new Chat(parts, before?.agent ?? picker.picked, before);
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
    title: picker.title(agentName),
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
  const isNeeded = picker.needsLogin(agentName) && !chat.thread.hasBegun;
  byId("login").hidden = !isNeeded;
  const view = isNeeded ? loginView("", () => composer.focus()).element : null;
  byId("login").replaceChildren(...(view === null ? [] : [view]));
}

/**
 * Sends a message.
 *
 * @param {any} content A text, or parts of a message.
 * @returns {string} Why the message cannot be sent now; empty if it was sent.
 */
function send(content) {
  const why = chat.send(content);
  if (why === "") {
    address.enter(chat.thread.id);
    for (const part of ["welcome", "login"]) byId(part).hidden = true;
  }
  return why;
}

const settings = new SettingsView(byId("settings"), (change) => sessionSettings(agentName, chat.thread.id, change, access.send));

const activity = new Activity(access.sendQuietly);

/** Waits for the agent while the conversation rests. */
function watchAgent() {
  const asked = chat;
  if (agentName === "" || !asked.thread.hasBegun || asked.restingState !== "idle") return activity.stop();
  void activity.wait(agentName, asked.thread.id, () => chat === asked && asked.follow());
}

/** Shows the settings of the agent's session. That of a new conversation is opened for it, unless the agent needs a login first. */
async function showSettings() {
  const asked = chat;
  const { id, hasBegun } = asked.thread;
  watchAgent();
  if (agentName === "") return;
  let shown = null;
  if (hasBegun) shown = await sessionSettings(agentName, id, undefined, access.sendQuietly);
  else if (asked.isEmpty && !picker.needsLogin(agentName)) shown = await openSession(agentName, id, pageTools(), access.sendQuietly);
  if (chat !== asked) return;
  keepSettings(agentName, settings.show(shown));
}

const account = new AccountView(byId("account"), {
  send: access.send,
  say: (sentence) => announcer.say(sentence),
  signedOut: () => {
    composer.focus();
    void offerAgents(agentName, access.sendQuietly).then(offerLogin);
  },
});

/** Shows the account of the agent, if it runs and has a logout. */
async function showAccount() {
  const shown = agentName;
  const list = await listAgents(access.sendQuietly);
  if (agentName !== shown) return;
  const hasLogout = list?.agents.some(({ name, logout }) => name === shown && logout === true);
  if (hasLogout) await account.show(shown, picker.title(shown));
  else account.clear();
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
  picker.show(list.agents, list.missing, agentName);
  void showSettings();
  if (!chat.thread.hasBegun) welcome.show(list.agents, agentName);
}

const sessions = new SessionsView(/** @type {HTMLDetailsElement} */ (byId("sessions")), access, (session) => chat.owns(session), (id) => chat.leaveSession(id));

const servers = new ServersView(byId("servers"), { send: access.sendQuietly, say: (sentence) => announcer.say(sentence) });

const conversations = new History(access.sendQuietly);
const address = new Address((id) => void (id === null ? newChat() : openId(id)));

const tab = held();
const before = address.id === null || address.id === tab?.threadId ? tab : null;
// A long conversation is read and shown in two tasks.
if (before !== null) await new Pace().rest();
let chat = openChat(before);
const offered = offerAgents(before?.agent ?? null, access.send);
void offered.then(() => {
  offerLogin();
  void servers.refresh();
  void user.refresh();
  return sessions.refresh();
});

const composer = new Composer(document, {
  send: (draft) => send(contentOf(draft)),
  stop: () => void chat.stop(),
  accepted: async () => {
    // Files may come before the page knows the agent.
    await offered;
    return acceptedFiles(agentName, access.send);
  },
  sources: words.sources,
  say: (sentence) => announcer.say(sentence),
});

/** Connects the message box with the conversation. */
function connectComposer() {
  chat.composer = composer;
  composer.setState(chat.restingState);
  composer.open(() => (chat.thread.hasBegun ? chat.thread.id : NEW), chat.thread.prompts);
}

connectComposer();

/** @param {import("./store.js").Held | null} next The conversation that replaces the one in the page. */
function replaceChat(next) {
  chat.close();
  activity.stop();
  settings.clear();
  prompts.clear();
  account.clear();
  forget();
  for (const id of ["transcript", "plans"]) byId(id).replaceChildren();
  document.getElementById("gone")?.remove();
  chat = openChat(next);
  connectComposer();
  offerLogin();
  void sessions.refresh();
}

/** @param {boolean} [isOfOther] Whether the agent is another one. */
function newChat(isOfOther = false) {
  address.enter(null);
  // The session of an empty conversation is open already.
  if (isOfOther || !chat.isEmpty) replaceChat(null);
  if (agentName !== "") welcome.show(picker.agents, agentName);
  void showSettings();
  announcer.say("New conversation.");
  composer.focus();
}

/**
 * Begins a conversation with these messages. The one that they are from stays in the history.
 *
 * @param {import("./thread.js").Message[]} messages
 */
function branchChat(messages) {
  if (messages.length === 0) return newChat(true);
  address.enter(null);
  // A branch without a run has no session of its own.
  const branchOf = chat.thread.branchOf ?? chat.thread.id;
  const branch = { threadId: newId("thread"), agent: agentName, title: null, runId: null, messages, state: {}, interrupts: [], pending: [], branchOf };
  replaceChat(branch);
  keep(branch);
  announcer.say("A new conversation, with the messages up to here.");
  composer.focus();
}

/** @param {import("./history.js").Summary} thread */
function openThread({ id, agent, title, runId }) {
  address.enter(id);
  agentName = agent;
  replaceChat({ threadId: id, agent, title, runId, messages: [], state: {}, interrupts: [], pending: [], isAtGateway: true });
  void offerAgents(agent, access.sendQuietly);
  announcer.say(`Conversation: ${title}.`);
  composer.focus();
}

/** @param {string} id */
async function openId(id) {
  const found = await conversations.find(id);
  if (address.id !== id) return;
  if (found !== null) {
    openThread(found);
    return;
  }
  address.correct(null);
  replaceChat(null);
  void showSettings();
  byId("welcome").prepend(el("p", { id: "gone", class: "history-gone", role: "alert" }, "This conversation is not at the gateway. It may have been deleted. Choose another one under History, or write a message to begin."));
}

new HistoryView(document.body, /** @type {HTMLButtonElement} */ (byId("show-history")), {
  history: conversations,
  announcer,
  current: () => chat.thread.id,
  open: openThread,
  begin: newChat,
  renamed: (id, title) => id === chat.thread.id && header.setTitle(title),
  removed: (id) => {
    if (id !== chat.thread.id) return;
    address.correct(null);
    newChat();
  },
});

/** Opens the conversation of the address, unless this tab has its newest state. */
async function showAddress() {
  if (address.id === null) {
    if (before !== null) address.correct(before.threadId);
    return;
  }
  if (before === null) return openId(address.id);
  const page = await conversations.list("");
  const found = typeof page === "string" ? undefined : page.threads.find(({ id }) => id === before.threadId);
  const isOld = found !== undefined && found.runId !== (before.runId ?? before.runs?.at(-1));
  if (found !== undefined && isOld && chat.thread.id === found.id && chat.restingState !== "running") openThread(found);
}
void showAddress();

byId("new-chat").addEventListener("click", () => newChat());

composer.focus();
