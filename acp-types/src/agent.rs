//! The agent's side of one ACP connection, without IO: the mirror of [`client`](crate::client).
//!
//! A [`Connection`] takes the lines of the client, and gives typed requests that are answered by key, updates and calls to
//! send, and the ends of calls. It chooses the version when the client asks with `initialize`, and decodes in that version
//! from then on.
//!
//! # Run loop
//!
//! After each `handle_*` and each call: transmit what [`poll_transmit`](Connection::poll_transmit) gives, take
//! [`poll_event`](Connection::poll_event) until it returns `None`, and arm a timer for
//! [`poll_timeout`](Connection::poll_timeout).
//!
//! What holds, whatever the client does:
//! - Each request of the client is given once, and answered once, by the caller or, when it is invalid or too much, by the
//!   machine.
//! - A prompt that is cancelled, by `session/cancel` or by `$/cancel_request`, is [reported](Event::Cancelled) once; it is
//!   still to be answered.
//! - Each call ends once.
//! - Memory stays within the sum of the [`Limits`].
//! - After [`Event::Closed`] nothing comes.
//!
//! An agent that says what it was told:
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
mod options;
mod version;

pub use crate::client::{
    Answered, Call, CallError, CallKey, CloseReason, Diagnostic, Problem, Purpose, Received, Reply,
    RequestKey, Transmit,
};
pub use event::{ClientNotification, ClientRequest, ClientResponse, Event};
pub use options::{Limits, Options};

use crate::client::{Outgoing, notification};
use crate::inbox::{Inbox, Room};
use crate::methods::NotificationParams;
use crate::v1::initialization::ProtocolVersion;
use crate::v1::session_setup::SessionId;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;
use event::Waiting;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{CancelMethod, Notification, Peer, Request, RequestId};
use serde::Serialize;

/// The agent's side of one ACP connection; see the [module](self).
#[derive(Debug)]
pub struct Connection {
    options: Options,
    peer: Peer<(CallKey, Cow<'static, str>)>,
    /// The version that was chosen.
    version: Option<ProtocolVersion>,
    requests: BTreeMap<RequestKey, OpenRequest>,
    by_id: BTreeMap<RequestId, RequestKey>,
    /// Prompts that are open and not cancelled.
    turns: BTreeSet<(SessionId, RequestKey)>,
    calls: BTreeMap<CallKey, RequestId>,
    outgoing: Outgoing,
    inbox: Inbox<Waiting>,
    diagnostics: VecDeque<Diagnostic>,
    missed: u64,
    /// Calls whose end has not been polled.
    open_calls: usize,
    next_key: u64,
    closed: Option<CloseReason>,
    is_closed_polled: bool,
}

/// A request of the client that is not answered.
#[derive(Debug)]
struct OpenRequest {
    id: RequestId,
    /// The session whose turn it is, for a prompt that is not cancelled.
    turn: Option<SessionId>,
    is_cancelled: bool,
}

impl Connection {
    /// A connection on which nothing has happened.
    pub fn new(options: Options) -> Self {
        let limits = jsonrpc_core::Limits { ours: usize::MAX, theirs: options.limits.requests };
        Self {
            peer: Peer::new(CancelMethod::ACP, limits),
            version: None,
            requests: BTreeMap::new(),
            by_id: BTreeMap::new(),
            turns: BTreeSet::new(),
            calls: BTreeMap::new(),
            outgoing: Outgoing::default(),
            inbox: Inbox::default(),
            diagnostics: VecDeque::new(),
            missed: 0,
            open_calls: 0,
            next_key: 0,
            closed: None,
            is_closed_polled: false,
            options,
        }
    }

    /// The version that was chosen when the client asked with `initialize`.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// Whether nothing follows any more, once the events that wait are polled.
    pub fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// The id of a request of the client that is not answered.
    pub fn request_id(&self, request: RequestKey) -> Option<&RequestId> {
        self.requests.get(&request).map(|open| &open.id)
    }

    /// Answers requests that come from now on with an error, because the connection is about to end.
    pub fn drain(&mut self) {
        self.peer.drain();
    }

    /// Number of requests of the client that are not answered.
    pub fn open_requests(&self) -> usize {
        self.requests.len()
    }

    /// Number of calls whose end has not been polled.
    pub fn open_calls(&self) -> usize {
        self.open_calls
    }

    /// Answers a request of the client.
    ///
    /// # Errors
    /// The request is answered already, or the connection is closed.
    pub fn reply(&mut self, request: RequestKey, reply: impl Into<Reply>) -> Result<(), Answered> {
        let open = self.requests.remove(&request).ok_or(Answered)?;
        self.by_id.remove(&open.id);
        if let Some(session) = open.turn {
            self.turns.remove(&(session, request));
        }
        self.respond(request, &open.id, reply.into().into_outcome());
        Ok(())
    }

