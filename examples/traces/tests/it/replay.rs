//! Replay of recorded sessions.

use crate::collector::Collector;
use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use crate::span_files::{lines, names, span};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;

/// A turn with a tool call.
pub(crate) const TURN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/turn.jsonl");

/// Names of its spans.
pub(crate) const TURN_SPANS: [&str; 2] = ["execute_tool execute", "invoke_agent"];

fn replay(transcript: &Path, options: &[&str]) -> Output {
    acp_traces(&["replay"]).arg(transcript).args(options).output().unwrap()
}

/// Replays a transcript into a file of `folder`.
fn replay_to(path: &Path, transcript: &Path) -> PathBuf {
    let output = replay(transcript, &["--file", path.to_str().unwrap()]);
    assert_eq!(stderr_of(&output), "");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty());
    path.to_owned()
}

fn stderr_of(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

/// Start time of the turn. The clock of Windows has a resolution of 100 ns.
const START: &str = if cfg!(windows) { "1700000000000000000" } else { "1700000000000000001" };

/// The expected ids were computed by another implementation of SHA-256: `hashlib.sha256(text +
/// n.to_bytes(8, "big"))`.
#[test]
fn ids_and_times_are_derived_from_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines(&replay_to(&folder.path().join("spans"), Path::new(TURN)));
    assert_eq!(names(&lines), TURN_SPANS);
    let tool = span(&lines[0]);
    let turn = span(&lines[1]);
    let trace = "f6ab790114fe72ca2c9641540133ced0";
    let turn_id = "d5c9334a656b9cc8";
    let tool_id = "a992ddb14ad70d46";
    for (of, member, expected) in [
        (turn, "traceId", trace),
        (turn, "spanId", turn_id),
        (turn, "parentSpanId", ""),
        (turn, "startTimeUnixNano", START),
        (turn, "endTimeUnixNano", "1700000002250000000"),
        (tool, "traceId", trace),
        (tool, "spanId", tool_id),
        (tool, "parentSpanId", turn_id),
        (tool, "startTimeUnixNano", "1700000001500000000"),
    ] {
        assert_eq!(of[member], expected, "{member} of {}", of["name"]);
    }
}

#[test]
fn replayed_session_equals_the_traced_session() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let live = place("live");
    let transcript = place("transcript");
    let mut command = acp_traces(&[]);
    command.arg("--file").arg(&live).arg("--record").arg(&transcript);
    command.arg("--").arg(test_agent()).arg("demo");
    let mut editor = Editor::start(Proxy::spawn(command));
    editor.prompt("tour");
    editor.prompt("hello");
    editor.proxy.finish();
    let once = replay_to(&place("once"), &transcript);
    let twice = replay_to(&place("twice"), &transcript);
    assert_eq!(fs::read(&once).unwrap(), fs::read(&twice).unwrap());
    // The resource of a replay contains no process attributes.
    let without_ids = |path: &Path| -> Vec<Value> {
        let mut lines = lines(path);
        for line in &mut lines {
            line["resourceSpans"][0]["resource"] = json!(null);
            let span = &mut line["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
            for id in ["traceId", "spanId", "parentSpanId"] {
                span[id] = json!(null);
            }
        }
        lines
    };
    assert_eq!(without_ids(&once), without_ids(&live));
    assert_eq!(lines(&once).len(), 8);
}

#[test]
fn another_transcript_has_other_ids() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("transcript");
    fs::write(&other, fs::read_to_string(TURN).unwrap() + "\n").unwrap();
    let one = lines(&replay_to(&folder.path().join("one"), Path::new(TURN)));
    let two = lines(&replay_to(&folder.path().join("two"), &other));
    assert_eq!(names(&one), names(&two));
    for id in ["traceId", "spanId"] {
        assert!(one.iter().zip(&two).all(|(one, two)| span(one)[id] != span(two)[id]), "{id}");
    }
}

#[test]
fn collector_receives_the_same_spans_each_time() {
    let collector = Collector::start();
    let received = || {
        let output = replay(Path::new(TURN), &["--otlp-endpoint", &collector.url()]);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(stderr_of(&output), "");
        collector.received().spans
    };
    let spans = received();
    assert_eq!(spans.len(), 2);
    assert_eq!(spans, received());
}

