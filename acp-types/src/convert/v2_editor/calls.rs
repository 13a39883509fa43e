//! Tool calls and requests for permission.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::send;
use crate::alike::call_to_v2;
use crate::convert::call_ids::{CallIds, Mention, MentionKind};
use crate::convert::content::produced_to_v2;
use crate::convert::outbox::Outbox;
use crate::convert::recent::Recent;
use crate::convert::{BridgeLoss, MAX_TOOL_CALLS, members};
use crate::v1;
use crate::v1::session_setup::SessionId;
use crate::v1::tool_calls::ToolCallId;
use crate::v2::permissions::{
    RequestPermissionRequest, RequestPermissionSubject, ToolCallPermissionSubject,
};
use crate::v2::prompt_lifecycle::SessionUpdate;
use crate::v2::tool_calls::{ToolCallStatus, ToolCallUpdate};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Presence;

/// A tool call.
#[derive(Debug, Default)]
struct Call {
    title: Option<String>,
    /// The status with which the turn ends the call, if the agent has asked for permission and
    /// reported none.
    end: Option<ToolCallStatus>,
}

/// The tool calls of a session.
#[derive(Debug)]
pub(super) struct ToolCalls {
    reported: Recent<Call>,
    pub(super) ids: CallIds,
}

impl Default for ToolCalls {
    fn default() -> Self {
        Self { reported: Recent::new(MAX_TOOL_CALLS), ids: CallIds::default() }
    }
}

impl ToolCalls {
    fn call(&mut self, id: &ToolCallId) -> &mut Call {
        self.reported.entry(id.as_str(), |_| true, Call::default)
    }

    /// Converts the announcement of a tool call.
    pub(super) fn announced(
        &mut self,
        mut call: v1::tool_calls::ToolCallUpdate,
        out: &mut Outbox,
    ) -> ToolCallUpdate {
        let kind = MentionKind::Announcement;
        let ends = ends(&call);
        let id = self.ids.mention(&call.tool_call_id, Mention { kind, ends });
        if ends == Some(false) && self.ids.is_over(&call.tool_call_id) {
            out.lose_of(BridgeLoss::ToolStatus, id.as_str(), "status");
            call.status = Presence::Absent;
        }
        call.tool_call_id = id;
        self.call(&call.tool_call_id).end = None;
        self.handle_report(&call, out)
    }

    /// Converts a change of a tool call.
    pub(super) fn changed(
        &mut self,
        mut update: v1::tool_calls::ToolCallUpdate,
        out: &mut Outbox,
    ) -> ToolCallUpdate {
        let describes = update.title.value().is_some()
            || update.name.value().is_some()
            || update.kind.value().is_some()
            || update.raw_input.value().is_some();
        let mention = Mention { kind: MentionKind::Update { describes }, ends: ends(&update) };
        update.tool_call_id = self.ids.mention(&update.tool_call_id, mention);
        self.handle_report(&update, out)
    }

    fn handle_report(
        &mut self,
        update: &v1::tool_calls::ToolCallUpdate,
        out: &mut Outbox,
    ) -> ToolCallUpdate {
        let has_status = update.status.value().is_some();
        let call = self.call(&update.tool_call_id);
        call.end = call.end.take().filter(|_| !has_status);
        self.change_call(update, out)
    }

    /// Records that the user permits a tool call.
    pub(super) fn permitted(&mut self, id: &ToolCallId) {
        if let Some(end) = &mut self.call(id).end {
            *end = ToolCallStatus::Completed;
        }
    }

    /// Ends the tool calls of requests for permission without a reported status. Their outcome is
    /// unknown.
    pub(super) fn end(&mut self, session: &SessionId, out: &mut Outbox) {
        let end_of = |(id, call): (&str, &Call)| Some((ToolCallId::from(id), call.end.clone()?));
        let ends: Vec<_> = self.reported.iter().filter_map(end_of).collect();
        for (id, status) in ends {
            if let Some(call) = self.reported.get_mut(id.as_str()) {
                call.end = None;
            }
            self.ids.end(&id);
            out.lose_of(BridgeLoss::ToolStatus, id.as_str(), status.as_str());
            let mut update = ToolCallUpdate::new(id);
            update.status = status.into();
            send(session, SessionUpdate::ToolCallUpdate(Box::new(update)), None, out);
        }
    }

    /// Converts a change of a tool call. `null` keeps a value in version 1.
    fn change_call(
        &mut self,
        update: &v1::tool_calls::ToolCallUpdate,
        out: &mut Outbox,
    ) -> ToolCallUpdate {
        let id = update.tool_call_id.as_str();
        let mut update_v2 = call_to_v2(update);
        update_v2.extra = members(&update.extra);
        if let Some(content) = update.content.value() {
            update_v2.content = produced_to_v2(id, content, out).into();
        }
        if let Some(title) = update_v2.title.value() {
            self.call(&update.tool_call_id).title = Some(title.clone());
        }
        update_v2
    }

    pub(super) fn permission(
        &mut self,
        mut it: v1::tool_calls::RequestPermissionRequest,
        out: &mut Outbox,
    ) -> RequestPermissionRequest {
        let mention = Mention { kind: MentionKind::Question, ends: ends(&it.tool_call) };
        it.tool_call.tool_call_id = self.ids.mention(&it.tool_call.tool_call_id, mention);
        let is_new = self.reported.get(it.tool_call.tool_call_id.as_str()).is_none();
        let call = self.change_call(&it.tool_call, out);
        if is_new {
            self.call(&call.tool_call_id).end = Some(ToolCallStatus::Cancelled);
        }
        let id = call.tool_call_id.as_str();
        let title = self.reported.get(id).and_then(|call| call.title.clone());
        let title = title.unwrap_or_else(|| {
            out.lose_of(BridgeLoss::Permission, id, "title");
            id.to_string()
        });
        let mut request_v2 = RequestPermissionRequest::new(it.session_id, title, it.options);
        let subject = ToolCallPermissionSubject::new(call);
        request_v2.subject = Some(Box::new(RequestPermissionSubject::ToolCall(subject)));
        request_v2.meta = it.meta;
        request_v2
    }
}

/// Returns whether a message has a status, and whether that is the end of the call.
fn ends(it: &v1::tool_calls::ToolCallUpdate) -> Option<bool> {
    let status = it.status.value()?;
    Some(match status {
        v1::tool_calls::ToolCallStatus::Completed | v1::tool_calls::ToolCallStatus::Failed => true,
        // Defined in version 2 only.
        status => status.as_str() == "cancelled",
    })
}
