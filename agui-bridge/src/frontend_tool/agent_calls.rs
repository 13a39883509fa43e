//! The agent's tool calls, as its reports show them: calls of the page's tools, and its own.
use super::correlation::Correlation;
use super::tool_set::{Carried, ToolSet};
use super::{Action, CallOwner};
use crate::tool_name::Clues;
use acp_types::v1::tool_calls::{ToolCallId as AgentId, ToolCallStatus};
use acp_types::v2::tool_calls::ToolCallStatus as ToolCallStatusV2;
use agui_types::id::ToolCallId;
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};

/// Largest number of the agent's own tool calls that are tracked.
const MAX_BUSY: usize = 1024;

/// The tool calls of the agent's turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct AgentCalls {
    /// The page's tools.
    tools: ToolSet,
    correlation: Correlation,
    /// The agent's own tool calls that have not ended.
    busy: BTreeMap<AgentId, OwnCall>,
}

impl AgentCalls {
    /// Returns the page's tools.
    pub(super) fn tools(&self) -> &ToolSet {
        &self.tools
    }

    /// Replaces the page's tools.
    pub(super) fn set_tools(&mut self, tools: ToolSet) {
        self.tools = tools;
    }

    /// Handles the end of the turn.
    pub(super) fn handle_turn_end(&mut self) {
        self.correlation = Correlation::default();
        self.busy.clear();
    }

    /// Returns the agent's id of the call that a binding received, if the agent has announced it.
    pub(super) fn announced_for(&mut self, tool: &str, arguments: &Raw) -> Option<AgentId> {
        self.correlation.announced_for(tool, arguments)
    }

    /// Handles a call that a binding received, with the agent's id if that is known.
    pub(super) fn handle_call(
        &mut self,
        id: Option<AgentId>,
        call: ToolCallId,
        tool: &str,
        arguments: &Raw,
    ) {
        match id {
            Some(id) => self.correlation.tie(id, call),
            None => self.correlation.expect(call, tool, arguments),
        }
    }

    /// Returns whether a tool call of the agent is a frontend call, according to its reports.
    pub(super) fn owns(&self, id: &AgentId) -> bool {
        self.correlation.knows(id)
    }

    /// Returns whether more than the title of a call shows that it is for a tool of the page.
    pub(super) fn is_named(&self, id: &AgentId, owner: CallOwner) -> bool {
        match owner {
            CallOwner::Agent => self.busy.get(id) == Some(&OwnCall::Carries),
            CallOwner::Frontend => self.correlation.is_named(id),
        }
    }

    /// Returns whether an own call of the agent runs.
    pub(super) fn runs(&self) -> bool {
        self.busy.values().any(|own| *own == OwnCall::Runs)
    }

    /// Returns whether each own call of the agent waits for the page.
    pub(super) fn is_idle(&self) -> bool {
        self.busy.values().all(|own| *own == OwnCall::Carries)
    }

    /// Handles a report. Returns the owner of its call, and an action if a call of the page was not made.
    pub(super) fn handle(&mut self, report: &Report<'_>) -> (CallOwner, Option<Action>) {
        let id = &report.id;
        let clues = Clues { name: report.name, meta: report.meta, kind: None, title: report.title };
        let known = self.correlation.knows(id);
        let carried = report.input.and_then(Carried::of);
        let tool = self
            .correlation
            .announced_tool(id)
            .or_else(|| self.tools.of_call(clues, report.kind))
            .or_else(|| self.tools.of_carried(carried.as_ref()?, report.kind));
        let tool = tool.map(ToString::to_string);
        // The call may have been announced as the agent's own before its name was known.
        let frontend = known || (tool.is_some() && !self.busy.contains_key(id));
        if let (true, Some(tool)) = (frontend, &tool) {
            let arguments = carried.as_ref().map(|carried| &carried.arguments);
            self.correlation.announce(id, tool, arguments.or(report.input));
            let named = self
                .tools
                .of_call(Clues { title: None, ..clues }, report.kind)
                .or_else(|| self.tools.of_carried(carried.as_ref()?, report.kind))
                .or_else(|| self.tools.of_input(report.input?));
            if named == Some(tool) {
                self.correlation.note_name(id);
            }
        }
        if !frontend {
            self.watch_own(report, tool.is_some());
            return (CallOwner::Agent, None);
        }
        if let (true, Some(name)) = (report.is_over(), self.correlation.announced_tool(id)) {
            let name = name.to_string();
            let status = report.status.unwrap_or_default().to_string();
            self.correlation.forget(id);
            let not_made = Action::NotMade { tool_call_id: id.clone(), name, status };
            return (CallOwner::Frontend, Some(not_made));
        }
        (CallOwner::Frontend, None)
    }

    /// Records an own call of the agent. `carries` is whether it calls a tool of the page.
    fn watch_own(&mut self, report: &Report<'_>, carries: bool) {
        let id = &report.id;
        let runs = report.status == Some(ToolCallStatus::InProgress.as_str());
        let state = if runs { OwnCall::Runs } else { OwnCall::Announced };
        if report.is_over() {
            self.busy.remove(id);
        } else if let Some(known) = self.busy.get_mut(id) {
            let state = if carries { OwnCall::Carries } else { state };
            *known = state.max(*known);
        } else if (report.announces || report.status.is_some()) && self.busy.len() < MAX_BUSY {
            self.busy.insert(id.clone(), state);
        }
    }
}

/// An own call of the agent that is not over. The later state replaces the earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum OwnCall {
    /// The call has not begun.
    Announced,
    /// The call runs.
    Runs,
    /// The call turned out to call a tool of the page, for which it waits.
    Carries,
}

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
    /// Whether an unknown call begins here.
    pub(super) announces: bool,
}

impl Report<'_> {
    fn is_over(&self) -> bool {
        let over = [
            ToolCallStatus::Completed.as_str(),
            ToolCallStatus::Failed.as_str(),
            ToolCallStatusV2::Cancelled.as_str(),
        ];
        self.status.is_some_and(|status| over.contains(&status))
    }
}
