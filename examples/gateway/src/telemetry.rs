//! Telemetry of a server that runs agents for AG-UI clients: spans, metrics and log records over
//! OTLP.
//!
//! ```text
//! POST /api/ai/chat             SERVER    [`traced`], below the caller's `traceparent`
//! └ run demo                    INTERNAL  [`Telemetry::run`]
//!   └ invoke_agent demo         CLIENT    from here on by [`Watch`], from the lines of the connection
//!     └ execute_tool edit       INTERNAL
//!       └ session/request_permission  SERVER
//! └ run assistant               INTERNAL
//!   ├ chat qwen3                CLIENT    [`Telemetry::span`], each answer of a model without ACP
//!   └ execute_tool clock        INTERNAL
//! ```
//!
//! The [`Timeline`] of a run has the same spans without their attributes, for the page of that run.
//!
//! A slow collector causes no delay: spans that do not fit into the queue are dropped, counted, and
//! logged at the end.
use jsonrpc_core::{PeekedMessage, RequestId, peek};
use opentelemetry::InstrumentationScope;
use opentelemetry::trace::SpanKind;
use opentelemetry_sdk::trace::SpanData;
use semconv_map::attribute::MAX_NAME_BYTES;
use semconv_map::trace_context::{TraceContext, inject};
use semconv_map::{Attribute, AttributeValue, ClosedBy, Direction, Policy};
use std::borrow::Cow;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;
use traces::otlp::{
    Address, Collector, CollectorOptions, ConnectionTracer, Exports, Ids, Logs, MetricCollector,
    Metrics, OwnSpan, Signal, TraceOutput, TraceSampling, capture_of_environment,
    profile_of_environment,
};

mod http;
mod span;
mod timeline;

pub use http::{HttpSpan, remote, traced};
pub use semconv_map::trace_context;
pub use span::Span;
pub use timeline::Timeline;
use timeline::Timelines;
pub use traces::otlp::{ExportError, Program, is_disabled, variable};

/// Variables with headers for collectors, which can contain keys.
///
/// Spec: [OTLP
/// exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/#configuration-options)
pub const HEADER_VARIABLES: [&str; 4] = [
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
];

/// Time limit for sending the last spans to the collector.
const FLUSH: Duration = Duration::from_secs(5);

/// The exports, and their destination.
#[derive(Clone, Debug, Default)]
pub struct TelemetryOptions {
    /// Whether spans are sent to a collector.
    pub traces: bool,
    /// Whether metrics are sent to a collector.
    pub metrics: bool,
    /// Whether content in events is sent to a collector, as log records. The environment selects
    /// content.
    pub logs: bool,
    /// URL of the collector; otherwise the standard environment variables apply.
    pub endpoint: Option<String>,
    /// Whether each run has a timeline.
    pub timeline: bool,
}

/// The telemetry of a server; a handle. Disabled unless the options enable something.
#[derive(Clone, Debug)]
pub struct Telemetry(Option<Arc<TelemetryState>>);

#[derive(Debug)]
struct TelemetryState {
    program: Program,
    exports: Exports,
    /// Timelines of the runs.
    timelines: Option<Timelines>,
    policy: Policy,
    sampling: TraceSampling,
    scope: InstrumentationScope,
    /// One moment on the monotonic clock and on the clock of spans.
    start: (Instant, Duration),
}

