use super::{Allowed, Unsupported};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How a run's input is mapped: what a [`SessionMemory`](super::SessionMemory) does where there is a choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Rules {
    /// How long a session of the agent's lasts.
    pub session: SessionScope,
    /// What becomes of a conversation that is another than the agent's.
    pub divergence: Divergence,
    /// Whether clients may send what is new alone: an input of users' messages none of which the agent has is then no other
    /// conversation, which it could be as well.
    #[serde(default)]
    pub new_alone: bool,
    /// How often `context` and `state` go to the agent.
    pub repeat: Repeat,
    /// Whether `context` and `state` stand before what the user says, not behind it.
    pub context_first: bool,
    /// Whether `state` goes to the agent as well, as JSON without what the bridge keeps in it under `/acp`.
    pub state: bool,
    /// Members of the state that stay out of it, as JSON pointers. Only members of objects are looked for.
    pub state_without: Vec<String>,
    /// What becomes of content that the agent does not take.
    pub unsupported: Unsupported,
    /// Whether the result of a tool for which nobody waits is a prompt of its own; otherwise it is kept for the next one.
    pub prompt_on_late_result: bool,
    /// Whether the agent takes a `systemPrompt` where a session begins; otherwise it is a text of the prompt.
    pub system_prompt: bool,
    /// Bytes of the conversation that a new session is told of at most, the latest messages; 64 KiB. With 0 it is told of
    /// none.
    pub transcript_bytes: usize,
    /// What of `forwardedProps.acp` is taken.
    pub forwarded: Allowed,
}

impl Rules {
    /// Default of [`transcript_bytes`](Self::transcript_bytes): 64 KiB.
    pub const TRANSCRIPT_BYTES: usize = 64 << 10;

    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            session: SessionScope::default(),
            divergence: Divergence::default(),
            new_alone: false,
            repeat: Repeat::default(),
            context_first: false,
            state: false,
            state_without: Vec::new(),
            unsupported: Unsupported::default(),
            prompt_on_late_result: false,
            system_prompt: false,
            transcript_bytes: Self::TRANSCRIPT_BYTES,
            forwarded: Allowed::default(),
        }
    }
}

/// How long a session of the agent's lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionScope {
    /// As long as the thread.
    #[default]
    Thread,
    /// One turn: each begins a session, and is told what was said before.
    Turn,
}

/// What becomes of a conversation that is another than the agent's: a message was edited or is gone, one is new that the
/// agent should have said, or the last answer is to be given again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Divergence {
    /// A session begins, whose first prompt begins with the conversation as text.
    #[default]
    NewSession,
    /// The session is forked. The fork knows all that was said; its prompt begins with where the user went back to.
    Fork,
    /// The session goes on, and is told only what is new.
    Ignore,
    /// The input is refused: [`InputError::Diverged`](super::InputError::Diverged).
    Reject,
}

/// How often something that comes with each input goes to the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Repeat {
    /// With each prompt.
    #[default]
    Always,
    /// With a prompt for which it is another than with the one before, or which begins a session.
    WhenChanged,
}
