//! A server of tools on one connection, for clients of both generations.
//!
//! It sends nothing, reads nothing and has no clock: tell it what came and when, run the calls that it gives, and send what
//! it gives, in order. A tool sees one protocol only, whoever the client is:
//!
//! | a tool | up to 2025-11-25 | from 2026-07-28 on |
//! |---|---|---|
//! | [needs something](Server::ask) | requests go to the client while the call stays open | the call ends with `input_required` |
//! | is called again, with the answers and its state | when the last answer is there | when the client makes the call again |
//! | [is done](Server::finish) | a result | a result with a `resultType` |
//!
//! Which generation a request belongs to is seen by its `_meta`; a client of the older one begins with `initialize`.
//! A connection is whatever keeps order: a child process, an HTTP session, or a single HTTP request of the newer one. A server
//! is cheap to make; its tools are shared.
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
//! // What the tool does, the first time and again.
//! let run = |server: &mut Server| -> Result<String, Box<dyn std::error::Error>> {
//!     let Some(ServerEvent::Call(call)) = server.poll_event() else { return Err("no call".into()) };
//!     match call.responses.first() {
//!         None => {
//!             let schema = Raw::from_text(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#)?;
//!             let question = ElicitRequestParams::Form(Box::new(ElicitRequestFormParams::new("Who?", schema)));
//!             let mut needs = Needs::new([("who", ServerRequest::Elicit(Box::new(question)))]);
//!             needs.request_state = Some("asked".into());
//!             server.ask(call.id, needs, None)?;
//!         }
//!         Some((_, answer)) => {
//!             assert_eq!(call.request_state.as_deref(), Some("asked"));
//!             let text = answer.as_ref().map(Raw::as_str).unwrap_or("nobody");
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
//! assert!(run(&mut server)?.contains(r#""resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create""#));
//!
//! let again = r#""requestState":"asked","inputResponses":{"who":{"action":"accept","content":{"name":"Ada"}}}"#;
//! server.handle_line(Ok(&format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"hello",{again},{meta}}}}}"#)));
//! assert!(run(&mut server)?.contains(r#""id":2,"result":{"content":[{"type":"text","text":"{\"action\":\"accept\""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::mcp::base::{Era, ProtocolVersion, RequestMetaObject};
use crate::mcp::capabilities::{ClientCapabilities, Implementation};
use crate::mcp::dispatch::{ClientNotification, ClientRequest};
use crate::mcp::logging::LoggingLevel;
use crate::mcp::progress::ProgressNotificationParams;
use crate::mcp::tools::{CallToolResult, Tool};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{DecodeError, Meta, Raw};
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Incoming, Message, MessageBuf, Notification, Peer,
    RequestId,
};
use serde::Serialize;

mod adapt;
mod ask;
mod outcome;
mod received;
mod requests;
mod tasks;

#[cfg(feature = "plugin")]
pub(crate) use ask::input_requests;
pub use ask::{AskError, Needs, missing_capability, missing_capability_error};
pub use outcome::CallOutcome;
pub(crate) use received::ReadParams;
pub use received::Received;
pub use requests::{DEFAULT_TTL_MS, ServerOptions};
pub use tasks::tasks_required;

/// A server of tools on one connection.
#[derive(Debug)]
pub struct Server {
    peer: Peer<ask::Question>,
    options: ServerOptions,
    /// What the client said in a handshake.
    session: Option<Session>,
    calls: BTreeMap<CallId, OpenCall>,
    next_call: u64,
    offer: requests::ToolOffer,
    /// Requests that stay open to tell of changes.
    listeners: BTreeMap<RequestId, tasks::Listener>,
    outgoing: VecDeque<Outgoing>,
    events: VecDeque<ServerEvent>,
}

/// Names a call on one connection; no two calls have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(u64);

/// What a handshake said.
#[derive(Clone, Debug)]
struct Session {
    version: ProtocolVersion,
    capabilities: ClientCapabilities,
    client_info: Option<Implementation>,
    /// The least level of log messages; nothing until the client says one.
    log_level: Option<LoggingLevel>,
}

