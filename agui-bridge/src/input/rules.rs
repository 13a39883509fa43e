//! Rules for the sessions of a thread.
use super::{AllowedMembers, UnsupportedContent};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Rules of a [`SessionMemory`](super::SessionMemory), where the mapping has a choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rules {
    /// Lifetime of an agent's session.
    pub session: SessionScope,
    /// Handling of a conversation that differs from the agent's.
    pub divergence: Divergence,
    /// Whether a conversation that goes back to an earlier message forks the session at a cursor
    /// that the agent has announced there, under [`Divergence::NewSession`] and
    /// [`Divergence::Fork`].
    #[serde(default = "are_used")]
    pub cursors: bool,
    /// Whether clients may send only new messages. An input of unknown user messages is then not a
    /// different conversation.
    #[serde(default)]
    pub new_alone: bool,
    /// Frequency of sending `context` and `state` to the agent.
    pub repeat: Repeat,
    /// Whether `context` and `state` precede the user's messages.
    pub context_first: bool,
    /// Whether `state` goes to the agent, as JSON without the bridge's member `/acp`.
    pub state: bool,
    /// Members that are removed from the state, as JSON pointers. Only members of objects are
    /// supported.
    pub state_without: Vec<String>,
    /// Handling of content that the agent does not support.
    pub unsupported: UnsupportedContent,
    /// Whether a tool result without a waiting call becomes a prompt; otherwise it is kept for the
    /// next prompt.
    pub prompt_on_late_result: bool,
    /// Whether the agent accepts a `systemPrompt` for a new session; otherwise it becomes text of
    /// the prompt.
    pub system_prompt: bool,
    /// Largest part of the conversation for a new session, in bytes of the latest messages; 64 KiB
    /// by default. 0 disables it.
    pub transcript_bytes: usize,
    /// The allowed members of `forwardedProps.acp`.
    pub forwarded: AllowedMembers,
}

impl Rules {
    /// Creates the default rules.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            session: SessionScope::default(),
            divergence: Divergence::default(),
            cursors: are_used(),
            new_alone: false,
            repeat: Repeat::default(),
            context_first: false,
            state: false,
            state_without: Vec::new(),
            unsupported: UnsupportedContent::default(),
            prompt_on_late_result: false,
            system_prompt: false,
            transcript_bytes: 64 << 10,
            forwarded: AllowedMembers::default(),
        }
    }
}

impl Rules {
    /// Returns whether a session may be forked at a cursor.
    pub(crate) fn use_cursors(&self) -> bool {
        let may_fork = matches!(self.divergence, Divergence::NewSession | Divergence::Fork);
        self.cursors && may_fork
    }
}

/// The default of [`Rules::cursors`].
fn are_used() -> bool {
    true
}

/// Lifetime of an agent's session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SessionScope {
    /// The lifetime of the thread.
    #[default]
    Thread,
    /// One turn: each turn begins a session with the conversation so far.
    Turn,
}

/// Handling of a conversation that differs from the agent's: a message was edited or removed, a
/// message that the agent did not produce was added, or the last answer is to be repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Divergence {
    /// A new session. Its first prompt begins with the conversation as text. With
    /// [`Rules::cursors`], a fork of the session at the cursor of the agent where the conversations
    /// part, if there is one; it knows the conversation, and nothing of what was removed.
    #[default]
    NewSession,
    /// The same without a cursor: a fork of the whole session. Its prompt begins with the point to
    /// which the user went back.
    Fork,
    /// The same session, which receives only the new messages. It also has those that an edit has
    /// removed.
    Ignore,
    /// A refusal: [`InputError::Diverged`](super::InputError::Diverged).
    Reject,
}

/// Frequency of sending a part of each input to the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Repeat {
    /// With each prompt.
    #[default]
    Always,
    /// With a prompt for which it has changed since the last one, or which begins a session.
    WhenChanged,
}