impl Telemetry {
    /// Creates the telemetry of `program`. Nothing is sent yet.
    ///
    /// # Errors
    /// The URL of the collector is invalid, or the environment names unreadable files.
    pub fn new(
        program: Program,
        options: &TelemetryOptions,
        runtime: &Handle,
    ) -> Result<Self, ExportError> {
        if !options.traces && !options.metrics && !options.logs && !options.timeline {
            return Ok(Self(None));
        }
        let mut policy = Policy::default();
        policy.profile = profile_of_environment();
        if options.traces || options.logs {
            policy.content = capture_of_environment(program);
        }
        policy.record_metrics = options.metrics;
        let schema_url = policy.profile.schema_url();
        let resource = program.running_resource(None);
        let endpoint = options.endpoint.clone();
        let collector = CollectorOptions { endpoint, ..CollectorOptions::default() };
        let address = |signal| Address::new(program, signal, &collector);
        let mut spans = None;
        let mut logs = None;
        let mut metrics = None;
        if options.traces {
            spans = Some(Collector::new(address(Signal::Traces), &resource, runtime)?);
        }
        if options.logs {
            let address = address(Signal::Logs);
            logs = Some(Logs::new(address, resource.clone(), schema_url, runtime)?);
        }
        if options.metrics {
            let collector = MetricCollector::new(address(Signal::Metrics), runtime)?;
            metrics = Some(Metrics::new(program, collector, resource, schema_url));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let scope = program.scope(schema_url);
        let start = (Instant::now(), now);
        let timelines = options.timeline.then(Timelines::default);
        let sampling = TraceSampling::of_environment(program);
        let exports = Exports::new(spans, logs, metrics);
        let enabled =
            TelemetryState { program, exports, timelines, policy, sampling, scope, start };
        Ok(Self(Some(Arc::new(enabled))))
    }

    /// Returns whether spans are recorded.
    fn traces(&self) -> bool {
        self.0.as_ref().is_some_and(|it| it.exports.has_spans() || it.timelines.is_some())
    }

    /// Returns an observer of a connection to an agent; `None` if nothing is recorded. `transport`
    /// is the `network.transport` of the conventions.
    pub fn watch(&self, transport: &'static str) -> Option<Watch> {
        let enabled = self.0.clone()?;
        let mut policy = enabled.policy.clone();
        policy.network_transport = Some(Cow::Borrowed(transport));
        let tracing = ConnectionTracer::new(enabled.program, policy, Ids::random())
            .with_sampling(enabled.sampling)
            .with_logs(enabled.exports.has_logs())
            .with_starts(enabled.timelines.is_some());
        Some(Watch { enabled, tracing, closed_by: ClosedBy::Agent })
    }

    /// Starts the span of a run; `None` if no spans are recorded.
    pub fn run(
        &self,
        agent: &str,
        thread: &str,
        run: &str,
        parent: Option<&TraceContext>,
    ) -> Option<Span> {
        let mut span = self.span(format!("run {agent}"), SpanKind::Internal, parent)?;
        span.set("agui.agent", agent.to_owned());
        span.set("agui.thread.id", cut(thread));
        span.set("agui.run.id", cut(run));
        Some(span)
    }

    /// Starts a span; `None` if no spans are recorded.
    pub fn span(
        &self,
        name: String,
        kind: SpanKind,
        parent: Option<&TraceContext>,
    ) -> Option<Span> {
        let enabled = self.0.as_ref().filter(|_| self.traces())?;
        let ids = &mut Ids::random();
        let scope = enabled.scope.clone();
        let now = enabled.system_time();
        let span = OwnSpan::start(scope, ids, name, kind, parent, enabled.sampling, now);
        if let Some(timelines) = &enabled.timelines {
            timelines.begin(span.data());
        }
        Some(Span { enabled: enabled.clone(), span: Some(span) })
    }

    /// Sends the remaining spans, metrics and log records, and logs losses.
    pub async fn shut_down(self) {
        let Some(enabled) = self.0 else { return };
        let (done, sent) = oneshot::channel();
        let sending = enabled.clone();
        // A detached thread, since a metrics export waits for the collector.
        let begun = thread::Builder::new().spawn(move || {
            sending.exports.shutdown(FLUSH);
            let _ = done.send(());
        });
        if begun.is_err() || timeout(FLUSH, sent).await.is_err() {
            tracing::warn!("the collector did not take the last spans and metrics in time");
        }
        for complaint in enabled.exports.complaints() {
            tracing::warn!("{complaint}");
        }
    }
}

impl TelemetryState {
    fn time(&self) -> Duration {
        self.start.1 + self.start.0.elapsed()
    }

    fn system_time(&self) -> SystemTime {
        UNIX_EPOCH.checked_add(self.time()).unwrap_or(UNIX_EPOCH)
    }

