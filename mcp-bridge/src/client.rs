//! A client of one server, of either generation, that asks for tools.
//!
//! It sends nothing, reads nothing and has no clock: tell it what came and when, and send what it gives, in order. Whoever
//! uses it sees one protocol only, whatever the server is:
//!
//! | a call | of a server up to 2025-11-25 | from 2026-07-28 on |
//! |---|---|---|
//! | [needs something](ClientEvent::Needs) | the server sends a request while the call stays open | the call ends with `input_required` |
//! | goes on [with the answers](Client::answer) | they go to the server as responses | the call is made again |
//! | goes on [as a task](ClientEvent::Task), if the client declared that extension | | the client asks how it stands |
//!
//! It finds out the generation as the specification says: it asks for `server/discover`, and begins with `initialize` where
//! that is not understood. A tool, a question or a result that cannot be read is told of, and loses nothing beside itself.
//!
//! Spec: [Backward Compatibility](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions)
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
use crate::mcp::capabilities::{ClientCapabilities, Implementation, ServerCapabilities};
use crate::mcp::dispatch::ServerNotification;
use crate::mcp::progress::ProgressNotificationParams;
use crate::mcp::tasks::Task;
use crate::mcp::tools::CallToolResult;
use crate::server::Needs;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::wire::{DecodeError, Meta, Raw};
use jsonrpc_core::{
    CancelMethod, ErrorCode, ErrorObject, Incoming, Message, MessageBuf, Notification, Peer,
    Request, RequestId,
};
use serde::Serialize;

mod call;
mod handshake;
mod incoming;
mod list;
mod tasks;

pub use list::{BadTool, ToolList};

/// A client of one server.
#[derive(Debug)]
pub struct Client {
    peer: Peer<Pending>,
    options: ClientOptions,
    state: State,
    calls: BTreeMap<UpstreamCall, call::Call>,
    next_call: u64,
    list: Option<list::List>,
    outgoing: VecDeque<MessageBuf>,
    events: VecDeque<ClientEvent>,
}

/// Names a call to the server; no two calls of a client have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpstreamCall(u64);

impl UpstreamCall {
    /// The name as a number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The call that has this number.
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// What a client is, and how it finds out what the server is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Who it is.
    pub client_info: Implementation,
    /// What it can do; what is declared here has to be answered.
    pub capabilities: ClientCapabilities,
    /// The generation of the server, if it is known.
    pub era: Option<Era>,
    /// How long to wait for what `server/discover` gives, before the server is taken for an old one that says nothing.
    pub probe_timeout: Duration,
    /// How often one call may ask.
    pub max_rounds: u32,
}

impl ClientOptions {
    /// How long to wait for `server/discover` unless told otherwise.
    pub const DEFAULT_PROBE_TIMEOUT: Duration = Duration::from_secs(5);

    /// How often one call may ask unless told otherwise, as in the official SDKs.
    pub const DEFAULT_MAX_ROUNDS: u32 = 10;

    /// A client that finds out by itself.
    pub fn new(client_info: Implementation, capabilities: ClientCapabilities) -> Self {
        Self {
            client_info,
            capabilities,
            era: None,
            probe_timeout: Self::DEFAULT_PROBE_TIMEOUT,
            max_rounds: Self::DEFAULT_MAX_ROUNDS,
        }
    }
}

/// How far the connection is.
#[derive(Clone, Debug)]
enum State {
    New,
    Connecting {
        /// When `server/discover` has to be answered.
        deadline: Option<Duration>,
        /// Whether the server was asked again in a version that it had refused.
        has_asked_again: bool,
    },
    Ready {
        era: Era,
        version: ProtocolVersion,
    },
    Failed,
}

/// What a request of ours was for.
#[derive(Clone, Copy, Debug)]
enum Pending {
    Discover,
    Initialize,
    List,
    /// The subscription to changes, which stays open.
    Listen,
    Call(UpstreamCall),
    /// How the task stands that a call became.
    Task(UpstreamCall),
    UpdateTask(UpstreamCall),
    CancelTask,
}

