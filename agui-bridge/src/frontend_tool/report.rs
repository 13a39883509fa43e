//! The agent's report of a tool call.
use acp_types::v1::tool_calls::{ToolCallId as AgentId, ToolCallStatus, ToolKind};
use acp_types::v2::tool_calls::ToolCallStatus as ToolCallStatusV2;
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Meta, Raw};

/// Largest size of an input that is searched for a call of a page's tool, in bytes.
pub(super) const MAX_CARRIED_BYTES: usize = 64 << 10;

/// The agent's report of a tool call, in either version.
#[derive(Clone, Debug)]
pub(super) struct Report<'a> {
    pub(super) id: AgentId,
    pub(super) name: Option<&'a str>,
    pub(super) title: Option<&'a str>,
    pub(super) meta: Option<&'a Meta>,
    pub(super) kind: Option<&'a str>,
    pub(super) status: Option<&'a str>,
    pub(super) input: Option<&'a Raw>,
    /// Whether it has locations, a diff or a terminal.
    pub(super) has_place: bool,
    /// Whether an unknown call begins here.
    pub(super) announces: bool,
}

impl Report<'_> {
    /// Creates a report without members.
    pub(super) fn new(id: AgentId) -> Self {
        Self {
            id,
            name: None,
            title: None,
            meta: None,
            kind: None,
            status: None,
            input: None,
            has_place: false,
            announces: false,
        }
    }

    /// Returns whether the call has a place or a kind that no tool of a page has.
    pub(super) fn has_effect(&self) -> bool {
        let kinds = [ToolKind::Execute, ToolKind::Edit, ToolKind::Delete, ToolKind::Move];
        self.has_place || self.kind.is_some_and(|it| kinds.iter().any(|kind| kind.as_str() == it))
    }

    /// Returns the arguments of the call, also those within the input of a tool that calls others.
    pub(super) fn arguments(&self) -> Option<Raw> {
        let carried = self.input.and_then(CarriedCall::of);
        carried.map(|carried| carried.arguments).or(self.input.cloned())
    }

    /// Returns whether the call is in progress.
    pub(super) fn runs(&self) -> bool {
        self.status == Some(ToolCallStatus::InProgress.as_str())
    }

    /// Returns whether the call has ended.
    pub(super) fn is_over(&self) -> bool {
        let over = [
            ToolCallStatus::Completed.as_str(),
            ToolCallStatus::Failed.as_str(),
            ToolCallStatusV2::Cancelled.as_str(),
        ];
        self.status.is_some_and(|status| over.contains(&status))
    }
}

/// The input of a tool of the agent that calls tools of MCP servers, such as `use_tool` of Grok.
#[derive(Clone, Debug)]
pub(super) struct CarriedCall {
    pub(super) tool: String,
    pub(super) arguments: Raw,
}

impl CarriedCall {
    /// Reads `{"tool_name": …, "tool_input": {…}}`, with any other members. Inputs of other forms
    /// are not decoded.
    pub(super) fn of(input: &Raw) -> Option<Self> {
        let text = input.as_str();
        if text.len() > MAX_CARRIED_BYTES || !text.contains("\"tool_input\"") {
            return None;
        }
        let members = input.decode::<Extra>().ok()?;
        let tool = members.get("tool_name")?.decode().ok()?;
        Some(Self { tool, arguments: members.get("tool_input")?.clone() })
    }
}
