//! The spans of a run as they begin and end: name, times and status, without attributes.
//!
//! Spec: [OTLP/JSON](https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)
use bytes::Bytes;
use futures::Stream;
use futures::stream::unfold;
use opentelemetry::trace::{SpanId, SpanKind, Status};
use opentelemetry_sdk::trace::SpanData;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::time::timeout;

/// Largest number of spans of a run; later ones are counted.
const MAX_SPANS: usize = 200;

/// Interval of comments in a stream without spans.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A span in the form of OTLP.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TimelineSpan {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: Cow<'static, str>,
    kind: u8,
    #[serde(serialize_with = "nanoseconds")]
    start_time_unix_nano: SystemTime,
    #[serde(serialize_with = "some_nanoseconds", skip_serializing_if = "Option::is_none")]
    end_time_unix_nano: Option<SystemTime>,
    status: SeenStatus,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct SeenStatus {
    #[serde(skip_serializing_if = "is_unset")]
    code: u8,
}

/// A message of the stream.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Message<'a> {
    Span(&'a TimelineSpan),
    /// Number of dropped spans.
    DroppedSpansCount(u64),
}

/// The open spans of all runs.
#[derive(Debug, Default)]
pub(super) struct Timelines(Mutex<HashMap<SpanId, OpenSpan>>);

#[derive(Debug)]
enum OpenSpan {
    /// Not known yet to belong to a run.
    Alone(TimelineSpan),
    /// Part of a timeline, at this index; `None` if the timeline is full.
    In(Arc<Timeline>, Option<usize>),
}

/// The spans of one run.
#[derive(Debug, Default)]
pub struct Timeline {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Each with the number of its last change.
    spans: Vec<(u64, TimelineSpan)>,
    changes: u64,
    open: usize,
    dropped: u64,
}

impl Timelines {
    /// Begins a span of the server itself.
    pub(super) fn begin(&self, span: &SpanData) {
        self.open().insert(span.span_context.span_id(), OpenSpan::Alone(TimelineSpan::new(span)));
    }

    /// Begins a span that is shown if its parent is.
    pub(super) fn begin_below(&self, span: &SpanData) {
        let mut open = self.open();
        let Some(OpenSpan::In(timeline, _)) = open.get(&span.parent_span_id) else { return };
        let timeline = timeline.clone();
        let at = timeline.begin(TimelineSpan::new(span));
        open.insert(span.span_context.span_id(), OpenSpan::In(timeline, at));
    }

    /// Ends a span.
    pub(super) fn end(&self, span: &SpanData) {
        if let Some(OpenSpan::In(timeline, at)) = self.open().remove(&span.span_context.span_id()) {
            timeline.end(at, span);
        }
    }

