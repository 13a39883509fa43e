//! Mapping of MCP and other JSON-RPC connections: one span per request.
//!
//! An [`RpcTracker`] observes one side of a connection. Messages sent by that side become CLIENT
//! spans, messages received SERVER spans. The tables for MCP are in [`crate::mcp`]. For other
//! JSON-RPC protocols:
//!
//! | property | value |
//! |---|---|
//! | name | the method; `jsonrpc` if it is not a known method |
//! | parent | the context in the `_meta` of the request; else none |
//! | `rpc.system.name` | `jsonrpc` |
//! | `rpc.method` | the method, or `_OTHER` with `rpc.method_original` |
//! | `jsonrpc.request.id`, `jsonrpc.protocol.version` | the id without quotes; `2.0` |
//! | `rpc.response.status_code`, `error.type`, status | as for MCP |
//!
//! Spec: [JSON-RPC,
//! v1.41.1](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/rpc/json-rpc.md)
use crate::acp::lifecycle;
use crate::acp::tool_call::set_tool_content;
use crate::attribute::{Attributes, clip, id_text};
use crate::content::ContentKind;
use crate::details::Details;
use crate::json::string;
use crate::keys::{self, end, error_type, event};
use crate::mcp;
use crate::messages::tool_content;
use crate::metric;
use crate::policy::Policy;
use crate::span::{Parent, Record, SpanHandle, Status};
use crate::tracker::{Counters, Limits, PendingRequests, Spans, remote};
use alloc::borrow::Cow;
use alloc::string::String;
use core::time::Duration;
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{
    Document, ErrorObject, Kind, PeekedMessage, RequestId, find_member, peek, wire,
};

/// Protocol of a connection, and the observed side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Protocol {
    /// MCP, observed at the client.
    McpClient,
    /// MCP, observed at the server.
    McpServer,
    /// Any other protocol, with the methods that may be used as span names.
    JsonRpc(&'static [&'static str]),
}

/// Reason why a connection is no longer observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConnectionEnd {
    /// The connection ended. Open spans end with the error `connection_closed`.
    Closed,
    /// Observation stops while the connection continues. Open spans end without an error.
    ObserverStopped,
}

/// Converts the lines of an MCP or JSON-RPC connection into spans.
///
/// Like [`Tracker`](crate::Tracker), it reads no clock and performs no I/O, every span that starts
/// also ends, and records that exceed the [`Limits`] are counted. [`Limits::sessions`] has no
/// effect.
///
/// ```
/// use core::time::Duration;
/// use semconv_map::rpc::{Protocol, RpcTracker};
/// use semconv_map::{Direction, Policy, Record};
///
/// let mut tracker = RpcTracker::new(Policy::default(), Protocol::McpClient);
/// let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","arguments":{}}}"#;
/// let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#;
/// tracker.handle_line(Direction::Sent, Duration::from_secs(1), call);
/// tracker.handle_line(Direction::Received, Duration::from_secs(2), answer);
///
/// let Some(Record::Start(start)) = tracker.poll() else { panic!("no span") };
/// let Some(Record::End(end)) = tracker.poll() else { panic!("it goes on") };
/// assert_eq!(start.name, "tools/call weather");
/// let error = end.attributes.iter().find(|attribute| attribute.key == semconv_map::keys::ERROR_TYPE);
/// assert_eq!(error.map(|error| error.value.clone()), Some("tool_error".into()));
/// ```
#[derive(Debug)]
pub struct RpcTracker {
    policy: Policy,
    protocol: Protocol,
    limits: Limits,
    counters: Counters,
    spans: Spans,
    open: PendingRequests<OpenCall>,
    /// Time of the `initialize` request.
    began: Option<Duration>,
    version: Option<String>,
    session_id: Option<String>,
}

#[derive(Debug)]
struct OpenCall {
    span: SpanHandle,
    is_initialize: bool,
    is_tool_call: bool,
    /// Arguments of the tool, with content capture.
    arguments: Option<String>,
}

