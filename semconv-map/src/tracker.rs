//! The state machine: lines of both directions in, spans out.
use crate::acp::lifecycle::Peers;
use crate::acp::permission::Options;
use crate::acp::tool_call::Content;
use crate::attribute::{Attribute, Attributes, MAX_OF_SPAN, clip};
use crate::keys::{self, end, error_type};
use crate::metric;
use crate::policy::Policy;
use crate::span::{Record, SpanHandle, Status};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Wire;
use jsonrpc_core::{Kind, Peeked, RequestId, find_member, peek, wire};
use members::{Interest, Update};
use quiet::Quiet;
use serde::de::DeserializeOwned;
use session::Sessions;

mod members;
mod quiet;
mod requests;
mod session;
mod spans;
mod unanswered;
mod updates;

pub(crate) use members::{Members, string};
pub(crate) use requests::remote;
pub(crate) use spans::Spans;
pub(crate) use unanswered::Unanswered;

/// Who sent a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// The client (an editor) to the agent.
    ClientToAgent,
    /// The agent to the client.
    AgentToClient,
}

/// Why nothing more will come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloseReason {
    /// The client closed its side: what is open ends as an error, `client_closed`.
    ClientClosed,
    /// The agent ended or closed its side: what is open ends as an error, `agent_exited`.
    AgentExited,
    /// The observer stops while both sides go on: what is open ends without an error.
    ObserverStopped,
}

/// What was not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Lines that are not a JSON-RPC message, as far as they are looked at.
    pub invalid_lines: u64,
    /// Messages whose params or result are not what their method says; their spans are there, with less in them.
    pub undecodable: u64,
    /// Responses to requests that were not seen, or not tracked.
    pub unmatched_responses: u64,
    /// Spans that did not fit into the limits.
    pub dropped_spans: u64,
    /// Events that did not fit into the limits.
    pub dropped_events: u64,
    /// Values of metrics that did not fit into the limits.
    pub dropped_metrics: u64,
}

/// How much a [`Tracker`] keeps at most.
///
/// Small things have limits of their own: names and ids are cut at [`MAX_NAME_BYTES`](crate::attribute::MAX_NAME_BYTES),
/// content at the bounds of [`messages`](crate::messages).
///
/// ```
/// use semconv_map::{Limits, Policy, Tracker};
///
/// let mut limits = Limits::default();
/// limits.open_spans = 64;
/// let tracker = Tracker::with_limits(Policy::default(), limits);
/// assert_eq!(tracker.counters().dropped_spans, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Sessions that are known at the same time; a session without open spans makes room for a new one.
    pub sessions: usize,
    /// Spans that are open at the same time.
    pub open_spans: usize,
    /// Records that wait for [`Tracker::poll`].
    pub records: usize,
    /// Events of one span.
    pub events_per_span: usize,
}

impl Limits {
    /// The default of [`sessions`](Self::sessions).
    pub const SESSIONS: usize = 256;
    /// The default of [`open_spans`](Self::open_spans).
    pub const OPEN_SPANS: usize = 1024;
    /// The default of [`records`](Self::records).
    pub const RECORDS: usize = 8192;
    /// The default of [`events_per_span`](Self::events_per_span), that of the
    /// [OpenTelemetry SDKs](https://opentelemetry.io/docs/specs/otel/trace/sdk/#span-limits).
    pub const EVENTS_PER_SPAN: usize = 128;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: Self::SESSIONS,
            open_spans: Self::OPEN_SPANS,
            records: Self::RECORDS,
            events_per_span: Self::EVENTS_PER_SPAN,
        }
    }
}

impl Direction {
    fn opposite(self) -> Self {
        match self {
            Self::ClientToAgent => Self::AgentToClient,
            Self::AgentToClient => Self::ClientToAgent,
        }
    }
}

/// Why a connection is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Over {
    Closed(CloseReason),
    /// The client began another one.
    InitializedAgain,
}

impl Over {
    /// The status of what the connection's end ends; an end without an error is said in `key`.
    pub(crate) fn set(self, key: &'static str, attributes: &mut Attributes) -> Status {
        let error = match self {
            Self::Closed(CloseReason::ClientClosed) => error_type::CLIENT_CLOSED,
            Self::Closed(CloseReason::AgentExited) => error_type::AGENT_EXITED,
            Self::Closed(CloseReason::ObserverStopped) => {
                attributes.set(key, end::OBSERVER_STOPPED);
                return Status::Unset;
            }
            Self::InitializedAgain => {
                attributes.set(key, end::INITIALIZED_AGAIN);
                return Status::Unset;
            }
        };
        attributes.set(keys::ERROR_TYPE, error);
        Status::Error { description: None }
    }
}

