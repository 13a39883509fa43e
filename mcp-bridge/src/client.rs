//! A client for one MCP server of either generation.
//!
//! The client performs no I/O and reads no clock. The caller passes it the lines that arrive and
//! the current time, and sends what [`poll_outgoing`](Client::poll_outgoing) returns, in order. The
//! interface is the same for servers of both generations:
//!
//! | event of a call | server up to 2025-11-25 | server from 2026-07-28 |
//! |---|---|---|
//! | [needs input](ClientEvent::Needs) | the server sends a request while the call stays open | the call ends with `input_required` |
//! | continues [with answers](Client::answer) | each answer is sent as a response | the call is sent again with the answers |
//! | continues [as a task](ClientEvent::Task), if the client declared the extension | | the client polls the task |
//!
//! The generation is negotiated as specified: the client sends `server/discover` and falls back to
//! `initialize` if the server does not support it. A tool, a request or a result that cannot be
//! decoded is reported without affecting the others.
//!
//! Spec: [Backward
//! Compatibility](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions)
//! (2026-07-28)
//!
//! ```
//! use core::time::Duration;
//! use jsonrpc_core::wire::Raw;
//! use mcp_bridge::client::{CallParams, Client, ClientEvent, ClientOptions};
//! use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
//!
//! let options = ClientOptions::new(Implementation::new("c", "1"), ClientCapabilities::new());
//! let mut client = Client::new(options);
//! let mut sent = |client: &mut Client| -> Result<String, Box<dyn std::error::Error>> {
//!     let mut line = Vec::new();
//!     client.poll_outgoing().ok_or("nothing to send")?.as_message().to_line(&mut line);
//!     Ok(String::from_utf8(line)?)
//! };
//!
//! client.start(Duration::ZERO);
//! assert!(sent(&mut client)?.contains(r#""id":1,"method":"server/discover""#));
//! client.handle_line(Ok(r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#), None);
//! let Some(ClientEvent::Ready(server)) = client.poll_event() else { return Err("not ready".into()) };
//! assert_eq!(server.version.as_str(), "2026-07-28");
//!
//! let call = client.call(CallParams::new("add", Raw::from_text(r#"{"a":1,"b":2}"#)?))?;
//! assert!(sent(&mut client)?.contains(r#""method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}"#));
//! client.handle_line(Ok(r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"3"}]}}"#), None);
//! let Some(ClientEvent::Done { call: done, result }) = client.poll_event() else { return Err("not done".into()) };
//! assert_eq!((done, result.content.len()), (call, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::mcp::base::{Era, ProtocolVersion};
use crate::mcp::logging::{LoggingLevel, SetLevelRequestParams};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Message, MessageBuf, Notification, Peer, PeerMessage,
    Request, RequestId,
};
use serde::Serialize;

#[cfg(feature = "oauth")]
pub mod auth;
mod call;
mod error;
mod event;
mod handshake;
mod incoming;
mod list;
mod listed_tools;
mod options;
mod outcome;
mod request;
mod subscriptions;
mod tasks;

pub use error::{CallError, ConnectError, SendRequestError};
pub use event::{ClientEvent, ServerDescription};
pub use listed_tools::{BadTool, ListedTools};
pub use options::{CallParams, ClientOptions};

/// A client connected to one MCP server.
///
/// The [module](self) has an example.
///
/// ```
/// use core::time::Duration;
/// use mcp_bridge::client::{Client, ClientOptions};
/// use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
///
/// let me = Implementation::new("client", "1");
/// let mut client = Client::new(ClientOptions::new(me, ClientCapabilities::new()));
/// client.start(Duration::ZERO);
/// assert!(client.poll_outgoing().is_some()); // the request `server/discover`
/// ```
#[derive(Debug)]
pub struct Client {
    peer: Peer<RequestPurpose>,
    options: ClientOptions,
    state: ConnectionState,
    calls: BTreeMap<UpstreamCall, call::OpenCall>,
    next_call: u64,
    list: Option<list::List>,
    subscription: subscriptions::Subscription,
    /// Minimum level of log messages. `None` if none are requested.
    log_level: Option<LoggingLevel>,
    /// Whether the server declares that it sends log messages.
    has_logging: bool,
    outgoing: VecDeque<MessageBuf>,
    events: VecDeque<ClientEvent>,
}

