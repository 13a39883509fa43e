//! Lines in, spans out.

use crate::Program;
use crate::ids::Ids;
use crate::sampling::Sampling;
use crate::spans::Spans;
use core::time::Duration;
use jsonrpc_core::{Kind, peek};
use opentelemetry::trace::SpanContext;
use opentelemetry_sdk::trace::SpanData;
use semconv_map::metric::Measurement;
use semconv_map::span::SpanHandle;
use semconv_map::trace_context::{Injected, inject};
use semconv_map::{CloseReason, Counters, Direction, Policy, Record, Tracker};

/// What comes out of lines.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it goes where it is kept at once")]
pub enum Made<'a> {
    /// A span has started: what is known of it so far. It comes again when it has ended, whole.
    Started(&'a SpanData),
    /// A span that has ended.
    Span(SpanData),
    /// Something was measured.
    Measurement(Measurement),
}

/// The tracker and what puts its records together.
#[derive(Debug)]
pub struct Tracing {
    tracker: Tracker,
    spans: Spans,
    /// Measurements come, those of a span right after its end.
    measures: bool,
    /// The span that has ended last, if measurements come.
    ended: Option<(SpanHandle, SpanContext)>,
}

impl Tracing {
    /// What passes on one connection, read as `policy` says.
    pub fn new(program: Program, policy: Policy, ids: Ids) -> Self {
        let spans = Spans::new(program.scope(policy.profile.schema_url()), ids);
        let measures = policy.record_metrics;
        Self { spans, tracker: Tracker::new(policy), measures, ended: None }
    }

    /// The same with spans that are sampled so; without this each is.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Sampling) -> Self {
        self.spans.sampling = sampling;
        self
    }

    /// The same with these entries of a request's baggage as attributes of its span, named as they are; without this
    /// there are none.
    #[must_use]
    pub fn with_baggage(mut self, keys: Vec<String>) -> Self {
        self.spans.baggage = keys;
        self
    }

    /// Takes in a line; `time` counts from the Unix epoch.
    pub fn handle_line(&mut self, direction: Direction, time: Duration, line: &[u8]) {
        self.tracker.handle_line(direction, time, line);
    }

    /// How many bytes of a line are all that is looked at of it, if they are among those that it starts with: they may be
    /// handed on in its place.
    pub fn enough(&self, start: &[u8]) -> Option<usize> {
        self.tracker.decisive_prefix(start)
    }

    /// Takes in that nothing more will come.
    pub fn close(&mut self, time: Duration, reason: CloseReason) {
        self.tracker.close(time, reason);
    }

    /// What has come out next; call it until it gives nothing.
    pub fn poll(&mut self) -> Option<Made<'_>> {
        loop {
            match self.tracker.poll()? {
                Record::Start(start) => {
                    let (span, attributes) = self.spans.start(start);
                    self.tracker.recycle(attributes);
                    return span.map(Made::Started);
                }
                Record::Event(event) => self.spans.event(event),
                Record::End(end) => {
                    if let Some(place) = self.spans.place(end.span) {
                        if self.measures {
                            self.remember(end.span, place);
                        }
                        return self.spans.end(place, end).map(Made::Span);
                    }
                }
                Record::Metric(measured) => return Some(Made::Measurement(measured)),
                _ => {}
            }
        }
    }

    /// Out of line, because most look at no metrics.
    #[inline(never)]
    fn remember(&mut self, span: SpanHandle, place: usize) {
        self.ended = self.spans.context_at(place).map(|context| (span, context.clone()));
    }

    /// What names the span that something was measured on, if it was on one and nothing was polled since.
    pub fn measured_on(&self, measured: &Measurement) -> Option<&SpanContext> {
        let (span, context) = self.ended.as_ref()?;
        (Some(*span) == measured.span).then_some(context)
    }

    /// The line with the context of its span put in, if it is a request that was taken in and whose span was
    /// [polled](Self::poll); nothing where it is to stay as it is.
    pub fn inject<'a>(&self, direction: Direction, line: &'a [u8]) -> Option<Injected<'a>> {
        let message = peek(line).ok().filter(|message| message.kind() == Kind::Request)?;
        let span = self.tracker.request_span(direction, &message.request_id()?)?;
        inject(line, Some(&self.spans.context(span)?), None).ok()?
    }

    /// What was not recorded so far.
    pub fn counters(&self) -> Counters {
        self.tracker.counters()
    }
}
