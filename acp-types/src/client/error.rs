//! Errors of a client connection.
use super::{AuthMethods, TurnKey};
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::DecodeError;

/// A call, or the opening of a session, failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer answered with an error.
    #[error("the peer refused: {}", .0.message)]
    Answered(ErrorObject),
    /// The agent asks for a login first (-32000).
    #[error("the agent requires a login: {}", .error.message)]
    AuthRequired {
        /// The error of the agent.
        error: ErrorObject,
        /// The ways to log in that the agent has named in its answer to `initialize`.
        methods: Box<AuthMethods>,
    },
    /// The answer is not a result of the method.
    #[error("invalid answer of the peer: {0}")]
    Invalid(DecodeError),
    /// The answer is not a message.
    #[error("invalid answer of the peer: {0}")]
    Malformed(String),
    /// The answer did not come in time.
    #[error("the peer took too long to answer")]
    Timeout,
    /// Too many sessions or calls are open.
    #[error("too many open calls or sessions")]
    Full,
    /// The session is open already, or being opened.
    #[error("the session {0} is in use")]
    InUse(SessionId),
    /// The session was released.
    #[error("the session was released")]
    Released,
    /// The request is of another version than the agent speaks.
    #[error("the request is not of the version that the agent speaks")]
    Version,
    /// The parameters have no JSON form.
    #[error("the parameters cannot be encoded: {0}")]
    Encode(String),
    /// The connection is closed.
    #[error(transparent)]
    Closed(CloseReason),
}

/// A turn ended without a stop reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The prompt failed.
    #[error(transparent)]
    Call(CallError),
    /// The turn was cancelled, and the agent did not end it within the grace period. It may still be at work: the session
    /// should be released.
    #[error("the agent did not end the cancelled turn in time")]
    GraceOver,
}

/// A prompt cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// A turn of the session is open, or its end has not been polled.
    #[error("a turn of the session is open")]
    TurnOpen(TurnKey),
    /// The session is not open: it is being opened, was refused or released, or never was.
    #[error("the session is not open")]
    NotOpen,
    /// The prompt is of another version than the agent speaks.
    #[error("the prompt is not of the version that the agent speaks")]
    Version,
    /// The prompt has no JSON form.
    #[error("the prompt cannot be encoded: {0}")]
    Encode(String),
}

/// A request of the agent is not open: it was answered before, by the caller or by the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request is answered already")]
pub struct Answered;

/// Why a connection closed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client closed the connection.
    #[error("the client closed the connection")]
    ClientClosed,
    /// The agent ended or closed its side; a status or an error may say more.
    #[error("the agent closed the connection{}{}", if .0.is_empty() { "" } else { ": " }, .0)]
    AgentClosed(String),
    /// The agent speaks no version that the client offers.
    #[error(transparent)]
    Version(UnsupportedVersion),
    /// `initialize` failed.
    #[error("initialize failed: {0}")]
    Initialize(Box<CallError>),
    /// The agent asks without reading the answers; see [`Limits::replies`](super::Limits::replies).
    #[error("the agent does not read")]
    Congested,
}

/// There is no version that both sides speak.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// The version that the agent answered with.
    pub answered: ProtocolVersion,
    /// The versions that the client offers.
    pub offered: Vec<ProtocolVersion>,
}

impl fmt::Display for UnsupportedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the agent speaks version {}; the client offers", self.answered.0)?;
        self.offered.iter().try_for_each(|version| write!(f, " {}", version.0))
    }
}

impl core::error::Error for UnsupportedVersion {}
