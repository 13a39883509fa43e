//! Spans as trace events, the JSON format that Perfetto and the tools of Chrome read.
//!
//! Format: [Trace Event
//! Format](https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU)

use super::conversation::Talk;
use super::session::{Session, Span};
use super::waterfall::{class, label};
use core::time::Duration;
use semconv_map::{AttributeValue, keys};
use serde_json::{Map, Value, json};

/// Process of spans and counters without a session.
const CONNECTION: usize = 0;

/// Returns the document. Each session is a process. Spans of one thread are nested; spans that
/// overlap are in different threads. Times are in microseconds.
pub(super) fn of(session: &Session, talks: &[Talk]) -> String {
    let mut processes = vec![Process::new("connection".to_owned())];
    let mut lanes = vec![(CONNECTION, 0); session.spans.len()];
    let mut events = Vec::new();
    for (at, span) in session.spans.iter().enumerate() {
        let process = process_of(span, &mut processes);
        let (of_parent, preferred) = lanes.get(at).copied().unwrap_or_default();
        let preferred = if of_parent == process { preferred } else { 0 };
        let Some(it) = processes.get_mut(process) else { continue };
        let lane = it.lane(preferred, span.start, span.end);
        for below in &span.below {
            if let Some(of_child) = lanes.get_mut(*below) {
                *of_child = (process, lane);
            }
        }
        events.push(json!({
            "ph": "X",
            "name": label(span),
            "cat": class(span.kind()),
            "ts": micros(span.start),
            "dur": micros(span.duration()),
            "pid": process,
            "tid": lane,
            "args": arguments(span),
        }));
    }
    for talk in talks.iter().filter(|talk| !talk.context.is_empty()) {
        let process = process_named(format!("session {}", talk.id), &mut processes);
        events.extend(counter("context", "tokens", &talk.context, process));
    }
    for (pid, process) in processes.iter().enumerate() {
        let args = json!({ "name": process.name });
        events.push(json!({ "ph": "M", "name": "process_name", "pid": pid, "args": args }));
    }
    events.extend(counter("cost", "amount", &session.cost, CONNECTION));
    json!({ "displayTimeUnit": "ms", "traceEvents": events }).to_string() + "\n"
}

/// A session with its threads.
struct Process {
    name: String,
    /// Ends of the open spans of each thread, the innermost last.
    lanes: Vec<Vec<Duration>>,
}

impl Process {
    fn new(name: String) -> Self {
        Self { name, lanes: Vec::new() }
    }

    /// Returns a thread in which the span is nested, preferably `preferred`.
    fn lane(&mut self, preferred: usize, start: Duration, end: Duration) -> usize {
        for lane in &mut self.lanes {
            while lane.last().is_some_and(|last| *last <= start) {
                lane.pop();
            }
        }
        let fits = |lane: &Vec<Duration>| lane.last().is_none_or(|last| *last >= end);
        let lane = if self.lanes.get(preferred).is_some_and(fits) {
            preferred
        } else {
            self.lanes.iter().position(fits).unwrap_or_else(|| {
                self.lanes.push(Vec::new());
                self.lanes.len() - 1
            })
        };
        if let Some(ends) = self.lanes.get_mut(lane) {
            ends.push(end);
        }
        lane
    }
}

/// Returns the process of a span, which is added if its session is new.
fn process_of(span: &Span, processes: &mut Vec<Process>) -> usize {
    let Some(id) = span.text(keys::GEN_AI_CONVERSATION_ID) else { return CONNECTION };
    process_named(format!("session {id}"), processes)
}

fn process_named(name: String, processes: &mut Vec<Process>) -> usize {
    processes.iter().position(|process| process.name == name).unwrap_or_else(|| {
        processes.push(Process::new(name));
        processes.len() - 1
    })
}

/// Returns the events of a counter.
fn counter(
    name: &'static str,
    unit: &'static str,
    points: &[(Duration, f64)],
    process: usize,
) -> impl Iterator<Item = Value> {
    points.iter().map(move |(time, value)| {
        let args = json!({ unit: value });
        json!({ "ph": "C", "name": name, "ts": micros(*time), "pid": process, "args": args })
    })
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn arguments(span: &Span) -> Map<String, Value> {
    let value = |value: &AttributeValue| match value {
        AttributeValue::Bool(value) => json!(value),
        AttributeValue::I64(value) => json!(value),
        AttributeValue::F64(value) => json!(value),
        AttributeValue::Json(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        other => json!(super::session::shown(other)),
    };
    let attributes = span.attributes.iter().map(|it| (it.key.to_owned(), value(&it.value)));
    let error = span.error.iter().flatten().map(|words| ("error".to_owned(), json!(words)));
    attributes.chain(error).collect()
}