/// A call without an end.
#[derive(Debug)]
struct OpenCall {
    /// The request that it is.
    request: RequestId,
    call: ToolCall,
    /// How often it was called, the first time included.
    rounds: u32,
    /// Questions that wait for an answer, by the request that they are.
    waiting: BTreeMap<RequestId, String>,
    /// The answers so far, in the order of the questions.
    answers: Vec<(String, Option<Result<Raw, ErrorObject>>)>,
}

/// What a server wants done, in order.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A tool is called, for the first time or again. To be ended with [`Server::finish`], [`Server::fail`] or
    /// [`Server::ask`].
    Call(Box<ToolCall>),
    /// The client wants no result of a call any more. It has ended; what it sends now goes nowhere.
    Cancelled(CallId),
    /// A request that is not about tools, to be answered with [`Server::respond`].
    Request {
        /// Names it.
        id: RequestId,
        /// What is asked for.
        request: Box<ClientRequest>,
    },
    /// The client tells something that the server itself does nothing about.
    Notification(ClientNotification),
    /// A line was no message, or a message that a server does not get. It was answered where an answer is due.
    Malformed(String),
}

/// A call of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// Names the call. From 2026-07-28 on, the call that a client makes again is another one.
    pub id: CallId,
    /// Which tool; it is one of those that are offered.
    pub name: String,
    /// The arguments: an object.
    pub arguments: Raw,
    /// The `_meta` of the request, as it came.
    pub meta: Option<Meta>,
    /// The version that the client speaks.
    pub version: ProtocolVersion,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// Who the client is, if it says so. It says what it likes.
    pub client_info: Option<Implementation>,
    /// The token under which the client wants to hear of progress.
    pub progress_token: Option<RequestId>,
    /// The least level of log messages that the client wants for this call; nothing if it wants none.
    pub log_level: Option<LoggingLevel>,
    /// The state that the tool gave when it asked; nothing the first time. From 2026-07-28 on it went through the client,
    /// who may have changed it.
    pub request_state: Option<String>,
    /// What came of the questions, by key, each the result of its method. An error is what a client up to 2025-11-25
    /// answered; newer ones cannot. Some may be missing, and some unasked.
    pub responses: Vec<(String, Result<Raw, ErrorObject>)>,
}

impl ToolCall {
    /// What came of a question.
    pub fn response(&self, key: &str) -> Option<&Result<Raw, ErrorObject>> {
        self.responses.iter().find(|(name, _)| name == key).map(|(_, response)| response)
    }
}

/// A message to send.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outgoing {
    /// The message.
    pub message: MessageBuf,
    /// The request of the client that it belongs to: over HTTP it goes into the response of that.
    pub related: Option<RequestId>,
}

/// A call has ended, or never was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call is not open")]
pub struct CallNotOpen;

impl Server {
    /// The most calls that may be open; more are refused.
    pub const MAX_CALLS: usize = 1024;

