//! Sessions of subagents, for an editor that does not show subagents: their tool calls and
//! questions are those of the session that the editor shows.
//!
//! Spec: [Subagents](https://agentclientprotocol.com/protocol/v2/subagents)
use crate::capabilities::v1::Capabilities;
use crate::convert::call_ids::session_scope;
use crate::convert::outbox::Outbox;
use crate::convert::recent::Recent;
use crate::convert::{BridgeLoss, MAX_SESSIONS};
use crate::v1::elicitation::CreateElicitationRequest;
use crate::v1::prompt_turn::SessionUpdate as Update;
use crate::v1::session_setup::SessionId;
use crate::v1::subagents::SubagentUpdate;
use crate::v2::permissions::{RequestPermissionRequest, RequestPermissionSubject};
use crate::v2::prompt_lifecycle::{SessionUpdate, UpdateSessionNotification};
use crate::v2::tool_calls::{ToolCallContent, ToolCallUpdate};
use alloc::boxed::Box;
use alloc::format;
use jsonrpc_core::wire::Presence;

/// The sessions that the editor does not show, with those that it shows instead.
#[derive(Debug)]
pub(super) struct Subagents(Recent<SessionId>);

impl Default for Subagents {
    fn default() -> Self {
        Self(Recent::new(MAX_SESSIONS))
    }
}

impl Subagents {
    /// Records the session of a subagent, which may have its own.
    pub(super) fn add(&mut self, subagent: &SessionId, parent: &SessionId) {
        let ancestor = self.0.get(parent.as_str()).unwrap_or(parent).clone();
        if ancestor != *subagent {
            self.0.entry(subagent.as_str(), |_| true, || ancestor);
        }
    }

    /// Moves a session of a subagent to the one that the editor shows, and returns the former.
    fn take(&self, id: &mut SessionId) -> Option<SessionId> {
        let ancestor = self.0.get(id.as_str())?;
        Some(core::mem::replace(id, ancestor.clone()))
    }

    /// Moves an update, and returns whether the editor shows it.
    pub(super) fn update(&self, it: &mut UpdateSessionNotification) -> bool {
        let Some(session) = self.take(&mut it.session_id) else { return true };
        match &mut it.update {
            SessionUpdate::ToolCallUpdate(call) => qualify_call(&session, call),
            SessionUpdate::ToolCallContentChunk(chunk) => {
                chunk.tool_call_id = qualified(&session, &chunk.tool_call_id);
                qualify_content(&session, &mut chunk.content);
            }
            SessionUpdate::TerminalUpdate(it) => {
                it.terminal_id = qualified(&session, &it.terminal_id);
            }
            SessionUpdate::TerminalOutputChunk(it) => {
                it.terminal_id = qualified(&session, &it.terminal_id);
            }
            _ => return false,
        }
        true
    }

    /// Moves a request for permission, and returns its session.
    pub(super) fn permission(&self, it: &mut RequestPermissionRequest) -> Option<SessionId> {
        let session = self.take(&mut it.session_id)?;
        match it.subject.as_deref_mut() {
            Some(RequestPermissionSubject::ToolCall(subject)) => {
                qualify_call(&session, &mut subject.tool_call);
            }
            Some(RequestPermissionSubject::Command(subject)) => {
                subject.tool_call_id =
                    subject.tool_call_id.as_ref().map(|id| qualified(&session, id));
            }
            None | Some(RequestPermissionSubject::Unknown(_)) => {}
        }
        Some(session)
    }

    /// Moves an elicitation, and returns its session.
    pub(super) fn elicitation(&self, it: &mut CreateElicitationRequest) -> Option<SessionId> {
        let scope = session_scope(it)?;
        let session = self.take(&mut scope.session_id)?;
        scope.tool_call_id = scope.tool_call_id.as_ref().map(|id| qualified(&session, id));
        Some(session)
    }
}

/// Returns whether the editor announces subagents.
pub(super) fn shows_subagents(capabilities: &Capabilities) -> bool {
    let update = SubagentUpdate::new("");
    capabilities.allows(&Update::SubagentUpdate(Box::new(update))).is_ok()
}

/// Removes references to sessions from the content of a tool call.
pub(super) fn drop_references(call: &mut ToolCallUpdate, out: &mut Outbox) {
    let Presence::Value(content) = &mut call.content else { return };
    content.retain(|content| {
        let is_reference = matches!(content, ToolCallContent::Session(_));
        if is_reference {
            out.lose_of(BridgeLoss::NotAnnounced, call.tool_call_id.as_str(), content.tag());
        }
        !is_reference
    });
}

/// Returns an id that is unique among those of other sessions.
fn qualified<T: AsRef<str> + for<'a> From<&'a str>>(session: &SessionId, id: &T) -> T {
    T::from(&*format!("{session}/{}", id.as_ref()))
}

fn qualify_call(session: &SessionId, call: &mut ToolCallUpdate) {
    call.tool_call_id = qualified(session, &call.tool_call_id);
    if let Presence::Value(content) = &mut call.content {
        content.iter_mut().for_each(|content| qualify_content(session, content));
    }
}

fn qualify_content(session: &SessionId, content: &mut ToolCallContent) {
    if let ToolCallContent::Terminal(terminal) = content {
        terminal.terminal_id = qualified(session, &terminal.terminal_id);
    }
}
