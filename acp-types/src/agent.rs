//! The agent's side of one ACP connection, without I/O; the counterpart of
//! [`client`](crate::client).
//!
//! A [`Connection`] handles the client's lines. It yields typed requests that are answered by key,
//! sends updates and calls, and reports the end of each call. `initialize` selects the version of
//! all later messages.
//!
//! # Run loop
//!
//! After each `handle_*` and each call, transmit the lines of
//! [`poll_transmit`](Connection::poll_transmit), take [`poll_event`](Connection::poll_event) until
//! it returns `None`, and arm a timer for [`poll_timeout`](Connection::poll_timeout).
//!
//! The machine guarantees, for any client:
//! - Each request of the client is reported once, and answered once: by the caller, or by the
//!   machine if it is invalid or exceeds a limit.
//! - The cancellation of a prompt, by `session/cancel` or `$/cancel_request`, is
//!   [reported](Event::Cancelled) once. The prompt has still to be answered.
//! - Each call ends once. The answer to a permission request selects an option that was offered.
//! - Memory is bounded by the sum of the [`Limits`].
//! - No event follows [`Event::Closed`].
//!
//! In version 2, a preview, the machine also does what needs no decision of the agent:
//! - A prompt is answered before its work begins. `session/cancel` answers those without an answer
//!   with [`REQUEST_CANCELLED`](jsonrpc_core::ErrorCode::REQUEST_CANCELLED), and
//!   [withdraws](Connection::withdraw) the open calls of the session; `session/close` and
//!   `session/delete` do so when they succeed. A prompt that was not polled is not reported.
//! - A prompt that repeats the `idempotencyKey` of another in its session is not reported. It is
//!   answered with the message of the first one. The keys of a connection are remembered within
//!   [`Limits::prompt_keys`]. An agent that resumes sessions on other connections remembers them
//!   itself: prompts of other connections are reported.
//! - The response to a `session/resume` with `replayFrom` follows a `replay_complete`. Unless the
//!   agent sends it, the machine does so: before the response, and before a `state_update` that
//!   directly precedes the response.
//! - A `state_update` before the response to `session/new` or `session/fork` is sent again after
//!   it, if the session still works.
//!
//! An agent that repeats its prompts:
//!
//! ```
//! use acp_types::agent::{ClientRequest, Connection, Event, Options, Reply};
//! use acp_types::v1::dispatch::ClientRequest::{InitializeRequest, NewSessionRequest, PromptRequest};
//! use acp_types::v1::initialization::{InitializeResponse, ProtocolVersion};
//! use acp_types::v1::prompt_turn::{ContentChunk, PromptResponse, SessionNotification, SessionUpdate, StopReason};
//! use acp_types::v1::session_setup::NewSessionResponse;
//!
//! let mut connection = Connection::new(Options::v1());
//! let lines = [
//!     r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
//!     r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}"#,
//!     r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}}"#,
//! ];
//! let mut written = Vec::new();
//! for line in lines {
//!     connection.handle_line(Ok(line));
//!     while let Some(event) = connection.poll_event() {
//!         let Event::Request(key, request) = event else { continue };
//!         let ClientRequest::V1(request) = request.value else { continue };
//!         match request {
//!             InitializeRequest(_) => connection.reply(key, Reply::result(&InitializeResponse::new(ProtocolVersion::V1)))?,
//!             NewSessionRequest(_) => connection.reply(key, Reply::result(&NewSessionResponse::new("s")))?,
//!             PromptRequest(prompt) => {
//!                 for block in prompt.prompt {
//!                     let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
//!                     connection.notify(&SessionNotification::new(prompt.session_id.clone(), update))?;
//!                 }
//!                 connection.reply(key, Reply::result(&PromptResponse::new(StopReason::EndTurn)))?;
//!             }
//!             _ => connection.reply(key, Reply::method_not_found(request.method()))?,
//!         }
//!     }
//!     while let Some(transmit) = connection.poll_transmit() {
//!         written.extend(transmit.line);
//!     }
//! }
//! assert_eq!(written.iter().filter(|byte| **byte == b'\n').count(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod event;
mod handle;
mod openings;
mod options;
mod prompts;
mod question;
mod version;

pub use crate::endpoint::{
    Call, CallError, CallKey, CloseReason, Diagnostic, Problem, Purpose, ReceivedValue,
    RepeatedAnswer, Reply, RequestKey, Transmit,
};
pub use event::{ClientNotification, ClientRequest, ClientResponse, Event};
pub use options::{Limits, Options};

use crate::endpoint::{Bounds, Endpoint, line, notification};
use crate::inbox::Room;
use crate::params::NotificationParams;
use crate::sorted_map::SortedMap;
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::time::Duration;
pub(crate) use event::PendingEvent;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{Notification, Request, RequestId};
use openings::SessionSetups;
use prompts::{Messages, PromptKey};
use question::Question;

/// The agent's side of one ACP connection; see the [module documentation](self).
///
/// ```
/// use acp_types::agent::{Connection, Event, Options};
///
/// let mut connection = Connection::new(Options::v1());
/// let line = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
/// connection.handle_line(Ok(line));
/// assert!(matches!(connection.poll_event(), Some(Event::Request(_, _))));
/// ```
#[derive(Debug)]
pub struct Connection {
    options: Options,
    pub(crate) base: Endpoint<Token, OpenRequest, PendingEvent>,
    /// The selected version.
    version: Option<ProtocolVersion>,
    /// Calls of sessions.
    questions: SortedMap<CallKey, Question>,
    /// Version 2: the messages of prompts with keys.
    messages: Messages,
    /// Version 2: sessions that are being opened.
    openings: SessionSetups,
}

