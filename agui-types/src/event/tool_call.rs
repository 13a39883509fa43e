//! Tool calls.
//!
//! Spec: [Tool Calls, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls)
use crate::content::Content;
use crate::id::{MessageId, ToolCallId};
use alloc::string::String;
use jsonrpc_core::open_enum;

event! {
    /// Opens a tool call.
    ///
    /// Spec: [`ToolCallStartEvent`, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_start)
    pub struct ToolCallStartEvent {
        /// The call.
        tool_call_id: ToolCallId = "toolCallId",
        /// The tool.
        tool_call_name: String = "toolCallName",
    }
    optional {
        /// The assistant message that holds the call; where no such message exists, clients make one.
        parent_message_id: MessageId = "parentMessageId",
    }
    attributable
}

event! {
    /// Appends to the arguments of an open tool call.
    ///
    /// Spec: [`ToolCallArgsEvent`, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_args)
    pub struct ToolCallArgsEvent {
        /// The call.
        tool_call_id: ToolCallId = "toolCallId",
        /// What is appended, a piece of a JSON document by convention; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// Closes a tool call: its arguments are complete. They need not be valid.
    ///
    /// Spec: [`ToolCallEndEvent`, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_end)
    pub struct ToolCallEndEvent {
        /// The call.
        tool_call_id: ToolCallId = "toolCallId",
    }
    attributable
}

event! {
    /// Stands for start, arguments and end: the first of a call opens it, the next event of another kind closes it.
    ///
    /// Spec: [The chunked form, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#the-chunked-form)
    pub struct ToolCallChunkEvent {}
    optional {
        /// The call; absent for the one that is open.
        tool_call_id: ToolCallId = "toolCallId",
        /// The tool; needed on the first.
        tool_call_name: String = "toolCallName",
        /// The assistant message that holds the call.
        parent_message_id: MessageId = "parentMessageId",
        /// What is appended to the arguments; may be empty.
        delta: String = "delta",
    }
    attributable
}

event! {
    /// What a tool that the agent ran gave back: a message of its own.
    ///
    /// Calls of tools that the application runs get none; the application answers them in its next input.
    ///
    /// Spec: [`ToolCallResultEvent`, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#tool_call_result)
    pub struct ToolCallResultEvent {
        /// The tool message that this makes.
        message_id: MessageId = "messageId",
        /// The call that it answers.
        tool_call_id: ToolCallId = "toolCallId",
        /// A text, or parts.
        content: Content = "content",
    }
    optional {
        /// The role of the message.
        role: ToolRole = "role",
    }
    attributable
}

open_enum! {
    /// The role of the message that a tool's result makes.
    ///
    /// Spec: [`ToolCallResultEvent.role`, 1.0](https://ag-ui.com/spec/1.0/schema#toolcallresultevent)
    pub enum ToolRole {
        /// A tool's.
        Tool = "tool",
    }
}
