//! Outputs of a hub for the program: events, and refusals.
use crate::conversation::{Notice, RunRefused};
use acp_types::client::{
    AgentNotification, AgentRequest, AgentResponse, CallError, CallKey, CloseReason, Diagnostic,
    Initialization, ReceivedValue, RequestKey,
};
use alloc::boxed::Box;
use alloc::string::String;

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
}

/// An event for the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HubEvent {
    /// The agent has responded to `initialize`.
    Connected(Box<Initialization>),
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
        request: Box<ReceivedValue<AgentRequest>>,
    },
    /// A request for the program was withdrawn and needs no response.
    Withdrawn(RequestKey),
    /// A notification that no conversation handles.
    Notification {
        /// Thread of the named session; `None` outside of sessions.
        thread: Option<String>,
        /// The notification.
        notification: Box<ReceivedValue<AgentNotification>>,
    },
    /// A notice of a conversation.
    Notice(String, Notice),
    /// A thread without runs was removed.
    ThreadRemoved(String),
    /// The end of a call of the program.
    CallEnded(CallKey, Result<Box<ReceivedValue<AgentResponse>>, CallError>),
    /// The connection tolerated or dropped something.
    Diagnostic(Diagnostic),
}
