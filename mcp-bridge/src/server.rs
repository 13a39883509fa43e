//! A tool server on one connection, for clients of both generations.
//!
//! The server performs no I/O and reads no clock. The caller passes it the messages that arrive and
//! the current time, runs the calls that [`poll_event`](Server::poll_event) returns, and sends what
//! [`poll_outgoing`](Server::poll_outgoing) returns, in order. The interface of a tool is the same
//! for clients of both generations:
//!
//! | a tool | client up to 2025-11-25 | client since 2026-07-28 |
//! |---|---|---|
//! | [needs input](Server::ask) | requests are sent to the client while the call stays open | the call ends with `input_required` |
//! | is called again, with the answers and its state | after the last answer | when the client calls again |
//! | [completes](Server::finish) | a result | a result with a `resultType` |
//!
//! The generation of a request follows from its `_meta`; a client of the older generation starts
//! with `initialize`. A connection is any ordered channel: a child process, an HTTP session, or a
//! single HTTP request of the newer generation. A server is cheap to create, and its tools are
//! shared.
//!
//! ```
//! use jsonrpc_core::wire::{self, Raw};
//! use mcp_bridge::mcp::capabilities::Implementation;
//! use mcp_bridge::mcp::content::{ContentBlock, TextContent};
//! use mcp_bridge::mcp::dispatch::ServerRequest;
//! use mcp_bridge::mcp::elicitation::{ElicitRequestFormParams, ElicitRequestParams};
//! use mcp_bridge::mcp::tools::{CallToolResult, Tool};
//! use mcp_bridge::server::{Needs, Server, ServerEvent, ServerOptions};
//!
//! let hello: Tool = wire::decode(r#"{"name":"hello","inputSchema":{"type":"object"}}"#)?;
//! let mut server = Server::new(ServerOptions::new(Implementation::new("greeter", "1"), [hello]));
//! let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}"#;
//!
//! // The body of the tool, for the first and for repeated calls.
//! let run = |server: &mut Server| -> Result<String, Box<dyn std::error::Error>> {
//!     let Some(ServerEvent::Call(call)) = server.poll_event() else { return Err("no call".into()) };
//!     match call.responses.first() {
//!         None => {
//!             let schema = Raw::from_text(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#)?;
//!             let question = ElicitRequestParams::Form(Box::new(ElicitRequestFormParams::new("What is your name?", schema)));
//!             let mut needs = Needs::new([("name", ServerRequest::Elicit(Box::new(question)))]);
//!             needs.request_state = Some("asked".into());
//!             server.ask(call.id, needs, None)?;
//!         }
//!         Some((_, answer)) => {
//!             assert_eq!(call.request_state.as_deref(), Some("asked"));
//!             let text = answer.as_ref().map(Raw::as_str).unwrap_or("unknown");
//!             server.finish(call.id, CallToolResult::new([ContentBlock::Text(TextContent::new(text))]))?;
//!         }
//!     }
//!     let sent = server.poll_outgoing().ok_or("nothing sent")?;
//!     let mut line = Vec::new();
//!     sent.message.as_message().to_line(&mut line);
//!     Ok(String::from_utf8(line)?)
//! };
//!
//! server.handle_line(Ok(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"hello",{meta}}}}}"#)));
//! assert!(run(&mut server)?.contains(r#""resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create""#));
//!
//! let again = r#""requestState":"asked","inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}}"#;
//! server.handle_line(Ok(&format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"hello",{again},{meta}}}}}"#)));
//! assert!(run(&mut server)?.contains(r#""id":2,"result":{"content":[{"type":"text","text":"{\"action\":\"accept\""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::mcp::base::{ProtocolVersion, RequestMetaObject};
use crate::mcp::capabilities::{ClientCapabilities, Implementation};
use crate::mcp::dispatch::ClientNotification;
use crate::mcp::logging::LoggingLevel;
use crate::mcp::subscriptions::ServerChange;
use crate::mcp::tools::Tool;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{DecodeError, Raw, Wire};
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Message, Notification, Peer, PeerMessage, RequestId,
};

mod adapt;
mod ask;
mod calls;
mod event;
#[cfg(feature = "skills")]
mod offered_skills;
mod outcome;
mod received;
mod requests;
#[cfg(feature = "skills")]
mod skills;
mod state;
mod subscriptions;
mod tasks;

