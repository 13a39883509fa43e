use acp_types::v1::tool_calls::{
    ToolCall, ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolKind,
};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Presence, Raw};

/// What one message says of a tool call.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(super) id: ToolCallId,
    /// Whether it begins a call where the id stands for one of an earlier run.
    pub(super) announces: bool,
    pub(super) asks: bool,
    pub(super) title: Option<String>,
    pub(super) name: Option<String>,
    pub(super) kind: Option<ToolKind>,
    pub(super) status: Option<ToolCallStatus>,
    pub(super) content: Option<Vec<ToolCallContent>>,
    pub(super) locations: Option<Vec<ToolCallLocation>>,
    pub(super) raw_input: Option<Raw>,
    pub(super) raw_output: Option<Raw>,
    pub(super) meta: Option<Meta>,
}

impl From<ToolCall> for Change {
    fn from(call: ToolCall) -> Self {
        Self {
            id: call.tool_call_id,
            announces: true,
            asks: false,
            title: Some(call.title),
            name: call.name,
            kind: call.kind,
            status: call.status,
            content: call.content,
            locations: call.locations,
            raw_input: call.raw_input,
            raw_output: call.raw_output,
            meta: call.meta,
        }
    }
}

impl From<ToolCallUpdate> for Change {
    fn from(update: ToolCallUpdate) -> Self {
        Self {
            id: update.tool_call_id,
            announces: false,
            asks: false,
            title: value(update.title),
            name: value(update.name),
            kind: value(update.kind),
            status: value(update.status),
            content: value(update.content),
            locations: value(update.locations),
            raw_input: value(update.raw_input),
            raw_output: value(update.raw_output),
            meta: update.meta,
        }
    }
}

impl Change {
    /// The same, asked for in a permission request.
    pub(crate) fn asking(self) -> Self {
        Self { announces: true, asks: true, ..self }
    }
}

fn value<T>(presence: Presence<T>) -> Option<T> {
    let mut value = None;
    presence.apply_to(&mut value);
    value
}
