//! Tool calls and requests for permission.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::session::Session;
use crate::alike::call_to_v2;
use crate::convert::content::produced_to_v2;
use crate::convert::outbox::Outbox;
use crate::convert::{BridgeLoss, members};
use crate::v1;
use crate::v2::permissions::{
    RequestPermissionRequest, RequestPermissionSubject, ToolCallPermissionSubject,
};
use crate::v2::tool_calls::ToolCallUpdate;
use alloc::boxed::Box;
use alloc::string::{String, ToString};

impl Session {
    /// Converts a change of a tool call. `null` keeps a value in version 1.
    pub(super) fn change_call(
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
            *self.titles.entry(id, |_| true, String::new) = title.clone();
        }
        same
    }

    pub(super) fn permission(
        &mut self,
        it: v1::tool_calls::RequestPermissionRequest,
        out: &mut Outbox,
    ) -> RequestPermissionRequest {
        let call = self.change_call(&it.tool_call, out);
        let id = call.tool_call_id.as_str();
        let title = self.titles.get(id).cloned().unwrap_or_else(|| {
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