/// Turns the lines of one connection, both directions, into spans.
///
/// It reads no clock and sends nothing: tell it each line and when it passed, and poll the records that follow. Whatever
/// the peers send, each span that starts ends once, and what does not fit into the [`Limits`] is counted.
///
/// A connection begins with `initialize`, once. One that succeeds later, because an agent behind a proxy or the client
/// itself was started again, begins another: what was open before it was asked ends with
/// [`INITIALIZED_AGAIN`](keys::end::INITIALIZED_AGAIN), and sessions are known anew; one that is loaded or resumed goes on
/// from its last turn and from what it had cost. An `initialize` that fails changes nothing.
///
/// Spec: [`initialize`](https://agentclientprotocol.com/protocol/v2/schema#initialize), "the latest successful `initialize`
/// is authoritative"; in version 1 it comes [once](https://agentclientprotocol.com/protocol/v1/schema#initialize).
///
/// ```
/// use core::time::Duration;
/// use semconv_map::{Direction, Policy, Record, Tracker};
///
/// let mut tracker = Tracker::new(Policy::default());
/// let asked = br#"{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/etc/hosts"}}"#;
/// let answered = br#"{"jsonrpc":"2.0","id":0,"error":{"code":-32002,"message":"no such file"}}"#;
/// tracker.handle_line(Direction::AgentToClient, Duration::from_secs(1), asked);
/// tracker.handle_line(Direction::ClientToAgent, Duration::from_secs(3), answered);
///
/// let Some(Record::Start(start)) = tracker.poll() else { panic!("no span") };
/// let Some(Record::End(end)) = tracker.poll() else { panic!("it goes on") };
/// assert_eq!((&*start.name, end.time - start.time), ("fs/read_text_file", Duration::from_secs(2)));
/// let error = end.attributes.iter().find(|attribute| attribute.key == semconv_map::keys::ERROR_TYPE);
/// assert_eq!(error.map(|attribute| attribute.value.clone()), Some("-32002".into()));
/// ```
#[derive(Debug)]
pub struct Tracker {
    interest: Interest,
    policy: Policy,
    limits: Limits,
    counters: Counters,
    now: Duration,
    peers: Peers,
    spans: Spans,
    requests: Unanswered<Direction, OpenRequest>,
    sessions: Sessions,
    /// Most lines are tokens of a model.
    quiet: Quiet,
    /// Memory for the attributes of the next span.
    spare: Vec<Attribute>,
}

/// A request that is not answered.
#[derive(Debug)]
struct OpenRequest {
    /// Nothing for a span that was dropped.
    span: Option<SpanHandle>,
    work: Work,
}

/// What an answer means.
#[derive(Debug)]
enum Work {
    /// With what the client said of itself.
    Initialize(Box<Peers>),
    NewSession,
    ForkSession(String),
    LoadSession(String),
    SetConfigOption(String),
    /// As older agents have it: the answer says nothing of the model.
    SetModel {
        session: String,
        model: String,
    },
    EndSession(String),
    Prompt(String),
    Permission(Box<OpenPermission>),
    TerminalExit,
    Other,
}

/// A permission request that is not answered.
#[derive(Debug)]
struct OpenPermission {
    options: Options,
    asked: Duration,
    tool: Option<SpanHandle>,
}

impl Work {
    fn of(direction: Direction, method: &str, session: Option<&str>, params: &str) -> Self {
        let session = || session.map(String::from);
        let work = match (direction, method) {
            (Direction::ClientToAgent, "initialize") => {
                Some(Self::Initialize(Box::new(Peers::of_client(params))))
            }
            (Direction::ClientToAgent, "session/new") => Some(Self::NewSession),
            (Direction::ClientToAgent, "session/fork") => session().map(Self::ForkSession),
            (Direction::ClientToAgent, "session/load" | "session/resume") => {
                session().map(Self::LoadSession)
            }
            (Direction::ClientToAgent, "session/set_config_option") => {
                session().map(Self::SetConfigOption)
            }
            (Direction::ClientToAgent, "session/set_model") => {
                let model = member(params, "modelId").map(|model| clip(&model));
                session().zip(model).map(|(session, model)| Self::SetModel { session, model })
            }
            (Direction::ClientToAgent, "session/close" | "session/delete") => {
                session().map(Self::EndSession)
            }
            (Direction::AgentToClient, "terminal/wait_for_exit") => Some(Self::TerminalExit),
            _ => None,
        };
        work.unwrap_or(Self::Other)
    }

