// The part of a page that is about the gateway: where it is, how a run is stopped, and where a run is read again.

/** The gateway's address; the page is another site's. */
export const gateway = new URLSearchParams(location.search).get("gateway");

const KEPT = "last-run";

/** What a page remembers over a reload: the thread, the last run's id, and the messages before it. */
export const kept = JSON.parse(sessionStorage.getItem(KEPT)) ?? { threadId: crypto.randomUUID(), runId: null, messages: [] };

function keep(part) {
  Object.assign(kept, part);
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}

/**
 * An `HttpAgent` that stops runs where they are, as a client that only goes away cannot be told from one that comes back,
 * and that finds the conversation again.
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

    /** The conversation as it was when the last run began, and that run, be it over or not. */
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

/** The page's own tool. */
export const setTheme = {
  name: "set_theme",
  description: "Makes the page light or dark.",
  async run({ theme }) {
    document.body.style.background = theme === "dark" ? "black" : "white";
    return `The page is ${theme} now.`;
  },
};
