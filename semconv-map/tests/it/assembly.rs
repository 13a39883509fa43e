//! Spans that are assembled from records.
use crate::lines::{prompt, request, result, stop, update};
use crate::properties;
use crate::spans::{A2C, C2A, Spans};
use proptest::prelude::*;
use semconv_map::assembly::{MAX_LINKABLE, Span, SpanAssembly};
use semconv_map::span::Parent;
use semconv_map::trace_context::TraceContext;
use semconv_map::{Attribute, ClosedBy, Direction, Policy, Record, Tracker};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// A tracker and the spans of its records.
struct Exporter {
    tracker: Tracker,
    assembly: SpanAssembly,
    spans: Vec<Span>,
    records: Vec<Record>,
    last_id: u64,
    now: Duration,
}

impl Exporter {
    fn new() -> Self {
        Self {
            tracker: Tracker::new(Policy::default()),
            assembly: SpanAssembly::default(),
            spans: Vec::new(),
            records: Vec::new(),
            last_id: 0,
            now: Duration::ZERO,
        }
    }

    fn line(&mut self, direction: Direction, line: &str) {
        self.now += Duration::from_secs(1);
        self.tracker.handle_line(direction, self.now, line.as_bytes());
        self.drain();
    }

    fn close(&mut self) {
        self.tracker.close(self.now, ClosedBy::Agent);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(record) = self.tracker.poll() {
            self.records.push(record.clone());
            let last_id = &mut self.last_id;
            let span = self.assembly.handle_record(record, |_, parent| {
                *last_id += 1;
                let trace_id = u128::from(*last_id).to_be_bytes();
                TraceContext::of_span(parent, trace_id, last_id.to_be_bytes())
            });
            self.spans.extend(span);
        }
    }

    fn turn(&mut self, id: i64, session: &str) {
        self.line(C2A, &prompt(id, session));
        self.line(A2C, &stop(id, "end_turn"));
    }

    fn resume(&mut self, session: &str) {
        let params = json!({ "sessionId": session, "cwd": "/", "mcpServers": [] });
        self.line(C2A, &request("resume", "session/resume", params));
        self.line(A2C, &result("resume", json!({})));
    }
}

#[test]
fn span_of_a_request_continues_the_trace_of_its_sender() {
    let context = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    let meta = json!({ "traceparent": context, "tracestate": "a=1", "baggage": "k=v" });
    let params = json!({ "sessionId": "s", "prompt": [], "_meta": meta });
    let mut exporter = Exporter::new();
    exporter.line(C2A, &request(1, "session/prompt", params));
    let tool = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "t" });
    exporter.line(A2C, &update("s", tool));
    exporter.close();
    let [tool, turn] = &exporter.spans[..] else { panic!("{:?}", exporter.spans) };
    assert_eq!(turn.parent, TraceContext::parse(context, Some("a=1")));
    assert!(turn.has_remote_parent);
    assert_eq!(
        turn.context.traceparent(),
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000001-00"
    );
    assert_eq!(turn.context.tracestate.as_deref(), Some("a=1"));
    assert_eq!(turn.baggage.as_ref().map(|baggage| baggage.as_str()), Some("k=v"));
    assert_eq!(tool.parent.as_ref(), Some(&turn.context));
    assert!(!tool.has_remote_parent);
    assert_eq!(tool.context.trace_id, turn.context.trace_id);
}

#[test]
fn turn_links_to_a_remembered_turn() {
    let mut exporter = Exporter::new();
    exporter.turn(1, "s");
    exporter.resume("s");
    exporter.turn(2, "s");
    let [first, _, second] = &exporter.spans[..] else { panic!("{:?}", exporter.spans) };
    let [link] = &second.links[..] else { panic!("{:?}", second.links) };
    assert_eq!(link.context, first.context);
    assert_eq!(link.attributes, [Attribute::new("acp.link.reason", "resume")]);

    for id in 3..3 + MAX_LINKABLE {
        exporter.turn(i64::try_from(id).unwrap(), "other");
    }
    exporter.resume("s");
    exporter.turn(2, "s");
    let last = exporter.spans.last().unwrap();
    assert_eq!(last.name, "invoke_agent");
    assert!(last.links.is_empty(), "the context of its turn is forgotten");
}

#[test]
fn open_span_can_be_extended() {
    let mut exporter = Exporter::new();
    exporter.line(C2A, &request(1, "session/list", json!({})));
    let handle = exporter.tracker.request_span(C2A, &1.into()).unwrap();
    let attribute = Attribute::new("rule", "allow");
    exporter.assembly.get_mut(handle).unwrap().attributes.push(attribute.clone());
    assert_eq!(exporter.assembly.get(handle).unwrap().end, Duration::from_secs(1));
    exporter.line(A2C, &result(1, json!({ "sessions": [] })));
    assert_eq!(exporter.assembly.get(handle), None);
    assert!(exporter.spans[0].attributes.contains(&attribute));
    assert_eq!(exporter.spans[0].end, Duration::from_secs(2));
}

proptest! {
    /// For any traffic, each span has the parts of its records, and the ids of its parent.
    #[test]
    fn spans_have_the_parts_of_their_records(
        lines in prop::collection::vec(properties::lines(), 0..40),
    ) {
        let mut exporter = Exporter::new();
        for (direction, line) in &lines {
            exporter.line(*direction, line);
        }
        exporter.close();
        let mut expected = Spans::default();
        exporter.records.iter().cloned().for_each(|record| expected.take(record));
        prop_assert_eq!(exporter.spans.len(), expected.all.len());
        let contexts: BTreeMap<_, _> =
            exporter.spans.iter().map(|span| (span.handle, span.context.clone())).collect();
        for span in &exporter.spans {
            let records = &expected.all[&span.handle];
            let end = records.end.as_ref().unwrap();
            prop_assert_eq!(&*span.name, records.name());
            prop_assert_eq!(span.kind, records.start.kind);
            prop_assert_eq!(span.start, records.start.time);
            prop_assert_eq!(span.end, end.time);
            prop_assert_eq!(&span.status, &end.status);
            prop_assert_eq!(span.dropped_events, end.dropped_events);
            prop_assert!(span.attributes.iter().eq(records.attributes()));
            prop_assert_eq!(&span.events, &records.events);
            prop_assert_eq!(&span.baggage, &records.start.baggage);
            let parent = match &records.start.parent {
                Parent::Span(parent) => Some(contexts[parent].clone()),
                Parent::Remote(parent) => Some((**parent).clone()),
                _ => None,
            };
            prop_assert_eq!(&span.parent, &parent);
            let links: Vec<_> = records.start.links.iter().map(|link| &contexts[&link.to]).collect();
            prop_assert!(span.links.iter().map(|link| &link.context).eq(links));
        }
    }
}
