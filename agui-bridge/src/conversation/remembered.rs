//! Data of a conversation for a later process.
use crate::input::SessionMemory;
use acp_types::v1::session_setup::SessionId;
use serde::{Deserialize, Serialize};

/// A session and its conversation so far, for a later process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RememberedSession {
    /// `None` if only cancelled messages are remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    #[serde(rename = "conversation")]
    memory: SessionMemory,
}

impl RememberedSession {
    pub(super) fn new(session_id: SessionId, memory: SessionMemory) -> Self {
        Self { session_id: Some(session_id), memory }
    }

    /// Creates the data of a thread without a session, or `None` if it has no cancelled messages.
    pub(super) fn without_session(memory: &SessionMemory) -> Option<Self> {
        memory.cancelled_alone().map(|memory| Self { session_id: None, memory })
    }

    /// Sets the cancelled messages to those of a memory.
    pub(super) fn with_cancelled(mut self, memory: &SessionMemory) -> Self {
        self.memory.set_cancelled(memory);
        self
    }

    /// Returns the id of the session; `None` if the thread has none, and messages that were
    /// cancelled before they were sent.
    pub fn session_id(&self) -> Option<&SessionId> {
        self.session_id.as_ref()
    }

    pub(super) fn memory(&self) -> &SessionMemory {
        &self.memory
    }
}
