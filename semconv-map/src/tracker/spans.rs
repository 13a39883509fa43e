//! Open spans, and records waiting to be polled.
use super::{Counters, Limits};
use crate::attribute::{Attribute, Attributes};
use crate::keys;
use crate::metric::{Measurement, Metric, MetricValue, PendingMeasurement, Row};
use crate::policy::Policy;
use crate::span::{Parent, Record, SpanEnd, SpanEvent, SpanHandle, SpanKind, SpanStart, Status};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::time::Duration;

/// Ensures that each span starts once and ends once, before its parent.
///
/// A span reserves room for its end when it starts, so an end always fits: the number of waiting
/// records and open spans never exceeds [`Limits::records`].
#[derive(Debug)]
pub(crate) struct Spans {
    limits: Limits,
    now: Duration,
    queue: VecDeque<Record>,
    /// Open spans in order of their start, which is the order of their handles.
    open: Vec<OpenSpan>,
    next: SpanHandle,
    pub(super) dropped_spans: u64,
    dropped_events: u64,
    dropped_metrics: u64,
    /// Attribute with the reason for spans that end without a response.
    end_key: &'static str,
    /// Metrics of spans, if metrics are recorded.
    rows: Option<[&'static [Row]; 2]>,
}

#[derive(Debug)]
struct OpenSpan {
    span: SpanHandle,
    parent: Option<SpanHandle>,
    /// Number of open child spans.
    children: usize,
    events: usize,
    dropped_events: u32,
    measured: Option<Box<PendingMeasurement>>,
}

impl Spans {
    pub(crate) fn new(limits: Limits, policy: &Policy, end_key: &'static str) -> Self {
        Self {
            limits,
            now: Duration::ZERO,
            queue: VecDeque::new(),
            open: Vec::new(),
            next: SpanHandle(NonZeroU64::MIN),
            end_key,
            dropped_spans: 0,
            dropped_events: 0,
            dropped_metrics: 0,
            rows: policy.record_metrics.then_some(policy.profile.metrics),
        }
    }

    /// Sets the time of further records, unless it is earlier than before.
    #[inline]
    pub(crate) fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    #[inline]
    pub(crate) fn now(&self) -> Duration {
        self.now
    }

    /// Returns the counters, including `others`, which were counted elsewhere.
    pub(crate) fn counters(&self, others: Counters) -> Counters {
        let dropped_events = self.dropped_events;
        let dropped_metrics = self.dropped_metrics;
        let dropped_spans = self.dropped_spans;
        Counters { dropped_spans, dropped_events, dropped_metrics, ..others }
    }

    #[inline]
    pub(crate) fn poll(&mut self) -> Option<Record> {
        self.queue.pop_front()
    }

    #[inline]
    pub(crate) fn is_open(&self, span: SpanHandle) -> bool {
        self.place(span).is_some()
    }

    #[inline]
    fn place(&self, span: SpanHandle) -> Option<usize> {
        self.open.binary_search_by_key(&span, |open| open.span).ok()
    }

    #[inline]
    fn get_mut(&mut self, span: SpanHandle) -> Option<&mut OpenSpan> {
        let place = self.place(span)?;
        self.open.get_mut(place)
    }

    /// Returns the next span to start.
    #[inline]
    pub(crate) fn next(
        &self,
        parent: Parent,
        kind: SpanKind,
        name: Cow<'static, str>,
        Attributes(attributes): Attributes,
    ) -> SpanStart {
        let span = self.next;
        let links = Vec::new();
        SpanStart { span, parent, name, kind, time: self.now, attributes, baggage: None, links }
    }

    /// Starts the span returned by [`next`](Self::next), if there is room.
    #[inline]
    pub(crate) fn start(&mut self, start: SpanStart) -> Option<SpanHandle> {
        if self.open.len() >= self.limits.open_spans || self.used() + 2 > self.limits.records {
            self.dropped_spans += 1;
            return None;
        }
        let SpanStart { span, ref parent, kind, time, ref attributes, .. } = start;
        self.next = SpanHandle(span.0.saturating_add(1));
        let parent = match parent {
            Parent::Span(span) => Some(*span),
            Parent::Root | Parent::Remote(_) => None,
        };
        let measured =
            self.rows.and_then(|rows| PendingMeasurement::start(rows, time, kind, attributes));
        let measured = measured.map(Box::new);
        if let Some(above) = parent.and_then(|parent| self.get_mut(parent)) {
            above.children += 1;
            if let Some(turn) = &mut above.measured
                && measured.as_ref().is_some_and(|measured| measured.is_tool_call())
            {
                turn.tool_calls += 1;
            }
        }
        self.open.push(OpenSpan {
            span,
            parent,
            children: 0,
            events: 0,
            dropped_events: 0,
            measured,
        });
        self.queue.push_back(Record::Start(start));
        Some(span)
    }

