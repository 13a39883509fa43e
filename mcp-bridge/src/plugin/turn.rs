//! What a host of tools is asked, and what it answers.
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

/// How a call waits.
#[derive(Clone)]
#[non_exhaustive]
pub enum SuspendPolicy {
    /// The tool stays in memory. Its code may do whatever it likes; the program must not end, and the answer must come to it.
    Park,
    /// As [`Park`](Self::Park), but where it is not in memory, as after a restart or in another program, it is run again with
    /// its journal, as for [`Replay`](Self::Replay); so its code has to do the same each time.
    ParkOrReplay,
    /// The tool ends, and is run again with its journal: by any program that has its code and the store.
    Replay,
    /// As [`Replay`](Self::Replay), but the journal travels through the client, sealed: nothing is kept but, with
    /// `is_single_use`, which states were used. Such a call is in no list, and cannot be aborted.
    Token {
        /// Seals it. A state that has expired, was changed or belongs elsewhere does not open.
        codec: Arc<dyn StateCodec + Send + Sync>,
        /// Whether a state can be used once only. One that comes again is refused, so that an answer whose result was lost
        /// on the way begins anew.
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
    /// Names the session: at least 128 bits that nobody can guess.
    pub session_id: &'a str,
    /// The call, as the model has it.
    pub call_id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Raw,
    /// Who calls.
    pub principal: &'a str,
}

/// A call that goes on.
#[derive(Clone, Debug)]
pub struct Resumption<'a> {
    /// What [`Turn::Asks`] gave.
    pub state: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The arguments, where they come again; they have to be the same, to the byte.
    pub arguments: Option<&'a Raw>,
    /// Who answers.
    pub principal: &'a str,
    /// The answers by key. There may be some only, and some that count already; what nobody asked is passed over.
    pub answers: Vec<(String, Outcome)>,
}

/// What came of a call, for now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Turn {
    /// It is done.
    Done(CallToolResult),
    /// It waits for answers.
    Asks {
        /// What to come back with.
        state: String,
        /// What it needs.
        asks: Vec<Ask>,
    },
    /// It is being run already. The answers are kept, and count.
    Taken,
}

/// A call cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// There is no such tool.
    #[error("no tool is named `{0}`")]
    UnknownTool(String),
    /// There is no such session, it belongs to somebody else, or it was lost; or the state was changed, used or has expired.
    #[error("there is no such session")]
    NotFound,
    /// It is in the memory of another program, and only there: the answer is to be brought to that. If that program has ended,
    /// the session is lost, which [`PluginHost::lose`](super::PluginHost::lose) is told.
    #[error("the session is in the memory of `{owner}`")]
    Elsewhere {
        /// Which one.
        owner: String,
    },
    /// Nobody answered in time.
    #[error("the session has expired")]
    Expired,
    /// Somebody ended it.
    #[error("the session was aborted")]
    Aborted,
    /// It waited for other code than there is.
    #[error("the session is of the code `{expected}`, and there is `{actual}`")]
    OtherCode {
        /// The code that it is of.
        expected: String,
        /// The code that there is.
        actual: String,
    },
    /// The arguments are not those of the call.
    #[error("the arguments are not those of the call")]
    OtherArguments,
    /// Somebody else runs it by now.
    #[error("the session is run by somebody else")]
    Superseded,
    /// The store did not take it, however often.
    #[error("the session changes too often")]
    Contended,
    /// The tool failed before: this is why.
    #[error("the tool failed: {0}")]
    Failed(String),
    /// The call ended with an error of the protocol, which the model does not see.
    #[error(transparent)]
    Protocol(ErrorObject),
    /// Such a call cannot be a task: the tool is none of those that can, or nothing is kept of its calls.
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
    /// The code for the page of a chat.
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

/// Tells the time, counted from one moment that all who share a store agree on.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Receives what a tool reports during one call.
pub type NoticeSink = Arc<dyn Fn(&Notice) + Send + Sync>;
