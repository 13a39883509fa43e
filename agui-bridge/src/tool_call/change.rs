//! The members of a message about a tool call, in either version of ACP.
use super::status::Status;
use crate::produced::ProducedContent;
use acp_types::v1::tool_calls::{
    ToolCall, ToolCallContent, ToolCallId, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolKind,
};
use acp_types::v2::tool_calls::{ToolCallContentChunk, ToolCallUpdate as ToolCallUpdateV2};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Presence, Raw};

/// The members of one message about a tool call.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) id: ToolCallId,
    /// Whether it begins a call if the id belongs to a call that the agent has ended, or to one of
    /// an earlier turn.
    pub(super) announces: bool,
    /// Whether it is part of a permission request.
    pub(super) asks: bool,
    pub(crate) title: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<ToolKind>,
    pub(crate) status: Option<ToolCallStatus>,
    pub(crate) content: Option<Vec<ProducedContent>>,
    /// Whether the content is appended to the content so far.
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

impl From<ToolCallUpdateV2> for Change {
    fn from(update: ToolCallUpdateV2) -> Self {
        let mut change = Self::new(update.tool_call_id.as_str());
        change.title = update.title.value().cloned();
        change.name = update.name.value().cloned();
        change.kind = update.kind_or_other().map(|kind| kind.as_str().into());
        change.status = update.status.value().map(|status| status.as_str().into());
        change.content = match update.content {
            Presence::Absent => None,
            Presence::Null => Some(vec![]),
            Presence::Value(content) => Some(content.into_iter().map(Into::into).collect()),
        };
        change.locations = match update.locations {
            Presence::Absent => None,
            Presence::Null => Some(vec![]),
            Presence::Value(locations) => Some(locations.into_iter().map(Into::into).collect()),
        };
        change.raw_input = update.raw_input.value().cloned();
        change.raw_output = update.raw_output.value().cloned();
        change.meta = update.meta.value().cloned();
        change
    }
}

impl From<ToolCallContentChunk> for Change {
    fn from(chunk: ToolCallContentChunk) -> Self {
        let mut change = Self::new(chunk.tool_call_id.as_str());
        change.content = Some(vec![chunk.content.into()]);
        change.appends = true;
        change
    }
}

impl Change {
    /// Creates a change without members.
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

    /// Returns the same as part of a permission request.
    pub(crate) fn asking(self) -> Self {
        Self { announces: true, asks: true, ..self }
    }

    /// Returns whether it describes a call with a status before the end, as an update of ACP v2
    /// does that announces a call.
    pub(super) fn describes_open_call(&self) -> bool {
        let describes = self.title.is_some()
            || self.name.is_some()
            || self.kind.is_some()
            || self.raw_input.is_some();
        let status = self.status.as_ref();
        describes && status.is_some_and(|status| !Status::Agent(status.clone()).is_final())
    }
}

fn value<T>(presence: Presence<T>) -> Option<T> {
    let mut value = None;
    presence.apply_to(&mut value);
    value
}

fn produced(content: Vec<ToolCallContent>) -> Vec<ProducedContent> {
    content.into_iter().map(ProducedContent::from).collect()
}
