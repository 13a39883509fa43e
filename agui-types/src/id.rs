//! Identifiers: opaque strings. The empty string is valid.
//!
//! Spec: [Identity, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#identity)

jsonrpc_core::string_id! {
    /// Identifies a conversation. The application creates it.
    ///
    /// Spec: [Identity, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#identity)
    pub struct ThreadId;

    /// Identifies a run. Do not reuse it within its thread.
    ///
    /// Spec: [Identity, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#identity)
    pub struct RunId;

    /// Identifies a message of any role. It is unique within the thread, across runs.
    ///
    /// Reasoning spans use this type as well; a span may share the identifier of a message within
    /// it.
    ///
    /// Spec: [`BaseMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#basemessage)
    pub struct MessageId;

    /// Identifies a tool call.
    ///
    /// Spec: [`ToolCall`, 1.0](https://ag-ui.com/spec/1.0/schema#toolcall)
    pub struct ToolCallId;

    /// Identifies one invocation of a subagent, not the subagent.
    ///
    /// Spec: [`SubagentRunId`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentrunid)
    pub struct SubagentRunId;

    /// Identifies an interrupt. It is unique within the run that it ends.
    ///
    /// Spec: [`Interrupt`, 1.0](https://ag-ui.com/spec/1.0/schema#interrupt)
    pub struct InterruptId;
}

/// The subagent invocation that an item belongs to; `None` for the agent itself.
pub(crate) type Owner = Option<SubagentRunId>;