    /// Whether nothing is recorded of a result but that there is one.
    fn ends_with_any_result(&self) -> bool {
        matches!(self, Self::SetModel { .. } | Self::EndSession(_) | Self::Other)
    }
}

impl Tracker {
    /// A tracker of one connection, with the default [`Limits`].
    pub fn new(policy: Policy) -> Self {
        Self::with_limits(policy, Limits::default())
    }

    /// A tracker of one connection.
    pub fn with_limits(policy: Policy, limits: Limits) -> Self {
        Self {
            interest: Interest {
                texts: policy.records_content(),
                tool_calls: Content::is_wanted(&policy),
            },
            spans: Spans::new(limits, &policy, keys::ACP_REQUEST_END),
            policy,
            limits,
            counters: Counters::default(),
            now: Duration::ZERO,
            peers: Peers::default(),
            requests: Unanswered::new(),
            sessions: Sessions::new(limits.sessions),
            quiet: Quiet::default(),
            spare: Vec::new(),
        }
    }

    /// Takes in one line, with or without its newline; a blank one is nothing.
    ///
    /// `now` counts from a moment of the caller's choosing (the Unix epoch for most exporters); one that is before the
    /// last counts as the last.
    ///
    /// A `session/update` is read as far as something of it is recorded, and the rest is not checked: the notification that it
    /// is by its method, if no id stands before its params. A response to a request that only has to succeed is read up to its
    /// result. All other messages are checked from end to end. Of members that come twice the first counts.
    pub fn handle_line(&mut self, direction: Direction, now: Duration, line: &[u8]) {
        self.now = self.now.max(now);
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if direction == Direction::AgentToClient && self.quiet.knows(line) {
            return;
        }
        if let Some(update) = Update::read(line, self.interest) {
            self.handle_update(direction, &update, line);
            return;
        }
        self.quiet.forget();
        if !self.on_answered(direction.opposite(), line) {
            match peek(line) {
                Ok(message) => self.handle_message(direction, &message),
                Err(_) => self.counters.invalid_lines += 1,
            }
        }
        self.measure_sessions();
    }

    /// As [`handle_line`](Self::handle_line), for a line that was looked at before to route it: it is not read again.
    pub fn handle_peeked(&mut self, direction: Direction, now: Duration, message: &Peeked<'_>) {
        self.now = self.now.max(now);
        let line = message.line().as_bytes();
        if direction == Direction::AgentToClient && self.quiet.knows(line) {
            return;
        }
        if let Some(update) = Update::of(message, self.interest) {
            self.handle_update(direction, &update, line);
            return;
        }
        self.quiet.forget();
        self.handle_message(direction, message);
        self.measure_sessions();
    }

    fn handle_update(&mut self, direction: Direction, update: &Update<'_>, line: &[u8]) {
        if direction == Direction::ClientToAgent {
            self.quiet.forget();
        } else if !self.quiet.is_more(update, line) {
            if !update.members.keep_quiet() {
                self.quiet.forget();
            }
            self.on_update(&update.members);
            self.measure_sessions();
        }
    }

    fn handle_message(&mut self, direction: Direction, message: &Peeked<'_>) {
        match message.kind() {
            Kind::Request => self.on_request(direction, message),
            Kind::Notification => self.on_notification(direction, message),
            Kind::Response => self.on_response(direction.opposite(), message),
        }
    }

    /// Length of the prefix of a line that decides it, if `start` has all of that prefix: the same may be passed in place of
    /// the whole line, before the rest of a long line has come.
    ///
    /// ```
    /// use semconv_map::{Direction, Policy, Tracker};
    ///
    /// let tracker = Tracker::new(Policy::default());
    /// let start = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"iVBORw0KG"#;
    /// let prefix = tracker.decisive_prefix(start).and_then(|length| start.get(..length));
    /// assert!(prefix.is_some_and(|prefix| prefix.ends_with(br#""agent_message_chunk""#)));
    /// assert_eq!(tracker.decisive_prefix(br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"#), None);
    /// ```
    pub fn decisive_prefix(&self, start: &[u8]) -> Option<usize> {
        Update::read(start, self.interest).map(|update| update.read)
    }

