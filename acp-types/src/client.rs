//! The client's side of one ACP connection: sessions, turns and calls, without I/O.
//!
//! A [`Connection`] handles the agent's lines and the program's calls, and yields lines to send and
//! typed events. It reads no clock: times are offsets from an epoch of the caller's choice.
//!
//! # Run loop
//!
//! After each `handle_*` and each call, transmit the lines of
//! [`poll_transmit`](Connection::poll_transmit), take [`poll_event`](Connection::poll_event) until
//! it returns `None`, and arm a timer for [`poll_timeout`](Connection::poll_timeout). When it
//! fires, call [`handle_timeout`](Connection::handle_timeout).
//!
//! The machine guarantees, for any agent:
//! - Each requested session is [opened](SessionEvent::Opened) or [refused](SessionEvent::Refused)
//!   once. Each call and each turn ends once.
//! - Each request of the agent is answered once: by the caller, or by the machine when the turn is
//!   cancelled, the agent withdraws the request, or the session is released.
//! - Updates of a session keep their order, and reach no other session. A session that is not
//!   polled loses its own oldest updates; others are not affected.
//! - Memory is bounded by the sum of the [`Limits`].
//! - No event follows [`Event::Closed`].
//!
//! ```
//! use acp_types::client::{Connection, Event, Options, Prompt, SessionEvent, TurnEnd, Update};
//! use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
//! use acp_types::v1::prompt_turn::StopReason;
//! use acp_types::v1::session_setup::NewSessionRequest;
//! use core::time::Duration;
//!
//! let now = Duration::ZERO;
//! let mut connection = Connection::new(Options::v1(InitializeRequest::new(ProtocolVersion::V1)), now);
//! let session = connection.open_session(NewSessionRequest::new("/work", []), now);
//! // Lines of an agent, which a program reads from a pipe.
//! let answers = [
//!     r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#,
//!     r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#,
//!     r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}}"#,
//!     r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#,
//! ];
//! let mut sent = Vec::new();
//! let mut updates = 0;
//! let mut reason = None;
//! for line in answers {
//!     connection.handle_line(Ok(line), now);
//!     while let Some(event) = connection.poll_event() {
//!         match event {
//!             Event::Session(session, SessionEvent::Opened(_)) => {
//!                 connection.prompt(session, Prompt::v1(["Hello".into()]), now)?;
//!             }
//!             Event::Session(_, SessionEvent::Update(update)) => {
//!                 assert!(matches!(update.value, Update::V1(_)));
//!                 updates += 1;
//!             }
//!             Event::Session(_, SessionEvent::TurnEnded(_, Ok(end))) => {
//!                 if let TurnEnd::V1(response) = end.value { reason = Some(response.stop_reason) }
//!             }
//!             _ => {}
//!         }
//!     }
//!     while let Some(transmit) = connection.poll_transmit() {
//!         sent.extend(transmit.line);
//!     }
//! }
//! assert_eq!(updates, 1);
//! assert_eq!(reason, Some(StopReason::EndTurn));
//! assert_eq!(sent.iter().filter(|byte| **byte == b'\n').count(), 3);
//! # let _ = session;
//! # Ok::<(), acp_types::client::PromptError>(())
//! ```
//!
//! # Versions
//!
//! Version 1 is supported completely, and version 2, a preview, if the agent supports it. Events
//! have a variant for each version. The version is determined by the shape of the response to
//! `initialize`, not only by its number; see [`Initialization::version`].
mod commands;
mod error;
mod event;
mod handle;
mod incoming;
mod initialize;
mod options;
mod pending_event;
mod poll;
mod prompt;
mod request;
mod respond;
mod session;
mod session_setup;

pub use crate::endpoint::{
    AuthMethods, Call, CallError, CallKey, CloseReason, Diagnostic, Problem, Purpose,
    ReceivedValue, RepeatedAnswer, Reply, RequestKey, SessionKey, Transmit, TurnKey,
    UnsupportedVersion,
};
pub use error::{PromptError, TurnError};
pub use event::{
    AgentNotification, AgentRequest, AgentResponse, Event, Initialization, InitializeResponse,
    NewSessionResponse, OpenedSession, SessionEvent, TurnEnd, Update,
};
pub use options::{Limits, Options};
pub use prompt::{Prompt, PromptContent};
pub use session_setup::SessionSetupRequest;

