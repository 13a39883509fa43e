//! The agent's reports of tool calls, separated into the page's and its own.
use super::machine::FrontendTools;
use super::report::Report;
use super::{Action, CallOwner};
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{
    RequestPermissionRequest, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use acp_types::v2::permissions::{
    RequestPermissionRequest as RequestPermissionRequestV2, RequestPermissionSubject,
};
use acp_types::v2::prompt_lifecycle::UpdateSessionNotification;
use alloc::boxed::Box;
use alloc::string::String;
use core::time::Duration;

/// Names of version 2 that version 1 uses for other types.
mod v2 {
    pub(super) use acp_types::v2::prompt_lifecycle::SessionUpdate;
    pub(super) use acp_types::v2::tool_calls::{ToolCallContent, ToolCallStatus, ToolCallUpdate};
}

impl FrontendTools {
    /// Handles `session/update`, and returns the owner of its tool call. Pass updates of the agent
    /// to the translator.
    ///
    /// A tool call with a name, title, `_meta` or input that refers to a tool of the page, in a
    /// form that agents use, is withheld until a binding has received the call; see the [module
    /// documentation](super).
    pub fn handle_update(
        &mut self,
        notification: &SessionNotification,
        now: Duration,
    ) -> CallOwner {
        self.note_activity(now);
        let report = match &notification.update {
            SessionUpdate::ToolCall(call) => of_call(call),
            SessionUpdate::ToolCallUpdate(update) => of_update(update),
            _ => return CallOwner::Agent,
        };
        self.handle_report(&report, || Action::Show(Box::new(notification.clone())))
    }

    /// As [`handle_update`](Self::handle_update), for ACP v2.
    pub fn handle_update_v2(
        &mut self,
        notification: &UpdateSessionNotification,
        now: Duration,
    ) -> CallOwner {
        self.note_activity(now);
        let report = match &notification.update {
            v2::SessionUpdate::ToolCallUpdate(update) => of_update_v2(update),
            v2::SessionUpdate::ToolCallContentChunk(chunk)
                if self.is_hidden(&chunk.tool_call_id.as_str().into()) =>
            {
                Report {
                    has_place: !matches!(chunk.content, v2::ToolCallContent::Content(_)),
                    ..Report::new(chunk.tool_call_id.as_str().into())
                }
            }
            _ => return CallOwner::Agent,
        };
        self.handle_report(&report, || Action::ShowV2(Box::new(notification.clone())))
    }

    /// Handles a permission request: its call is the agent's own from now on, and withheld reports
    /// of it are [shown](Action::Show). Poll the actions, then pass the request to the translator,
    /// which answers it.
    pub fn handle_permission_request(&mut self, request: &RequestPermissionRequest, now: Duration) {
        self.note_activity(now);
        self.handle_asked(&of_update(&request.tool_call));
    }

    /// As [`handle_permission_request`](Self::handle_permission_request), for ACP v2.
    pub fn handle_permission_request_v2(
        &mut self,
        request: &RequestPermissionRequestV2,
        now: Duration,
    ) {
        self.note_activity(now);
        match request.subject.as_deref() {
            Some(RequestPermissionSubject::ToolCall(subject)) => {
                self.handle_asked(&of_update_v2(&subject.tool_call));
            }
            Some(RequestPermissionSubject::Command(command)) => {
                if let Some(id) = &command.tool_call_id {
                    self.handle_asked(&Report::new(id.as_str().into()));
                }
            }
            _ => {}
        }
    }
}

fn of_call(call: &ToolCall) -> Report<'_> {
    Report {
        name: call.name.as_deref(),
        title: Some(&call.title),
        meta: call.meta.as_ref(),
        kind: call.kind.as_ref().map(ToolKind::as_str),
        status: call.status.as_ref().map(ToolCallStatus::as_str),
        input: call.raw_input.as_ref(),
        has_place: call.locations.as_ref().is_some_and(|it| !it.is_empty())
            || call.content.iter().flatten().any(is_place),
        announces: true,
        ..Report::new(call.tool_call_id.clone())
    }
}

fn of_update(update: &ToolCallUpdate) -> Report<'_> {
    Report {
        name: update.name.value().map(String::as_str),
        title: update.title.value().map(String::as_str),
        meta: update.meta.as_ref(),
        kind: update.kind.value().map(ToolKind::as_str),
        status: update.status.value().map(ToolCallStatus::as_str),
        input: update.raw_input.value(),
        has_place: update.locations.value().is_some_and(|it| !it.is_empty())
            || update.content.value().into_iter().flatten().any(is_place),
        ..Report::new(update.tool_call_id.clone())
    }
}

fn of_update_v2(update: &v2::ToolCallUpdate) -> Report<'_> {
    let is_place =
        |content: &v2::ToolCallContent| !matches!(content, v2::ToolCallContent::Content(_));
    Report {
        name: update.name.value().map(String::as_str),
        title: update.title.value().map(String::as_str),
        meta: update.meta.value(),
        kind: update.kind.value().map(ToolKind::as_str),
        status: update.status.value().map(v2::ToolCallStatus::as_str),
        input: update.raw_input.value(),
        has_place: update.locations.value().is_some_and(|it| !it.is_empty())
            || update.content.value().into_iter().flatten().any(is_place),
        announces: update.title.value().is_some(),
        ..Report::new(update.tool_call_id.as_str().into())
    }
}

/// Returns whether a content is of a file or a terminal.
fn is_place(content: &ToolCallContent) -> bool {
    !matches!(content, ToolCallContent::Content(_))
}