/// What a server told, or what came of what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server can be used.
    Ready(Box<ServerDescription>),
    /// The server cannot be used, for this reason.
    Unusable(ConnectError),
    /// The list of tools, all pages of it.
    Tools(Box<ToolList>),
    /// The list of tools was refused.
    ToolsFailed(CallError),
    /// The list of tools is not what it was.
    ToolsChanged,
    /// A call is done.
    Done {
        /// Which one.
        call: UpstreamCall,
        /// What it gave.
        result: Box<CallToolResult>,
    },
    /// A call has failed, and gives nothing.
    Failed {
        /// Which one.
        call: UpstreamCall,
        /// Why.
        error: CallError,
    },
    /// A call needs something; [`Client::answer`] lets it go on.
    Needs {
        /// Which one.
        call: UpstreamCall,
        /// What it needs. The state is the server's, from 2026-07-28 on; it has to come back to the byte.
        needs: Needs,
    },
    /// A server up to 2025-11-25 wants no answer to something that a call needed.
    Withdrawn {
        /// Which call.
        call: UpstreamCall,
        /// Under which key it needed it.
        key: String,
    },
    /// A call goes on as a task, which stands so. It is asked about until it is over.
    Task {
        /// Which one.
        call: UpstreamCall,
        /// How it stands.
        task: Box<Task>,
    },
    /// A call tells how far it is.
    Progress {
        /// Which one.
        call: UpstreamCall,
        /// How far.
        params: Box<ProgressNotificationParams>,
    },
    /// The server tells something else.
    Notification(ServerNotification),
    /// A line was no message, or a message that a client does not get. It was answered where an answer is due.
    Malformed(String),
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerDescription {
    /// The version that is spoken with it.
    pub version: ProtocolVersion,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// Who it is, if it says so. It says what it likes.
    pub server_info: Option<Implementation>,
    /// How to use it, for the model.
    pub instructions: Option<String>,
}

/// A server cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// It speaks no version that this client does.
    #[error("the server speaks none of our versions")]
    Version,
    /// It refuses.
    #[error("the server refuses: {0}")]
    Refused(ErrorObject),
    /// What it says of itself cannot be read.
    #[error("the server's answer cannot be read: {0}")]
    Decode(DecodeError),
    /// It says nothing, or the connection is closed.
    #[error("the server says nothing")]
    Silent,
}

/// Why a request gave nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server says so.
    #[error(transparent)]
    Refused(ErrorObject),
    /// What it gave cannot be read.
    #[error("the result cannot be read: {error}")]
    Decode {
        /// Why.
        error: DecodeError,
        /// The result as it came.
        raw: Raw,
    },
    /// The result is of a type that the client did not ask for, or does not know.
    #[error("the result is of the type `{0}`")]
    ResultType(String),
    /// It asked more often than is allowed.
    #[error("the call asked too often")]
    TooManyRounds,
    /// The server cancelled the task that it was.
    #[error("the task was cancelled")]
    Cancelled,
    /// There is no answer, and none will come: the connection is closed, or the deadline has passed.
    #[error("no answer")]
    Silent,
}

/// A request cannot be made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The server is not known yet, or cannot be used.
    #[error("the server is not ready")]
    NotReady,
    /// Too many requests or calls are open.
    #[error("too many are open")]
    Full,
    /// The call has ended.
    #[error("the call is not open")]
    NotOpen,
}

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallParams {
    /// Which tool.
    pub name: String,
    /// The arguments: an object.
    pub arguments: Raw,
    /// What goes along; members of the protocol are set by the client.
    pub meta: Option<Meta>,
    /// Whether to hear of progress.
    pub wants_progress: bool,
    /// When to give up, in the client's time; nothing to wait for ever. People take their time.
    pub deadline: Option<Duration>,
    /// The state of a call that is made again. From 2026-07-28 on.
    pub request_state: Option<String>,
    /// The answers of a call that is made again. From 2026-07-28 on.
    pub responses: Vec<(String, Raw)>,
}

impl CallParams {
    /// A call for the first time.
    pub fn new(name: impl Into<String>, arguments: Raw) -> Self {
        Self {
            name: name.into(),
            arguments,
            meta: None,
            wants_progress: false,
            deadline: None,
            request_state: None,
            responses: Vec::new(),
        }
    }
}

impl Client {
    /// The most calls that may be open.
    pub const MAX_CALLS: usize = 1024;

