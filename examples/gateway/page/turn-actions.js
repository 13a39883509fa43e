/** Actions of the user on a turn: copy the answer, edit the message, ask for another answer, branch the conversation. */

import { button, el } from "./dom.js";
import { answerText } from "./user-content.js";

/** @import { Message, Thread } from "./thread.js" */

/** Time for which the result of a copy is shown. */
const COPIED_MS = 1500;

/**
 * @typedef {object} TurnActions
 * @property {(message: Message) => string} answerTo Returns the text of the answer to a message.
 * @property {(message: Message) => void} edit Moves a message back to the message box, and removes what followed it.
 * @property {(message: Message) => void} again Removes what followed a message, and sends it again.
 * @property {(message: Message) => void} branch Begins a conversation with the messages up to the end of a turn.
 */

/**
 * Creates the row under a complete turn.
 *
 * @param {Message} message The user's message.
 * @param {TurnActions} actions
 */
export function turnActions(message, actions) {
  const copy = button("Copy", "quiet", () => {
    navigator.clipboard.writeText(actions.answerTo(message)).then(
      () => (copy.textContent = "Copied"),
      () => (copy.textContent = "Could not copy"),
    );
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  });
  copy.hidden = actions.answerTo(message) === "";
  const edit = button("Edit message", "quiet", () => actions.edit(message));
  const again = button("Regenerate", "quiet", () => actions.again(message));
  const branch = button("Branch", "quiet", () => actions.branch(message));
  return el("div", { class: "turn-actions", role: "group", "aria-label": "Actions" }, copy, again, edit, branch);
}

/**
 * @typedef {object} ThreadActions
 * @property {() => boolean} isIdle Whether no run is active and no question is open.
 * @property {(first: Message, removed: Message[]) => void} cut Removes messages from the page.
 * @property {(content: any) => void} send
 * @property {(content: any) => void} write Moves the content of a message to the message box.
 * @property {(messages: Message[]) => void} branch Begins a conversation with these messages.
 * @property {(sentence: string) => void} say
 */

/**
 * Returns the actions on the turns of a thread. The agent gets the changed conversation with the next message.
 *
 * @param {Thread} thread
 * @param {ThreadActions} actions
 * @returns {TurnActions}
 */
export function actionsOn(thread, { isIdle, cut, send, write, branch, say }) {
  const isFree = () => {
    if (!isIdle()) say("The agent is still answering. Wait, or stop it first.");
    return isIdle();
  };
  const takeBack = (/** @type {Message} */ message) => {
    if (!isFree()) return false;
    cut(message, thread.cut(message));
    return true;
  };
  return {
    answerTo: (message) => answerText(thread.turnOf(message)),
    edit: (message) => takeBack(message) && write(message.content),
    again: (message) => takeBack(message) && send(message.content),
    branch: (message) => isFree() && branch(thread.upTo(message)),
  };
}
