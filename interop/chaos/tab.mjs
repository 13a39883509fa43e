// A tab of the gateway's page without a view: its modules send the messages, read the runs and apply the events.
import { Interrupts } from "../../examples/gateway/page/interrupts.js";
import { newId } from "../../examples/gateway/page/ids.js";
import { reduce } from "../../examples/gateway/page/reduce.js";
import { cancelRun } from "../../examples/gateway/page/requests.js";
import { effects } from "../../examples/gateway/page/run-end.js";
import { open, run, runInput } from "../../examples/gateway/page/run.js";
import { Thread } from "../../examples/gateway/page/thread.js";
import { within } from "../harness.mjs";

const RUN_SECONDS = 30;

/** One thread of an agent in a tab. `send` sends a request to the gateway as the tab's user. */
export class Tab {
  #interrupts = new Interrupts();
  /** The run that is being read. */
  active = null;
  isLeft = false;

  constructor(send, agent, threadId) {
    this.send = send;
    this.agent = agent;
    this.thread = new Thread(threadId);
  }

  /** The messages with a text of user, agent and tools, as `{role, text}`. */
  get texts() {
    const shown = this.thread.messages.filter(({ role, content }) => ["user", "assistant", "tool"].includes(role) && content);
    return shown.map(({ role, content }) => ({ role, text: typeof content === "string" ? content : JSON.stringify(content) }));
  }

  /** The ids of the user's messages. */
  get prompts() {
    return this.thread.messages.filter(({ role }) => role === "user");
  }

  /** Opens the conversation as the page does after a reload. Returns whether it exists, and the end of its last run. */
  async open(onEvent = () => {}) {
    const path = `/api/ai/threads/${this.thread.id}?agent=${this.agent}`;
    const response = await this.send(path);
    if (response.status === 404) return { exists: false };
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    const { runId } = await response.json();
    const end = await this.#read(runId, [], null, onEvent, (each, signal, options) =>
      open({ threadId: this.thread.id, runId }, each, signal, options),
    );
    return { exists: true, end };
  }

  /**
   * Sends a message, or only the answers to the open questions, and reads the run until its end. `alone`: the input has the
   * user's last message only, as that of a client without the conversation.
   */
  async run(content, { onEvent = () => {}, alone = false, answer } = {}) {
    for (const { id } of this.#interrupts.all) if (answer) this.#interrupts.answer(id, answer);
    const asked = this.#interrupts.all;
    const resume = this.#interrupts.take(() => {});
    const message = content === null ? null : this.thread.say(content);
    const runId = newId("run");
    const input = runInput(this.thread, runId, resume);
    if (alone) input.messages = input.messages.filter(({ role }) => role === "user").slice(-1);
    return this.#read(runId, asked, message, onEvent, (each, signal, options) => run(structuredClone(input), each, signal, options));
  }

  async #read(runId, asked, message, onEvent, request) {
    const abort = new AbortController();
    this.active = { abort, cancel: () => cancelRun(runId, this.send) };
    const each = (event) => {
      reduce(this.thread, event);
      onEvent(event);
    };
    const { agent, send } = this;
    const end = await within(RUN_SECONDS, `the end of ${runId}`, request(each, abort.signal, { agent, send }));
    this.active = null;
    const { isWithdrawn, interrupts } = effects(end, asked, this.thread);
    if (message !== null && isWithdrawn) this.thread.remove(message);
    this.#interrupts.open(interrupts);
    return end;
  }

  /** Ends the connection, as a tab that is closed. */
  leave() {
    this.isLeft = true;
    this.active?.abort.abort();
  }
}
