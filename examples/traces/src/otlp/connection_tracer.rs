//! Converts lines into spans and measurements.

use crate::otlp::Program;
use crate::otlp::backend::Backend;
use crate::otlp::ids::Ids;
use crate::otlp::logs::LogEvent;
use crate::otlp::protocol_tracker::ProtocolTracker;
use crate::otlp::sampling::TraceSampling;
use crate::otlp::setup::{Caller, McpSide, Setup};
use crate::otlp::spans::{Spans, span_context};
use core::time::Duration;
use jsonrpc_core::{Kind, PeekedMessage, RequestId, find_member};
use opentelemetry::KeyValue;
use opentelemetry::trace::SpanContext;
use opentelemetry_sdk::trace::SpanData;
use semconv_map::assembly::Span;
use semconv_map::metric::Measurement;
use semconv_map::rpc::{Protocol, RpcTracker};
use semconv_map::span::SpanHandle;
use semconv_map::trace_context::{Injection, TRACEPARENT, TRACESTATE, inject};
use semconv_map::{Attribute, ClosedBy, Counters, Direction, Policy, Record, Tracker};

/// Output of [`ConnectionTracer`].
#[derive(Debug)]
pub enum TraceOutput {
    /// A span has started, with the data known so far, if starts are
    /// [enabled](ConnectionTracer::with_starts). It is returned again when it ends.
    Started(SpanData),
    /// An ended span.
    Span(SpanData),
    /// A measurement.
    Measurement(Measurement),
    /// An event with content, if log records are [enabled](ConnectionTracer::with_logs).
    Log(LogEvent),
}

/// A tracker, and the assembly of its records.
#[derive(Debug)]
pub struct ConnectionTracer {
    tracker: ProtocolTracker,
    spans: Spans,
    /// Whether events with content are log records.
    logs: bool,
    /// Whether starts of spans are returned.
    starts: bool,
    /// Whether measurements are recorded. Those of a span follow its end.
    measures: bool,
    /// The last ended span, if measurements are recorded.
    ended: Option<(SpanHandle, SpanContext)>,
    backend: Backend,
    /// Attributes of each span.
    common: Vec<KeyValue>,
}

impl ConnectionTracer {
    /// Creates the tracing of one ACP connection with a policy.
    pub fn new(program: Program, policy: Policy, ids: Ids) -> Self {
        Self::with_tracker(program, policy, ids, |policy| {
            ProtocolTracker::Acp(Tracker::new(policy))
        })
    }

    /// Creates the tracing of one MCP connection with a policy. `side` determines which requests
    /// have CLIENT spans; directions of lines are those of the client in either case.
    pub fn new_mcp(program: Program, policy: Policy, side: McpSide, ids: Ids) -> Self {
        Self::with_tracker(program, policy, ids, |policy| match side {
            McpSide::Client => {
                ProtocolTracker::McpClient(RpcTracker::new(policy, Protocol::McpClient))
            }
            McpSide::Server => {
                ProtocolTracker::McpServer(RpcTracker::new(policy, Protocol::McpServer))
            }
        })
    }

    fn with_tracker(
        program: Program,
        policy: Policy,
        ids: Ids,
        tracker: impl FnOnce(Policy) -> ProtocolTracker,
    ) -> Self {
        Self {
            spans: Spans::new(program.scope(policy.profile.schema_url()), ids),
            logs: false,
            starts: false,
            measures: policy.record_metrics,
            ended: None,
            backend: Backend::default(),
            common: Vec::new(),
            tracker: tracker(policy),
        }
    }

    /// Sets the sampling. The default samples all spans.
    #[must_use]
    pub fn with_sampling(mut self, sampling: TraceSampling) -> Self {
        self.spans.sampling = sampling;
        self
    }

    /// Sets the baggage keys of a request that are recorded as attributes of its span. By default,
    /// no keys are recorded.
    #[must_use]
    pub fn with_baggage(mut self, keys: Vec<String>) -> Self {
        self.spans.baggage = keys;
        self
    }

    /// Sets the traces of requests that set up the connection. By default, each has a trace of its
    /// own.
    #[must_use]
    pub fn with_setup(mut self, setup: Setup) -> Self {
        self.spans.setup = setup;
        self
    }

    /// Sets the role of the span that a client sends with its request. By default, it is the
    /// parent.
    #[must_use]
    pub fn with_caller(mut self, caller: Caller) -> Self {
        self.spans.caller = caller;
        self
    }

    /// Sets the backend, which determines additional attributes, and attributes of each span. An
    /// attribute of the conventions takes precedence over one with the same key.
    #[must_use]
    pub fn with_backend(mut self, backend: Backend, common: Vec<KeyValue>) -> Self {
        self.backend = backend;
        self.common = common;
        self
    }

    /// Sets whether events with content are log records instead of events of their spans.
    #[must_use]
    pub fn with_logs(mut self, logs: bool) -> Self {
        self.logs = logs;
        self
    }

