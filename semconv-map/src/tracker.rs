//! The tracker: a state machine that converts lines of both directions into spans.
use crate::acp::lifecycle::Peers;
use crate::acp::members::{Interest, Members, Update};
use crate::acp::tool_call::Content;
use crate::attribute::{Attribute, Attributes, MAX_OF_SPAN};
use crate::close::{ClosedBy, EndCause};
use crate::extract::Active;
use crate::keys;
use crate::metric;
use crate::policy::Policy;
use crate::span::{Record, SpanHandle};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::wire::Wire;
use jsonrpc_core::{Head, Kind, PeekedMessage, RequestId, find_member, peek, wire};
use quiet::QuietText;
use response_effect::ResponseEffect;
use session::Sessions;

mod config_options;
mod learn;
mod limits;
mod pending_requests;
mod permission;
mod plan;
mod quiet;
mod requests;
mod response_effect;
mod session;
mod session_setup;
mod spans;
mod updates;

pub use limits::{Counters, Limits};
pub(crate) use pending_requests::PendingRequests;
pub(crate) use requests::remote;
pub(crate) use spans::Spans;

/// Converts the lines of one connection, both directions, into spans.
///
/// The tracker reads no clock and performs no I/O. Pass each line with its time to
/// [`handle_line`](Self::handle_line), then drain [`poll`](Self::poll). For any input, every span
/// that starts also ends, and records that exceed the [`Limits`] are counted.
///
/// A connection starts with `initialize`. A later successful `initialize`, after a restart of an
/// agent behind a proxy or of the client, starts a new connection: spans opened before the request
/// end with [`INITIALIZED_AGAIN`](keys::end::INITIALIZED_AGAIN), and sessions are forgotten. A
/// session that is loaded or resumed then continues from its last turn and its previous cost. A
/// failed `initialize` has no effect.
///
/// Spec: [`initialize`](https://agentclientprotocol.com/protocol/v2/schema#initialize), "the latest
/// successful `initialize` is authoritative"; version 1 permits it only
/// [once](https://agentclientprotocol.com/protocol/v1/schema#initialize).
///
/// ```
/// use core::time::Duration;
/// use semconv_map::{Direction, Policy, Record, Tracker};
///
/// let mut tracker = Tracker::new(Policy::default());
/// let asked = br#"{"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/etc/hosts"}}"#;
/// let answered = br#"{"jsonrpc":"2.0","id":0,"error":{"code":-32002,"message":"no such file"}}"#;
/// tracker.handle_line(Direction::Received, Duration::from_secs(1), asked);
/// tracker.handle_line(Direction::Sent, Duration::from_secs(3), answered);
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
    peers: Peers,
    /// The extractors of the agent.
    active: Active,
    spans: Spans,
    requests: PendingRequests<OpenRequest>,
    sessions: Sessions,
    /// Fast path for text chunks, which are most of the lines.
    quiet: QuietText,
    /// Memory for the attributes of the next span.
    spare: Vec<Attribute>,
}

/// A request without a response.
#[derive(Debug)]
struct OpenRequest {
    /// `None` if the span was dropped.
    span: Option<SpanHandle>,
    effect: ResponseEffect,
    /// Whether the result is recorded as that of a tool.
    is_tool: bool,
}

impl Tracker {
    /// Creates a tracker of one connection with the default [`Limits`].
    pub fn new(policy: Policy) -> Self {
        Self::with_limits(policy, Limits::default())
    }

    /// Creates a tracker of one connection.
    pub fn with_limits(policy: Policy, limits: Limits) -> Self {
        Self {
            interest: Interest {
                texts: policy.records_content(),
                tool_calls: Content::is_wanted(&policy),
            },
            active: policy.extractors.of_agent(None),
            spans: Spans::new(limits, &policy, keys::ACP_REQUEST_END),
            policy,
            limits,
            counters: Counters::default(),
            peers: Peers::default(),
            requests: PendingRequests::new(),
            sessions: Sessions::new(limits.sessions),
            quiet: QuietText::default(),
            spare: Vec::new(),
        }
    }

    /// Handles one line, with or without its line break. Blank lines are ignored.
    ///
    /// `direction` is from the client's point of view: [`Direction::Sent`] is a line from the
    /// client (an editor) to the agent, [`Direction::Received`] a line from the agent to the
    /// client. A recorded transcript of a client uses the same directions.
    ///
    /// `now` is an offset from an epoch of the caller's choice, for most exporters the Unix epoch.
    /// Time never goes backwards: an earlier value counts as the latest one so far.
    ///
    /// Validation is limited to what is recorded. A `session/update` is decoded up to the last
    /// recorded member and treated as a notification unless an id precedes its params. A response
    /// that only needs to succeed is decoded up to its result. All other messages are validated
    /// completely. Of duplicate members, the first is used.
    pub fn handle_line(&mut self, direction: Direction, now: Duration, line: &[u8]) {
        self.spans.advance(now);
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if direction == Direction::Received && self.quiet.follow(line) {
            return;
        }
        if direction == Direction::Sent && self.requests.of(Direction::Received).next().is_none() {
            // It answers nothing, so it is validated whole.
            match peek(line) {
                Ok(message) => self.handle_peeked(direction, now, &message),
                Err(_) => self.counters.invalid_lines += 1,
            }
            return;
        }
        let mut head = Head::read(line);
        let update = head.as_mut().and_then(|head| Update::read(head, line, self.interest));
        if let Some(update) = update {
            self.handle_update(direction, &update, line);
            return;
        }
        self.quiet.forget();
        if !head.is_some_and(|mut head| self.on_answered(direction.reversed(), &mut head)) {
            match peek(line) {
                Ok(message) => self.handle_message(direction, &message),
                Err(_) => self.counters.invalid_lines += 1,
            }
        }
        self.measure_sessions();
    }