    fn ended(&self, span: SpanData) {
        if let Some(timelines) = &self.timelines {
            timelines.end(&span);
        }
        self.exports.export(span);
    }
}

/// Truncates a name of a client to the usual length of names.
pub fn cut(name: &str) -> String {
    let ends = (0..=MAX_NAME_BYTES.min(name.len())).rev();
    let cut = ends.filter_map(|end| name.get(..end)).next();
    cut.unwrap_or_default().to_owned()
}

/// An observer of the lines of one connection. Dropping it ends the open spans.
#[derive(Debug)]
pub struct Watch {
    enabled: Arc<TelemetryState>,
    tracing: ConnectionTracer,
    /// The agent, until [`leave`](Self::leave) sets the client.
    closed_by: ClosedBy,
}

impl Watch {
    /// Whether a line of the agent changes nothing that is recorded, and may be left out.
    pub fn is_quiet(&self, line: &[u8]) -> bool {
        self.tracing.is_quiet(line)
    }

    /// Handles a line of the agent that was peeked at.
    pub fn receive(&mut self, line: &PeekedMessage<'_>) {
        self.tracing.handle_peeked(Direction::Received, self.enabled.time(), line);
        self.export();
    }

    /// Handles a line of the agent that is not a message.
    pub fn receive_invalid(&mut self, line: &[u8]) {
        self.tracing.handle_line(Direction::Received, self.enabled.time(), line);
        self.export();
    }

    /// Handles a line to the agent, and returns the line to send. A request of a run, with the span
    /// `parent`, carries the context of its own span if spans are sent to a collector.
    pub fn send(&mut self, line: Vec<u8>, parent: Option<&TraceContext>) -> Vec<u8> {
        let direction = Direction::Sent;
        let now = self.enabled.time();
        let Ok(message) = peek(&line) else {
            self.tracing.handle_line(direction, now, &line);
            self.export();
            return line;
        };
        let of_run = parent.and_then(|parent| inject(&message, Some(parent), None).ok()?);
        let line_of_run = of_run.map(|injected| injected.to_line());
        match &line_of_run {
            Some(line) => self.tracing.handle_line(direction, now, line),
            None => self.tracing.handle_peeked(direction, now, &message),
        }
        self.export();
        match line_of_run.filter(|_| self.enabled.exports.has_spans()) {
            None => line,
            Some(line_of_run) => {
                let injected = self.tracing.inject(direction, &message);
                // A span that did not fit is left out; the context of the run takes its place.
                injected.map_or(line_of_run, |injected| injected.to_line())
            }
        }
    }

    /// Sets an attribute of the span of an open request of the agent.
    pub fn annotate(
        &mut self,
        request: &RequestId,
        key: &'static str,
        value: impl Into<AttributeValue>,
    ) {
        self.tracing.annotate(Direction::Received, request, Attribute::new(key, value));
    }

    /// Records that the server ends the connection, not the agent.
    pub fn leave(&mut self) {
        self.closed_by = ClosedBy::Client;
    }

    fn export(&mut self) {
        let TelemetryState { exports, timelines, .. } = &*self.enabled;
        while let Some(made) = self.tracing.poll() {
            match made {
                TraceOutput::Started(span) => {
                    if let Some(timelines) = timelines {
                        timelines.begin_below(&span);
                    }
                }
                TraceOutput::Span(span) => self.enabled.ended(span),
                TraceOutput::Log(event) => exports.log(event),
                TraceOutput::Measurement(measured) => {
                    let span = self.tracing.measured_on(&measured);
                    exports.measure(measured, span.filter(|_| exports.has_spans()));
                }
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.tracing.close(self.enabled.time(), self.closed_by);
        self.export();
        let dropped = self.tracing.counters().dropped_spans;
        if dropped > 0 {
            tracing::warn!(dropped, "too many spans at a time");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_cut_between_characters() {
        assert_eq!(cut("t"), "t");
        assert_eq!(cut(&"a".repeat(MAX_NAME_BYTES + 1)), "a".repeat(MAX_NAME_BYTES));
        assert_eq!(cut(&"€".repeat(MAX_NAME_BYTES)), "€".repeat(MAX_NAME_BYTES / 3));
    }
}