pub use adapt::adapt_outcome;
#[cfg(feature = "plugin")]
pub(crate) use ask::input_requests;
pub use ask::{AskError, Needs, missing_capability, missing_capability_error};
pub use event::{OutgoingMessage, ServerEvent, ToolCall};
pub use outcome::CallOutcome;
pub(crate) use received::ReadParams;
pub use received::ReceivedMessage;
pub use requests::{DEFAULT_TTL_MS, ServerOptions};
pub use state::StateCodec;
pub use tasks::tasks_required;

/// A tool server on one connection.
///
/// The [module](self) has an example.
///
/// ```
/// use mcp_bridge::mcp::capabilities::Implementation;
/// use mcp_bridge::server::{Server, ServerOptions};
///
/// let mut server = Server::new(ServerOptions::new(Implementation::new("greeter", "1"), []));
/// server.handle_line(Ok(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
///     "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#));
/// assert!(server.poll_outgoing().is_some()); // the response
/// ```
#[derive(Debug)]
pub struct Server {
    peer: Peer<ask::OpenQuestion>,
    options: ServerOptions,
    /// Result of the handshake, if there was one.
    session: Option<Session>,
    calls: BTreeMap<CallId, OpenCall>,
    next_call: u64,
    subscriptions: subscriptions::Subscriptions,
    outgoing: VecDeque<OutgoingMessage>,
    events: VecDeque<ServerEvent>,
}

/// Identifies a tool call on a connection. Ids are unique within the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

/// Data of the handshake.
#[derive(Clone, Debug)]
struct Session {
    version: ProtocolVersion,
    capabilities: ClientCapabilities,
    client_info: Option<Implementation>,
    /// Minimum level of log messages. `None` until the client sets one.
    log_level: Option<LoggingLevel>,
}

/// A tool call that has not ended.
#[derive(Debug)]
struct OpenCall {
    /// Id of the request.
    request: RequestId,
    call: ToolCall,
    /// Number of times that the tool was called.
    rounds: u32,
    /// Unanswered requests to the client, with the keys of their questions.
    waiting: BTreeMap<RequestId, String>,
    /// Answers so far, in the order of the questions.
    answers: Vec<(String, Option<Result<Raw, ErrorObject>>)>,
}

/// The call has ended or never existed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call has ended")]
pub struct ClosedCall;

impl Server {
    /// Maximum number of open calls. Further calls are rejected.
    pub const MAX_CALLS: usize = 1024;

