//! Tool call events.
//!
//! Spec: [Tool Calls, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls)
use crate::content::Content;
use crate::id::{MessageId, ToolCallId};
use alloc::string::String;
use jsonrpc_core::open_enum;

event! {
    /// Opens a tool call.
    ///
    /// Spec: [`ToolCallStartEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_start)
    #[doc(alias = "TOOL_CALL_START")]
    pub struct ToolCallStartEvent {
        /// The call.
        tool_call_id: ToolCallId = "toolCallId",
        /// Name of the tool.
        tool_call_name: String = "toolCallName",
    }
    optional {
        /// The assistant message that holds the call. Clients create it if it does not exist.
        parent_message_id: MessageId = "parentMessageId",
    }
    attributable
}

event! {
    /// Appends to the arguments of an open tool call.
    ///
    /// Spec: [`ToolCallArgsEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_args)
    #[doc(alias = "TOOL_CALL_ARGS")]
    pub struct ToolCallArgsEvent {
        /// The call.
        tool_call_id: ToolCallId = "toolCallId",
        /// Appended text, by convention a piece of a JSON document; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a tool call: its arguments are complete, but not necessarily valid.
    ///
    /// Spec: [`ToolCallEndEvent`, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_end)
    #[doc(alias = "TOOL_CALL_END")]
    pub struct ToolCallEndEvent {
        /// The call.
        tool_call_id: ToolCallId = "toolCallId",
    }
    attributable
}

event! {
    /// Combines start, arguments and end: the first chunk of a call opens it, the next event of
    /// another type closes it.
    ///
    /// Spec: [The chunked form,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
    #[doc(alias = "TOOL_CALL_CHUNK")]
    pub struct ToolCallChunkEvent {}
    optional {
        /// The call; absent for the open one.
        tool_call_id: ToolCallId = "toolCallId",
        /// Name of the tool; required on the first chunk.
        tool_call_name: String = "toolCallName",
        /// The assistant message that holds the call.
        parent_message_id: MessageId = "parentMessageId",
        /// Text appended to the arguments; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// The result of a tool that the agent ran. It creates a tool message.
    ///
    /// Calls of application tools have no such event. The application answers them in its next
    /// input.
    ///
    /// Spec: [`ToolCallResultEvent`,
    /// 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_result)
    #[doc(alias = "TOOL_CALL_RESULT")]
    pub struct ToolCallResultEvent {
        /// Identifier of the tool message.
        message_id: MessageId = "messageId",
        /// The call that is answered.
        tool_call_id: ToolCallId = "toolCallId",
        /// A string, or content parts.
        content: Content = "content",
    }
    optional {
        /// The role of the message.
        role: ToolRole = "role",
    }
    attributable
}

open_enum! {
    /// The role of a tool result's message.
    ///
    /// Spec: [`ToolCallResultEvent.role`,
    /// 1.0](https://ag-ui.com/spec/1.0/schema#toolcallresultevent)
    pub enum ToolRole {
        /// A tool.
        Tool = "tool",
    }
}
