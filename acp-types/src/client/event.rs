//! Events of a client connection.
use super::{CallError, CallKey, CloseReason, RequestKey, SessionKey, TurnError, TurnKey};
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{self, DecodeError, Raw};

/// A decoded value, and the JSON text that it was decoded from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Received<T> {
    /// The value.
    pub value: T,
    /// The parameters or the result as it came; `{}` where there was none.
    pub raw: Raw,
}

impl<T> Received<T> {
    /// Creates a received value, for tests and for programs that make events of their own.
    pub fn new(value: T, raw: Raw) -> Self {
        Self { value, raw }
    }
}

/// An event of a [`Connection`](super::Connection).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The agent has answered `initialize`; what was called before is sent now.
    Initialized(Box<Initialized>),
    /// An event of a session.
    Session(SessionKey, SessionEvent),
    /// A request of the agent outside of sessions, to be answered with [`reply`](super::Connection::reply).
    Request(RequestKey, Box<Received<AgentRequest>>),
    /// The agent withdrew a request outside of sessions; it is answered.
    Withdrawn(RequestKey),
    /// A notification outside of sessions, such as `elicitation/complete`.
    Notification(Box<Received<AgentNotification>>),
    /// The end of a call.
    CallEnded(CallKey, Result<Box<Received<AgentResponse>>, CallError>),
    /// Something was tolerated or dropped; for logs.
    Diagnostic(Diagnostic),
    /// The connection is closed. No event follows.
    Closed(CloseReason),
}

/// An event of one session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The session is open.
    Opened(Box<Opened>),
    /// The session could not be opened. No event of it follows.
    Refused(CallError),
    /// The agent reports something. Updates of sessions that this one owns (subagents) come here too, under their own
    /// session id.
    Update(Received<Update>),
    /// A request of the agent, to be answered with [`reply`](super::Connection::reply): permission, elicitation, files,
    /// terminals, extensions.
    Request(RequestKey, Box<Received<AgentRequest>>),
    /// A request that was polled is answered already, because the agent withdrew it or the turn was cancelled.
    Withdrawn(RequestKey),
    /// Another notification that names the session: an extension.
    Notification(Box<Received<AgentNotification>>),
    /// Version 2: the session has taken in the prompt, as a message of this id. The turn goes on.
    PromptAccepted(TurnKey, Box<Received<v2::prompt_lifecycle::PromptResponse>>),
    /// The end of a turn.
    TurnEnded(TurnKey, Result<Received<TurnEnd>, TurnError>),
    /// The session was polled too slowly: so many of its oldest updates are lost, directly before the next event.
    Lagged {
        /// Number of updates and notifications.
        dropped: u64,
    },
}

/// The answer to `initialize`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Initialized {
    /// The version that the agent speaks, by the shape of its messages.
    pub version: ProtocolVersion,
    /// The version that the agent has named. There are agents that repeat any number, and go on in version 1.
    pub claimed: ProtocolVersion,
    /// The answer.
    pub response: Received<InitializeResponse>,
}

/// An answer to `initialize`, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InitializeResponse {
    /// In version 1.
    V1(Box<v1::initialization::InitializeResponse>),
    /// In version 2.
    V2(Box<v2::initialization::InitializeResponse>),
}

/// Ways to log in, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AuthMethods {
    /// In version 1.
    V1(Vec<v1::authentication::AuthMethod>),
    /// In version 2.
    V2(Vec<v2::authentication::AuthMethod>),
}

impl InitializeResponse {
    /// The ways to log in that the agent has.
    pub fn auth_methods(&self) -> AuthMethods {
        match self {
            Self::V1(response) => {
                AuthMethods::V1(response.auth_methods.clone().unwrap_or_default())
            }
            Self::V2(response) => {
                AuthMethods::V2(response.auth_methods.clone().unwrap_or_default())
            }
        }
    }
}

/// A session that is open.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Opened {
    /// Its id.
    pub session_id: SessionId,
    /// The answer. That to `session/load`, `session/resume` and `session/fork` is given in the form of that to
    /// `session/new`, which has the same members.
    pub response: Received<NewSessionResponse>,
    /// Updates that came before the answer of a session that was loaded or resumed: its history, as far as it was kept.
    pub replay: Vec<Received<Update>>,
    /// Number of updates that are missing at the beginning of [`replay`](Self::replay).
    pub left_out: u64,
}

