/** The content of messages: a text, or a text with files. */

/** @import { Draft } from "./composer.js" */

/**
 * Returns the content of a message in the protocol's form.
 *
 * @param {Draft} draft
 */
export function contentOf({ text, files }) {
  if (files.length === 0) return text;
  return [...(text === "" ? [] : [{ type: "text", text }]), ...files];
}

/**
 * Returns the text and the files of a message.
 *
 * @param {any} content
 * @returns {Draft}
 */
export function draftOf(content) {
  if (typeof content === "string") return { text: content, files: [] };
  /** @type {any[]} */
  const parts = Array.isArray(content) ? content : [];
  const text = parts.filter((part) => part?.type === "text").map((part) => String(part.text)).join("\n");
  return { text, files: parts.filter((part) => part?.source?.type === "data") };
}

/**
 * Returns the text of the agent.
 *
 * @param {import("./thread.js").Message[]} messages The messages of a turn.
 */
export function answerText(messages) {
  const own = messages.filter(({ role, content }) => role === "assistant" && typeof content === "string");
  return own.map(({ content }) => content.trim()).filter((text) => text !== "").join("\n\n");
}
