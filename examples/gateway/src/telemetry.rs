//! What is told of runs to those who operate the gateway: spans and metrics, over OTLP.
//!
//! ```text
//! POST /api/ai/chat             SERVER    `http`, below the caller's `traceparent`
//! └ run demo                    INTERNAL  `run`
//!   └ invoke_agent demo         CLIENT    from here on by the lines of the connection: semconv_map
//!     └ execute_tool edit       INTERNAL
//!       └ session/request_permission  SERVER
//! └ run assistant               INTERNAL
//!   ├ chat qwen3                CLIENT    `model`, each answer of a model without ACP
//!   └ execute_tool clock        INTERNAL
//! ```
//!
//! The [timeline] of a run has the same spans, without their attributes, for the page of that run.
//!
//! Nobody waits for a collector: what does not fit on its way there is dropped, counted, and said at the end.
use crate::settings::TelemetrySettings;
use acp_otlp::{
    Address, Batches, Collector, ExportError, Ids, Made, MetricCollector, Metrics, OwnSpan,
    Program, Sampling, Signal, Tracing, complaint,
};
use opentelemetry::trace::SpanKind;
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_sdk::trace::SpanData;
use semconv_map::attribute::MAX_NAME_BYTES;
use semconv_map::keys::{self, link};
use semconv_map::trace_context::{TraceContext, inject};
use semconv_map::{CloseReason, Direction, Policy};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

mod http;
mod model;
mod timeline;

pub(crate) use http::{HttpSpan, remote, traced};
pub(crate) use model::{Traced, TracedModel};
pub(crate) use timeline::Timeline;
use timeline::Timelines;

/// Who traces.
const PROGRAM: Program = Program {
    name: "spanwire-gateway",
    version: env!("CARGO_PKG_VERSION"),
    tell: |wrong| tracing::warn!("{wrong}"),
};

/// How long the last spans may take to reach the collector when the gateway ends.
const FLUSH: Duration = Duration::from_secs(5);

/// Where spans and metrics go; nowhere, unless something is set.
#[derive(Clone, Debug)]
pub(crate) struct Telemetry(Option<Arc<Ways>>);

#[derive(Debug)]
struct Ways {
    batches: Option<Batches>,
    metrics: Option<Mutex<Metrics>>,
    /// Why the last metrics did not get through.
    metrics_error: Option<Arc<Mutex<Option<String>>>>,
    /// What the pages of runs are shown.
    timelines: Option<Timelines>,
    policy: Policy,
    sampling: Sampling,
    scope: InstrumentationScope,
    /// A moment, by the clock that passes evenly and by the one that spans are timed by.
    start: (Instant, Duration),
}

