//! The agent's reports of tool calls, separated into the page's and its own.
use super::machine::FrontendTools;
use super::tool_set::Carried;
use super::{Action, CallOwner};
use crate::tool_name::Clues;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SelectedPermissionOutcome, ToolCallId as AgentId, ToolCallStatus, ToolKind,
};
use acp_types::v2::prompt_lifecycle::UpdateSessionNotification;
use alloc::string::{String, ToString};
use core::time::Duration;
use jsonrpc_core::wire::{Meta, Raw};
use serde::{Deserialize, Serialize};

/// Names of version 2 that version 1 uses for other types.
mod v2 {
    pub(super) use acp_types::v2::prompt_lifecycle::SessionUpdate;
    pub(super) use acp_types::v2::tool_calls::ToolCallStatus;
}

/// Largest number of the agent's own tool calls that are tracked.
const MAX_BUSY: usize = 1024;

impl FrontendTools {
    /// Handles `session/update`, and returns the owner of its tool call. Pass updates of the agent to the translator.
    ///
    /// A tool call is a frontend call if its name, title, `_meta` or input refers to the binding's server, in a form that
    /// agents use, or has the prefix of contextual tools, and the page provides the tool. A call that was announced
    /// before it refers to the page stays the agent's own, but does not keep the run open.
    pub fn handle_update(
        &mut self,
        notification: &SessionNotification,
        now: Duration,
    ) -> CallOwner {
        self.last_activity = now;
        let report = match &notification.update {
            SessionUpdate::ToolCall(call) => Report {
                id: call.tool_call_id.clone(),
                name: call.name.as_deref(),
                title: Some(&call.title),
                meta: call.meta.as_ref(),
                kind: call.kind.as_ref().map(ToolKind::as_str),
                status: call.status.as_ref().map(ToolCallStatus::as_str),
                input: call.raw_input.as_ref(),
                announces: true,
            },
            SessionUpdate::ToolCallUpdate(update) => Report {
                id: update.tool_call_id.clone(),
                name: update.name.value().map(String::as_str),
                title: update.title.value().map(String::as_str),
                meta: update.meta.as_ref(),
                kind: update.kind.value().map(ToolKind::as_str),
                status: update.status.value().map(ToolCallStatus::as_str),
                input: update.raw_input.value(),
                announces: false,
            },
            _ => return CallOwner::Agent,
        };
        self.watch(&report)
    }

    /// As [`handle_update`](Self::handle_update), for ACP v2.
    pub fn handle_update_v2(
        &mut self,
        notification: &UpdateSessionNotification,
        now: Duration,
    ) -> CallOwner {
        self.last_activity = now;
        match &notification.update {
            v2::SessionUpdate::ToolCallUpdate(update) => self.watch(&Report {
                id: update.tool_call_id.as_str().into(),
                name: update.name.value().map(String::as_str),
                title: update.title.value().map(String::as_str),
                meta: update.meta.value(),
                kind: update.kind.value().map(ToolKind::as_str),
                status: update.status.value().map(v2::ToolCallStatus::as_str),
                input: update.raw_input.value(),
                announces: update.title.value().is_some(),
            }),
            v2::SessionUpdate::ToolCallContentChunk(chunk)
                if self.correlation.knows(&chunk.tool_call_id.as_str().into()) =>
            {
                CallOwner::Frontend
            }
            _ => CallOwner::Agent,
        }
    }

    /// Returns the answer to a permission request for a frontend call: it is allowed, since the page asks its user
    /// itself if necessary. Returns `None` for any other request, and for one without an option to allow.
    ///
    /// The name, the `_meta` or the arguments of the call have to refer to the binding's server. The title may be a text of
    /// the model, such as the command `ui/pick`, so that a call with a title alone needs the permission of the user.
    pub fn handle_permission_request(
        &mut self,
        request: &RequestPermissionRequest,
        now: Duration,
    ) -> Option<RequestPermissionOutcome> {
        let update = SessionUpdate::ToolCallUpdate(request.tool_call.clone().into());
        let notification = SessionNotification::new(request.session_id.clone(), update);
        let owner = self.handle_update(&notification, now);
        let id = &request.tool_call.tool_call_id;
        let is_named = match owner {
            CallOwner::Agent => self.busy.get(id) == Some(&OwnCall::Carries),
            CallOwner::Frontend => self.correlation.is_named(id),
        };
        if !is_named {
            return None;
        }
        let kinds = [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways];
        let mut options = kinds
            .iter()
            .filter_map(|kind| request.options.iter().find(|option| option.kind == *kind));
        let option = options.next()?;
        let selected = SelectedPermissionOutcome::new(option.option_id.clone());
        Some(RequestPermissionOutcome::Selected(selected))
    }

    /// Returns whether a tool call of the agent is a frontend call, according to its reports.
    pub(crate) fn owns(&self, id: &AgentId) -> bool {
        self.correlation.knows(id)
    }

    fn watch(&mut self, report: &Report<'_>) -> CallOwner {
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
            return CallOwner::Agent;
        }
        if let (true, Some(name)) = (report.is_over(), self.correlation.announced_tool(id)) {
            let name = name.to_string();
            let status = report.status.unwrap_or_default().to_string();
            self.correlation.forget(id);
            self.actions.push_back(Action::NotMade { tool_call_id: id.clone(), name, status });
        }
        CallOwner::Frontend
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
pub(super) enum OwnCall {
    /// The call has not begun.
    Announced,
    /// The call runs.
    Runs,
    /// The call turned out to call a tool of the page, for which it waits.
    Carries,
}

/// The agent's report of a tool call, in either version.
#[derive(Clone, Debug)]
struct Report<'a> {
    id: AgentId,
    name: Option<&'a str>,
    title: Option<&'a str>,
    meta: Option<&'a Meta>,
    kind: Option<&'a str>,
    status: Option<&'a str>,
    input: Option<&'a Raw>,
    /// Whether an unknown call begins here.
    announces: bool,
}

impl Report<'_> {
    fn is_over(&self) -> bool {
        let over = [
            ToolCallStatus::Completed.as_str(),
            ToolCallStatus::Failed.as_str(),
            v2::ToolCallStatus::Cancelled.as_str(),
        ];
        self.status.is_some_and(|status| over.contains(&status))
    }
}