use crate::endpoint::{Bounds, Endpoint};
use crate::inbox::Room;
use crate::v1::session_setup::SessionId;
use crate::v2::prompt_lifecycle::IdempotencyKey;
use alloc::borrow::Cow;
use core::time::Duration;
use jsonrpc_core::RequestId;
use pending_event::Early;
pub(crate) use pending_event::PendingEvent;
pub(crate) use request::OpenRequest;
use session::Sessions;

/// The client's side of one ACP connection; see the [module documentation](self).
///
/// ```
/// use acp_types::client::{Connection, Options};
/// use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
/// use core::time::Duration;
///
/// let options = Options::v1(InitializeRequest::new(ProtocolVersion::V1));
/// let mut connection = Connection::new(options, Duration::ZERO);
/// let transmit = connection.poll_transmit().ok_or("nothing to send")?;
/// assert!(String::from_utf8(transmit.line)?.contains(r#""method":"initialize""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    options: Options,
    pub(crate) base: Base,
    agent_version: AgentVersion,
    initialized: Option<Initialization>,
    sessions: Sessions,
    early: Early,
}

type Base = Endpoint<Token, OpenRequest, PendingEvent>;

/// The purpose of a request to the agent.
#[derive(Clone, Debug)]
pub(crate) enum Token {
    Initialize,
    Open(SessionKey),
    Prompt(SessionKey, TurnKey),
    Call(CallKey, Cow<'static, str>),
    /// `session/close` of a released session.
    Close(SessionId),
}

/// The agent's version, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgentVersion {
    /// The agent has not answered `initialize`.
    Unknown,
    /// Version 2 by its number, but not confirmed by the shape of a message.
    Claimed,
    V1,
    V2,
}

impl AgentVersion {
    fn is_v2(self) -> bool {
        matches!(self, Self::V2 | Self::Claimed)
    }
}

impl Connection {
    /// Creates a connection, and queues `initialize` with the newest of the offered versions.
    pub fn new(options: Options, now: Duration) -> Self {
        let Limits { requests, calls, replies, diagnostics, .. } = options.limits;
        let events = Room { count: options.limits.events, bytes: options.limits.event_bytes };
        let mut connection = Self {
            base: Endpoint::new(Bounds { requests, calls, replies, diagnostics, events }),
            agent_version: AgentVersion::Unknown,
            initialized: None,
            sessions: Sessions::new(events),
            early: Early::default(),
            options,
        };
        connection.send_initialize(now);
        connection
    }

    /// Returns the response to `initialize`, once received.
    pub fn initialized(&self) -> Option<&Initialization> {
        self.initialized.as_ref()
    }

    /// Returns the id of a session, once known.
    pub fn session_id(&self, session: SessionKey) -> Option<&str> {
        self.sessions.get(session)?.id()
    }

    /// Returns the `idempotencyKey` of a session's turn, until the end of the turn is polled. With it
    /// the prompt can be [repeated](Prompt::with_idempotency_key) on another connection.
    pub fn prompt_key(&self, session: SessionKey) -> Option<&IdempotencyKey> {
        self.sessions.get(session)?.prompt_key()
    }

    /// Returns the id of an open request of the agent.
    pub fn request_id(&self, request: RequestKey) -> Option<&RequestId> {
        self.base.requests.id(request)
    }

    /// Returns the number of open requests of the agent.
    pub fn open_requests(&self) -> usize {
        self.base.requests.len()
    }

    /// Returns the number of own requests without an answer, or of calls with an end that was not
    /// polled, whichever is larger.
    pub fn open_calls(&self) -> usize {
        self.base.open_calls()
    }

    /// Answers further requests with an error, since the connection is about to end.
    pub fn drain(&mut self) {
        self.base.peer.drain();
    }

    /// Returns why the connection is closed, if it is.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.base.closed.as_ref()
    }

    /// Returns whether the connection is closed. Its last events may not have been polled.
    pub fn is_closed(&self) -> bool {
        self.base.closed.is_some()
    }

    /// Returns the limits of a replay.
    fn replay_room(&self) -> Room {
        let Limits { replay, replay_bytes, .. } = self.options.limits;
        Room { count: replay, bytes: replay_bytes }
    }
}