#[test]
fn content_is_in_spans_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    for (options, expected) in [(&[][..], false), (&["--record-content"], true)] {
        let file = folder.path().join(expected.to_string());
        let options = [&["--file", file.to_str().unwrap()], options].concat();
        assert_eq!(stderr_of(&replay(Path::new(TURN), &options)), "");
        assert_eq!(fs::read_to_string(&file).unwrap().contains("\"List\""), expected);
    }
}

#[test]
fn invalid_entries_are_reported_and_the_rest_is_traced() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("transcript");
    let file = folder.path().join("spans");
    let turn = fs::read_to_string(TURN).unwrap();
    fs::write(&transcript, format!("\n{{\"time\":-1}}\n{turn}{{\"time\":17")).unwrap();
    let output = replay(&transcript, &["--file", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let told: Vec<_> = stderr_of(&output).lines().collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("acp-traces: line 2 is not a transcript entry: "), "{told:?}");
    assert!(told[1].starts_with("acp-traces: line 6 is not a transcript entry: "), "{told:?}");
    assert_eq!(names(&lines(&file)), ["execute_tool execute", "invoke_agent"]);
}

#[test]
fn unknown_protocol_version_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("transcript");
    let asked = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": 2 } });
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": 7 } });
    fs::write(&transcript, entry(&("sent", asked)) + &entry(&("received", answer))).unwrap();
    let file = folder.path().join("spans");
    let output = replay(&transcript, &["--file", file.to_str().unwrap()]);
    let expected = "acp-traces: 1 answers to `initialize` have an unknown version of ACP: spans may be missing\n";
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr_of(&output), expected);
}

/// A message in another form than its method has leaves a gap in the spans, which is reported.
#[test]
fn message_that_does_not_match_its_method_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("transcript");
    let update = json!({ "sessionUpdate": "tool_call", "toolCallId": 7 });
    let messages = [
        (
            "sent",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [] } }),
        ),
        (
            "received",
            json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } }),
        ),
        ("received", json!({ "jsonrpc": "2.0", "id": 1, "result": { "stopReason": "end_turn" } })),
    ];
    fs::write(&transcript, messages.iter().map(entry).collect::<String>()).unwrap();
    let file = folder.path().join("spans");
    let output = replay(&transcript, &["--file", file.to_str().unwrap()]);
    let expected =
        "acp-traces: 1 messages do not match their methods: spans or attributes may be missing\n";
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr_of(&output), expected);
    assert_eq!(names(&lines(&file)), ["invoke_agent"]);
}

/// A line of a transcript.
fn entry((direction, message): &(&str, Value)) -> String {
    format!("{}\n", json!({ "time": 1, "direction": direction, "text": message.to_string() }))
}

/// A span keeps 128 events. The number of dropped events is reported, live and in a replay.
#[test]
fn events_beyond_the_limit_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("transcript");
    let mode = json!({ "sessionUpdate": "current_mode_update", "currentModeId": "m" });
    let mode = json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": mode } });
    let prompt = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [] } });
    let messages = [&[("sent", prompt)][..], &vec![("received", mode); 131]].concat();
    fs::write(&transcript, messages.iter().map(entry).collect::<String>()).unwrap();
    let file = folder.path().join("spans");
    let output = replay(&transcript, &["--file", file.to_str().unwrap()]);
    let expected = "acp-traces: 3 events exceeded the limit per span\n";
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr_of(&output), expected);
    let turn = span(&lines(&file)[0]).clone();
    assert_eq!(turn["events"].as_array().unwrap().len(), 128);
    assert_eq!(turn["droppedEventsCount"], 3);

    let live = folder.path().join("live");
    let mut proxy = Proxy::with_options(&["--file", live.to_str().unwrap()], &["echo"]);
    for (_, message) in &messages {
        proxy.write(format!("{message}\n").as_bytes());
        proxy.read_line();
    }
    // The turn is open until the agent exits.
    assert_eq!(proxy.finish().0.stderr, expected);
}

