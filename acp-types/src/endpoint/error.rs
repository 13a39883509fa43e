//! Errors of calls and replies, and the end of a connection.
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use crate::v1::tool_calls::PermissionOptionId;
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::DecodeError;

/// Authentication methods, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AuthMethods {
    /// Version 1.
    V1(Vec<v1::authentication::AuthMethod>),
    /// Version 2.
    V2(Vec<v2::authentication::AuthMethod>),
}

/// An error of a call, or of opening a session.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer returned an error.
    #[error("the peer refused: {}", .0.message)]
    Answered(ErrorObject),
    /// The agent requires a login (-32000).
    #[error("the agent requires a login: {}", .error.message)]
    AuthRequired {
        /// The agent's error.
        error: ErrorObject,
        /// The authentication methods of the agent's response to `initialize`.
        methods: Box<AuthMethods>,
    },
    /// The response is not a result of the method.
    #[error("invalid response of the peer: {0}")]
    Invalid(DecodeError),
    /// The response is not a valid message.
    #[error("invalid response of the peer: {0}")]
    Malformed(String),
    /// The answer of the user selects an option that was not offered, which is no permission.
    #[error("the answer selects the option {0}, which was not offered")]
    NotOffered(PermissionOptionId),
    /// The response did not arrive in time.
    #[error("the peer did not respond in time")]
    Timeout,
    /// Too many sessions or calls are open.
    #[error("too many open calls or sessions")]
    Full,
    /// The session is already open, or is being opened.
    #[error("the session {0} is in use")]
    InUse(SessionId),
    /// The session was released.
    #[error("the session was released")]
    Released,
    /// The request belongs to a different version than the agent's, or a notification preceded the
    /// agreement on a version.
    #[error("the request belongs to a different protocol version than the agent's")]
    Version,
    /// The connection is closed.
    #[error(transparent)]
    Closed(CloseReason),
}

/// An error answering a request of the agent: it was already answered, by the caller or by the
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the request is already answered")]
pub struct RepeatedAnswer;

/// The reason why a connection closed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client closed the connection.
    #[error("the client closed the connection")]
    ClientClosed,
    /// The agent exited or closed its side; the text may have a status or an error.
    #[error("the agent closed the connection{}{}", if .0.is_empty() { "" } else { ": " }, .0)]
    AgentClosed(String),
    /// The agent supports none of the offered versions.
    #[error(transparent)]
    Version(UnsupportedVersion),
    /// `initialize` failed.
    #[error("initialize failed: {0}")]
    Initialize(Box<CallError>),
    /// The agent sends requests without reading the responses; see
    /// [`Limits::replies`](crate::client::Limits::replies).
    #[error("the agent does not read responses")]
    Congested,
}

/// An error: the two sides have no version in common. Its text ends with the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedVersion {
    /// The version in the agent's response, or the newest one that its error names, if it names
    /// any.
    pub answered: Option<ProtocolVersion>,
    /// The version in the agent's response as JSON, if it is no number of a version; at most
    /// [`MAX_MESSAGE`](Self::MAX_MESSAGE) characters.
    pub unread: Option<String>,
    /// The message of the agent's error, if it has responded with one; at most
    /// [`MAX_MESSAGE`](Self::MAX_MESSAGE) characters.
    pub message: Option<String>,
    /// The versions that the client offers.
    pub offered: Vec<ProtocolVersion>,
}

impl UnsupportedVersion {
    /// Maximum number of characters of [`message`](Self::message).
    pub const MAX_MESSAGE: usize = 500;

    /// Returns the start of a text of the agent.
    pub(crate) fn clipped(text: &str) -> String {
        text.chars().take(Self::MAX_MESSAGE).collect()
    }
}

impl fmt::Display for UnsupportedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.answered, &self.unread) {
            (Some(answered), _) => write!(f, "the agent speaks version {}", answered.0)?,
            (None, Some(unread)) => write!(f, "the agent speaks version {unread}")?,
            (None, None) => f.write_str("the agent names none of its versions")?,
        }
        f.write_str("; the client offers")?;
        self.offered.iter().enumerate().try_for_each(|(at, version)| {
            let before = if at == 0 { "" } else { " and" };
            write!(f, "{before} {}", version.0)
        })?;
        if let Some(message) = &self.message {
            write!(f, "; the agent's error: {message}")?;
        }
        f.write_str("; install a release of the agent that speaks an offered version")?;
        let versions = [ProtocolVersion::V1, ProtocolVersion::V2];
        match self.answered.filter(|answered| versions.contains(answered)) {
            Some(answered) => write!(f, ", or offer version {}", answered.0),
            None => Ok(()),
        }
    }
}

impl core::error::Error for UnsupportedVersion {}
