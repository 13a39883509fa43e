//! Tool calls and requests for permission.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::send;
use super::session::Session;
use crate::alike::call_to_v2;
use crate::convert::content::produced_to_v2;
use crate::convert::outbox::Outbox;
use crate::convert::{BridgeLoss, members};
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

/// A tool call.
#[derive(Debug, Default)]
pub(super) struct Call {
    title: Option<String>,
    /// The status with which the turn ends the call, if only requests for permission have named it.
    end: Option<ToolCallStatus>,
}

impl Session {
    fn call(&mut self, id: &ToolCallId) -> &mut Call {
        self.calls.entry(id.as_str(), |_| true, Call::default)
    }

    /// Converts a tool call, or a change of one, that the agent reports.
    pub(super) fn reported_call(
        &mut self,
        update: &v1::tool_calls::ToolCallUpdate,
        out: &mut Outbox,
    ) -> ToolCallUpdate {
        self.call(&update.tool_call_id).end = None;
        self.change_call(update, out)
    }

    /// Records that the user permits a tool call.
    pub(super) fn permitted(&mut self, id: &ToolCallId) {
        if let Some(end) = &mut self.call(id).end {
            *end = ToolCallStatus::Completed;
        }
    }

    /// Ends the tool calls that only requests for permission have named. Their outcome is unknown.
    pub(super) fn end_calls(&mut self, session: &SessionId, out: &mut Outbox) {
        for (id, call) in self.calls.iter_mut() {
            let Some(status) = call.end.take() else { continue };
            out.lose_of(BridgeLoss::ToolStatus, id, status.as_str());
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
        let mut same = call_to_v2(update);
        same.extra = members(&update.extra);
        if let Some(content) = update.content.value() {
            same.content = produced_to_v2(id, content, out).into();
        }
        if let Some(title) = same.title.value() {
            self.call(&update.tool_call_id).title = Some(title.clone());
        }
        same
    }

    pub(super) fn permission(
        &mut self,
        it: v1::tool_calls::RequestPermissionRequest,
        out: &mut Outbox,
    ) -> RequestPermissionRequest {
        let is_new = self.calls.get(it.tool_call.tool_call_id.as_str()).is_none();
        let call = self.change_call(&it.tool_call, out);
        if is_new {
            self.call(&call.tool_call_id).end = Some(ToolCallStatus::Cancelled);
        }
        let id = call.tool_call_id.as_str();
        let title = self.calls.get(id).and_then(|call| call.title.clone());
        let title = title.unwrap_or_else(|| {
            out.lose_of(BridgeLoss::Permission, id, "title");
            id.to_string()
        });
        let mut same = RequestPermissionRequest::new(it.session_id, title, it.options);
        let subject = ToolCallPermissionSubject::new(call);
        same.subject = Some(Box::new(RequestPermissionSubject::ToolCall(subject)));
        same.meta = it.meta;
        same
    }
}
