// What the page takes from packages; esbuild makes one module of it.
export { HttpAgent, runHttpRequest, transformHttpEventStream } from "@ag-ui/client";
export { AssistantRuntimeProvider, ComposerPrimitive, ErrorPrimitive, MessagePrimitive, ThreadPrimitive, useAssistantTool } from "@assistant-ui/react";
export { fromAgUiMessages, useAgUiInterrupts, useAgUiRuntime, useAgUiSubmitInterruptResponses } from "@assistant-ui/react-ag-ui";
export { createElement } from "react";
export { createRoot } from "react-dom/client";
