//! The agent's tool calls, as its reports show them: calls of the page's tools, and its own.
use super::correlation::Correlation;
use super::report::Report;
use super::tool_set::{Reference, ToolSet};
use super::{Action, CallOwner};
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
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

    /// Handles the end of the turn: calls that were not made are shown as the agent's own.
    pub(super) fn handle_turn_end(&mut self, actions: &mut VecDeque<Action>) {
        for announced in self.correlation.take_all() {
            actions.extend(announced.into_reports());
        }
        self.correlation = Correlation::default();
        self.busy.clear();
    }

    /// Returns the agent's id of the call that a binding received, if the agent has announced it.
    pub(super) fn announced_for(&self, tool: &str, arguments: &Raw) -> Option<AgentId> {
        self.correlation.announced_for(tool, arguments)
    }

    /// Returns whether a call of the agent is in the stream as its own.
    pub(super) fn is_shown(&self, id: &AgentId) -> bool {
        self.busy.contains_key(id) || self.correlation.is_shown(id)
    }

    /// Handles a call that a binding received, with the agent's id if that is known.
    pub(super) fn handle_call(
        &mut self,
        id: Option<AgentId>,
        call: ToolCallId,
        tool: &str,
        arguments: &Raw,
    ) {
        let Some(id) = id else { return self.correlation.expect(call, tool, arguments) };
        if !self.is_shown(&id) {
            return self.correlation.tie(id, call);
        }
        self.correlation.take(&id);
        if let Some(own) = self.busy.get_mut(&id) {
            *own = OwnCall::Carries;
        }
    }

    /// Returns whether reports of this call are kept out of the stream.
    pub(super) fn is_hidden(&self, id: &AgentId) -> bool {
        self.correlation.is_matched(id) || self.correlation.withholds(id)
    }

    /// Returns whether an own call of the agent runs.
    pub(super) fn runs(&self) -> bool {
        self.busy.values().any(|own| *own == OwnCall::Runs)
    }

    /// Returns whether each own call of the agent waits for the page.
    pub(super) fn is_idle(&self) -> bool {
        self.busy.values().all(|own| *own == OwnCall::Carries)
    }

    /// Handles a report, and returns the owner of its call. `update` is the action that shows it.
    pub(super) fn handle(
        &mut self,
        report: &Report<'_>,
        update: impl FnOnce() -> Action,
        actions: &mut VecDeque<Action>,
    ) -> CallOwner {
        let id = &report.id;
        let reference = self.tools.reference(report);
        if self.correlation.is_matched(id) {
            if !report.has_effect() && !self.tools.has_foreign_input(report) {
                return CallOwner::Frontend;
            }
            self.correlation.untie(id);
        } else if self.correlation.withholds(id) {
            let is_foreign = report.has_effect() || self.tools.has_foreign_input(report);
            self.withhold(report, reference.as_ref(), update(), actions);
            if is_foreign || report.is_over() {
                self.show(id, actions);
                self.correlation.take(id);
            }
            if report.is_over() {
                self.busy.remove(id);
            }
            return CallOwner::Frontend;
        } else if let Some(reference) = &reference
            && !self.is_shown(id)
        {
            let Reference { tool, arguments } = reference;
            if let Some(made) = self.correlation.take_unannounced(tool, arguments.as_ref()) {
                self.correlation.tie(id.clone(), made);
            } else if report.is_over() {
                return CallOwner::Agent;
            } else {
                self.withhold(report, Some(reference), update(), actions);
            }
            return CallOwner::Frontend;
        }
        self.watch_own(report, reference);
        CallOwner::Agent
    }

    /// Handles a permission request about the call of a report: the call is the agent's own from
    /// now on.
    pub(super) fn handle_asked(&mut self, report: &Report<'_>, actions: &mut VecDeque<Action>) {
        let id = &report.id;
        self.correlation.untie(id);
        self.show(id, actions);
        if self.busy.len() < MAX_BUSY {
            self.busy.entry(id.clone()).or_insert(OwnCall::Announced);
        }
        let reference = self.tools.reference(report);
        self.watch_own(report, reference);
    }

    fn withhold(
        &mut self,
        report: &Report<'_>,
        reference: Option<&Reference>,
        update: Action,
        actions: &mut VecDeque<Action>,
    ) {
        let id = &report.id;
        let runs = report.runs();
        let mut surplus = Vec::new();
        match reference {
            Some(Reference { tool, arguments }) => {
                surplus = self.correlation.announce(id, tool, arguments.as_ref(), false);
            }
            None => self.correlation.set_arguments(id, report.arguments().as_ref()),
        }
        surplus.extend(self.correlation.withhold(id, update, runs));
        for announced in surplus {
            self.note_shown(&announced.id, announced.runs);
            actions.extend(announced.into_reports());
        }
    }

    /// Shows the withheld reports of a call as those of the agent's own call.
    fn show(&mut self, id: &AgentId, actions: &mut VecDeque<Action>) {
        if let Some((reports, runs)) = self.correlation.show(id) {
            self.note_shown(id, runs);
            actions.extend(reports);
        }
    }

    fn note_shown(&mut self, id: &AgentId, runs: bool) {
        if self.busy.len() < MAX_BUSY {
            let state = if runs { OwnCall::Runs } else { OwnCall::Announced };
            self.busy.entry(id.clone()).or_insert(state);
        }
    }

    /// Records an own call of the agent, and the tool of the page that it refers to.
    fn watch_own(&mut self, report: &Report<'_>, reference: Option<Reference>) {
        let id = &report.id;
        if report.is_over() {
            self.busy.remove(id);
            self.correlation.take(id);
            return;
        }
        let state = if report.runs() { OwnCall::Runs } else { OwnCall::Announced };
        if let Some(known) = self.busy.get_mut(id) {
            *known = state.max(*known);
        } else if (report.announces || report.status.is_some()) && self.busy.len() < MAX_BUSY {
            self.busy.insert(id.clone(), state);
        }
        let waits = self.busy.get(id).is_some_and(|own| *own != OwnCall::Carries);
        let Some(Reference { tool, arguments }) = reference.filter(|_| waits) else { return };
        if self.correlation.take_unannounced(&tool, arguments.as_ref()).is_some() {
            self.busy.insert(id.clone(), OwnCall::Carries);
            self.correlation.take(id);
        } else {
            self.correlation.announce(id, &tool, arguments.as_ref(), true);
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
    /// A binding received the call of the page's tool that it refers to, for which it waits.
    Carries,
}