impl Opened {
    /// Creates the event of a session without a replay, for tests and for programs that make events of their own.
    pub fn new(response: Received<NewSessionResponse>) -> Self {
        let session_id = match &response.value {
            NewSessionResponse::V1(response) => response.session_id.clone(),
            NewSessionResponse::V2(response) => response.session_id.as_str().into(),
        };
        Self { session_id, response, replay: Vec::new(), left_out: 0 }
    }
}

/// An answer to the opening of a session, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NewSessionResponse {
    /// In version 1.
    V1(Box<v1::session_setup::NewSessionResponse>),
    /// In version 2.
    V2(Box<v2::session_setup::NewSessionResponse>),
}

/// A `session/update`, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// In version 1.
    V1(v1::prompt_turn::SessionNotification),
    /// In version 2.
    V2(v2::prompt_lifecycle::UpdateSessionNotification),
}

/// A request of the agent, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AgentRequest {
    /// In version 1.
    V1(v1::dispatch::AgentRequest),
    /// In version 2.
    V2(v2::dispatch::AgentRequest),
}

impl AgentRequest {
    /// The method.
    pub fn method(&self) -> &str {
        match self {
            Self::V1(request) => request.method(),
            Self::V2(request) => request.method(),
        }
    }
}

/// A notification of the agent, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AgentNotification {
    /// In version 1.
    V1(v1::dispatch::AgentNotification),
    /// In version 2.
    V2(v2::dispatch::AgentNotification),
}

impl AgentNotification {
    /// The method.
    pub fn method(&self) -> &str {
        match self {
            Self::V1(notification) => notification.method(),
            Self::V2(notification) => notification.method(),
        }
    }
}

/// The result of a call, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AgentResponse {
    /// In version 1.
    V1(v1::dispatch::AgentResponse),
    /// In version 2.
    V2(v2::dispatch::AgentResponse),
}

/// The end of a turn, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// In version 1: the answer to the prompt.
    V1(v1::prompt_turn::PromptResponse),
    /// In version 2: the idle state that followed the prompt.
    V2(Box<v2::session_states::IdleStateUpdate>),
}

/// Something that was tolerated or dropped.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Diagnostic {
    /// A line was not a message. It was answered where JSON-RPC asks for that.
    Malformed {
        /// Why.
        error: String,
    },
    /// A response to no open call: a late one, or one that no call was made for.
    Unmatched {
        /// Its id.
        id: RequestId,
    },
    /// Parameters of a notification were invalid, and it was dropped.
    Undecodable {
        /// Its method.
        method: String,
        /// Why.
        error: DecodeError,
    },
    /// Parts of parameters or of a result were invalid, and the schema says what to take instead.
    Lenient {
        /// The method.
        method: String,
        /// What was taken instead.
        diagnostics: Vec<wire::Diagnostic>,
    },
    /// A notification named a session that is not open here, and was dropped.
    UnknownSession {
        /// The session.
        session_id: String,
    },
    /// A request of the agent was answered by the machine.
    Refused {
        /// Its method.
        method: String,
        /// Why.
        problem: Problem,
    },
    /// Too many updates came for sessions that are not open yet; the oldest was dropped.
    EarlyDropped {
        /// The session that it named.
        session_id: SessionId,
    },
    /// Notifications outside of sessions were not polled; so many of the oldest were dropped.
    Dropped {
        /// Number of notifications.
        count: u64,
    },
    /// The `session/close` of a released session failed.
    CloseFailed {
        /// The session.
        session_id: SessionId,
        /// Why.
        error: CallError,
    },
    /// The agent speaks another version than it has named.
    OtherVersion {
        /// The version that it has named.
        claimed: ProtocolVersion,
        /// The version that it speaks.
        spoken: ProtocolVersion,
    },
    /// Further diagnostics were not kept.
    Missed {
        /// Number of diagnostics.
        count: u64,
    },
}

/// Why a request of the agent was answered by the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Its parameters are invalid.
    Params(DecodeError),
    /// It names a session that is not open here.
    UnknownSession,
    /// It asks for a version that is not spoken here.
    Version,
    /// Too many requests are open, one of the same id is, or too much waits in its session.
    Limit,
}