    /// Begins the timeline of a run with its span and that of its request.
    pub(super) fn of(&self, run: &SpanData) -> Option<Arc<Timeline>> {
        let mut open = self.open();
        let timeline = Arc::new(Timeline::default());
        for id in [run.parent_span_id, run.span_context.span_id()] {
            if let Some(OpenSpan::Alone(seen)) = open.get(&id) {
                let at = timeline.begin(seen.clone());
                open.insert(id, OpenSpan::In(timeline.clone(), at));
            }
        }
        let is_known = matches!(open.get(&run.span_context.span_id()), Some(OpenSpan::In(..)));
        is_known.then_some(timeline)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SpanId, OpenSpan>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Timeline {
    /// Returns a stream of server-sent events: each span when it begins and again when it ends. The
    /// stream ends with the last span.
    pub fn read(self: Arc<Self>) -> impl Stream<Item = Bytes> {
        let changed = self.changed.subscribe();
        unfold((self, changed, 0, 0), |(timeline, mut changed, after, dropped)| async move {
            loop {
                changed.mark_unchanged();
                let next = timeline.messages(after, dropped);
                if !next.bytes.is_empty() {
                    let seen = (timeline, changed, next.changes, next.dropped);
                    return Some((next.bytes, seen));
                }
                if next.is_over {
                    return None;
                }
                if timeout(HEARTBEAT, changed.changed()).await.is_err() {
                    let heartbeat = Bytes::from_static(b": heartbeat\n\n");
                    return Some((heartbeat, (timeline, changed, after, dropped)));
                }
            }
        })
    }

    /// Returns the spans so far, and whether all have ended.
    pub fn so_far(&self) -> Value {
        let state = self.state();
        let messages: Vec<_> = state.messages(0, 0).collect();
        json!({ "updates": messages, "isOver": state.open == 0 })
    }

    /// Returns the number of readers.
    pub fn readers(&self) -> usize {
        self.changed.receiver_count()
    }

    fn begin(&self, seen: TimelineSpan) -> Option<usize> {
        let mut state = self.state();
        state.open += 1;
        state.changes += 1;
        let at = state.spans.len();
        let number = state.changes;
        let has_room = at < MAX_SPANS;
        if has_room {
            state.spans.push((number, seen));
        } else {
            state.dropped += 1;
        }
        self.changed.send_replace(());
        has_room.then_some(at)
    }

    fn end(&self, at: Option<usize>, span: &SpanData) {
        let mut state = self.state();
        state.open -= 1;
        state.changes += 1;
        let number = state.changes;
        if let Some((changed, seen)) = at.and_then(|at| state.spans.get_mut(at)) {
            *changed = number;
            seen.name.clone_from(&span.name);
            seen.end_time_unix_nano = Some(span.end_time);
            seen.status.code = match span.status {
                Status::Unset => 0,
                Status::Ok => 1,
                Status::Error { .. } => 2,
            };
        }
        self.changed.send_replace(());
    }

    /// Returns the next messages for a reader that has read up to a change.
    fn messages(&self, after: u64, dropped: u64) -> Next {
        let state = self.state();
        let mut bytes = Vec::new();
        for message in state.messages(after, dropped) {
            bytes.extend_from_slice(b"data: ");
            bytes.extend(serde_json::to_vec(&message).unwrap_or_default());
            bytes.extend_from_slice(b"\n\n");
        }
        Next {
            bytes: bytes.into(),
            changes: state.changes,
            dropped: state.dropped,
            is_over: state.open == 0,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the changes after a number.
    fn messages(&self, after: u64, dropped: u64) -> impl Iterator<Item = Message<'_>> {
        let spans = self.spans.iter().filter(move |(number, _)| *number > after);
        let changed = spans.map(|(_, seen)| Message::Span(seen));
        changed.chain((self.dropped > dropped).then_some(Message::DroppedSpansCount(self.dropped)))
    }
}

/// The next messages for a reader.
struct Next {
    bytes: Bytes,
    changes: u64,
    dropped: u64,
    /// Whether no message follows.
    is_over: bool,
}

impl TimelineSpan {
    fn new(span: &SpanData) -> Self {
        let context = &span.span_context;
        let parent = span.parent_span_id;
        Self {
            trace_id: context.trace_id().to_string(),
            span_id: context.span_id().to_string(),
            parent_span_id: (parent != SpanId::INVALID).then(|| parent.to_string()),
            name: span.name.clone(),
            kind: match span.span_kind {
                SpanKind::Internal => 1,
                SpanKind::Server => 2,
                SpanKind::Client => 3,
                SpanKind::Producer => 4,
                SpanKind::Consumer => 5,
            },
            start_time_unix_nano: span.start_time,
            end_time_unix_nano: None,
            status: SeenStatus::default(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_unset(code: &u8) -> bool {
    *code == 0
}

/// 64-bit numbers are strings in OTLP/JSON.
fn nanoseconds<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let time = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    serializer.collect_str(&time.as_nanos())
}

fn some_nanoseconds<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => nanoseconds(time, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt;
    use opentelemetry::InstrumentationScope;
    use semconv_map::trace_context::TraceContext;
    use traces::otlp::{Ids, OwnSpan, TraceSampling};

    fn span(name: &'static str, parent: Option<&TraceContext>) -> OwnSpan {
        let scope = InstrumentationScope::builder("test").build();
        let kind = SpanKind::Internal;
        let sampling = TraceSampling::default();
        OwnSpan::start(scope, &mut Ids::random(), name, kind, parent, sampling, UNIX_EPOCH)
    }

    #[tokio::test]
    async fn spans_beyond_the_limit_are_counted() {
        let timelines = Timelines::default();
        let run = span("run", None);
        timelines.begin(run.data());
        let timeline = timelines.of(run.data()).unwrap();
        for _ in 0..=MAX_SPANS {
            let below = span("step", run.context().as_ref());
            timelines.begin_below(below.data());
            timelines.end(&below.end(UNIX_EPOCH));
        }
        timelines.end(&run.end(UNIX_EPOCH));
        assert!(timelines.open().is_empty());
        let read: Vec<_> = timeline.read().collect().await;
        let text = String::from_utf8(read.concat()).unwrap();
        assert_eq!(text.matches("endTimeUnixNano").count(), MAX_SPANS);
        assert!(text.ends_with("data: {\"droppedSpansCount\":2}\n\n"), "{text}");
    }

    #[test]
    fn spans_of_others_are_in_no_timeline() {
        let timelines = Timelines::default();
        let (run, other) = (span("run", None), span("run", None));
        timelines.begin(run.data());
        let timeline = timelines.of(run.data()).unwrap();
        timelines.begin_below(span("step", other.context().as_ref()).data());
        // Not even with the run's trace.
        let context = run.context().unwrap();
        let sibling = span("run", Some(&context));
        timelines.begin(sibling.data());
        assert_eq!(timeline.state().spans.len(), 1);
        assert_eq!(timelines.open().len(), 2);
    }
}
