//! Cursors: places where a client forks a session.

use crate::updates::Update;
use acp_types::v1::prompt_turn::{MessageId, SessionUpdate};
use acp_types::v1::session_cursors::{
    CursorAnchor, CursorAnchorPosition, CursorCapabilities, CursorForkCapabilities, CursorId,
    CursorMessageAnchor, CursorToolCallAnchor, CursorUpdate,
};
use acp_types::v2::prompt_lifecycle::SessionUpdate as UpdateV2;

/// A place in a session: the parts of its conversation before it.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    pub(crate) id: CursorId,
    anchor: CursorAnchor,
    /// Number of updates, those included that the session has dropped.
    pub(crate) updates: usize,
    /// Number of prompts.
    pub(crate) prompts: usize,
}

impl Cursor {
    pub(crate) fn new(id: CursorId, anchor: CursorAnchor, updates: usize, prompts: usize) -> Self {
        Self { id, anchor, updates, prompts }
    }

    /// Returns the update that announces it.
    pub(crate) fn update(&self) -> SessionUpdate {
        let mut capabilities = CursorCapabilities::new();
        capabilities.fork = Some(CursorForkCapabilities::new());
        let mut update = CursorUpdate::new(self.id.clone());
        update.anchor = Some(self.anchor.clone());
        update.capabilities = capabilities.into();
        SessionUpdate::CursorUpdate(Box::new(update))
    }
}

/// Returns the place after the last entry of the updates of a session, if that has an id.
pub(crate) fn after_last<'a>(updates: impl Iterator<Item = &'a Update>) -> Option<CursorAnchor> {
    let mut places: Vec<Option<CursorAnchor>> = Vec::new();
    for place in updates.filter_map(place) {
        // Later updates of an entry do not move it.
        if place.is_none() || !places.contains(&place) {
            places.push(place);
        }
    }
    places.pop().flatten()
}

/// Returns the place after the entry of an update; `None` in it without an id.
fn place(update: &Update) -> Option<Option<CursorAnchor>> {
    let after = |id: &MessageId| CursorMessageAnchor::new(id.clone(), CursorAnchorPosition::After);
    match update {
        Update::Both(update) => match update {
            SessionUpdate::UserMessageChunk(_) => Some(None),
            SessionUpdate::AgentMessageChunk(chunk) => {
                Some(chunk.message_id.as_ref().map(|id| CursorAnchor::AgentMessage(after(id))))
            }
            SessionUpdate::AgentThoughtChunk(chunk) => {
                Some(chunk.message_id.as_ref().map(|id| CursorAnchor::AgentThought(after(id))))
            }
            SessionUpdate::ToolCall(call) => Some(Some(after_call(call.tool_call_id.clone()))),
            SessionUpdate::CompactionUpdate(_) => Some(None),
            _ => None,
        },
        Update::V2(update) => match &**update {
            UpdateV2::UserMessage(message) => {
                Some(Some(CursorAnchor::UserMessage(after(&message.message_id))))
            }
            UpdateV2::AgentMessage(message) => {
                Some(Some(CursorAnchor::AgentMessage(after(&message.message_id))))
            }
            UpdateV2::ToolCallUpdate(call) => Some(Some(after_call(call.tool_call_id.clone()))),
            _ => None,
        },
    }
}

fn after_call(id: acp_types::v1::tool_calls::ToolCallId) -> CursorAnchor {
    CursorAnchor::ToolCall(CursorToolCallAnchor::new(id, CursorAnchorPosition::After))
}
