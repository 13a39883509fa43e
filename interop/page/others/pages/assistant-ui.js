// A chat built from the primitives of assistant-ui, with an agent of the gateway.
import * as library from "/built/assistant-ui.js";
import { gatewayAgent, setTheme } from "./gateway-agent.js";

const { AssistantRuntimeProvider, ComposerPrimitive, ErrorPrimitive, MessagePrimitive, ThreadPrimitive, useAssistantTool } = library;
const { fromAgUiMessages, useAgUiInterrupts, useAgUiRuntime, useAgUiSubmitInterruptResponses } = library;
const { createElement: h, createRoot } = library;

const theme = {
  toolName: setTheme.name,
  type: "frontend",
  description: setTheme.description,
  parameters: { type: "object", properties: { theme: { enum: ["light", "dark"] } }, required: ["theme"] },
  execute: setTheme.run,
};

function Tool({ toolName, argsText, result, status, approval, respondToApproval }) {
  const asks = approval && approval.approved === undefined && !approval.resolution;
  return h(
    "article",
    { "data-tool": toolName, "data-status": status.type },
    `${toolName} ${argsText} ${status.type}: ${typeof result === "string" ? result : JSON.stringify(result)}`,
    asks && h("button", { onClick: () => respondToApproval({ approved: true }) }, "Approve"),
    asks && h("button", { onClick: () => respondToApproval({ approved: false }) }, "Deny"),
  );
}

const parts = {
  Text: ({ text }) => h("p", null, text),
  Reasoning: ({ text }) => h("blockquote", null, text),
  tools: { Fallback: Tool },
};

function Message() {
  const error = h(ErrorPrimitive.Root, { role: "alert" }, h(ErrorPrimitive.Message));
  return h(MessagePrimitive.Root, null, h(MessagePrimitive.Parts, { components: parts }), h(MessagePrimitive.Error, null, error));
}

function Questions() {
  const interrupts = useAgUiInterrupts();
  const submit = useAgUiSubmitInterruptResponses();
  return interrupts.map(({ id, message, metadata }) =>
    h(
      "fieldset",
      { key: id, "data-interrupt": id },
      h("legend", null, message),
      (metadata?.acp?.options ?? []).map(({ optionId, name }) =>
        h("button", { key: optionId, onClick: () => submit([{ interruptId: id, status: "resolved", payload: { optionId } }]) }, name),
      ),
      h("button", { onClick: () => submit([{ interruptId: id, status: "cancelled" }]) }, "Not now"),
    ),
  );
}

const agent = gatewayAgent(library);

const HISTORY = "history";
const items = JSON.parse(sessionStorage.getItem(HISTORY)) ?? [];

function put(item) {
  const at = items.findIndex(({ message }) => message.id === item.message.id);
  if (at < 0) items.push(item);
  else items[at] = item;
  sessionStorage.setItem(HISTORY, JSON.stringify(items));
}

/** The storage of assistant-ui for messages of ended runs and open questions. An active run is read again from the gateway. */
const history = {
  async load() {
    const messages = items.map(({ message, ...item }) => ({ ...item, message: { ...message, createdAt: new Date(message.createdAt) } }));
    return { messages, unstable_resume: messages.at(-1)?.message.role === "user" };
  },

  append: async (item) => put(item),

  update: async (item) => put(item),

  async *resume({ messages }) {
    let said = null;
    let changed;
    let ended = false;
    const next = () => new Promise((resolve) => (changed = resolve));
    const onMessagesChanged = ({ messages: all }) => {
      said = fromAgUiMessages(all).slice(messages.length);
      changed?.();
    };
    agent.connectAgent({}, { onMessagesChanged }).finally(() => {
      ended = true;
      changed?.();
    });
    for (let told = null; !ended || told !== said; ) {
      if (told === said) await next();
      told = said;
      if (told !== null) yield { content: told.flatMap((message) => message.content) };
    }
  },
};

function Chat() {
  const runtime = useAgUiRuntime({ agent, adapters: { history } });
  return h(AssistantRuntimeProvider, { runtime }, h(Tools), h(Thread));
}

function Tools() {
  useAssistantTool(theme);
  return null;
}

function Thread() {
  const composer = h(
    ComposerPrimitive.Root,
    null,
    h(ComposerPrimitive.Input, { "aria-label": "Message" }),
    h(ComposerPrimitive.Send, null, "Send"),
    h(ComposerPrimitive.Cancel, null, "Stop"),
  );
  return h(ThreadPrimitive.Root, null, h(ThreadPrimitive.Messages, { components: { Message } }), h(Questions), composer);
}

createRoot(document.querySelector("#root")).render(h(Chat));