    /// A connection on which nothing has happened yet.
    pub fn new(options: ServerOptions) -> Self {
        let limits = jsonrpc_core::Limits::default();
        Self {
            peer: Peer::new(CancelMethod::MCP, limits),
            options,
            session: None,
            calls: BTreeMap::new(),
            next_call: 0,
            offer: requests::ToolOffer::Known,
            listeners: BTreeMap::new(),
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Takes a line, as [`Lines::next`](jsonrpc_core::framing::Lines::next) gives it or as any other transport has it.
    pub fn handle_line(&mut self, line: Result<&str, FrameError>) {
        let incoming = self.peer.handle_line(line);
        self.handle_incoming(incoming, None);
    }

    /// Handles a message. A transport that needs the params of a request reads it as [`Received`] before.
    pub fn handle_message<'a>(&mut self, message: impl Into<Received<'a>>) {
        let Received { message, params } = message.into();
        let incoming = self.peer.handle_message(message);
        self.handle_incoming(incoming, params);
    }

    fn handle_incoming(
        &mut self,
        incoming: Incoming<'_, ask::Question>,
        params: Option<Result<ReadParams, DecodeError>>,
    ) {
        match incoming {
            Incoming::Request(request) => {
                let id = request.id.clone();
                let params = params.unwrap_or_else(|| ReadParams::of(&request));
                if let Err(error) = self.handle_request(&request, params) {
                    self.answer(&id, Err(error));
                }
            }
            Incoming::Notification(notification) => self.handle_notification(&notification),
            Incoming::Response { id, token, outcome } => {
                self.handle_answer(&id, token, outcome.map(Raw::from));
            }
            Incoming::Cancelled { id, .. } => self.handle_cancelled(&id),
            Incoming::Refused { request, response } => {
                self.send(response.into(), Some(request.id));
            }
            Incoming::Unmatched(_) => {}
            Incoming::Malformed { error, reply, ended } => {
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

    /// The client wants no answer to a request any more: none is sent.
    fn handle_cancelled(&mut self, request: &RequestId) {
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        let _unsent = self.peer.respond(request, Err(cancelled));
        self.listeners.remove(request);
        self.offer.forget(request);
        let Some(id) = self.call_of(request) else { return };
        self.withdraw_questions(id);
        self.calls.remove(&id);
        // What nobody has begun is not to be begun.
        self.events.retain(|event| !matches!(event, ServerEvent::Call(call) if call.id == id));
        self.events.push_back(ServerEvent::Cancelled(id));
    }

    fn call_of(&self, request: &RequestId) -> Option<CallId> {
        self.calls.iter().find(|(_, open)| open.request == *request).map(|(id, _)| *id)
    }

    /// Ends a call with what it gave.
    ///
    /// What the client's version does not know is left out: structured content that is not an object up to 2025-11-25.
    ///
    /// # Errors
    /// The call has ended.
    pub fn finish(&mut self, call: CallId, result: CallToolResult) -> Result<(), CallNotOpen> {
        let open = self.calls.remove(&call).ok_or(CallNotOpen)?;
        let result = adapt::result_for(result, &open.call.version);
        self.answer_with(&open.request, &result);
        Ok(())
    }

    /// Ends a call with an error of the protocol. A tool that failed is better [finished](Self::finish) with `isError`, which
    /// the model sees.
    ///
    /// # Errors
    /// The call has ended.
    pub fn fail(&mut self, call: CallId, error: ErrorObject) -> Result<(), CallNotOpen> {
        self.withdraw_questions(call);
        let open = self.calls.remove(&call).ok_or(CallNotOpen)?;
        self.answer(&open.request, Err(error));
        Ok(())
    }

    /// Answers a request that is not about tools.
    ///
    /// # Errors
    /// It was answered, or never came.
    pub fn respond(
        &mut self,
        request: &RequestId,
        outcome: Result<&Raw, ErrorObject>,
    ) -> Result<(), CallNotOpen> {
        let response = self.peer.respond(request, outcome.map(AsRef::as_ref));
        let message = Message::from(response.map_err(|_| CallNotOpen)?).into_owned();
        self.outgoing.push_back(Outgoing { message, related: Some(request.clone()) });
        Ok(())
    }

    /// Tells the client how far a call is, if it wants to hear of that. `progress` has to grow.
    ///
    /// # Errors
    /// The call has ended.
    pub fn progress(
        &mut self,
        call: CallId,
        mut params: impl FnMut(RequestId) -> ProgressNotificationParams,
    ) -> Result<(), CallNotOpen> {
        let open = self.calls.get(&call).ok_or(CallNotOpen)?;
        let Some(token) = open.call.progress_token.clone() else { return Ok(()) };
        let related = open.request.clone();
        self.notify("notifications/progress", &params(token), Some(related));
        Ok(())
    }

    /// Tells the client something about a call, if it wants to hear of that level: by the call's `_meta` from 2026-07-28 on,
    /// before that by `logging/setLevel`, without which all is told.
    ///
    /// # Errors
    /// The call has ended.
    pub fn log(
        &mut self,
        call: CallId,
        params: &crate::mcp::logging::LoggingMessageNotificationParams,
    ) -> Result<(), CallNotOpen> {
        let open = self.calls.get(&call).ok_or(CallNotOpen)?;
        let least = match (open.call.version.era(), &self.session) {
            (Some(Era::Legacy), Some(session)) => {
                session.log_level.clone().or(Some(LoggingLevel::Debug))
            }
            _ => open.call.log_level.clone(),
        };
        let related = open.request.clone();
        if least.is_some_and(|least| params.level >= least) {
            self.notify("notifications/message", params, Some(related));
        }
        Ok(())
    }

    /// Replaces the tools. Requests that were held are answered; a client with other tools is notified.
    pub fn set_tools(&mut self, tools: impl Into<Arc<[Tool]>>) {
        self.options.tools = tools.into();
        match core::mem::replace(&mut self.offer, requests::ToolOffer::Known) {
            requests::ToolOffer::Pending(held) => self.handle_held(held),
            _ => self.tell_tools_changed(),
        }
    }

    /// Holds requests to list and call tools until [`set_tools`](Self::set_tools) or [`fail_tools`](Self::fail_tools): the tools
    /// are not known yet.
    pub fn hold_tools(&mut self) {
        self.offer = requests::ToolOffer::Pending(Vec::new());
    }

    /// Refuses requests to list and call tools, those that were held among them, until [`set_tools`](Self::set_tools).
    pub fn fail_tools(&mut self, error: ErrorObject) {
        let offer = requests::ToolOffer::Failed(error);
        if let requests::ToolOffer::Pending(held) = core::mem::replace(&mut self.offer, offer) {
            self.handle_held(held);
        }
    }

    /// What is wanted next.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop_front()
    }

    /// What is to be sent next.
    pub fn poll_outgoing(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do, unless something happens before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.peer.poll_timeout()
    }

    /// Tells the time: questions whose deadline has passed are answered with an error, and withdrawn.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(ended) = self.peer.poll_ended(now) {
            if ended.reason == jsonrpc_core::EndReason::Expired {
                self.tell_withdrawn(&ended.id, ended.token.call);
            }
            let problem = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no answer in time");
            self.handle_answer(&ended.id, ended.token, Err(problem));
        }
    }

    /// Tells that the connection is closed. All calls end.
    pub fn handle_close(&mut self) {
        self.peer.handle_close();
        self.offer.clear();
        self.listeners.clear();
        while let Some((id, _)) = self.calls.pop_first() {
            self.events.push_back(ServerEvent::Cancelled(id));
        }
        while self.peer.poll_ended(Duration::MAX).is_some() {}
    }

    /// Whether a call is open.
    pub fn is_open(&self, call: CallId) -> bool {
        self.calls.contains_key(&call)
    }

    /// How many calls are open.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }

    fn send(&mut self, message: Message<'_>, related: Option<RequestId>) {
        self.outgoing.push_back(Outgoing { message: message.into_owned(), related });
    }

    fn notify<T: Serialize>(
        &mut self,
        method: &'static str,
        params: &T,
        related: Option<RequestId>,
    ) {
        if let Ok(params) = Raw::from_value(params) {
            self.send(Notification::new(method, params.as_ref()).into(), related);
        }
    }

    fn answer(&mut self, request: &RequestId, outcome: Result<&Raw, ErrorObject>) {
        // Nothing to answer is a request that was cancelled meanwhile.
        let _not_open = self.respond(request, outcome);
    }

    fn answer_with<T: Serialize>(&mut self, request: &RequestId, result: &T) {
        match Raw::from_value(result) {
            Ok(result) => self.answer(request, Ok(&result)),
            Err(_) => {
                let problem =
                    ErrorObject::new(ErrorCode::INTERNAL_ERROR, "result has no JSON form");
                self.answer(request, Err(problem));
            }
        }
    }
}

/// What the client says of itself, with a request or before it.
struct Context<'a> {
    version: ProtocolVersion,
    capabilities: Cow<'a, ClientCapabilities>,
    client_info: Option<Implementation>,
    meta: RequestMetaObject,
}
