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
    /// Name of the run's thread.
    pub thread: String,
    /// Id of the run.
    pub run_id: RunId,
    /// Number of the last event.
    pub last: u64,
    /// Server-sent events with their numbers.
    pub bytes: Bytes,
    /// Whether the run ends with these frames.
    pub has_ended: bool,
}

/// A run with new frames, which are in its [log](super::Hub::log).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangedRun {
    /// Name of the run's thread.
    pub thread: String,
    /// Id of the run.
    pub run_id: RunId,
    /// Whether the run has ended.
    pub has_ended: bool,
}

/// A refused run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HubRefused {
    /// The thread refused it.
    #[error(transparent)]
    Run(#[from] RunRefused),
    /// [`HubOptions::max_threads`](super::HubOptions::max_threads) is reached.
    #[error("too many threads are open")]
    TooManyThreads,
    /// [`HubOptions::max_runs`](super::HubOptions::max_runs) open runs exist.
    #[error("too many runs are open")]
    TooManyRuns,
}

/// An event for the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HubEvent {
    /// The agent has responded to `initialize`.
    Connected(Box<Initialized>),
    /// The connection is closed. Open runs have failed, and later ones fail until
    /// [`Hub::connect`](super::Hub::connect).
    Closed(CloseReason),
    /// A request of the agent for the program: files, terminals, extensions. Answer it with
    /// [`Hub::reply`](super::Hub::reply).
    Request {
        /// Thread of the requesting session; `None` outside of sessions.
        thread: Option<String>,
        /// Key of the request.
        key: RequestKey,
        /// The request.
        request: Box<Received<AgentRequest>>,
    },
    /// A request for the program was withdrawn and needs no response.
    Withdrawn(RequestKey),
    /// A notification that no conversation handles.
    Notification {
        /// Thread of the named session; `None` outside of sessions.
        thread: Option<String>,
        /// The notification.
        notification: Box<Received<AgentNotification>>,
    },
    /// A notice of a conversation.
    Notice(String, Notice),
    /// A run that was [queued](crate::conversation::Accepted::Queued) does not begin. Its log is
    /// removed.
    RunRefused(String, RunId, RunRefused),
    /// A run that was [queued](crate::conversation::Accepted::Queued) does not begin, because the
    /// run with the last id had the same answers. Its log is removed.
    RunAgain(String, RunId, RunId),
    /// A run has failed, with this code and this reason. [`RunEnded`](Self::RunEnded) follows.
    RunFailed(String, RunId, Option<String>, String),
    /// A run has ended.
    RunEnded(String, RunId, RunOutcome),
    /// A thread without runs was removed.
    ThreadRemoved(String),
    /// The end of a call of the program.
    CallEnded(CallKey, Result<Box<Received<AgentResponse>>, CallError>),
    /// The connection tolerated or dropped something.
    Diagnostic(Diagnostic),
}