    /// Creates a server for a new connection.
    pub fn new(options: ServerOptions) -> Self {
        let limits = jsonrpc_core::RequestLimits::default();
        Self {
            peer: Peer::new(CancelMethod::MCP, limits),
            options,
            session: None,
            calls: BTreeMap::new(),
            next_call: 0,
            subscriptions: subscriptions::Subscriptions::default(),
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Handles a line received from the client, as returned by
    /// [`Lines::next`](jsonrpc_core::framing::Lines::next) or any other transport.
    pub fn handle_line(&mut self, line: Result<&str, FrameError>) {
        let incoming = self.peer.handle_line(line);
        self.handle_incoming(incoming, None);
    }

    /// Handles a decoded message. A transport that needs the params of a request decodes it as
    /// [`ReceivedMessage`] first.
    pub fn handle_message<'a>(&mut self, message: impl Into<ReceivedMessage<'a>>) {
        let ReceivedMessage { message, params } = message.into();
        let incoming = self.peer.handle_message(message);
        self.handle_incoming(incoming, params);
    }

    fn handle_incoming(
        &mut self,
        incoming: PeerMessage<'_, ask::OpenQuestion>,
        params: Option<Result<ReadParams, DecodeError>>,
    ) {
        match incoming {
            PeerMessage::Request(request) => {
                let id = request.id.clone();
                let params = params.unwrap_or_else(|| ReadParams::of(&request));
                if let Err(error) = self.handle_request(&request, params) {
                    self.answer(&id, Err(error));
                }
            }
            PeerMessage::Notification(notification) => self.handle_notification(&notification),
            PeerMessage::Response { id, token, outcome } => {
                self.handle_answer(&id, token, outcome.map(Raw::from));
            }
            PeerMessage::Cancelled { id, .. } => self.handle_cancelled(&id),
            PeerMessage::Refused { request, response } => {
                self.send(response.into(), Some(request.id));
            }
            PeerMessage::Unmatched(_) => {}
            PeerMessage::Malformed { error, reply, ended } => {
                if let Some((id, token)) = ended {
                    let problem = ErrorObject::new(ErrorCode::PARSE_ERROR, "not a response");
                    self.handle_answer(&id, token, Err(problem));
                }
                reply.into_iter().for_each(|reply| self.send(reply.into(), None));
                self.events.push_back(ServerEvent::Malformed(error.to_string()));
            }
        }
    }

    fn handle_notification(&mut self, notification: &Notification<'_>) {
        match ClientNotification::decode(&notification.method, notification.params) {
            Ok(ClientNotification::Initialized(_) | ClientNotification::Cancelled(_)) => {}
            Ok(notification) => self.events.push_back(ServerEvent::Notification(notification)),
            Err(error) => {
                let problem = alloc::format!("{}: {error}", notification.method);
                self.events.push_back(ServerEvent::Malformed(problem));
            }
        }
    }

    /// Handles a cancellation. No response is sent.
    fn handle_cancelled(&mut self, request: &RequestId) {
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        let _unsent = self.peer.respond(request, Err(cancelled));
        self.forget_listener(request);
        let Some(id) = self.call_of(request) else { return };
        self.withdraw_questions(id);
        self.calls.remove(&id);
        // A call that was not polled yet must not start.
        self.events.retain(|event| !matches!(event, ServerEvent::Call(call) if call.id == id));
        self.events.push_back(ServerEvent::Cancelled(id));
    }

    fn call_of(&self, request: &RequestId) -> Option<CallId> {
        self.calls.iter().find(|(_, open)| open.request == *request).map(|(id, _)| *id)
    }

    /// Answers a request that is not about tools.
    ///
    /// # Errors
    /// Returns an error if the request is unknown or was already answered.
    pub fn respond(
        &mut self,
        request: &RequestId,
        outcome: Result<&Raw, ErrorObject>,
    ) -> Result<(), ClosedCall> {
        let response = self.peer.respond(request, outcome.map(AsRef::as_ref));
        let message = Message::from(response.map_err(|_| ClosedCall)?).into_owned();
        self.outgoing.push_back(OutgoingMessage { message, related: Some(request.clone()) });
        Ok(())
    }

    /// Replaces the tools, and notifies clients.
    pub fn set_tools(&mut self, tools: impl Into<Arc<[Tool]>>) {
        self.options.tools = tools.into();
        self.notify_changed(&ServerChange::Tools);
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// Returns the next message to send.
    pub fn poll_outgoing(&mut self) -> Option<OutgoingMessage> {
        self.outgoing.pop_front()
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has to be called, if any.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.peer.poll_timeout()
    }

    /// Advances the clock to `now`. Questions past their deadline are answered with an error and
    /// cancelled.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(ended) = self.peer.poll_ended(now) {
            if ended.reason == jsonrpc_core::EndReason::Expired {
                self.notify_cancelled(&ended.id, ended.token.call);
            }
            let problem = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no answer in time");
            self.handle_answer(&ended.id, ended.token, Err(problem));
        }
    }

    /// Handles the end of the connection. All calls end.
    pub fn handle_close(&mut self) {
        self.peer.handle_close();
        self.clear_subscriptions();
        while let Some((id, _)) = self.calls.pop_first() {
            self.events.push_back(ServerEvent::Cancelled(id));
        }
        while self.peer.poll_ended(Duration::MAX).is_some() {}
    }

    fn send(&mut self, message: Message<'_>, related: Option<RequestId>) {
        self.outgoing.push_back(OutgoingMessage { message: message.into_owned(), related });
    }

    fn notify(&mut self, method: &'static str, params: &dyn Wire, related: Option<RequestId>) {
        self.send(Notification::new(method, Raw::of(params).as_ref()).into(), related);
    }

    fn answer(&mut self, request: &RequestId, outcome: Result<&Raw, ErrorObject>) {
        // An error means that the request was cancelled.
        let _not_open = self.respond(request, outcome);
    }

    fn answer_with(&mut self, request: &RequestId, result: &dyn Wire) {
        self.answer(request, Ok(&Raw::of(result)));
    }
}

/// What the client declared, with the request or in the handshake.
struct ClientContext<'a> {
    version: ProtocolVersion,
    capabilities: Cow<'a, ClientCapabilities>,
    client_info: Option<Implementation>,
    meta: RequestMetaObject,
}
