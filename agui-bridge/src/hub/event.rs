//! Outputs of a hub: frames of runs, events for the program, refusals.
use crate::conversation::{Notice, RunRefused};
use acp_types::client::{
    AgentNotification, AgentRequest, AgentResponse, CallError, CallKey, CloseReason, Diagnostic,
    Initialized, Received, RequestKey,
};
use agui_types::id::RunId;
use agui_types::run_log::RunOutcome;
use alloc::boxed::Box;
use alloc::string::String;
use bytes::Bytes;

/// New frames of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Thread of the run, by the name that the program has given it.
    pub thread: String,
    /// Run.
    pub run_id: RunId,
    /// Number of the last event.
    pub last: u64,
    /// Events as server-sent events with their numbers.
    pub bytes: Bytes,
    /// Whether the run has ended with them.
    pub has_ended: bool,
}

/// A run is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HubRefused {
    /// The thread does not begin it.
    #[error(transparent)]
    Run(#[from] RunRefused),
    /// [`HubOptions::max_threads`](super::HubOptions::max_threads) threads exist.
    #[error("too many threads are open")]
    TooManyThreads,
    /// [`HubOptions::max_runs`](super::HubOptions::max_runs) runs are open.
    #[error("too many runs are open")]
    TooManyRuns,
}

/// An event for the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HubEvent {
    /// The agent has answered `initialize`.
    Connected(Box<Initialized>),
    /// The connection is closed: open runs have failed, and further ones fail until [`Hub::connect`](super::Hub::connect).
    Closed(CloseReason),
    /// A request of the agent that is the program's: files, terminals, extensions. It is answered by
    /// [`Hub::reply`](super::Hub::reply).
    Request {
        /// Thread of the requesting session; `None` outside of sessions.
        thread: Option<String>,
        /// Key of the request.
        key: RequestKey,
        /// Request.
        request: Box<Received<AgentRequest>>,
    },
    /// A request of the program's was withdrawn, and is answered.
    Withdrawn(RequestKey),
    /// A notification that no conversation handles.
    Notification {
        /// Thread of the named session; `None` outside of sessions.
        thread: Option<String>,
        /// Notification.
        notification: Box<Received<AgentNotification>>,
    },
    /// A notice of a conversation.
    Notice(String, Notice),
    /// A run that was [queued](crate::conversation::Accepted::Queued) does not begin. Its log is gone.
    RunRefused(String, RunId, RunRefused),
    /// A run has ended.
    RunEnded(String, RunId, RunOutcome),
    /// A thread without runs was removed.
    ThreadRemoved(String),
    /// The end of a call of the program's.
    CallEnded(CallKey, Result<Box<Received<AgentResponse>>, CallError>),
    /// Something was tolerated or dropped by the connection.
    Diagnostic(Diagnostic),
}
