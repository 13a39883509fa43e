//! Data of a conversation for a later process.
use super::session_settings::Setting;
use crate::input::SessionMemory;
use acp_types::v1::session_setup::SessionId;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A session and its conversation so far, for a later process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RememberedSession {
    /// `None` if only cancelled messages and settings are remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_id: Option<SessionId>,
    #[serde(rename = "conversation")]
    memory: SessionMemory,
    /// Settings that the user has chosen, for the sessions of the thread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    settings: Vec<Setting>,
}

impl RememberedSession {
    pub(super) fn new(session_id: SessionId, memory: SessionMemory) -> Self {
        Self { session_id: Some(session_id), memory, settings: Vec::new() }
    }

    /// Creates the data of a thread without a session, or `None` if it has no cancelled messages.
    pub(super) fn without_session(memory: &SessionMemory) -> Option<Self> {
        let memory = memory.cancelled_alone()?;
        Some(Self { session_id: None, memory, settings: Vec::new() })
    }

    /// Returns the data with the settings that the user has chosen, or `None` without either.
    pub(super) fn with_settings(earlier: Option<Self>, settings: &[Setting]) -> Option<Self> {
        let memory = SessionMemory::new();
        let blank = Self { session_id: None, memory, settings: Vec::new() };
        let earlier = earlier.or((!settings.is_empty()).then_some(blank))?;
        Some(Self { settings: settings.to_vec(), ..earlier })
    }

    pub(super) fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Sets the cancelled messages to those of a memory.
    pub(super) fn with_cancelled(mut self, memory: &SessionMemory) -> Self {
        self.memory.set_cancelled(memory);
        self
    }

    /// Returns the id of the session; `None` if the thread has none, but settings or messages that
    /// were cancelled before they were sent.
    pub fn session_id(&self) -> Option<&SessionId> {
        self.session_id.as_ref()
    }

    pub(super) fn memory(&self) -> &SessionMemory {
        &self.memory
    }
}
