// Access of a page to the gateway: its address, cancellation of a run, and resumption of a stream.

/** The address of the gateway. Its origin differs from that of the page. */
export const gateway = new URLSearchParams(location.search).get("gateway");

const KEPT = "last-run";

/** The state that survives a reload: the thread, and the id of the last run. */
export const kept = JSON.parse(sessionStorage.getItem(KEPT)) ?? { threadId: crypto.randomUUID(), runId: null };

function keep(part) {
  Object.assign(kept, part);
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}
keep({});

/**
 * An `HttpAgent` that cancels runs at the gateway, and restores the conversation after a reload. The gateway does not cancel
 * the run of a client that disconnects, because the client may reconnect.
 */
export function gatewayAgent({ HttpAgent, runHttpRequest, transformHttpEventStream }) {
  class GatewayAgent extends HttpAgent {
    run(input) {
      keep({ runId: input.runId });
      return super.run(input);
    }

    abortRun() {
      if (kept.runId) fetch(`${gateway}/api/ai/chat/runs/${kept.runId}/cancel`, { method: "POST" });
      super.abortRun();
    }

    /** Returns the conversation before the last run, and the events of that run, which may be active. */
    connect(input) {
      const url = this.url.replace(/chat$/, "connect");
      return transformHttpEventStream(runHttpRequest(() => fetch(url, this.requestInit(input))));
    }
  }
  return new GatewayAgent({ url: `${gateway}/api/ai/agents/demo/chat`, threadId: kept.threadId });
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