    /// Returns whether a line of the agent only continues a text of which nothing is recorded. A
    /// caller can leave such a line out instead of peeking it.
    #[inline]
    pub fn is_quiet(&self, line: &[u8]) -> bool {
        self.quiet.knows(line)
    }

    /// Handles a line that was already peeked to route it; otherwise like
    /// [`handle_line`](Self::handle_line).
    pub fn handle_peeked(
        &mut self,
        direction: Direction,
        now: Duration,
        message: &PeekedMessage<'_>,
    ) {
        self.spans.advance(now);
        let line = message.line().as_bytes();
        if direction == Direction::Received && self.quiet.follow(line) {
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
        if direction == Direction::Sent {
            self.quiet.forget();
        } else if !self.quiet.is_more(update, line) {
            if !update.members.keep_quiet() {
                self.quiet.forget();
            }
            if self.active.reads_updates
                && let Ok(line) = core::str::from_utf8(line)
                && let Some(params) = find_member(line, &["params"])
            {
                self.learn(&update.members, "session/update", params);
            }
            self.on_update(&update.members);
            self.measure_sessions();
        }
    }

    fn handle_message(&mut self, direction: Direction, message: &PeekedMessage<'_>) {
        match message.kind() {
            Kind::Request => self.on_request(direction, message),
            Kind::Notification => self.on_notification(direction, message),
            Kind::Response => self.on_response(direction.reversed(), message),
        }
    }

    /// Returns the length of the prefix that decides the effect of a line, if `start` contains that
    /// prefix. The prefix can be passed to [`handle_line`](Self::handle_line) instead of the whole
    /// line, before the rest of a long line has arrived.
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
        let mut head = Head::read(start)?;
        Update::read(&mut head, start, self.interest).map(|update| update.read)
    }

    /// Handles the end of the connection or of its observation. All open spans end, and all state
    /// except the counters is reset.
    pub fn close(&mut self, now: Duration, by: ClosedBy) {
        self.spans.advance(now);
        self.end_all(EndCause::Closed(by), |_| true);
        self.sessions.clear();
        self.measure_sessions();
        self.peers = Peers::default();
        self.set_agent();
    }

    /// Starts a new connection with the request of the span `initialize`. Requests that the client
    /// sent after it without waiting belong to the new connection.
    fn start_over(&mut self, initialize: Option<SpanHandle>) {
        let is_before = |span| initialize.is_none_or(|initialize| span < initialize);
        self.end_all(EndCause::InitializedAgain, is_before);
        self.sessions.start_over();
        for request in self.requests.of(Direction::Sent) {
            if let ResponseEffect::LoadSession { id, .. } = &request.effect
                && let Some(session) = self.sessions.get_or_insert(id)
            {
                session.loading += 1;
            }
        }
    }

    /// Ends the open spans that match `picks`, and forgets requests of these spans and requests
    /// without a span.
    fn end_all(&mut self, cause: EndCause, picks: impl Fn(SpanHandle) -> bool) {
        let requests = self.requests.take_if(|request| request.span.is_none_or(&picks));
        for request in requests {
            if let Some(span) = request.span
                && !matches!(request.effect, ResponseEffect::Prompt(_))
            {
                let mut attributes = Attributes::default();
                let status = cause.set(keys::ACP_REQUEST_END, &mut attributes);
                self.spans.end(span, None, status, attributes);
            }
        }
        self.sessions.end_all(&self.policy, &mut self.spans, cause, picks);
    }

    fn measure_sessions(&mut self) {
        let change = self.sessions.take_change();
        if change != 0 {
            let metric = &metric::ACP_SESSION_ACTIVE;
            self.spans.measure(metric, change, Attributes::default());
        }
    }

    /// Returns the next record, in order of occurrence. Call until it returns `None`.
    #[inline]
    pub fn poll(&mut self) -> Option<Record> {
        self.spans.poll()
    }

    /// Returns the attribute buffer of a record for reuse. Optional.
    pub fn recycle(&mut self, attributes: Vec<Attribute>) {
        if attributes.capacity() == MAX_OF_SPAN {
            self.spare = attributes;
        }
    }

    /// Returns the span of an unanswered request, as parent for the work of its receiver. See
    /// [`trace_context::inject`](crate::trace_context::inject).
    pub fn request_span(&self, sender: Direction, id: &RequestId) -> Option<SpanHandle> {
        self.requests.get(sender, id)?.span
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> Counters {
        self.spans.counters(self.counters)
    }

    fn on_notification(&mut self, sender: Direction, message: &PeekedMessage<'_>) {
        let (Some(method), Some(params)) = (message.method(), message.params()) else { return };
        match sender {
            Direction::Received if method == "session/update" => {
                match Update::of(message, self.interest) {
                    Some(update) => {
                        self.learn(&update.members, "session/update", params);
                        self.on_update(&update.members);
                    }
                    None => self.counters.undecodable += 1,
                }
            }
            Direction::Sent if method == "session/cancel" => {
                self.on_cancel(&Members::of_params(params));
            }
            _ if method == "$/cancel_request" => self.on_cancel_request(sender, params),
            Direction::Received => {
                if let Some(method) = method.decode() {
                    self.learn(&Members::of_params(params), &method, params);
                }
            }
            Direction::Sent => {}
        }
    }

    /// Decodes params or a result. Invalid ones are counted.
    fn decode<T: Wire>(&mut self, json: &str) -> Option<T> {
        self.count_undecodable(wire::decode(json).ok())
    }

    fn count_undecodable<T>(&mut self, decoded: Option<T>) -> Option<T> {
        if decoded.is_none() {
            self.counters.undecodable += 1;
        }
        decoded
    }
}
