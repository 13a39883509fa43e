//! Identifiers: opaque strings, of which the empty one is legal too.
//!
//! Spec: [Identity, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#identity)

jsonrpc_core::string_id! {
    /// Names a conversation; the application makes it.
    ///
    /// Spec: [Identity, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#identity)
    pub struct ThreadId;

    /// Names a run; not to be used again within its thread.
    ///
    /// Spec: [Identity, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#identity)
    pub struct RunId;

    /// Names a message, of whatever kind; unique within the thread, across its runs.
    ///
    /// A reasoning span has an identifier of this form as well, which may equal that of a message within it.
    ///
    /// Spec: [`BaseMessage`, 1.0](https://ag-ui.com/spec/1.0/schema#basemessage)
    pub struct MessageId;

    /// Names a tool call.
    ///
    /// Spec: [`ToolCall`, 1.0](https://ag-ui.com/spec/1.0/schema#toolcall)
    pub struct ToolCallId;

    /// Names one invocation of a subagent, not the subagent.
    ///
    /// Spec: [`SubagentRunId`, 1.0](https://ag-ui.com/spec/1.0/schema#subagentrunid)
    pub struct SubagentRunId;

    /// Names an interrupt; unique within the run that it ends.
    ///
    /// Spec: [`Interrupt`, 1.0](https://ag-ui.com/spec/1.0/schema#interrupt)
    pub struct InterruptId;
}
