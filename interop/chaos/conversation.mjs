// What a conversation must contain: the messages that were acknowledged, each once, in order.
//
// A message of the user is acknowledged when its run has begun, a text of the agent when its end was delivered. Other messages
// are optional: those of a request that was cut off, a text of which a part was delivered, and the texts of a turn in which the
// gateway was killed: readers get an event at once, and only the end of a run waits until it is stored.
import assert from "node:assert/strict";

/** The texts of a turn of `agent.py`. */
const ANSWERS = {
  text: (id) => [["assistant", `Answer to ${id}.`]],
  slow: (id) => [["assistant", `${[...Array(9).keys()].map((number) => `${id}-${number} `).join("")}${id}-9.`]],
  hold: (id) => [["assistant", `Began ${id}`]],
  tool: (id) => [["assistant", `Before ${id}.`], ["tool", `File ${id}`], ["assistant", `After ${id}.`]],
  ask: (id, option) => [["assistant", `Asking ${id}.`], ["assistant", `Answered ${id}: ${option}.`]],
};

export class Conversation {
  /** @type {{role: string, full: string, text: string | null, id: string}[]} `text` is what was acknowledged. */
  entries = [];

  /** Adds a message of the user with the texts that answer it. Returns the message, and observers of its runs, one for each reader. */
  say(id, kind, option) {
    const prompt = { role: "user", full: `Please do this: [[${id} ${kind}]]`, text: null, id };
    const answers = ANSWERS[kind](id, option).map(([role, full]) => ({ role, full, text: null, id }));
    this.entries.push(prompt, ...answers);
    return { content: prompt.full, observer: () => this.#observer(prompt, answers) };
  }

  /** Removes a message of the user and those after it. */
  cut(content) {
    this.entries.length = this.entries.findIndex(({ role, full }) => role === "user" && full === content);
  }

  /** Makes the texts of a turn optional that may not have been stored. */
  doubt(id) {
    for (const entry of this.entries) if (entry.id === id && entry.role !== "user") entry.text = null;
  }

  #observer(prompt, answers) {
    const open = new Map();
    const delivered = (role, text) => {
      const entry = answers.find((each) => each.role === role && (each.text === null ? each.full.startsWith(text) : each.text === text));
      assert.ok(entry, `a text of another turn than ${prompt.id} was delivered: ${text}`);
      entry.text = text;
    };
    return (event) => {
      if (event.type === "RUN_STARTED") prompt.text = prompt.full;
      else if (event.type === "TEXT_MESSAGE_START") open.set(event.messageId, "");
      else if (event.type === "TEXT_MESSAGE_CONTENT") open.set(event.messageId, open.get(event.messageId) + event.delta);
      else if (event.type === "TEXT_MESSAGE_END") delivered("assistant", open.get(event.messageId));
      else if (event.type === "TOOL_CALL_RESULT" && event.content.startsWith("File ")) delivered("tool", event.content);
    };
  }

  /** Checks the messages of a reader. */
  check(where, texts) {
    let next = 0;
    for (const { role, text } of texts) {
      if (role === "tool" && !text.startsWith("File ")) continue;
      const rest = this.entries.slice(next);
      const at = rest.findIndex((entry) => entry.role === role && (entry.text === null ? entry.full.startsWith(text) : entry.text === text));
      if (at === -1) this.#fail(where, texts, `unexpected, twice or out of order: ${role} ${JSON.stringify(text)}`);
      this.#checkSkipped(where, texts, rest.slice(0, at));
      next += at + 1;
    }
    this.#checkSkipped(where, texts, this.entries.slice(next));
  }

  /** Checks a conversation that was passed on to an agent as text, in front of the message with an id. */
  checkPassedOn(text, id, isOptional) {
    let from = 0;
    for (const entry of this.entries.slice(0, this.entries.findIndex((each) => each.id === id))) {
      if (entry.text === null || isOptional(entry.id)) continue;
      const at = text.indexOf(entry.text, from);
      assert.notEqual(at, -1, `the text for the agent before ${id} lacks ${entry.role} ${JSON.stringify(entry.text)}:\n${text}`);
      from = at + entry.text.length;
    }
  }

  #checkSkipped(where, texts, entries) {
    const lost = entries.find(({ text }) => text !== null);
    if (lost) this.#fail(where, texts, `lost: ${lost.role} ${JSON.stringify(lost.text)}`);
  }

  #fail(where, texts, why) {
    const list = (all) => all.map(({ role, text, full }) => `    ${role}: ${text ?? `(${full})`}`).join("\n");
    assert.fail(`${where}: ${why}\n  has:\n${list(texts)}\n  acknowledged, and (possible):\n${list(this.entries)}`);
  }
}
