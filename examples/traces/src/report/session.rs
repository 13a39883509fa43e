//! Data of a report: the assembled records of a session.

use core::time::Duration;
use semconv_map::metric::{self, MetricValue};
use semconv_map::span::{Parent, SpanEvent, SpanHandle, Status};
use semconv_map::{Attribute, AttributeValue, Record, Tracker, keys};
use std::collections::HashMap;

/// A session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// Time of the first and of the last message.
    times: Option<(Duration, Duration)>,
    /// Spans in order of their start.
    pub(crate) spans: Vec<Span>,
    /// Indexes of spans without a parent.
    pub(crate) roots: Vec<usize>,
    open: HashMap<SpanHandle, usize>,
    /// Cost of all sessions over time.
    pub(crate) cost: Vec<(Duration, f64)>,
    pub(crate) currency: Option<String>,
}

/// A span.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) start: Duration,
    pub(crate) end: Duration,
    /// Indexes of the child spans, in order of their start.
    pub(crate) below: Vec<usize>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) events: Vec<SpanEvent>,
    /// The error, with its message if content is recorded.
    pub(crate) error: Option<Option<String>>,
}

/// Kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Turn,
    Subagent,
    Tool,
    Permission,
    Request,
}

impl Session {
    /// Records the time of a message.
    pub(crate) fn saw(&mut self, time: Duration) {
        let (start, end) = self.times.unwrap_or((time, time));
        self.times = Some((start.min(time), end.max(time)));
    }

    /// Returns the start time.
    pub(crate) fn start(&self) -> Duration {
        self.times.unwrap_or_default().0
    }

    /// Returns the end time.
    pub(crate) fn end(&self) -> Duration {
        self.times.unwrap_or_default().1
    }

    /// Returns the first start and the last end of spans.
    pub(crate) fn extent(&self, spans: &[usize]) -> Option<(Duration, Duration)> {
        let spans = || spans.iter().filter_map(|at| self.spans.get(*at));
        let end = spans().map(|span| span.end).max()?;
        Some((spans().map(|span| span.start).min()?, end))
    }

    /// Extends the spans that are open up to the latest message.
    pub(crate) fn extend(&mut self) {
        let end = self.end();
        for at in self.open.values() {
            if let Some(span) = self.spans.get_mut(*at) {
                span.end = end;
            }
        }
    }

    /// Adds the records of the tracker.
    pub(crate) fn take_all(&mut self, tracker: &mut Tracker) {
        while let Some(record) = tracker.poll() {
            self.take(record);
        }
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Start(start) => {
                let at = self.spans.len();
                let parent = match &start.parent {
                    Parent::Span(handle) => self.open.get(handle),
                    _ => None,
                };
                match parent.and_then(|parent| self.spans.get_mut(*parent)) {
                    Some(parent) => parent.below.push(at),
                    None => self.roots.push(at),
                }
                self.open.insert(start.span, at);
                self.spans.push(Span {
                    name: start.name.into_owned(),
                    start: start.time,
                    end: start.time,
                    below: Vec::new(),
                    attributes: start.attributes,
                    events: Vec::new(),
                    error: None,
                });
            }
            Record::Event(event) => {
                let at = self.open.get(&event.span);
                if let Some(span) = at.and_then(|at| self.spans.get_mut(*at)) {
                    span.events.push(event);
                }
            }
            Record::End(end) => {
                let at = self.open.remove(&end.span);
                let Some(span) = at.and_then(|at| self.spans.get_mut(at)) else { return };
                span.end = end.time;
                span.attributes.extend(end.attributes);
                if let Some(name) = end.name {
                    span.name = name.into_owned();
                }
                if let Status::Error { description } = end.status {
                    span.error = Some(description);
                }
            }
            Record::Metric(measured) => {
                self.measure(
                    measured.time,
                    measured.metric.name,
                    measured.value,
                    &measured.attributes,
                );
            }
            _ => {}
        }
    }

    fn measure(&mut self, time: Duration, name: &str, value: MetricValue, told: &[Attribute]) {
        if let MetricValue::F64(added) = value
            && name == metric::ACP_SESSION_COST.name
        {
            let before = self.cost.last().map_or(0.0, |(_, cost)| *cost);
            self.cost.push((time, before + added));
            self.currency = text(told, keys::ACP_COST_CURRENCY).or(self.currency.take());
        }
    }

    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Span> {
        self.spans.iter().filter(move |span| span.kind() == kind)
    }
}

impl Span {
    pub(crate) fn kind(&self) -> Kind {
        match self.text(keys::GEN_AI_OPERATION_NAME).as_deref() {
            Some("invoke_agent") if self.text(keys::ACP_SESSION_PARENT_ID).is_some() => {
                Kind::Subagent
            }
            Some("invoke_agent") => Kind::Turn,
            Some("execute_tool") => Kind::Tool,
            _ if self.name == "session/request_permission" => Kind::Permission,
            _ => Kind::Request,
        }
    }

    pub(crate) fn duration(&self) -> Duration {
        self.end.saturating_sub(self.start)
    }

    pub(crate) fn text(&self, key: &str) -> Option<String> {
        text(&self.attributes, key)
    }

    pub(crate) fn count(&self, key: &str) -> Option<i64> {
        let value = &self.attributes.iter().find(|attribute| attribute.key == key)?.value;
        if let AttributeValue::I64(count) = value { Some(*count) } else { None }
    }
}

fn text(attributes: &[Attribute], key: &str) -> Option<String> {
    attributes.iter().find(|attribute| attribute.key == key).map(|it| shown(&it.value))
}

/// Formats a value.
pub(crate) fn shown(value: &AttributeValue) -> String {
    match value {
        AttributeValue::String(text) => text.to_string(),
        AttributeValue::Json(text) => text.clone(),
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::I64(value) => value.to_string(),
        AttributeValue::F64(value) => value.to_string(),
        AttributeValue::StringArray(texts) => texts.join(", "),
        other => format!("{other:?}"),
    }
}
