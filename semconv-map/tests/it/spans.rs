//! Runs a tracker and assembles its records into spans. Every run is checked against the guarantees
//! of `Record`.
use semconv_map::metric::Measurement;
use semconv_map::span::{Parent, SpanEnd, SpanEvent, SpanHandle, SpanKind, SpanStart, Status};
use semconv_map::{Attribute, AttributeValue, ClosedBy, Direction, Policy, Record, Tracker};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

pub(crate) use Direction::{Received as A2C, Sent as C2A};

/// A tracker and its records so far.
pub(crate) struct Run {
    pub(crate) tracker: Tracker,
    pub(crate) spans: Spans,
    now: Duration,
}

impl Run {
    pub(crate) fn new(policy: Policy) -> Self {
        Self::of(Tracker::new(policy))
    }

    pub(crate) fn of(tracker: Tracker) -> Self {
        Self { tracker, spans: Spans::default(), now: Duration::ZERO }
    }

    /// Passes a line one second after the last.
    pub(crate) fn line(&mut self, direction: Direction, line: &str) {
        self.now += Duration::from_secs(1);
        self.line_at(direction, self.now, line.as_bytes());
    }

    pub(crate) fn line_at(&mut self, direction: Direction, now: Duration, line: &[u8]) {
        self.tracker.handle_line(direction, now, line);
        self.drain();
    }

    pub(crate) fn close(&mut self, by: ClosedBy) {
        self.now += Duration::from_secs(1);
        self.close_at(self.now, by);
    }

    pub(crate) fn close_at(&mut self, now: Duration, by: ClosedBy) {
        self.tracker.close(now, by);
        self.drain();
        assert!(self.spans.open.is_empty(), "open after close: {:?}", self.spans.open);
    }

    /// Polls all records and returns their number.
    pub(crate) fn drain(&mut self) -> usize {
        let mut records = 0;
        while let Some(record) = self.tracker.poll() {
            self.spans.take(record);
            records += 1;
        }
        records
    }

    /// Returns the only span with this name.
    pub(crate) fn span(&self, name: &str) -> &Span {
        let mut named = self.spans.all.values().filter(|span| span.name() == name);
        let span =
            named.next().unwrap_or_else(|| panic!("no span {name}: {:?}", self.spans.names()));
        assert!(named.next().is_none(), "two spans {name}");
        span
    }
}

/// Spans by handle.
#[derive(Default)]
pub(crate) struct Spans {
    pub(crate) all: BTreeMap<SpanHandle, Span>,
    pub(crate) metrics: Vec<Measurement>,
    pub(crate) open: BTreeSet<SpanHandle>,
    last: Duration,
}

pub(crate) struct Span {
    pub(crate) start: SpanStart,
    pub(crate) events: Vec<SpanEvent>,
    pub(crate) end: Option<SpanEnd>,
}

impl Spans {
    /// Handles a record and checks the guarantees of `Record`.
    pub(crate) fn take(&mut self, record: Record) {
        let time = match record {
            Record::Start(start) => {
                if let Parent::Span(parent) = start.parent {
                    assert!(self.open.contains(&parent), "{start:?}: its parent is not open");
                }
                assert!(self.open.insert(start.span), "{start:?}: starts twice");
                let span = start.span;
                let time = start.time;
                let before = self.all.insert(span, Span { start, events: Vec::new(), end: None });
                assert!(before.is_none(), "the handle is reused");
                time
            }
            Record::Event(event) => {
                assert!(self.open.contains(&event.span), "{event:?}: its span is not open");
                let time = event.time;
                self.all.get_mut(&event.span).unwrap().events.push(event);
                time
            }
            Record::End(end) => {
                assert!(self.open.remove(&end.span), "{end:?}: its span is not open");
                for open in &self.open {
                    assert_ne!(
                        self.all[open].start.parent,
                        Parent::Span(end.span),
                        "{end:?}: a child is open"
                    );
                }
                let span = end.span;
                let time = end.time;
                self.all.get_mut(&span).unwrap().end = Some(end);
                self.all[&span].check();
                time
            }
            Record::Metric(measured) => {
                if let Some(span) = measured.span {
                    let end = self.all[&span].end.as_ref();
                    assert_eq!(end.map(|end| end.time), Some(measured.time), "{measured:?}");
                }
                let time = measured.time;
                self.metrics.push(measured);
                time
            }
            other => panic!("a new kind of record: {other:?}"),
        };
        assert!(time >= self.last, "time goes back");
        self.last = time;
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.all.values().map(Span::name).collect()
    }