/// A request to the client: a call, with its method.
pub(crate) type Token = (CallKey, Cow<'static, str>);

/// An open request of the client.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    kind: Kind,
    is_cancelled: bool,
}

/// What an open request asks for.
#[derive(Debug)]
enum Kind {
    /// A prompt of this session.
    Prompt(SessionId),
    /// Version 2: a prompt with a key.
    KeyedPrompt(PromptKey),
    /// Version 2: a repetition of a prompt with a key, which is not reported.
    Repetition(PromptKey),
    /// Version 2: the end of a session and its work.
    Close(SessionId),
    Other,
}

impl Kind {
    /// Returns the session of a prompt.
    fn prompted(&self) -> Option<&SessionId> {
        match self {
            Self::Prompt(session)
            | Self::KeyedPrompt((session, _))
            | Self::Repetition((session, _)) => Some(session),
            Self::Close(_) | Self::Other => None,
        }
    }
}

impl Connection {
    /// Creates a connection in its initial state.
    pub fn new(options: Options) -> Self {
        let Limits { requests, calls, events, event_bytes, diagnostics, prompt_keys, replies } =
            options.limits;
        let events = Room { count: events, bytes: event_bytes };
        let base = Endpoint::new(Bounds { requests, calls, replies, diagnostics, events });
        Self {
            options,
            base,
            version: None,
            questions: SortedMap::default(),
            messages: Messages::new(prompt_keys),
            openings: SessionSetups::default(),
        }
    }

    /// Returns the version that `initialize` has selected.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// Returns whether the connection is closed. Its last events may not have been polled.
    pub fn is_closed(&self) -> bool {
        self.base.closed.is_some()
    }

    /// Returns the id of an open request of the client.
    pub fn request_id(&self, request: RequestKey) -> Option<&RequestId> {
        self.base.requests.id(request)
    }

    /// Answers further requests with an error, since the connection is about to end.
    pub fn drain(&mut self) {
        self.base.peer.drain();
    }

    /// Returns the number of open requests of the client.
    pub fn open_requests(&self) -> usize {
        self.base.requests.len()
    }

    /// Returns the number of calls with an end that was not polled.
    pub fn open_calls(&self) -> usize {
        self.base.open_calls()
    }

    /// Answers a request of the client.
    ///
    /// # Errors
    /// The request is already answered, or the connection is closed.
    pub fn reply(
        &mut self,
        request: RequestKey,
        reply: impl Into<Reply>,
    ) -> Result<(), RepeatedAnswer> {
        self.answer(request, reply.into().into_outcome())
    }

    /// Sends a notification, for example a session update. The order of notifications, calls and
    /// replies is kept.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn notify<P: NotificationParams>(&mut self, params: &P) -> Result<(), CallError> {
        self.notify_line(notification(params))
    }

    /// Sends a notification by method name.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn notify_raw(&mut self, method: &str, params: &Raw) -> Result<(), CallError> {
        self.notify_line(line(Notification::new(method, params.as_ref())))
    }

    /// Sends a complete notification line.
    pub(crate) fn notify_line(&mut self, line: Vec<u8>) -> Result<(), CallError> {
        self.base.check_open()?;
        for line in self.openings.notify(line) {
            self.base.notify_line(line)?;
        }
        Ok(())
    }

    /// Makes a call, for example for permission, an elicitation, a file or a terminal.
    /// [`Event::CallEnded`] follows.
    pub fn call(&mut self, call: Call, now: Duration) -> CallKey {
        let timeout = call.timeout.unwrap_or(self.options.call_timeout);
        let deadline = Some(now.saturating_add(timeout)).filter(|at| *at < Duration::MAX);
        for line in self.openings.take_held() {
            self.base.outgoing.push_line(line, Purpose::Notification);
        }
        let question = Question::new(&call);
        let key = self.base.call(call, |base, key, call| {
            let close_error = |_| CallError::Closed(CloseReason::ClientClosed);
            let id =
                base.peer.register((key, call.method.clone()), deadline).map_err(close_error)?;
            let request = Request::new(id.clone(), call.method, call.params.as_ref());
            base.outgoing.push(request, Purpose::Call(key));
            Ok(id)
        });
        if let Some(question) = question.filter(|_| self.base.calls.contains_key(&key)) {
            self.questions.insert(key, question);
        }
        key
    }

    /// Withdraws a call with `$/cancel_request`, once. The end of the call still follows.
    pub fn withdraw(&mut self, call: CallKey) {
        self.base.withdraw(call);
    }

    /// Returns the next line to send. Call until it returns `None`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.base.outgoing.pop()
    }

    /// Returns the next event. Call until it returns `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(count) = self.base.inbox.take_dropped() {
            return Some(Event::Diagnostic(Diagnostic::Dropped { count }));
        }
        match self.base.inbox.pop() {
            Some(PendingEvent::Request(key, request)) => return Some(Event::Request(key, request)),
            Some(PendingEvent::Notification(event)) => return Some(Event::Notification(event)),
            Some(PendingEvent::Cancelled(key)) => return Some(Event::Cancelled(key)),
            Some(PendingEvent::CallEnded(key, outcome)) => {
                self.base.call_polled();
                return Some(Event::CallEnded(key, outcome));
            }
            None => {}
        }
        let diagnostic = self.base.diagnostics.pop().map(Event::Diagnostic);
        diagnostic.or_else(|| self.base.poll_closed().map(Event::Closed))
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) has to be called next.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.base.peer.poll_timeout().filter(|_| self.base.closed.is_none())
    }
}