    /// A connection on which nothing has happened yet.
    pub fn new(options: ClientOptions) -> Self {
        Self {
            peer: Peer::new(CancelMethod::MCP, jsonrpc_core::Limits::default()),
            options,
            state: State::New,
            calls: BTreeMap::new(),
            next_call: 0,
            list: None,
            outgoing: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Takes a line of the server. `related` is the call whose response it came in, where the transport knows that: over HTTP
    /// a server's requests come in the response of the request that they are about.
    pub fn handle_line(&mut self, line: Result<&str, FrameError>, related: Option<UpstreamCall>) {
        let incoming = self.peer.handle_line(line);
        self.handle_incoming(incoming, related);
    }

    /// Takes a message of the server, as [`handle_line`](Self::handle_line) does.
    pub fn handle_message(&mut self, message: Message<'_>, related: Option<UpstreamCall>) {
        let incoming = self.peer.handle_message(message);
        self.handle_incoming(incoming, related);
    }

    /// What came next.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// What is to be sent next.
    pub fn poll_outgoing(&mut self) -> Option<MessageBuf> {
        self.outgoing.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do, unless something happens before.
    pub fn poll_timeout(&self) -> Option<Duration> {
        [self.peer.poll_timeout(), self.poll_task_timeout()].into_iter().flatten().min()
    }

    /// Tells the time: what should have been answered by now has failed, and tasks are asked about.
    pub fn handle_timeout(&mut self, now: Duration) {
        while let Some(ended) = self.peer.poll_ended(now) {
            self.handle_silence(ended.token);
        }
        self.ask_about_tasks(now);
    }

    /// Tells that the connection is closed. All calls fail.
    pub fn handle_close(&mut self) {
        self.peer.handle_close();
        self.handle_timeout(Duration::MAX);
        while let Some((call, _)) = self.calls.pop_first() {
            self.events.push_back(ClientEvent::Failed { call, error: CallError::Silent });
        }
        self.state = State::Failed;
    }

    /// The generation of the server, once it is known.
    pub fn era(&self) -> Option<Era> {
        match self.state {
            State::Ready { era, .. } => Some(era),
            _ => None,
        }
    }

    /// How many calls are open, those that need something included.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }

    fn handle_silence(&mut self, pending: Pending) {
        match pending {
            Pending::Discover | Pending::Initialize => self.connection_silent(pending),
            Pending::List => {
                self.list = None;
                self.events.push_back(ClientEvent::ToolsFailed(CallError::Silent));
            }
            Pending::Call(call) | Pending::Task(call) | Pending::UpdateTask(call) => {
                self.fail(call, CallError::Silent);
            }
            Pending::CancelTask | Pending::Listen => {}
        }
    }

    fn request<T: Serialize>(
        &mut self,
        pending: Pending,
        method: &'static str,
        params: &T,
        deadline: Option<Duration>,
    ) -> Result<RequestId, NotSent> {
        let params = Raw::from_value(params).map_err(|_| NotSent::NotReady)?;
        let id = self.peer.register(pending, deadline).map_err(|_| NotSent::Full)?;
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
        // Nothing to answer is a request that the server took back.
        if let Ok(response) = self.peer.respond(id, outcome.map(AsRef::as_ref)) {
            let message = Message::from(response).into_owned();
            self.outgoing.push_back(message);
        }
    }

    fn handle_incoming(&mut self, incoming: Incoming<'_, Pending>, related: Option<UpstreamCall>) {
        match incoming {
            Incoming::Request(request) => self.handle_request(&request, related),
            Incoming::Notification(notification) => self.handle_notification(&notification),
            Incoming::Cancelled { id, .. } => self.handle_withdrawn(&id),
            Incoming::Response { token, outcome, .. } => {
                self.handle_response(token, outcome.map(Raw::from));
            }
            Incoming::Refused { response, .. } => self.send(response.into()),
            Incoming::Unmatched(_) => {}
            Incoming::Malformed { error, reply, ended } => {
                if let Some((_, pending)) = ended {
                    let problem = ErrorObject::new(ErrorCode::PARSE_ERROR, error.to_string());
                    self.handle_response(pending, Err(problem));
                }
                reply.into_iter().for_each(|reply| self.send(reply.into()));
                self.events.push_back(ClientEvent::Malformed(error.to_string()));
            }
        }
    }

    fn handle_response(&mut self, pending: Pending, outcome: Result<Raw, ErrorObject>) {
        match pending {
            Pending::Discover => self.discovered(outcome),
            Pending::Initialize => self.initialized(outcome),
            Pending::List => self.listed(outcome),
            Pending::Call(call) => self.called(call, outcome),
            Pending::Task(call) => self.task_answered(call, outcome),
            Pending::UpdateTask(call) => self.task_updated(call, outcome),
            // The server cancels the task when it likes, and ends a subscription.
            Pending::CancelTask | Pending::Listen => {}
        }
    }
}
