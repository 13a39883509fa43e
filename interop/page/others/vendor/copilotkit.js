// What the page takes from packages; esbuild makes one module of it.
export { HttpAgent, runHttpRequest, transformHttpEventStream } from "@ag-ui/client";
export { CopilotChat, CopilotKitProvider, useDefaultRenderTool, useFrontendTool, useInterrupt } from "@copilotkit/react-core/v2";
export { createElement } from "react";
export { createRoot } from "react-dom/client";
export { z } from "zod";
import "@copilotkit/react-core/v2/styles.css";