/// Two connections of a proxy chain, the first of which is the client's, with interleaved log
/// lines.
#[test]
fn conductor_trace_is_replayed_from_the_view_of_its_client() {
    let event = |ts: f64, kind: &str, from: &str, to: &str, more: Value| {
        let mut event =
            json!({ "type": kind, "ts": ts, "protocol": "acp", "from": from, "to": to });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let client = "Client";
    let proxy = "Proxy(0)";
    let agent = "Agent";
    let asked = |id: &str| json!({ "id": id, "method": "session/prompt", "params": { "sessionId": "s", "prompt": [] } });
    let told = json!({ "method": "session/update", "params": { "sessionId": "s",
        "update": { "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "name": "dig", "status": "completed" } } });
    let answer =
        |id: &str| json!({ "id": id, "is_error": false, "payload": { "stopReason": "end_turn" } });
    let events = [
        json!({ "type": "trace", "ts": 0.1, "component": "Agent", "level": "warn", "message": "starts" }),
        event(0.5, "request", client, proxy, asked("a")),
        event(0.6, "request", proxy, agent, asked("b")),
        event(1.0, "notification", agent, proxy, told.clone()),
        event(1.25, "notification", proxy, client, told),
        event(2.0, "response", agent, proxy, answer("b")),
        event(2.5, "response", proxy, client, answer("a")),
    ];
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("trace.jsons");
    fs::write(&transcript, events.map(|line| format!("{line}\n")).concat()).unwrap();
    let written = lines(&replay_to(&folder.path().join("spans"), &transcript));
    assert_eq!(names(&written), ["execute_tool dig", "invoke_agent"]);
    let tool = span(&written[0]);
    let turn = span(&written[1]);
    assert_eq!(tool["startTimeUnixNano"], "1250000000");
    let times = ["startTimeUnixNano", "endTimeUnixNano"].map(|time| turn[time].as_str().unwrap());
    assert_eq!(times, ["500000000", "2500000000"]);
    // The connection behind the proxy, by its names.
    let spans = folder.path().join("behind");
    let options = ["--components", "Proxy(0),Agent", "--file", spans.to_str().unwrap()];
    assert_eq!(stderr_of(&replay(&transcript, &options)), "");
    let behind = lines(&spans);
    let turn = behind.iter().map(span).find(|span| span["name"] == "invoke_agent").unwrap();
    let times = ["startTimeUnixNano", "endTimeUnixNano"].map(|time| turn[time].as_str().unwrap());
    assert_eq!(times, ["600000000", "2000000000"]);
}

#[test]
fn open_spans_end_without_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("transcript");
    let turn = fs::read_to_string(TURN).unwrap();
    fs::write(&transcript, turn.lines().next().unwrap()).unwrap();
    let lines = lines(&replay_to(&folder.path().join("spans"), &transcript));
    assert_eq!(names(&lines), ["invoke_agent"]);
    assert_eq!(span(&lines[0])["status"]["code"], 0);
}

#[test]
fn missing_transcript_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for path in [Path::new("no-such-transcript"), folder.path()] {
        let output = replay(path, &["--otlp-endpoint", NO_COLLECTOR]);
        assert_eq!(output.status.code(), Some(2));
        let expected = format!("acp-traces: cannot read {}: ", path.display());
        assert!(stderr_of(&output).starts_with(&expected), "{}", stderr_of(&output));
    }
}

#[test]
fn missing_collector_is_reported() {
    let output = replay(Path::new(TURN), &["--otlp-endpoint", NO_COLLECTOR]);
    assert_eq!(output.status.code(), Some(1));
    let expected = "acp-traces: 2 of 2 spans did not reach http://127.0.0.1:1: ";
    assert!(stderr_of(&output).starts_with(expected), "{}", stderr_of(&output));
}

#[test]
fn service_name_of_the_environment_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spans");
    let mut command = acp_traces(&["replay", TURN]);
    command.env("OTEL_SERVICE_NAME", "variable").arg("--file").arg(&file);
    assert_eq!(stderr_of(&command.output().unwrap()), "");
    assert!(fs::read_to_string(&file).unwrap().contains("\"variable\""));
}

#[test]
fn transcript_is_read_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let spans = folder.path().join("spans");
    let file = File::open(TURN).unwrap();
    let mut command = acp_traces(&["replay", "-", "--file", spans.to_str().unwrap()]);
    assert!(command.stdin(file).status().unwrap().success());
    let from_file = folder.path().join("from-file");
    replay_to(&from_file, Path::new(TURN));
    assert_eq!(fs::read(&spans).unwrap(), fs::read(&from_file).unwrap());
}

#[test]
fn unknown_format_is_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, "a line of a log\n".repeat(1000)).unwrap();
    let output = replay(&log, &["--otlp-endpoint", NO_COLLECTOR]);
    assert_eq!(output.status.code(), Some(1));
    let told = stderr_of(&output);
    assert_eq!(told.lines().count(), 1, "{told}");
    let expected = "acp-traces: line 1: expected a transcript of acp-traces, ";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.contains(", got `a line of a log` ("), "{told}");
}
