//! Errors of clients.
use alloc::string::String;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{DecodeError, Raw};

/// An error connecting to a server.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The server supports no protocol version of this client.
    #[error("the server supports no protocol version of this client")]
    Version,
    /// The server rejected the handshake, or cannot be reached.
    #[error("the handshake has failed: {0}")]
    Refused(ErrorObject),
    /// The response to the handshake is malformed.
    #[error("invalid response to the handshake: {0}")]
    Decode(DecodeError),
    /// The server did not respond, or the connection was closed.
    #[error("the server did not respond")]
    Silent,
}

/// An error retrieving the result of a request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server returned an error.
    #[error(transparent)]
    Refused(ErrorObject),
    /// The result cannot be decoded.
    #[error("invalid result: {error}")]
    Decode {
        /// The reason.
        error: DecodeError,
        /// The result as received.
        raw: Raw,
    },
    /// The result has a `resultType` that is unknown or does not match the request.
    #[error("unexpected result type `{0}`")]
    ResultType(String),
    /// The call requested input more often than
    /// [`ClientOptions::max_rounds`](super::ClientOptions::max_rounds) permits, or its task more
    /// often than [`Client::MAX_TASK_QUESTIONS`](super::Client::MAX_TASK_QUESTIONS).
    #[error("the call requested input too often")]
    TooManyRounds,
    /// The server cancelled the task of the call.
    #[error("the task was cancelled")]
    Cancelled,
    /// No response was received: the connection was closed or the deadline passed.
    #[error("no response")]
    Silent,
}

/// An error sending a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendRequestError {
    /// The handshake has not completed, or has failed.
    #[error("the server is not ready")]
    NotReady,
    /// The limit of open requests or calls is reached.
    #[error("too many open requests")]
    Full,
    /// The call has ended.
    #[error("the call has ended")]
    NotOpen,
    /// The protocol version of the server does not define the method.
    #[error("the protocol version of the server does not define the method")]
    Version,
}
