//! Events of a client connection.
use super::{CallError, CallKey, CloseReason, RequestKey, SessionKey, TurnError, TurnKey};
use crate::by_version::by_version;
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{self, DecodeError, Decoded, Mode, Raw};
use serde_json::value::RawValue;

/// A decoded value, with its JSON text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Received<T> {
    /// The value.
    pub value: T,
    /// The parameters or the result, verbatim; `{}` if absent.
    pub raw: Raw,
}

impl<T> Received<T> {
    /// Creates a received value, for tests and for programs with their own events.
    pub fn new(value: T, raw: Raw) -> Self {
        Self { value, raw }
    }
}

/// An event of a [`Connection`](super::Connection).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The agent has responded to `initialize`. Held calls are sent now.
    Initialized(Box<Initialized>),
    /// An event of a session.
    Session(SessionKey, SessionEvent),
    /// A request of the agent outside of sessions, to be answered with [`reply`](super::Connection::reply).
    Request(RequestKey, Box<Received<AgentRequest>>),
    /// The agent withdrew a request outside of sessions. It is already answered.
    Withdrawn(RequestKey),
    /// A notification outside of sessions, such as `elicitation/complete`.
    Notification(Box<Received<AgentNotification>>),
    /// The end of a call.
    CallEnded(CallKey, Result<Box<Received<AgentResponse>>, CallError>),
    /// A deviation was tolerated, or a message was dropped; for logs.
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
    /// An update of the agent. Updates of owned sessions (subagents) arrive here too, under their own session id.
    Update(Received<Update>),
    /// A request of the agent, to be answered with [`reply`](super::Connection::reply): permission, elicitation, files,
    /// terminals, extensions.
    Request(RequestKey, Box<Received<AgentRequest>>),
    /// A polled request was answered by the machine, since the agent withdrew it or the turn was cancelled.
    Withdrawn(RequestKey),
    /// Another notification of the session: an extension.
    Notification(Box<Received<AgentNotification>>),
    /// Version 2: the prompt was accepted as a message with this id. The turn continues.
    PromptAccepted(TurnKey, Box<Received<v2::prompt_lifecycle::PromptResponse>>),
    /// The end of a turn.
    TurnEnded(TurnKey, Result<Received<TurnEnd>, TurnError>),
    /// The session was polled too slowly: this number of its oldest updates was dropped directly before the next event.
    Lagged {
        /// Number of updates and notifications.
        dropped: u64,
    },
}

/// The response to `initialize`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Initialized {
    /// The agent's version, by the shape of its messages.
    pub version: ProtocolVersion,
    /// The version in the agent's response. Some agents repeat any requested number and continue in version 1.
    pub claimed: ProtocolVersion,
    /// The response.
    pub response: Received<InitializeResponse>,
}

/// A response to `initialize`, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InitializeResponse {
    /// Version 1.
    V1(Box<v1::initialization::InitializeResponse>),
    /// Version 2.
    V2(Box<v2::initialization::InitializeResponse>),
}

/// Authentication methods, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AuthMethods {
    /// Version 1.
    V1(Vec<v1::authentication::AuthMethod>),
    /// Version 2.
    V2(Vec<v2::authentication::AuthMethod>),
}

impl InitializeResponse {
    /// Returns the agent's authentication methods.
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

/// An open session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Opened {
    /// Identifier of the session.
    pub session_id: SessionId,
    /// The response. Responses to `session/load`, `session/resume` and `session/fork` have the form of `session/new`,
    /// with the same members.
    pub response: Received<NewSessionResponse>,
    /// Updates before the response, for a loaded or resumed session: its kept history.
    pub replay: Vec<Received<Update>>,
    /// Number of updates that are missing at the beginning of [`replay`](Self::replay).
    pub left_out: u64,
}

impl Opened {
    /// Creates the event of a session without a replay, for tests and for programs with their own events.
    pub fn new(response: Received<NewSessionResponse>) -> Self {
        let session_id = match &response.value {
            NewSessionResponse::V1(response) => response.session_id.clone(),
            NewSessionResponse::V2(response) => response.session_id.as_str().into(),
        };
        Self { session_id, response, replay: Vec::new(), left_out: 0 }
    }
}

/// A response to opening a session, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum NewSessionResponse {
    /// Version 1.
    V1(Box<v1::session_setup::NewSessionResponse>),
    /// Version 2.
    V2(Box<v2::session_setup::NewSessionResponse>),
}

/// A `session/update`, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// Version 1.
    V1(v1::prompt_turn::SessionNotification),
    /// Version 2.
    V2(v2::prompt_lifecycle::UpdateSessionNotification),
}

by_version! {
    /// A request of the agent, by version.
    pub enum AgentRequest of Option<&RawValue>, with method;

    /// A notification of the agent, by version.
    pub enum AgentNotification of Option<&RawValue>, with method;

    /// The result of a call, by version.
    pub enum AgentResponse of &RawValue;
}

/// The end of a turn, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// Version 1: the response to the prompt.
    V1(v1::prompt_turn::PromptResponse),
    /// Version 2: the idle state that followed the prompt.
    V2(Box<v2::session_states::IdleStateUpdate>),
}

/// A tolerated deviation, or a dropped message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Diagnostic {
    /// A line is not a valid message. It was answered if JSON-RPC requires that.
    Malformed {
        /// The reason.
        error: String,
    },
    /// A response without an open call, for example a late one.
    Unmatched {
        /// The id of the response.
        id: RequestId,
    },
    /// A notification was dropped, since its parameters are invalid.
    Undecodable {
        /// The method.
        method: String,
        /// The reason.
        error: DecodeError,
    },
    /// Parts of parameters or of a result were invalid, and were replaced as the schema defines.
    Lenient {
        /// The method.
        method: String,
        /// The replacements.
        diagnostics: Vec<wire::Diagnostic>,
    },
    /// A notification was dropped, since its session is not open.
    UnknownSession {
        /// The session.
        session_id: String,
    },
    /// The machine answered a request of the agent.
    Refused {
        /// The method.
        method: String,
        /// The reason.
        problem: Problem,
    },
    /// Too many updates arrived for sessions that are not open yet. The oldest was dropped.
    EarlyDropped {
        /// The session of the update.
        session_id: SessionId,
    },
    /// Notifications outside of sessions were not polled. This number of the oldest was dropped.
    Dropped {
        /// Number of notifications.
        count: u64,
    },
    /// The `session/close` of a released session failed.
    CloseFailed {
        /// The session.
        session_id: SessionId,
        /// The reason.
        error: CallError,
    },
    /// The agent uses a different version than the one in its response.
    OtherVersion {
        /// The version in the agent's response.
        claimed: ProtocolVersion,
        /// The version that it uses.
        spoken: ProtocolVersion,
    },
    /// Further diagnostics were dropped.
    Missed {
        /// Number of diagnostics.
        count: u64,
    },
}

/// The reason why the machine answered a request of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The parameters are invalid.
    Params(DecodeError),
    /// The session is not open.
    UnknownSession,
    /// The requested version is not supported.
    Version,
    /// Too many requests are open, another open request has the same id, or too many messages wait in its session.
    Limit,
}