    /// Sets whether each span is also returned when it starts.
    #[must_use]
    pub fn with_starts(mut self, starts: bool) -> Self {
        self.starts = starts;
        self
    }

    /// Handles a line. `time` is relative to the Unix epoch.
    pub fn handle_line(&mut self, direction: Direction, time: Duration, line: &[u8]) {
        self.tracker.handle_line(direction, time, line);
    }

    /// Returns whether a line of the agent changes nothing that is recorded, and can be left out.
    pub fn is_quiet(&self, line: &[u8]) -> bool {
        self.tracker.is_quiet(line)
    }

    /// Handles a line that was peeked to route it; `time` counts from the Unix epoch.
    pub fn handle_peeked(
        &mut self,
        direction: Direction,
        time: Duration,
        line: &PeekedMessage<'_>,
    ) {
        self.tracker.handle_peeked(direction, time, line);
    }

    /// Returns the length of the prefix that decides a line, if `start` contains it. The prefix can
    /// be passed instead of the whole line.
    pub fn decisive_prefix(&self, start: &[u8]) -> Option<usize> {
        self.tracker.decisive_prefix(start)
    }

    /// Handles the end of the connection.
    pub fn close(&mut self, time: Duration, by: ClosedBy) {
        self.tracker.close(time, by);
    }

    /// Returns the next output. Call until it returns `None`.
    #[inline]
    pub fn poll(&mut self) -> Option<TraceOutput> {
        // Most lines have no record.
        loop {
            let record = self.tracker.poll()?;
            if let Some(output) = self.handle_record(record) {
                return Some(output);
            }
        }
    }

    /// Handles a record, and returns its output, if it has one.
    fn handle_record(&mut self, record: Record) -> Option<TraceOutput> {
        match record {
            Record::Metric(measured) => Some(TraceOutput::Measurement(measured)),
            Record::Event(event) if self.logs && event.is_log() => {
                let span = span_context(&self.spans.get(event.span)?.context, false);
                Some(TraceOutput::Log(LogEvent { span, event }))
            }
            Record::Start(start) if self.starts => {
                let span = start.span;
                self.spans.handle_record(Record::Start(start));
                let span = self.spans.get(span)?.clone();
                Some(TraceOutput::Started(self.spans.data(span).0))
            }
            record => {
                let span = self.spans.handle_record(record)?;
                self.finish(span).map(TraceOutput::Span)
            }
        }
    }

    /// Converts an ended span, unless it is left out.
    #[inline]
    fn finish(&mut self, span: Span) -> Option<SpanData> {
        let handle = span.handle;
        let (mut span, attributes) = self.spans.data(span);
        self.tracker.recycle(attributes);
        if self.measures {
            self.ended = Some((handle, span.span_context.clone()));
        }
        if self.spans.setup.omits(&span) {
            return None;
        }
        complete(&mut span.attributes, self.backend, &self.common);
        Some(span)
    }

    /// Returns the context of the span in which a measurement was made, if nothing was polled
    /// since.
    pub fn measured_on(&self, measured: &Measurement) -> Option<&SpanContext> {
        let (span, context) = self.ended.as_ref()?;
        (Some(*span) == measured.span).then_some(context)
    }

    /// Injects the context of its span into a message, if it is a request that was handled and
    /// [polled](Self::poll). Returns `None` if its line should be sent unchanged.
    ///
    /// A context of the client is replaced, because the span of its request is a child of it or
    /// links to it. A context of the agent is preserved, because its span is between that of the
    /// turn and that of its request.
    pub fn inject<'a>(
        &self,
        direction: Direction,
        message: &PeekedMessage<'a>,
    ) -> Option<Injection<'a>> {
        if message.kind() != Kind::Request {
            return None;
        }
        let has = |name| find_member(message.params()?, &["_meta", name]);
        if direction == Direction::Received && has(TRACEPARENT).or(has(TRACESTATE)).is_some() {
            return None;
        }
        let span = self.tracker.request_span(direction, &message.request_id()?)?;
        inject(message, Some(&self.spans.get(span)?.context), None).ok()?
    }

    /// Sets an attribute of the span of a request without a response, if the request was handled
    /// and [polled](Self::poll).
    pub fn annotate(&mut self, direction: Direction, request: &RequestId, attribute: Attribute) {
        if let Some(span) = self.tracker.request_span(direction, request) {
            self.spans.annotate(span, attribute);
        }
    }

    /// Returns the counters of data that was not recorded.
    pub fn counters(&self) -> Counters {
        self.tracker.counters()
    }
}

/// Adds the attributes of the backend and of each span.
#[inline]
fn complete(attributes: &mut Vec<KeyValue>, backend: Backend, common: &[KeyValue]) {
    backend.add(attributes);
    for attribute in common {
        if attributes.iter().all(|it| it.key != attribute.key) {
            attributes.push(attribute.clone());
        }
    }
}