    /// Adds a content event to a span, if there is content. It does not count against the limit of
    /// events.
    #[inline]
    pub(crate) fn details(&mut self, span: SpanHandle, name: &'static str, attributes: Attributes) {
        if attributes.0.is_empty() || !self.is_open(span) {
            return;
        }
        if self.used() < self.limits.records {
            let attributes = attributes.0;
            self.queue.push_back(Record::Event(SpanEvent {
                span,
                name,
                time: self.now,
                attributes,
            }));
        } else {
            self.drop_event(span);
        }
    }

    /// Adds an event to a span. Ignored if the span has ended.
    pub(crate) fn event(&mut self, span: SpanHandle, name: &'static str, attributes: Attributes) {
        let has_room = self.used() < self.limits.records;
        let limit = self.limits.events_per_span;
        let Some(open) = self.get_mut(span) else { return };
        if !has_room || open.events >= limit {
            self.drop_event(span);
            return;
        }
        open.events += 1;
        let attributes = attributes.0;
        self.queue.push_back(Record::Event(SpanEvent { span, name, time: self.now, attributes }));
    }

    fn drop_event(&mut self, span: SpanHandle) {
        self.dropped_events += 1;
        if let Some(open) = self.get_mut(span) {
            open.dropped_events = open.dropped_events.saturating_add(1);
        }
    }

    /// Ends a span, after its descendants. Ignored if the span has ended.
    #[inline]
    pub(crate) fn end(
        &mut self,
        span: SpanHandle,
        name: Option<Cow<'static, str>>,
        status: Status,
        attributes: Attributes,
    ) {
        if let Some(open) = self.get_mut(span) {
            if open.children > 0 {
                self.end_below(span);
            }
            let attributes = attributes.0;
            self.push_end(SpanEnd {
                span,
                time: self.now,
                status,
                name,
                attributes,
                dropped_events: 0,
            });
        }
    }

    /// Ends the descendants of a span, newest first. Ended spans accept no children.
    fn end_below(&mut self, span: SpanHandle) {
        let mut below = Vec::from([span]);
        for open in &self.open {
            if open.parent.is_some_and(|parent| below.contains(&parent)) {
                below.push(open.span);
            }
        }
        for &span in below.iter().skip(1).rev() {
            let attributes = [Attribute::new(self.end_key, keys::end::PARENT_END)].into();
            let status = Status::Unset;
            let name = None;
            let dropped_events = 0;
            self.push_end(SpanEnd {
                span,
                time: self.now,
                status,
                name,
                attributes,
                dropped_events,
            });
        }
    }

    #[inline]
    fn push_end(&mut self, mut end: SpanEnd) {
        let Some(place) = self.place(end.span) else { return };
        let OpenSpan { parent, measured, dropped_events, .. } = self.open.remove(place);
        end.dropped_events = dropped_events;
        if let Some(above) = parent.and_then(|parent| self.get_mut(parent)) {
            above.children = above.children.saturating_sub(1);
        }
        let span = Some(end.span);
        let time = end.time;
        let measured = measured.zip(self.rows);
        let measured = measured.map(|(span, rows)| span.end(rows, time, &end.attributes));
        self.queue.push_back(Record::End(end));
        if let Some(measured) = measured {
            for (metric, value, attributes) in measured {
                self.push_metric(Measurement { metric, value, time, span, attributes });
            }
        }
    }

    /// Records a measurement without a span, if metrics are recorded.
    pub(crate) fn measure(
        &mut self,
        metric: &'static Metric,
        value: impl Into<MetricValue>,
        attributes: Attributes,
    ) {
        if self.rows.is_some() {
            let value = value.into();
            let attributes = attributes.0;
            self.push_metric(Measurement { metric, value, time: self.now, span: None, attributes });
        }
    }

    fn push_metric(&mut self, measured: Measurement) {
        if self.used() < self.limits.records {
            self.queue.push_back(Record::Metric(measured));
        } else {
            self.dropped_metrics += 1;
        }
    }

    fn used(&self) -> usize {
        self.queue.len() + self.open.len()
    }
}