/// A request or notification as received.
#[derive(Clone, Copy)]
struct RpcCall<'a> {
    direction: Direction,
    /// The id as text. `None` for `null`.
    id: Option<&'a str>,
    method: &'a str,
    params: &'a str,
    meta: Option<&'a str>,
}

impl RpcTracker {
    /// Creates a tracker of one connection with the default [`Limits`].
    pub fn new(policy: Policy, protocol: Protocol) -> Self {
        Self::with_limits(policy, protocol, Limits::default())
    }

    /// Creates a tracker of one connection.
    pub fn with_limits(policy: Policy, protocol: Protocol, limits: Limits) -> Self {
        Self {
            spans: Spans::new(limits, &policy, keys::JSONRPC_REQUEST_END),
            policy,
            protocol,
            limits,
            counters: Counters::default(),
            open: PendingRequests::new(),
            began: None,
            version: None,
            session_id: None,
        }
    }

    /// Sets the session id of the transport (`Mcp-Session-Id` over HTTP) for subsequent MCP spans.
    pub fn set_session_id(&mut self, id: Option<&str>) {
        self.session_id = id.map(clip);
    }

    /// Handles one line or HTTP body: a message or a batch of messages. The observed side has sent
    /// or received it. Blank lines are ignored.
    ///
    /// `now` is an offset from an epoch of the caller's choice. Time never goes backwards: an
    /// earlier value counts as the latest one so far.
    pub fn handle_line(&mut self, direction: Direction, now: Duration, line: &[u8]) {
        self.spans.advance(now);
        let line = line.trim_ascii();
        if !line.starts_with(b"[") {
            if !line.is_empty() {
                self.handle_text(direction, line);
            }
            return;
        }
        let text = core::str::from_utf8(line).ok();
        let Some(Document::Batch(batch)) = text.and_then(|text| Document::decode(text).ok()) else {
            self.counters.invalid_lines += 1;
            return;
        };
        for message in batch.texts() {
            self.handle_text(direction, message.as_bytes());
        }
    }

    /// Handles a message that was already peeked to route it; otherwise like
    /// [`handle_line`](Self::handle_line).
    pub fn handle_peeked(
        &mut self,
        direction: Direction,
        now: Duration,
        message: &PeekedMessage<'_>,
    ) {
        self.spans.advance(now);
        self.handle_message(direction, message);
    }

    /// Handles the end of the connection. All open spans end, and all state except the counters is
    /// reset.
    pub fn close(&mut self, now: Duration, how: ConnectionEnd) {
        self.spans.advance(now);
        for call in self.open.take_if(|_| true) {
            match how {
                ConnectionEnd::Closed => {
                    let mut attributes = Attributes::default();
                    attributes.set(keys::ERROR_TYPE, error_type::CONNECTION_CLOSED);
                    self.end(call, Status::Error { description: None }, attributes, None);
                }
                ConnectionEnd::ObserverStopped => {
                    self.end_unanswered(call, end::OBSERVER_STOPPED);
                }
            }
        }
        self.measure_session();
        self.version = None;
        self.session_id = None;
    }

    /// Returns the next record, in order of occurrence. Call until it returns `None`.
    pub fn poll(&mut self) -> Option<Record> {
        self.spans.poll()
    }

    /// Returns the span of an unanswered request, for
    /// [`trace_context::inject`](crate::trace_context::inject).
    pub fn request_span(&self, direction: Direction, id: &RequestId) -> Option<SpanHandle> {
        self.open.get(direction, id).map(|call| call.span)
    }

    /// Returns the counters of data that was not recorded so far.
    pub fn counters(&self) -> Counters {
        self.spans.counters(self.counters)
    }

    fn handle_text(&mut self, direction: Direction, text: &[u8]) {
        match peek(text) {
            Ok(message) => self.handle_message(direction, &message),
            Err(_) => self.counters.invalid_lines += 1,
        }
    }