impl Telemetry {
    /// What the settings ask for; nothing is sent yet.
    ///
    /// # Errors
    /// The collector's address is no URL that can be used, or the environment names files that cannot be.
    pub(crate) fn new(settings: &TelemetrySettings, runtime: &Handle) -> Result<Self, ExportError> {
        if !settings.traces && !settings.metrics && !settings.timeline {
            return Ok(Self(None));
        }
        let mut policy = Policy::default();
        policy.record_metrics = settings.metrics;
        let schema_url = policy.profile.schema_url();
        let resource = PROGRAM.running_resource(None);
        let address = |signal| {
            let named = Address::named(PROGRAM, signal, settings.endpoint.as_deref(), None);
            named.unwrap_or_else(|| Address::of_this_machine(PROGRAM, signal, None))
        };
        let mut batches = None;
        if settings.traces {
            let collector = Collector::new(address(Signal::Traces), &resource, runtime)?;
            batches = Some(Batches::new(collector));
        }
        let (mut metrics, mut metrics_error) = (None, None);
        if settings.metrics {
            let collector = MetricCollector::new(address(Signal::Metrics), runtime)?;
            let made = Metrics::new(PROGRAM, collector, resource, schema_url);
            metrics_error = Some(made.error());
            metrics = Some(Mutex::new(made));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (scope, start) = (PROGRAM.scope(schema_url), (Instant::now(), now));
        let timelines = settings.timeline.then(Timelines::default);
        let sampling = Sampling::of_environment(PROGRAM);
        let ways =
            Ways { batches, metrics, metrics_error, timelines, policy, sampling, scope, start };
        Ok(Self(Some(Arc::new(ways))))
    }

    /// Whether spans are wanted.
    fn traces(&self) -> bool {
        self.0.as_ref().is_some_and(|ways| ways.batches.is_some() || ways.timelines.is_some())
    }

    /// Looks at what passes on a connection to an agent; `transport` is what that is over, in the conventions' words.
    pub(crate) fn watch(&self, transport: &'static str) -> Option<Watch> {
        let ways = self.0.clone()?;
        let mut policy = ways.policy.clone();
        policy.network_transport = Some(Cow::Borrowed(transport));
        let tracing = Tracing::new(PROGRAM, policy, Ids::random()).with_sampling(ways.sampling);
        Some(Watch { ways, tracing, reason: CloseReason::AgentExited })
    }

    /// A run of a thread, with this agent.
    pub(crate) fn run(
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

    /// Nothing where no spans are wanted.
    fn span(&self, name: String, kind: SpanKind, parent: Option<&TraceContext>) -> Option<Span> {
        let ways = self.0.as_ref().filter(|_| self.traces())?;
        let ids = &mut Ids::random();
        let (scope, now) = (ways.scope.clone(), ways.system_time());
        let span = OwnSpan::start(scope, ids, name, kind, parent, ways.sampling, now);
        if let Some(timelines) = &ways.timelines {
            timelines.begin(span.data());
        }
        Some(Span { ways: ways.clone(), span: Some(span) })
    }

    /// Sends what is left, and says what was lost.
    pub(crate) async fn shut_down(self) {
        let Some(ways) = self.0 else { return };
        let (done, sent) = oneshot::channel();
        let sending = ways.clone();
        // A thread that nobody has to wait for: metrics take as long as the collector does.
        let begun = thread::Builder::new().spawn(move || {
            sending.send_rest();
            let _ = done.send(());
        });
        if begun.is_err() || timeout(FLUSH, sent).await.is_err() {
            tracing::warn!("the collector did not take the last spans and metrics in time");
        }
        ways.complain();
    }
}

impl Ways {
    fn time(&self) -> Duration {
        self.start.1 + self.start.0.elapsed()
    }

    fn system_time(&self) -> SystemTime {
        UNIX_EPOCH.checked_add(self.time()).unwrap_or(UNIX_EPOCH)
    }

    fn metrics(&self) -> Option<MutexGuard<'_, Metrics>> {
        Some(self.metrics.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn ended(&self, span: SpanData) {
        if let Some(timelines) = &self.timelines {
            timelines.end(&span);
        }
        if let Some(batches) = &self.batches
            && span.span_context.is_sampled()
        {
            batches.export(span);
        }
    }

    /// Spans and metrics at the same time.
    fn send_rest(&self) {
        thread::scope(|scope| {
            scope.spawn(|| {
                if let Some(metrics) = self.metrics() {
                    metrics.shutdown();
                }
            });
            if let Some(batches) = &self.batches {
                batches.shutdown(FLUSH);
            }
        });
    }

    /// Says what was lost.
    fn complain(&self) {
        let lost = self.batches.as_ref().and_then(|batches| batches.tally().complaint());
        let unmeasured = self.metrics_error.as_deref().and_then(complaint);
        for complaint in lost.into_iter().chain(unmeasured) {
            tracing::warn!("{complaint}");
        }
    }
}

/// A name that a client has made up, not longer than names are elsewhere.
fn cut(name: &str) -> String {
    let ends = (0..=MAX_NAME_BYTES.min(name.len())).rev();
    let cut = ends.filter_map(|end| name.get(..end)).next();
    cut.unwrap_or_default().to_owned()
}

/// A span that ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Span {
    ways: Arc<Ways>,
    /// Nothing once it has ended.
    span: Option<OwnSpan>,
}

impl Span {
    /// What names it to others.
    pub(crate) fn context(&self) -> Option<TraceContext> {
        self.span.as_ref()?.context()
    }

    /// What its page is shown of it and of what is below it.
    pub(crate) fn timeline(&self) -> Option<Arc<Timeline>> {
        self.ways.timelines.as_ref()?.of(self.span.as_ref()?.data())
    }

    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        if let Some(span) = &mut self.span {
            span.set(KeyValue::new(key, value));
        }
    }

    /// The run goes on with the turn of an interrupted one, which has this span.
    pub(crate) fn link_resumed(&mut self, interrupted: &TraceContext) {
        if let Some(span) = &mut self.span {
            span.link(interrupted, vec![KeyValue::new(keys::ACP_LINK_REASON, link::RESUME)]);
        }
    }

    /// It went wrong.
    pub(crate) fn fail(&mut self, error_type: String) {
        if let Some(span) = &mut self.span {
            span.fail(error_type);
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(span) = self.span.take() {
            self.ways.ended(span.end(self.ways.system_time()));
        }
    }
}

/// Looks at the lines of one connection. What is open when it is dropped, the end of the connection has ended.
#[derive(Debug)]
pub(crate) struct Watch {
    ways: Arc<Ways>,
    tracing: Tracing,
    reason: CloseReason,
}

impl Watch {
    /// The agent has sent a line.
    pub(crate) fn hear(&mut self, line: &[u8]) {
        self.tracing.handle_line(Direction::AgentToClient, self.ways.time(), line);
        self.export();
    }

    /// The line that is to be sent: a request of a run, whose span is `parent`, tells the agent of its own, where spans go to
    /// a collector.
    pub(crate) fn send(&mut self, line: Vec<u8>, parent: Option<&TraceContext>) -> Vec<u8> {
        let direction = Direction::ClientToAgent;
        let told = parent.and_then(|parent| inject(&line, Some(parent), None).ok()?);
        let told = told.map(|injected| injected.to_line());
        let seen = told.as_deref().unwrap_or(&line);
        self.tracing.handle_line(direction, self.ways.time(), seen);
        self.export();
        match told.filter(|_| self.ways.batches.is_some()) {
            None => line,
            Some(told) => {
                let own = self.tracing.inject(direction, &line).map(|injected| injected.to_line());
                // A span that did not fit is left out, and the run's stands for it.
                own.unwrap_or(told)
            }
        }
    }

    /// The gateway ends the connection, and not the agent.
    pub(crate) fn leave(&mut self) {
        self.reason = CloseReason::ClientClosed;
    }

    fn export(&mut self) {
        while let Some(made) = self.tracing.poll() {
            match made {
                Made::Started(span) => {
                    if let Some(timelines) = &self.ways.timelines {
                        timelines.begin_below(span);
                    }
                }
                Made::Span(span) => self.ways.ended(span),
                Made::Measurement(measured) => {
                    let span = self.tracing.measured_on(&measured);
                    let span = span.filter(|_| self.ways.batches.is_some());
                    if let Some(mut metrics) = self.ways.metrics() {
                        metrics.record(measured, span);
                    }
                }
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.tracing.close(self.ways.time(), self.reason);
        self.export();
        let dropped = self.tracing.counters().dropped_spans;
        if dropped > 0 {
            tracing::warn!(dropped, "spans were too many at a time");
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
