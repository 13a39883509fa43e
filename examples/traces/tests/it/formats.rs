//! Reports for other programs.

use crate::conversation::each_part;
use crate::proxy::acp_traces;
use crate::report::write;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn report(transcript: &Path, format: &str) -> Vec<u8> {
    let mut command = acp_traces(&["report", "--format", format, "-o", "-"]);
    let output = command.arg("--record-content").arg(transcript).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(&*output.stderr, &b""[..]);
    output.stdout
}

/// Complete and metadata events, and counters, as the description of the format has them.
#[derive(Debug, Deserialize)]
#[serde(tag = "ph", deny_unknown_fields)]
enum TraceEvent {
    X { name: String, cat: String, ts: f64, dur: f64, pid: u32, tid: u32, args: Value },
    M { name: String, pid: u32, args: BTreeMap<String, String> },
    C { name: String, ts: f64, pid: u32, args: BTreeMap<String, f64> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TraceFile {
    display_time_unit: String,
    trace_events: Vec<TraceEvent>,
}

/// Messages with tool calls that overlap within a turn.
fn overlapping() -> Vec<(&'static str, Value)> {
    let mut messages = each_part("word");
    let end = messages.pop().unwrap();
    let call = |id: &str, status: &str| {
        let call = serde_json::json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
        ("received", crate::report::update(&call))
    };
    messages.extend([call("a", "in_progress"), call("b", "in_progress")]);
    messages.extend([call("a", "completed"), call("b", "failed")]);
    let usage =
        serde_json::json!({ "sessionUpdate": "usage_update", "used": 1500, "size": 200_000 });
    messages.push(("received", crate::report::update(&usage)));
    messages.push(end);
    messages
}

#[test]
fn trace_events_of_a_thread_are_nested() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    write(&transcript, &overlapping());
    let text = report(&transcript, "chrome");
    assert_eq!(text, report(&transcript, "perfetto"));
    let file: TraceFile = serde_json::from_slice(&text).unwrap();
    assert_eq!(file.display_time_unit, "ms");
    let mut threads = BTreeMap::<(u32, u32), Vec<(f64, f64)>>::new();
    let mut names = Vec::new();
    let mut processes = Vec::new();
    let mut counters = Vec::new();
    for event in file.trace_events {
        match event {
            TraceEvent::X { name, cat, ts, dur, pid, tid, args } => {
                assert!(args.is_object());
                threads.entry((pid, tid)).or_default().push((ts, ts + dur));
                names.push((name, cat, ts, dur));
            }
            TraceEvent::M { name, pid, args } => processes.push((name, pid, args["name"].clone())),
            TraceEvent::C { name, ts, pid, args } => counters.push((name, ts, pid, args["tokens"])),
        }
    }
    for spans in threads.values() {
        for (at, (start, end)) in spans.iter().enumerate() {
            for (other_start, other_end) in &spans[at + 1..] {
                let is_apart = end <= other_start || other_end <= start;
                let is_nested = (start <= other_start && other_end <= end)
                    || (other_start <= start && end <= other_end);
                assert!(is_apart || is_nested, "{spans:?}");
            }
        }
    }
    assert!(threads.keys().filter(|(pid, _)| *pid == 1).count() > 1, "{threads:?}");
    let at = |second: u32| 1e6 * f64::from(1_700_000_000 + second);
    assert!(names.contains(&("Turn".to_owned(), "turn".to_owned(), at(4), 17e6)), "{names:?}");
    let of_session = ("process_name".to_owned(), 1, "session s".to_owned());
    assert!(processes.contains(&of_session), "{processes:?}");
    assert_eq!(counters, [("context".to_owned(), at(20), 1, 1500.0)]);
}

#[test]
fn spans_are_rows_of_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("session.jsonl");
    write(&transcript, &overlapping());
    let text = report(&transcript, "csv");
    let mut table = csv::Reader::from_reader(&*text);
    let rows: Vec<BTreeMap<String, String>> = table.deserialize().map(Result::unwrap).collect();
    let turn = rows.iter().find(|row| row["kind"] == "turn").unwrap();
    assert_eq!(&*turn["start"], "2023-11-14T22:13:24.000Z");
    assert_eq!(&*turn["seconds"], "17.0");
    assert_eq!(&*turn["parent"], "");
    assert_eq!(&*turn["session"], "s");
    assert_eq!(&*turn["error"], "");
    let tools: Vec<_> = rows.iter().filter(|row| row["kind"] == "tool").collect();
    assert_eq!(tools.len(), 3);
    assert!(tools.iter().all(|tool| tool["parent"] == turn["span"]), "{tools:?}");
    assert_eq!(tools.iter().filter(|tool| !tool["error"].is_empty()).count(), 1, "{tools:?}");
    let objects: Vec<BTreeMap<String, Value>> =
        serde_json::from_slice(&report(&transcript, "json")).unwrap();
    let as_text = |value: &Value| match value {
        Value::Null => String::new(),
        // The protection of spreadsheets from texts that they would evaluate.
        Value::String(text) if text.starts_with('-') => format!("'{text}"),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let as_rows = objects
        .iter()
        .map(|object| object.iter().map(|(name, value)| (name.clone(), as_text(value))).collect());
    assert_eq!(as_rows.collect::<Vec<BTreeMap<_, _>>>(), rows);
}