    fn handle_message(&mut self, direction: Direction, message: &PeekedMessage<'_>) {
        if message.kind() == Kind::Response {
            self.on_response(direction.reversed(), message);
            return;
        }
        let id = message.request_id();
        let Some(method) = message.method().and_then(|method| method.decode()) else {
            self.counters.invalid_lines += 1;
            return;
        };
        let params = message.params().unwrap_or("{}");
        let meta = find_member(params, &["_meta"]);
        let id_text = id.as_ref().and_then(|id| id_text(id, message));
        let call = RpcCall { direction, id: id_text, method: &method, params, meta };
        match &id {
            Some(id) => self.on_request(call, id),
            None if message.kind() == Kind::Request => self.counters.invalid_lines += 1,
            None => self.on_notification(call),
        }
    }

    fn on_request(&mut self, call: RpcCall<'_>, id: &RequestId) {
        // The response cannot be attributed to one of the two, so it counts for the new request.
        if let Some(before) = self.open.remove(call.direction, id) {
            self.end_unanswered(before, end::ID_REUSED);
        }
        let spans = &self.spans;
        if self.open.len() >= self.limits.open_spans {
            self.open.retain(|call| spans.is_open(call.span));
        }
        let Some(span) = self.start(call) else { return };
        let is_mcp = self.is_mcp();
        let is_initialize = is_mcp && call.method == "initialize";
        if is_initialize {
            self.measure_session();
            self.began = Some(self.spans.now());
        }
        let is_tool_call = is_mcp && call.method == "tools/call";
        let arguments = (is_tool_call && self.policy.records_content())
            .then(|| find_member(call.params, &["arguments"]))
            .flatten()
            .map(|json| tool_content(&self.policy, ContentKind::ToolArguments, json));
        let open = OpenCall { span, is_initialize, is_tool_call, arguments };
        self.open.insert(call.direction, id.clone(), open);
    }

    fn on_notification(&mut self, call: RpcCall<'_>) {
        if self.policy.record_notifications
            && let Some(span) = self.start(call)
        {
            self.spans.end(span, None, Status::Unset, Attributes::default());
        }
        if self.is_mcp() && call.method == "notifications/cancelled" {
            let id = find_member(call.params, &["requestId"]);
            let Some(id) = id.and_then(|id| wire::decode::<RequestId>(id).ok()) else {
                self.counters.undecodable += 1;
                return;
            };
            if let Some(cancelled) = self.open.remove(call.direction, &id) {
                let none = Attributes::default();
                self.spans.event(cancelled.span, event::MCP_CANCELLED, none);
                self.end_unanswered(cancelled, end::CANCELLED);
            }
        }
    }

    fn on_response(&mut self, asked: Direction, message: &PeekedMessage<'_>) {
        let id = message.request_id();
        let Some(call) = id.and_then(|id| self.open.remove(asked, &id)) else {
            self.counters.unmatched_responses += 1;
            return;
        };
        let mut attributes = Attributes::default();
        let status = match (message.error(), message.result()) {
            (Some(error), _) => match wire::decode::<ErrorObject>(error) {
                Ok(error) if self.is_client_error(asked, &error) => {
                    lifecycle::set_status_code(&error, &mut attributes);
                    Status::Unset
                }
                Ok(error) => lifecycle::failure(&self.policy, &error, &mut attributes),
                Err(_) => {
                    self.counters.undecodable += 1;
                    lifecycle::unreadable_failure(&mut attributes)
                }
            },
            (None, Some(result)) if call.is_tool_call && mcp::is_tool_error(result) => {
                attributes.set(keys::ERROR_TYPE, error_type::TOOL_ERROR);
                Status::Error { description: None }
            }
            (None, Some(result)) if call.is_initialize => {
                let version = find_member(result, &["protocolVersion"]);
                self.version = version.and_then(string).map(|version| clip(&version));
                // The request declares its own version.
                attributes.set_some(keys::MCP_PROTOCOL_VERSION, self.version.clone());
                Status::Unset
            }
            _ => Status::Unset,
        };
        self.end(call, status, attributes, message.result());
    }

