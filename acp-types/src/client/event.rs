//! Events of a client connection.
use super::{
    AuthMethods, CallError, CallKey, CloseReason, Diagnostic, ReceivedValue, RequestKey,
    SessionKey, TurnError, TurnKey,
};
use crate::by_version::by_version;
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, DecodedValue, Mode};
use serde_json::value::RawValue;

/// An event of a [`Connection`](super::Connection).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The agent has responded to `initialize`. Held calls are sent now.
    Initialized(Box<Initialization>),
    /// An event of a session.
    Session(SessionKey, SessionEvent),
    /// A request of the agent outside of sessions, to be answered with
    /// [`reply`](super::Connection::reply).
    Request(RequestKey, Box<ReceivedValue<AgentRequest>>),
    /// The agent withdrew a request outside of sessions. It is already answered.
    Withdrawn(RequestKey),
    /// A notification outside of sessions, such as `elicitation/complete`.
    Notification(Box<ReceivedValue<AgentNotification>>),
    /// The end of a call.
    CallEnded(CallKey, Result<Box<ReceivedValue<AgentResponse>>, CallError>),
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
    Opened(Box<OpenedSession>),
    /// The session could not be opened. No event of it follows.
    Refused(CallError),
    /// An update of the agent. Updates of owned sessions (subagents) arrive here too, under their
    /// own session id.
    Update(ReceivedValue<Update>),
    /// A request of the agent, to be answered with [`reply`](super::Connection::reply): permission,
    /// elicitation, files, terminals, extensions.
    Request(RequestKey, Box<ReceivedValue<AgentRequest>>),
    /// A polled request was answered by the machine, since the agent withdrew it or the turn was
    /// cancelled.
    Withdrawn(RequestKey),
    /// Another notification of the session: an extension.
    Notification(Box<ReceivedValue<AgentNotification>>),
    /// Version 2: the prompt was accepted as a message with this id. The turn continues. A repeated
    /// prompt has the id of the first one.
    PromptAccepted(TurnKey, Box<ReceivedValue<v2::prompt_lifecycle::PromptResponse>>),
    /// The end of a turn.
    TurnEnded(TurnKey, Result<ReceivedValue<TurnEnd>, TurnError>),
    /// The session was polled too slowly: this number of its oldest updates was dropped directly
    /// before the next event.
    Lagged {
        /// Number of updates and notifications.
        dropped: u64,
    },
}

/// The response to `initialize`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Initialization {
    /// The agent's version, by the shape of its messages.
    pub version: ProtocolVersion,
    /// The version in the agent's response. Some agents repeat any requested number and continue in
    /// version 1.
    pub claimed: ProtocolVersion,
    /// The response.
    pub response: ReceivedValue<InitializeResponse>,
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
pub struct OpenedSession {
    /// Identifier of the session.
    pub session_id: SessionId,
    /// The response. Responses to `session/load`, `session/resume` and `session/fork` have the form
    /// of `session/new`, with the same members.
    pub response: ReceivedValue<NewSessionResponse>,
    /// Updates before the response, for a loaded or resumed session: its kept history. In version 2
    /// it ends with `replay_complete`, if the agent sends that: later updates before the response
    /// are [`SessionEvent::Update`]s.
    pub replay: Vec<ReceivedValue<Update>>,
    /// Number of updates that are missing at the beginning of [`replay`](Self::replay).
    pub left_out: u64,
}

impl OpenedSession {
    /// Creates the event of a session without a replay, for tests and for programs with their own
    /// events.
    pub fn new(response: ReceivedValue<NewSessionResponse>) -> Self {
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
