//! The agent's reports of tool calls, separated into the page's and its own.
use super::CallOwner;
use super::agent_calls::Report;
use super::machine::FrontendTools;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SelectedPermissionOutcome, ToolCallStatus, ToolKind,
};
use acp_types::v2::prompt_lifecycle::UpdateSessionNotification;
use alloc::string::String;
use core::time::Duration;

/// Names of version 2 that version 1 uses for other types.
mod v2 {
    pub(super) use acp_types::v2::prompt_lifecycle::SessionUpdate;
    pub(super) use acp_types::v2::tool_calls::ToolCallStatus;
}

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
        self.note_activity(now);
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
        self.handle_report(&report)
    }

    /// As [`handle_update`](Self::handle_update), for ACP v2.
    pub fn handle_update_v2(
        &mut self,
        notification: &UpdateSessionNotification,
        now: Duration,
    ) -> CallOwner {
        self.note_activity(now);
        match &notification.update {
            v2::SessionUpdate::ToolCallUpdate(update) => self.handle_report(&Report {
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
                if self.owns(&chunk.tool_call_id.as_str().into()) =>
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
        if !self.is_named(id, owner) {
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
}
