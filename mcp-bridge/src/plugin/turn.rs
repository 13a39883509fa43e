//! Calls of a tool host, their outcomes and errors.
use super::ask::Ask;
use super::journal::Outcome;
use super::store::StoreError;
use crate::mcp::tools::CallToolResult;
use crate::server::StateCodec;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorObject, open_enum};

/// How a call waits for answers.
#[derive(Clone)]
#[non_exhaustive]
pub enum SuspendPolicy {
    /// The tool stays in memory. Its code has no restrictions. The call is lost when the program
    /// ends.
    Park,
    /// Like [`Park`](Self::Park) within the same program. In other programs, and after a restart,
    /// the tool runs again with its journal, so its code has to be deterministic as for
    /// [`Replay`](Self::Replay).
    ParkOrReplay,
    /// The tool is dropped, and runs again with its journal in any program that has its code and
    /// the store.
    Replay,
    /// Like [`Replay`](Self::Replay), but the client carries the journal as a sealed state. The
    /// store contains only the marks of used states, with `is_single_use`. Such a call is not
    /// listed and cannot be aborted.
    Token {
        /// Seals the state. A state that has expired, was modified, or belongs to another call is
        /// rejected.
        codec: Arc<dyn StateCodec + Send + Sync>,
        /// Whether a state can be used only once. If a result was lost, its call then starts over.
        is_single_use: bool,
    },
}

impl fmt::Debug for SuspendPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Park => "Park",
            Self::ParkOrReplay => "ParkOrReplay",
            Self::Replay => "Replay",
            Self::Token { .. } => "Token",
        })
    }
}

/// A new call of a tool.
#[derive(Clone, Debug)]
pub struct NewCall<'a> {
    /// Id of the session: at least 128 random bits.
    pub session_id: &'a str,
    /// Id of the tool call, as used by the model.
    pub call_id: &'a str,
    /// Name of the tool.
    pub tool: &'a str,
    /// Arguments of the call.
    pub arguments: Raw,
    /// The caller.
    pub principal: &'a str,
    /// The `_meta` for the tool.
    pub meta: Option<Meta>,
}

/// A call to resume.
#[derive(Clone, Debug)]
pub struct Resumption<'a> {
    /// The state of [`Turn::Asks`].
    pub state: &'a str,
    /// Name of the tool.
    pub tool: &'a str,
    /// The arguments, if the request repeats them. They have to be equal as JSON values.
    pub arguments: Option<&'a Raw>,
    /// The caller.
    pub principal: &'a str,
    /// Answers by key, possibly incomplete. Repeated answers and answers without a question are
    /// ignored.
    pub answers: Vec<(String, Outcome)>,
}

/// Outcome of running a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Turn {
    /// The tool returned a result.
    Done(CallToolResult),
    /// The tool waits for answers.
    Asks {
        /// State for the [`Resumption`].
        state: String,
        /// The open questions.
        asks: Vec<Ask>,
    },
    /// Another caller runs the tool. The answers are stored for that run.
    Taken,
}

/// An error of a call or a resumption.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The tool does not exist.
    #[error("unknown tool `{0}`")]
    UnknownTool(String),
    /// The session does not exist, belongs to another principal, or was lost; or its state was
    /// modified, used, or has expired.
    #[error("session not found")]
    NotFound,
    /// The session is parked in another program, which has to receive the answer. If that program
    /// has ended, [`PluginHost::lose`](super::PluginHost::lose) ends the session.
    #[error("the session is parked in `{owner}`")]
    Elsewhere {
        /// The program.
        owner: String,
    },
    /// The answers did not arrive in time.
    #[error("the session has expired")]
    Expired,
    /// The session was aborted.
    #[error("the session was aborted")]
    Aborted,
    /// The tool has changed since the session was suspended.
    #[error("the session belongs to the code `{expected}`, not to `{actual}`")]
    OtherCode {
        /// Fingerprint of the session.
        expected: String,
        /// Fingerprint of the tool.
        actual: String,
    },
    /// The arguments differ from those of the first call.
    #[error("the arguments differ from those of the call")]
    OtherArguments,
    /// Another program has taken over the session.
    #[error("another program has taken over the session")]
    Superseded,
    /// Each attempt to save the session conflicted with another program.
    #[error("the session changes too often to be saved")]
    Contended,
    /// The session ended early for this reason.
    #[error("the tool failed: {0}")]
    Failed(String),
    /// The call ended with a protocol error, which the model does not receive.
    #[error(transparent)]
    Protocol(ErrorObject),
    /// The call cannot be a task: the tool does not support tasks, or the policy does not store
    /// sessions.
    #[error("calls of `{0}` cannot be tasks")]
    NoTask(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session cannot be serialized.
    #[error("the session has no JSON form")]
    Unwritable,
}

open_enum! {
    /// Reason why a session cannot continue.
    pub enum PluginSessionErrorCode {
        /// The session does not exist, has expired, belongs to another caller, or is held by
        /// another program.
        SessionNotFound = "SESSION_NOT_FOUND",
        /// The session was aborted.
        SessionAborted = "SESSION_ABORTED",
        /// Any other error.
        InternalError = "INTERNAL_ERROR",
    }
}

impl SessionError {
    /// Returns the error code for a chat page.
    pub fn code(&self) -> PluginSessionErrorCode {
        match self {
            Self::NotFound | Self::Elsewhere { .. } | Self::Expired => {
                PluginSessionErrorCode::SessionNotFound
            }
            Self::Aborted => PluginSessionErrorCode::SessionAborted,
            _ => PluginSessionErrorCode::InternalError,
        }
    }
}

/// Returns the current time, as an offset from an epoch shared by all programs that use the store.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;