/// Identifies a call or another request of a [`Client`]. Ids are unique within the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpstreamCall(u64);

impl UpstreamCall {
    /// Returns the id as a number.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// Progress of the connection.
#[derive(Clone, Debug)]
enum ConnectionState {
    New,
    Connecting {
        /// Deadline of the response to `server/discover`.
        deadline: Option<Duration>,
        /// Whether `server/discover` was already retried with another version.
        has_retried: bool,
    },
    Ready {
        era: Era,
        version: ProtocolVersion,
    },
    Failed,
}

/// Purpose of an outgoing request.
#[derive(Clone, Debug)]
enum RequestPurpose {
    Discover,
    Initialize,
    List,
    /// Subscription to changes, by its number. It stays open.
    Listen(u64),
    /// Subscription to changes of one resource, or its end. Up to 2025-11-25.
    Subscribe(String),
    Call(UpstreamCall),
    /// Poll of the task that a call became.
    Task(UpstreamCall),
    UpdateTask(UpstreamCall),
    CancelTask,
    SetLevel,
}

impl Client {
    /// Maximum number of open calls and other requests.
    pub const MAX_CALLS: usize = 1024;

    /// Creates a client for a new connection. Call [`start`](Self::start) next.
    pub fn new(options: ClientOptions) -> Self {
        Self {
            peer: Peer::new(CancelMethod::MCP, jsonrpc_core::RequestLimits::default()),
            options,
            state: ConnectionState::New,
            calls: BTreeMap::new(),
            next_call: 0,
            list: None,
            subscription: subscriptions::Subscription::default(),
            log_level: None,
            has_logging: false,
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Handles a line received from the server.
    ///
    /// Over HTTP, a server sends its requests in the response stream of the request that they
    /// belong to. `related` is the call of that stream, if the transport has such streams. A
    /// request that names no call is refused, unless [one user](ClientOptions::is_shared) has
    /// exactly one open call.
    pub fn handle_line(&mut self, line: Result<&str, FrameError>, related: Option<UpstreamCall>) {
        let incoming = self.peer.handle_line(line);
        self.handle_incoming(incoming, related);
    }

    /// Handles a decoded message of the server; otherwise like [`handle_line`](Self::handle_line).
    pub fn handle_message(&mut self, message: Message<'_>, related: Option<UpstreamCall>) {
        let incoming = self.peer.handle_message(message);
        self.handle_incoming(incoming, related);
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// Returns the next message to send.
    pub fn poll_outgoing(&mut self) -> Option<MessageBuf> {
        self.outgoing.pop_front()
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has to be called, if any.
    pub fn poll_timeout(&self) -> Option<Duration> {
        [self.peer.poll_timeout(), self.poll_task_timeout()].into_iter().flatten().min()
    }

    /// Advances the clock to `now`: expired requests fail and due tasks are polled.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(ended) = self.peer.poll_ended(now) {
            self.handle_silence(ended.token);
        }
        self.poll_due_tasks(now);
    }

    /// Handles the end of the connection. All calls fail.
    pub fn handle_close(&mut self) {
        self.peer.handle_close();
        self.handle_timeout(Duration::MAX);
        while let Some((call, _)) = self.calls.pop_first() {
            self.events.push_back(ClientEvent::Failed { call, error: CallError::Silent });
        }
        self.state = ConnectionState::Failed;
    }

    /// Returns the generation of the server once the handshake has completed.
    pub fn era(&self) -> Option<Era> {
        match self.state {
            ConnectionState::Ready { era, .. } => Some(era),
            _ => None,
        }
    }

    /// Requests log messages of at least this level, which [`ClientEvent::Log`] reports. For a
    /// server since 2026-07-28 the level applies to all later calls, for an older one to the
    /// connection. The level in the `_meta` of a call has precedence; up to 2025-11-25 it can only
    /// lower the level of the connection, and a server that rejects the level causes
    /// [`ClientEvent::LogLevelFailed`].
    ///
    /// # Errors
    /// Returns an error if the client is not ready, or too many requests are open.
    pub fn set_log_level(&mut self, level: LoggingLevel) -> Result<(), SendRequestError> {
        if self.era().ok_or(SendRequestError::NotReady)? == Era::Legacy {
            let params = SetLevelRequestParams::new(level.clone());
            self.transmit(RequestPurpose::SetLevel, "logging/setLevel", &params, None)?;
        }
        self.log_level = Some(level);
        Ok(())
    }

    /// Returns the number of open calls, including those that wait for input.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }

    fn handle_silence(&mut self, pending: RequestPurpose) {
        match pending {
            RequestPurpose::Discover | RequestPurpose::Initialize => {
                self.handle_handshake_silence(pending);
            }
            RequestPurpose::List => {
                self.list = None;
                self.events.push_back(ClientEvent::ToolsFailed(CallError::Silent));
            }
            RequestPurpose::Call(call)
            | RequestPurpose::Task(call)
            | RequestPurpose::UpdateTask(call) => {
                self.fail(call, CallError::Silent);
            }
            RequestPurpose::CancelTask
            | RequestPurpose::Listen(_)
            | RequestPurpose::Subscribe(_)
            | RequestPurpose::SetLevel => {}
        }
    }

    fn transmit<T: Serialize>(
        &mut self,
        pending: RequestPurpose,
        method: &str,
        params: &T,
        deadline: Option<Duration>,
    ) -> Result<RequestId, SendRequestError> {
        let params = Raw::from_value(params).map_err(|_| SendRequestError::NotReady)?;
        let id = self.peer.register(pending, deadline).map_err(|_| SendRequestError::Full)?;
        self.send(Request::new(id.clone(), method, params.as_ref()).into());
        Ok(id)
    }

    fn send(&mut self, message: Message<'_>) {
        self.outgoing.push_back(message.into_owned());
    }

    fn notify<T: Serialize>(&mut self, method: &'static str, params: &T) {
        if let Ok(params) = Raw::from_value(params) {
            self.send(Notification::new(method, params.as_ref()).into());
        }
    }

    fn respond(&mut self, id: &RequestId, outcome: Result<&Raw, ErrorObject>) {
        // An error means that the server cancelled the request.
        if let Ok(response) = self.peer.respond(id, outcome.map(AsRef::as_ref)) {
            let message = Message::from(response).into_owned();
            self.outgoing.push_back(message);
        }
    }

    fn handle_incoming(
        &mut self,
        incoming: PeerMessage<'_, RequestPurpose>,
        related: Option<UpstreamCall>,
    ) {
        match incoming {
            PeerMessage::Request(request) => self.handle_request(&request, related),
            PeerMessage::Notification(notification) => {
                self.handle_notification(&notification, related);
            }
            PeerMessage::Cancelled { id, .. } => self.handle_withdrawn(&id),
            PeerMessage::Response { token, outcome, .. } => {
                self.handle_response(token, outcome.map(Raw::from));
            }
            PeerMessage::Refused { response, .. } => self.send(response.into()),
            PeerMessage::Unmatched(_) => {}
            PeerMessage::Malformed { error, reply, ended } => {
                if let Some((_, pending)) = ended {
                    let problem = ErrorObject::new(ErrorCode::PARSE_ERROR, error.to_string());
                    self.handle_response(pending, Err(problem));
                }
                reply.into_iter().for_each(|reply| self.send(reply.into()));
                self.events.push_back(ClientEvent::Malformed(error.to_string()));
            }
        }
    }

    fn handle_response(&mut self, pending: RequestPurpose, outcome: Result<Raw, ErrorObject>) {
        match pending {
            RequestPurpose::Discover => self.handle_discover(outcome),
            RequestPurpose::Initialize => self.handle_initialize(outcome),
            RequestPurpose::List => self.handle_list(outcome),
            RequestPurpose::Call(call) => self.handle_call(call, outcome),
            RequestPurpose::Task(call) => self.handle_task(call, outcome),
            RequestPurpose::UpdateTask(call) => self.handle_task_update(call, outcome),
            RequestPurpose::Listen(number) => self.handle_listen_end(number, outcome.err()),
            RequestPurpose::Subscribe(uri) => self.handle_subscribed(&uri, outcome),
            RequestPurpose::SetLevel => {
                self.events.extend(outcome.err().map(ClientEvent::LogLevelFailed));
            }
            // The server cancels the task at its own pace.
            RequestPurpose::CancelTask => {}
        }
    }
}
