//! Errors of turns.
use crate::endpoint::{CallError, TurnKey};

/// An error of a turn: it ended without a stop reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The prompt failed.
    #[error(transparent)]
    Call(CallError),
    /// The turn was cancelled, and the agent did not end it within the grace period. It may still
    /// work: release the session.
    #[error("the agent did not end the cancelled turn in time")]
    GraceOver,
}

/// An error sending a prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The session has an open turn, or a turn with an end that was not polled.
    #[error("a turn of the session is open")]
    TurnOpen(TurnKey),
    /// The session is not open.
    #[error("the session is not open")]
    NotOpen,
    /// The prompt belongs to a different version than the agent's.
    #[error("the prompt belongs to a different protocol version than the agent's")]
    Version,
}
