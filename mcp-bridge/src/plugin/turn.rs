//! Calls of a host of tools, their outcomes and errors.
use super::ask::Ask;
use super::context::Notice;
use super::events::PluginSessionErrorCode;
use super::journal::Outcome;
use super::store::StoreError;
use crate::mcp::tools::CallToolResult;
use crate::relay::StateCodec;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;

/// How a call waits for answers.
#[derive(Clone)]
#[non_exhaustive]
pub enum SuspendPolicy {
    /// The tool stays in memory, and its code has no restrictions. The call is lost when the program ends.
    Park,
    /// As [`Park`](Self::Park) in the same program. Elsewhere, as after a restart, the tool runs again with its journal, so its
    /// code has to be deterministic as for [`Replay`](Self::Replay).
    ParkOrReplay,
    /// The tool ends, and runs again with its journal in any program that has its code and the store.
    Replay,
    /// As [`Replay`](Self::Replay), with the journal in a sealed state that the client carries. The store has only the names of
    /// used states, with `is_single_use`. Such a call is in no list, and cannot be aborted.
    Token {
        /// Seals the state. A state that has expired, was changed or belongs to another call does not open.
        codec: Arc<dyn StateCodec + Send + Sync>,
        /// Whether a state can be used only once. A call whose result was lost then begins anew.
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

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct NewCall<'a> {
    /// Identifies the session: at least 128 random bits.
    pub session_id: &'a str,
    /// The model's id of the call.
    pub call_id: &'a str,
    /// Name of the tool.
    pub tool: &'a str,
    /// Arguments of the call.
    pub arguments: Raw,
    /// The caller.
    pub principal: &'a str,
}

/// A call that is resumed.
#[derive(Clone, Debug)]
pub struct Resumption<'a> {
    /// The state of [`Turn::Asks`].
    pub state: &'a str,
    /// Name of the tool.
    pub tool: &'a str,
    /// The arguments, if they come again. They have to be the same JSON value.
    pub arguments: Option<&'a Raw>,
    /// The caller.
    pub principal: &'a str,
    /// Answers by key. Some may be missing. Repeated answers, and answers without a question, are ignored.
    pub answers: Vec<(String, Outcome)>,
}

/// Outcome of a run of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Turn {
    /// The result of the tool.
    Done(CallToolResult),
    /// The tool waits for answers.
    Asks {
        /// State for the [`Resumption`].
        state: String,
        /// Open questions.
        asks: Vec<Ask>,
    },
    /// Another caller runs the tool. The answers are stored for it.
    Taken,
}

/// An error of a call or of its resumption.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The tool does not exist.
    #[error("no tool is named `{0}`")]
    UnknownTool(String),
    /// The session does not exist, belongs to another principal, or was lost; or the state was changed, used or has expired.
    #[error("there is no such session")]
    NotFound,
    /// The session is parked in another program, which has to get the answer. If that program has ended,
    /// [`PluginHost::lose`](super::PluginHost::lose) ends the session.
    #[error("the session is in the memory of `{owner}`")]
    Elsewhere {
        /// The program.
        owner: String,
    },
    /// No answer came in time.
    #[error("the session has expired")]
    Expired,
    /// The session was aborted.
    #[error("the session was aborted")]
    Aborted,
    /// The tool changed while the session waited.
    #[error("the session is of the code `{expected}`, and there is `{actual}`")]
    OtherCode {
        /// Fingerprint of the session.
        expected: String,
        /// Fingerprint of the tool.
        actual: String,
    },
    /// The arguments are not those of the first call.
    #[error("the arguments are not those of the call")]
    OtherArguments,
    /// Another program took the session over.
    #[error("another program took the session over")]
    Superseded,
    /// Other programs changed the session at each attempt to save it.
    #[error("the session changes too often")]
    Contended,
    /// The session ended early, for this reason.
    #[error("the tool failed: {0}")]
    Failed(String),
    /// The call ended with a protocol error, which the model does not see.
    #[error(transparent)]
    Protocol(ErrorObject),
    /// The call cannot be a task: the tool does not support tasks, or the policy stores no sessions.
    #[error("a call of `{0}` cannot be a task")]
    NoTask(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session has no JSON form.
    #[error("the session has no JSON form")]
    Unwritable,
}

impl SessionError {
    /// The error code for the page of a chat.
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

/// Returns the time since an epoch that all programs with the store share.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Receives what a tool reports during one call.
pub type NoticeSink = Arc<dyn Fn(&Notice) + Send + Sync>;
