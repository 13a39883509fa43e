//! The spans that are open, and the records that wait to be polled.
use super::{Counters, Limits};
use crate::attribute::{Attribute, Attributes};
use crate::keys;
use crate::metric::{Measured, Measurement, Metric, MetricValue, Row};
use crate::policy::Policy;
use crate::span::{
    Link, Parent, Record, SpanEnd, SpanEvent, SpanHandle, SpanKind, SpanStart, Status,
};
use crate::trace_context::Baggage;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;

/// Keeps that each span starts once and ends once, and before its parent does.
///
/// A span takes the room for its end when it starts, so an end always fits: the waiting records and the open spans
/// together are never more than [`Limits::records`].
#[derive(Debug)]
pub(crate) struct Spans {
    limits: Limits,
    queue: VecDeque<Record>,
    open: BTreeMap<SpanHandle, Open>,
    last: u64,
    pub(super) dropped_spans: u64,
    dropped_events: u64,
    dropped_metrics: u64,
    /// The attribute that says why a span ended that nobody ended.
    end_key: &'static str,
    /// The metrics of spans, where metrics are recorded.
    rows: Option<[&'static [Row]; 2]>,
}

/// What a span starts as.
#[derive(Debug)]
pub(crate) struct NewSpan {
    pub(crate) parent: Parent,
    pub(crate) kind: SpanKind,
    pub(crate) name: Cow<'static, str>,
    pub(crate) attributes: Attributes,
    pub(crate) baggage: Option<Baggage>,
    pub(crate) links: Vec<Link>,
}

impl NewSpan {
    pub(crate) fn new(
        parent: Parent,
        kind: SpanKind,
        name: Cow<'static, str>,
        attributes: Attributes,
    ) -> Self {
        Self { parent, kind, name, attributes, baggage: None, links: Vec::new() }
    }
}

#[derive(Debug)]
struct Open {
    parent: Option<SpanHandle>,
    /// How many spans that belong to it are open.
    children: usize,
    events: usize,
    measured: Option<Measured>,
}

impl Spans {
    pub(crate) fn new(limits: Limits, policy: &Policy, end_key: &'static str) -> Self {
        Self {
            limits,
            queue: VecDeque::new(),
            open: BTreeMap::new(),
            last: 0,
            end_key,
            dropped_spans: 0,
            dropped_events: 0,
            dropped_metrics: 0,
            rows: policy.record_metrics.then_some(policy.profile.metrics),
        }
    }

    /// What was counted elsewhere, with what did not fit here.
    pub(crate) fn counters(&self, others: Counters) -> Counters {
        let (dropped_events, dropped_metrics) = (self.dropped_events, self.dropped_metrics);
        let dropped_spans = self.dropped_spans;
        Counters { dropped_spans, dropped_events, dropped_metrics, ..others }
    }

    pub(crate) fn poll(&mut self) -> Option<Record> {
        self.queue.pop_front()
    }

    pub(crate) fn is_open(&self, span: SpanHandle) -> bool {
        self.open.contains_key(&span)
    }

    /// Starts a span, if there is room for it.
    pub(crate) fn start(&mut self, time: Duration, new: NewSpan) -> Option<SpanHandle> {
        if self.open.len() >= self.limits.open_spans || self.used() + 2 > self.limits.records {
            self.dropped_spans += 1;
            return None;
        }
        self.last += 1;
        let span = SpanHandle(self.last);
        let NewSpan { parent, kind, name, attributes: Attributes(attributes), baggage, links } =
            new;
        let parent_span = match &parent {
            Parent::Span(span) => Some(*span),
            Parent::Root | Parent::Remote(_) => None,
        };
        let measured = self.rows.and_then(|rows| Measured::start(rows, time, kind, &attributes));
        if let Some(above) = parent_span.and_then(|parent| self.open.get_mut(&parent)) {
            above.children += 1;
            if let Some(turn) = &mut above.measured
                && measured.as_ref().is_some_and(Measured::is_tool_call)
            {
                turn.tool_calls += 1;
            }
        }
        self.open.insert(span, Open { parent: parent_span, children: 0, events: 0, measured });
        self.queue.push_back(Record::Start(SpanStart {
            span,
            parent,
            name,
            kind,
            time,
            attributes,
            baggage,
            links,
        }));
        Some(span)
    }

    /// Adds an event with content to a span, if there is any: one does not count against the others.
    pub(crate) fn details(
        &mut self,
        time: Duration,
        span: SpanHandle,
        name: &'static str,
        attributes: Attributes,
    ) {
        if attributes.0.is_empty() || !self.is_open(span) {
            return;
        }
        if self.used() < self.limits.records {
            let attributes = attributes.0;
            self.queue.push_back(Record::Event(SpanEvent { span, name, time, attributes }));
        } else {
            self.dropped_events += 1;
        }
    }

    /// Adds an event to a span; nothing happens if that has ended.
    pub(crate) fn event(
        &mut self,
        time: Duration,
        span: SpanHandle,
        name: &'static str,
        attributes: Attributes,
    ) {
        let has_room = self.used() < self.limits.records;
        let Some(open) = self.open.get_mut(&span) else { return };
        if !has_room || open.events >= self.limits.events_per_span {
            self.dropped_events += 1;
            return;
        }
        open.events += 1;
        let attributes = attributes.0;
        self.queue.push_back(Record::Event(SpanEvent { span, name, time, attributes }));
    }

    /// Ends a span, and before it those that belong to it; nothing happens if it has ended.
    pub(crate) fn end(
        &mut self,
        time: Duration,
        span: SpanHandle,
        name: Option<Cow<'static, str>>,
        status: Status,
        attributes: Attributes,
    ) {
        if self.is_open(span) {
            self.end_below(time, span);
            self.push_end(SpanEnd { span, time, status, name, attributes: attributes.0 });
        }
    }

    /// Ends what belongs to a span: a span that has ended takes no more children, so the newest go first.
    fn end_below(&mut self, time: Duration, span: SpanHandle) {
        if self.open.get(&span).is_none_or(|open| open.children == 0) {
            return;
        }
        let mut below = Vec::from([span]);
        for (handle, open) in self.open.range(span..) {
            if open.parent.is_some_and(|parent| below.contains(&parent)) {
                below.push(*handle);
            }
        }
        for &span in below.iter().skip(1).rev() {
            let attributes = [Attribute::new(self.end_key, keys::end::PARENT_END)].into();
            self.push_end(SpanEnd { span, time, status: Status::Unset, name: None, attributes });
        }
    }

    fn push_end(&mut self, end: SpanEnd) {
        let open = self.open.remove(&end.span);
        let parent = open.as_ref().and_then(|open| open.parent);
        if let Some(above) = parent.and_then(|parent| self.open.get_mut(&parent)) {
            above.children = above.children.saturating_sub(1);
        }
        let measured = open.and_then(|open| open.measured).zip(self.rows);
        let measured = measured.map(|(span, rows)| span.end(rows, end.time, &end.attributes));
        let (span, time) = (Some(end.span), end.time);
        self.queue.push_back(Record::End(end));
        for (metric, value, attributes) in measured.into_iter().flatten() {
            self.push_metric(Measurement { metric, value, time, span, attributes });
        }
    }

    /// Measures something that is not of a span, if metrics are recorded.
    pub(crate) fn measure(
        &mut self,
        time: Duration,
        metric: &'static Metric,
        value: impl Into<MetricValue>,
        attributes: Attributes,
    ) {
        if self.rows.is_some() {
            let (value, attributes) = (value.into(), attributes.0);
            self.push_metric(Measurement { metric, value, time, span: None, attributes });
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