    /// Returns the spans as indented text. Times are relative to `from`.
    pub(crate) fn tree(&self, from: Duration) -> String {
        let mut text = String::new();
        for span in self.all.values().filter(|span| !matches!(span.start.parent, Parent::Span(_))) {
            self.write(&mut text, span, 0, from);
        }
        text
    }

    fn write(&self, text: &mut String, span: &Span, depth: usize, from: Duration) {
        let indent = "    ".repeat(depth);
        let kind = match span.start.kind {
            SpanKind::Client => "CLIENT",
            SpanKind::Server => "SERVER",
            SpanKind::Internal => "INTERNAL",
            other => panic!("a new kind: {other:?}"),
        };
        let end = span.end.as_ref().unwrap();
        let status = match &end.status {
            Status::Unset => "",
            Status::Error { description: None } => " ERROR",
            other => panic!("not written: {other:?}"),
        };
        let seconds = |time: Duration| format!("{:.3}", (time - from).as_secs_f64());
        let start = seconds(span.start.time);
        let end = seconds(end.time);
        writeln!(text, "{indent}{} {kind} {start}..{end}{status}", span.name()).unwrap();
        for attribute in span.attributes() {
            writeln!(text, "{indent}  {}", shown(attribute)).unwrap();
        }
        for link in &span.start.links {
            let attributes: Vec<_> = link.attributes.iter().map(shown).collect();
            let to = seconds(self.all[&link.to].start.time);
            writeln!(text, "{indent}  link to the span of {to}, {}", attributes.join(", "))
                .unwrap();
        }
        for event in &span.events {
            let attributes: Vec<_> = event.attributes.iter().map(shown).collect();
            let at = seconds(event.time);
            writeln!(text, "{indent}  @{at} {} {}", event.name, attributes.join(", ")).unwrap();
        }
        for child in self.all.values() {
            if child.start.parent == Parent::Span(span.start.span) {
                self.write(text, child, depth + 1, from);
            }
        }
    }
}

impl Span {
    pub(crate) fn name(&self) -> &str {
        let renamed = self.end.as_ref().and_then(|end| end.name.as_deref());
        renamed.unwrap_or(&self.start.name)
    }

    pub(crate) fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        let learnt = self.end.iter().flat_map(|end| &end.attributes);
        self.start.attributes.iter().chain(learnt)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&AttributeValue> {
        self.attributes().find(|attribute| attribute.key == key).map(|attribute| &attribute.value)
    }

    pub(crate) fn str(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            AttributeValue::String(text) => Some(text),
            other => panic!("{key} is {other:?}"),
        }
    }

    pub(crate) fn i64(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            AttributeValue::I64(number) => Some(*number),
            other => panic!("{key} is {other:?}"),
        }
    }

    pub(crate) fn f64(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            AttributeValue::F64(number) => Some(*number),
            other => panic!("{key} is {other:?}"),
        }
    }

    pub(crate) fn finish_reasons(&self) -> Option<Vec<&str>> {
        match self.get("gen_ai.response.finish_reasons")? {
            AttributeValue::StringArray(reasons) => {
                Some(reasons.iter().map(|reason| &**reason).collect())
            }
            other => panic!("finish reasons are {other:?}"),
        }
    }

    pub(crate) fn status(&self) -> &Status {
        &self.end.as_ref().expect("the span is open").status
    }

    pub(crate) fn is_error(&self) -> bool {
        matches!(self.status(), Status::Error { .. })
    }

    pub(crate) fn event_names(&self) -> Vec<&str> {
        self.events.iter().map(|event| event.name).collect()
    }

    /// Checks that there is no duplicate attribute, and an error type exactly for errors.
    fn check(&self) {
        let mut keys = BTreeSet::new();
        for attribute in self.attributes() {
            assert!(keys.insert(attribute.key), "{} twice in {}", attribute.key, self.name());
        }
        assert_eq!(self.is_error(), keys.contains("error.type"), "{}", self.name());
    }
}

pub(crate) fn shown(attribute: &Attribute) -> String {
    let value = match &attribute.value {
        AttributeValue::String(text) => format!("{text:?}"),
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::I64(value) => value.to_string(),
        AttributeValue::F64(value) => format!("{value:.6}"),
        AttributeValue::StringArray(texts) => format!("{texts:?}"),
        other => panic!("a new type: {other:?}"),
    };
    format!("{} = {value}", attribute.key)
}