    /// Sends a notification: an update of a session, mostly. It leaves in the order of the calls and replies around it.
    ///
    /// # Errors
    /// The connection is closed, or the parameters have no JSON form.
    pub fn notify<P: NotificationParams + Serialize>(
        &mut self,
        params: &P,
    ) -> Result<(), CallError> {
        self.notify_line(notification(params)?)
    }

    /// Sends a notification that is a whole line.
    pub(crate) fn notify_line(&mut self, line: Vec<u8>) -> Result<(), CallError> {
        self.check_open()?;
        self.outgoing.push_line(line, Purpose::Notification);
        Ok(())
    }

    /// Sends a notification of a method that is known by name only.
    ///
    /// # Errors
    /// The connection is closed.
    pub fn notify_raw(&mut self, method: &str, params: &Raw) -> Result<(), CallError> {
        self.check_open()?;
        let notification = Notification::new(method, params.as_ref());
        self.outgoing.push(notification, Purpose::Notification);
        Ok(())
    }

    /// Makes a call: for permission, an elicitation, a file, a terminal, or an extension. [`Event::CallEnded`] follows.
    pub fn call(&mut self, call: Call, now: Duration) -> CallKey {
        let key = CallKey::new(self.number());
        if self.is_closed_polled {
            return key;
        }
        self.open_calls += 1;
        if let Err(error) = self.begin_call(key, call, now) {
            self.push(Waiting::CallEnded(key, Err(error)));
        }
        key
    }

    fn begin_call(&mut self, key: CallKey, call: Call, now: Duration) -> Result<(), CallError> {
        self.check_open()?;
        if self.open_calls > self.options.limits.calls {
            return Err(CallError::Full);
        }
        let params = call.params.map_err(CallError::Encode)?;
        let timeout = call.timeout.unwrap_or(self.options.call_timeout);
        let deadline = Some(now.saturating_add(timeout)).filter(|at| *at < Duration::MAX);
        let token = (key, call.method.clone());
        let ended = |_| CallError::Closed(CloseReason::ClientClosed);
        let id = self.peer.register(token, deadline).map_err(ended)?;
        self.calls.insert(key, id.clone());
        let request = Request::new(id, call.method, params.as_ref());
        self.outgoing.push(request, Purpose::Call(key));
        Ok(())
    }

    /// Withdraws a call with `$/cancel_request`, once. Its end still comes.
    pub fn withdraw(&mut self, call: CallKey) {
        let cancellation = self.calls.get(&call).and_then(|id| self.peer.cancel(id));
        if let Some(cancellation) = cancellation {
            self.outgoing.push(cancellation.notification(), Purpose::Notification);
        }
    }

    /// Returns the next line to send. Call until it returns `None`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.outgoing.pop()
    }

    /// Returns the next event. Call until it returns `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(count) = self.inbox.take_dropped() {
            return Some(Event::Diagnostic(Diagnostic::Dropped { count }));
        }
        match self.inbox.pop() {
            Some(Waiting::Request(key, request)) => return Some(Event::Request(key, request)),
            Some(Waiting::Notification(event)) => return Some(Event::Notification(event)),
            Some(Waiting::Cancelled(key)) => return Some(Event::Cancelled(key)),
            Some(Waiting::CallEnded(key, outcome)) => {
                self.open_calls = self.open_calls.saturating_sub(1);
                return Some(Event::CallEnded(key, outcome));
            }
            None => {}
        }
        if let Some(diagnostic) = self.diagnostics.pop_front() {
            return Some(Event::Diagnostic(diagnostic));
        }
        let count = core::mem::take(&mut self.missed);
        if count > 0 {
            return Some(Event::Diagnostic(Diagnostic::Missed { count }));
        }
        let reason = self.closed.as_ref().filter(|_| !self.is_closed_polled)?.clone();
        self.is_closed_polled = true;
        Some(Event::Closed(reason))
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) has something to do, unless something happens before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.peer.poll_timeout().filter(|_| self.closed.is_none())
    }

    fn check_open(&self) -> Result<(), CallError> {
        match &self.closed {
            Some(reason) => Err(CallError::Closed(reason.clone())),
            None => Ok(()),
        }
    }

    #[cfg(feature = "async")]
    pub(crate) fn outgoing(&self) -> &Outgoing {
        &self.outgoing
    }

    fn number(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    fn room(&self) -> Room {
        let Limits { events, event_bytes, .. } = self.options.limits;
        Room { count: events, bytes: event_bytes }
    }

    fn push(&mut self, event: Waiting) {
        let room = self.room();
        self.inbox.push(event, room);
    }

    fn diagnose(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < self.options.limits.diagnostics {
            self.diagnostics.push_back(diagnostic);
        } else {
            self.missed += 1;
        }
    }
}
