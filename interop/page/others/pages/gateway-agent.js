// Access of a page to the gateway: its address, cancellation of a run, and resumption of a stream.

/** The address of the gateway. Its origin differs from that of the page. */
export const gateway = new URLSearchParams(location.search).get("gateway");

const KEPT = "last-run";

/** The state that survives a reload: the thread, the id of the last run, and the messages before that run. */
export const kept = JSON.parse(sessionStorage.getItem(KEPT)) ?? { threadId: crypto.randomUUID(), runId: null, messages: [] };

function keep(part) {
  Object.assign(kept, part);
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}

/**
 * An `HttpAgent` that cancels runs at the gateway, and restores the conversation after a reload. The gateway does not cancel
 * the run of a client that disconnects, because the client may reconnect.
 */
export function gatewayAgent({ HttpAgent, runHttpRequest, transformHttpEventStream }) {
  class GatewayAgent extends HttpAgent {
    run(input) {
      keep({ runId: input.runId, messages: input.messages });
      return super.run(input);
    }

    abortRun() {
      if (kept.runId) fetch(`${this.url}/runs/${kept.runId}/cancel`, { method: "POST" });
      super.abortRun();
    }

    /** Returns the conversation before the last run, and the events of that run, which may be active. */
    connect() {
      return transformHttpEventStream(runHttpRequest(async () => {
        const response = kept.runId && (await fetch(`${this.url}/runs/${kept.runId}/events`));
        const { threadId, messages } = kept;
        const before = [
          { type: "RUN_STARTED", threadId, runId: crypto.randomUUID() },
          { type: "MESSAGES_SNAPSHOT", messages },
          { type: "RUN_FINISHED", threadId, runId: crypto.randomUUID() },
        ];
        const head = before.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
        const stream = new TransformStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(head)) });
        if (response?.ok) response.body.pipeTo(stream.writable);
        else stream.writable.close();
        return new Response(stream.readable, { headers: { "Content-Type": "text/event-stream" } });
      }));
    }
  }
  return new GatewayAgent({ url: `${gateway}/api/ai/chat`, threadId: kept.threadId });
}

/** The tool of the page. */
export const setTheme = {
  name: "set_theme",
  description: "Makes the page light or dark.",
  async run({ theme }) {
    document.body.style.background = theme === "dark" ? "black" : "white";
    return `The page is ${theme} now.`;
  },
};
