//! The session of an input.
use acp_types::v1::session_cursors::CursorId;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The action on a thread's session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SessionStep {
    /// Continue it. A thread without a session needs none if nothing is to be sent.
    Keep,
    /// `session/new`.
    New {
        /// Value of `systemPrompt`, if [`Rules::system_prompt`] states that the agent accepts one.
        ///
        /// [`Rules::system_prompt`]: super::Rules::system_prompt
        system_prompt: Option<String>,
    },
    /// `session/fork` of the session.
    Fork {
        /// The cursor to fork at; `None` for the whole session.
        cursor: Option<CursorId>,
    },
    /// `session/resume` or `session/load` of [`ForwardedMembers::session_id`].
    ///
    /// [`ForwardedMembers::session_id`]: super::ForwardedMembers::session_id
    Attach,
}

impl SessionStep {
    pub(crate) fn is_new_session(&self) -> bool {
        matches!(self, Self::New { .. })
    }
}
