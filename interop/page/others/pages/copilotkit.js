// The chat component of CopilotKit, with an agent of the gateway.
import * as library from "/built/copilotkit.js";
import { gatewayAgent, kept, setTheme } from "./gateway-agent.js";

const { CopilotChat, CopilotKitProvider, useDefaultRenderTool, useFrontendTool, useInterrupt } = library;
const { createElement: h, createRoot, z } = library;

function Question({ interrupt, resolve, cancel }) {
  const { options = [] } = interrupt.metadata?.acp ?? {};
  return h(
    "fieldset",
    { "data-interrupt": interrupt.id },
    h("legend", null, interrupt.message),
    options.map(({ optionId, name }) => h("button", { key: optionId, onClick: () => resolve({ optionId }) }, name)),
    h("button", { onClick: () => cancel() }, "Not now"),
  );
}

function Chat() {
  useDefaultRenderTool({
    render: ({ name, status, parameters, result }) =>
      h("article", { "data-tool": name, "data-status": status }, `${name} ${JSON.stringify(parameters)} ${status}: ${result ?? ""}`),
  });
  useFrontendTool({
    name: setTheme.name,
    description: setTheme.description,
    parameters: z.object({ theme: z.enum(["light", "dark"]) }),
    handler: setTheme.run,
  });
  useInterrupt({ render: (props) => h(Question, props) });
  return h(CopilotChat, { threadId: kept.threadId });
}

const agents = { default: gatewayAgent(library) };
createRoot(document.querySelector("#root")).render(h(CopilotKitProvider, { agents__unsafe_dev_only: agents }, h(Chat)));