    fn start(&mut self, call: RpcCall<'_>) -> Option<SpanHandle> {
        let mut attributes = Attributes::of_span();
        let name = match self.protocol {
            Protocol::JsonRpc(methods) => {
                let known = methods.iter().find(|known| **known == call.method).copied();
                lifecycle::set_rpc(&mut attributes, known, call.method);
                attributes.set_some(keys::JSONRPC_REQUEST_ID, call.id.map(clip));
                known.map_or(Cow::Borrowed(lifecycle::SYSTEM), Cow::Borrowed)
            }
            Protocol::McpClient | Protocol::McpServer => self.mcp_attributes(&mut attributes, call),
        };
        attributes.set_some(keys::NETWORK_TRANSPORT, self.policy.network_transport.clone());
        let kind = lifecycle::span_kind(call.direction);
        let (parent, baggage) = remote(call.meta);
        let parent = match parent {
            Parent::Root if self.is_mcp() => self.surrounding(call.direction),
            parent => parent,
        };
        let mut start = self.spans.next(parent, kind, name, attributes);
        start.baggage = baggage;
        self.spans.start(start)
    }

    fn mcp_attributes(&self, attributes: &mut Attributes, call: RpcCall<'_>) -> Cow<'static, str> {
        let name = mcp::set_call(&self.policy, attributes, call.method, call.id, call.params);
        if call.method != "initialize" {
            let requested = || call.meta.and_then(mcp::requested_version);
            let version = self.version.clone().or_else(requested);
            attributes.set_some(keys::MCP_PROTOCOL_VERSION, version);
        }
        attributes.set_some(keys::MCP_SESSION_ID, self.session_id.clone());
        name
    }

    /// Returns the only open request of the opposite direction as the parent of a request, if there
    /// is exactly one.
    fn surrounding(&self, direction: Direction) -> Parent {
        let mut open = self.open.of(direction.reversed());
        let only = open.next().filter(|_| open.next().is_none()).map(|call| call.span);
        only.filter(|span| self.spans.is_open(*span)).map_or(Parent::Root, Parent::Span)
    }

    fn end_unanswered(&mut self, call: OpenCall, why: &'static str) {
        let mut attributes = Attributes::default();
        attributes.set(keys::JSONRPC_REQUEST_END, why);
        self.end(call, Status::Unset, attributes, None);
    }

    fn end(
        &mut self,
        call: OpenCall,
        status: Status,
        mut attributes: Attributes,
        result: Option<&str>,
    ) {
        if call.is_tool_call && self.policy.records_content() {
            let result =
                result.map(|json| tool_content(&self.policy, ContentKind::ToolResult, json));
            let mut details = Details::default();
            set_tool_content(&self.policy, &mut details, call.arguments, result);
            attributes.extend(details.span);
            self.spans.details(call.span, event::DETAILS, details.event);
        }
        self.spans.end(call.span, None, status, attributes);
    }

    fn measure_session(&mut self) {
        let Some(began) = self.began.take() else { return };
        let metric = match self.protocol {
            Protocol::McpClient => &metric::MCP_CLIENT_SESSION_DURATION,
            Protocol::McpServer => &metric::MCP_SERVER_SESSION_DURATION,
            Protocol::JsonRpc(_) => return,
        };
        let mut attributes = Attributes::default();
        attributes.set_some(keys::MCP_PROTOCOL_VERSION, self.version.clone());
        attributes.set_some(keys::NETWORK_TRANSPORT, self.policy.network_transport.clone());
        let lasted = self.spans.now().saturating_sub(began).as_secs_f64();
        self.spans.measure(metric, lasted, attributes);
    }

    /// Returns whether an error leaves the status of its span unset, because the observed side served
    /// the request, and its peer caused the error.
    fn is_client_error(&self, asked: Direction, error: &ErrorObject) -> bool {
        self.policy.profile.ignores_client_errors
            && self.is_mcp()
            && asked == Direction::Received
            && mcp::CLIENT_ERRORS.contains(&error.code)
    }

    fn is_mcp(&self) -> bool {
        matches!(self.protocol, Protocol::McpClient | Protocol::McpServer)
    }
}