    /// Takes in that nothing more will come: every open span ends, and everything is forgotten but the counters.
    pub fn close(&mut self, now: Duration, reason: CloseReason) {
        self.now = self.now.max(now);
        self.end_all(Over::Closed(reason), |_| true);
        self.sessions.clear();
        self.measure_sessions();
        self.peers = Peers::default();
    }

    /// The connection begins with the request that `initialize` is the span of: what was before belongs to another one. What
    /// the client asked after it, and did not wait, goes on.
    fn start_over(&mut self, initialize: Option<SpanHandle>) {
        let is_before = |span| initialize.is_none_or(|initialize| span < initialize);
        self.end_all(Over::InitializedAgain, is_before);
        self.sessions.start_over();
        for request in self.requests.of(Direction::ClientToAgent) {
            if let Work::LoadSession(session) = &request.work
                && let Some(session) = self.sessions.get_or_insert(session)
            {
                session.loading += 1;
            }
        }
    }

    /// Ends the open spans that `picks` picks, and forgets the requests that they, or none, are of.
    fn end_all(&mut self, over: Over, picks: impl Fn(SpanHandle) -> bool) {
        let requests = self.requests.take_if(|request| request.span.is_none_or(&picks));
        for request in requests {
            if let Some(span) = request.span
                && !matches!(request.work, Work::Prompt(_))
            {
                let mut attributes = Attributes::default();
                let status = over.set(keys::ACP_REQUEST_END, &mut attributes);
                self.spans.end(self.now, span, None, status, attributes);
            }
        }
        self.sessions.end_all(&self.policy, &mut self.spans, self.now, over, picks);
    }

    fn measure_sessions(&mut self) {
        let change = self.sessions.take_change();
        if change != 0 {
            let metric = &metric::ACP_SESSION_ACTIVE;
            self.spans.measure(self.now, metric, change, Attributes::default());
        }
    }

    /// The next record, in the order of what happened; call it until it gives nothing.
    #[inline]
    pub fn poll(&mut self) -> Option<Record> {
        self.spans.poll()
    }

    /// Takes back the attributes of a record, for their memory: a span that starts later may use it. Nobody has to give them.
    pub fn recycle(&mut self, attributes: Vec<Attribute>) {
        if attributes.capacity() == MAX_OF_SPAN {
            self.spare = attributes;
        }
    }

    /// The span of a request that is not answered: the parent of what its receiver does, see
    /// [`trace_context::inject`](crate::trace_context::inject).
    pub fn request_span(&self, sender: Direction, id: &RequestId) -> Option<SpanHandle> {
        self.requests.get(sender, id)?.span
    }

    /// What was not recorded so far.
    pub fn counters(&self) -> Counters {
        self.spans.counters(self.counters)
    }

    fn on_notification(&mut self, sender: Direction, message: &Peeked<'_>) {
        let (Some(method), Some(params)) = (message.method(), message.params()) else { return };
        match sender {
            Direction::AgentToClient if method == "session/update" => {
                match Update::of(message, self.interest) {
                    Some(update) => self.on_update(&update.members),
                    None => self.counters.undecodable += 1,
                }
            }
            Direction::ClientToAgent if method == "session/cancel" => {
                self.on_cancel(&Members::of_params(params));
            }
            _ if method == "$/cancel_request" => self.on_cancel_request(sender, params),
            _ => {}
        }
    }

    /// Decodes what a method says; what it does not is counted.
    fn decode<T: Wire>(&mut self, json: &str) -> Option<T> {
        self.count_undecodable(wire::decode(json).ok())
    }

    /// Decodes the few members that count of a value.
    fn decode_serde<T: DeserializeOwned>(&mut self, json: &str) -> Option<T> {
        self.count_undecodable(wire::decode_serde(json).ok())
    }

    fn count_undecodable<T>(&mut self, decoded: Option<T>) -> Option<T> {
        if decoded.is_none() {
            self.counters.undecodable += 1;
        }
        decoded
    }
}

/// A member that is a string.
fn member<'a>(object: &'a str, name: &str) -> Option<Cow<'a, str>> {
    string(find_member(object, &[name])?)
}
