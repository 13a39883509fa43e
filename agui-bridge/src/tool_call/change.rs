use crate::produced::Produced;
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
    pub(crate) id: ToolCallId,
    /// Whether it begins a call where the id stands for one of an earlier run.
    pub(super) announces: bool,
    pub(super) asks: bool,
    pub(crate) title: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<ToolKind>,
    pub(crate) status: Option<ToolCallStatus>,
    pub(crate) content: Option<Vec<Produced>>,
    /// Whether the content is to be added to what there is.
    pub(crate) appends: bool,
    pub(crate) locations: Option<Vec<ToolCallLocation>>,
    pub(crate) raw_input: Option<Raw>,
    pub(crate) raw_output: Option<Raw>,
    pub(crate) meta: Option<Meta>,
}

impl From<ToolCall> for Change {
    fn from(call: ToolCall) -> Self {
        Self {
            announces: true,
            title: Some(call.title),
            name: call.name,
            kind: call.kind,
            status: call.status,
            content: call.content.map(produced),
            locations: call.locations,
            raw_input: call.raw_input,
            raw_output: call.raw_output,
            meta: call.meta,
            ..Self::new(call.tool_call_id.as_str())
        }
    }
}

impl From<ToolCallUpdate> for Change {
    fn from(update: ToolCallUpdate) -> Self {
        Self {
            title: value(update.title),
            name: value(update.name),
            kind: value(update.kind),
            status: value(update.status),
            content: value(update.content).map(produced),
            locations: value(update.locations),
            raw_input: value(update.raw_input),
            raw_output: value(update.raw_output),
            meta: update.meta,
            ..Self::new(update.tool_call_id.as_str())
        }
    }
}

impl Change {
    /// A change of nothing.
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: ToolCallId::from(id),
            announces: false,
            asks: false,
            title: None,
            name: None,
            kind: None,
            status: None,
            content: None,
            appends: false,
            locations: None,
            raw_input: None,
            raw_output: None,
            meta: None,
        }
    }

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

fn produced(content: Vec<ToolCallContent>) -> Vec<Produced> {
    content.into_iter().map(Produced::from).collect()
}
