//! Content in events, sent as log records.

use crate::collector::{Collector, attributes};
use crate::editor::Editor;
use crate::protocols::HttpCollector;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs};
use std::process::Command;

const TURN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/two-turns.jsonl");
const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// Runs a session with a turn. Returns standard error.
fn turn(mut command: Command) -> String {
    command.arg("--").arg(test_agent()).arg("demo");
    let mut editor = Editor::start(Proxy::spawn(command));
    editor.prompt("tour");
    let (end, _) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    end.stderr
}

fn records(logs: &[ResourceLogs]) -> Vec<&LogRecord> {
    logs.iter().flat_map(|it| &it.scope_logs).flat_map(|it| &it.log_records).collect()
}

/// Returns the text of the first part of the first message in a structured attribute.
fn first_text(record: &LogRecord, key: &str) -> String {
    let attributes = attributes(&record.attributes);
    let Some(Value::ArrayValue(messages)) = attributes.get(key) else { panic!("{attributes:?}") };
    let member = |value: &Value, name: &str| {
        let Value::KvlistValue(members) = value else { panic!("{value:?}") };
        attributes_of(&members.values, name)
    };
    let message = messages.values[0].value.clone().unwrap();
    let Value::ArrayValue(parts) = member(&message, "parts") else { panic!("{message:?}") };
    let part = parts.values[0].value.clone().unwrap();
    match member(&part, "content") {
        Value::StringValue(text) => text,
        other => panic!("{other:?}"),
    }
}

fn attributes_of(
    members: &[opentelemetry_proto::tonic::common::v1::KeyValue],
    name: &str,
) -> Value {
    attributes(members)[name].clone()
}

/// The record of a turn has structured messages and the context of its span, which then has no such
/// event. The resource is that of the spans.
#[test]
fn content_of_a_turn_is_a_log_record() {
    let collector = Collector::start();
    let url = collector.url();
    let options = ["--otlp-endpoint", &url, "--record-content=event", "--logs"];
    assert_eq!(turn(acp_traces(&options)), "");
    let trace = collector.received();
    let logs = collector.logs();
    let logs = &logs[..];
    let of_turn: Vec<_> = records(logs).into_iter().filter(|it| it.event_name == DETAILS).collect();
    let [record] = of_turn[..] else { panic!("{:?}", records(logs)) };
    let span = trace.span("invoke_agent demo-agent");
    assert_eq!(&record.trace_id, &span.trace_id);
    assert_eq!(&record.span_id, &span.span_id);
    assert_eq!(record.time_unix_nano, span.end_time_unix_nano);
    assert_eq!(record.severity_number, 5);
    assert_eq!(record.flags, 1);
    assert_eq!(first_text(record, "gen_ai.input.messages"), "tour");
    assert!(!first_text(record, "gen_ai.output.messages").is_empty());
    let found = attributes(&record.attributes);
    assert_eq!(found["gen_ai.operation.name"], Value::StringValue("invoke_agent".to_owned()));
    assert_eq!(found["gen_ai.usage.input_tokens"], Value::IntValue(1200));
    for span in &trace.spans {
        assert!(span.events.iter().all(|event| !event.name.ends_with("details")), "{}", span.name);
    }
    // Content of the other spans is there as well.
    let others: Vec<_> = records(logs).into_iter().filter(|it| it.event_name != DETAILS).collect();
    assert!(!others.is_empty() && others.iter().all(|it| it.event_name == "acp.details"));
    let resource = attributes(&logs[0].resource.as_ref().unwrap().attributes);
    assert_eq!(resource, trace.resource);
    assert_eq!(logs[0].scope_logs[0].schema_url, trace.schema_url);
}

/// Without capture of content there are no records, and without log records content is in span
/// events.
#[test]
fn log_records_follow_the_capture_of_content() {
    for (options, has_records, has_events) in [
        (&["--logs"][..], false, false),
        (&["--logs", "--record-content=span"], false, false),
        (&["--logs", "--record-content=both"], true, false),
        (&["--record-content=event"], false, true),
    ] {
        let collector = Collector::start();
        let url = collector.url();
        turn(acp_traces(&[&["--otlp-endpoint", &url], options].concat()));
        let trace = collector.received();
        let events = trace.spans.iter().flat_map(|span| &span.events);
        let has = events.into_iter().any(|event| event.name == DETAILS);
        let logs = collector.logs();
        assert_eq!(!records(&logs).is_empty(), has_records, "{options:?}");
        assert_eq!(has, has_events, "{options:?}");
    }
}

/// The variables of the ecosystem select records, content and the collector, over each transport.
#[test]
fn environment_selects_log_records() {
    for protocol in ["http/protobuf", "http/json"] {
        let http = HttpCollector::start();
        let mut command = acp_traces(&[]);
        command.env("OTEL_LOGS_EXPORTER", "otlp").env("OTEL_TRACES_EXPORTER", "none");
        command.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "EVENT_ONLY");
        command.env("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", format!("{}/own/path", http.url()));
        command.env("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", protocol);
        command.env("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "x-team=editors");
        command.env("OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "gzip");
        assert_eq!(turn(command), "", "{protocol}");
        let request = http.request();
        assert_eq!(request.path(), "/own/path");
        assert_eq!(request.headers["x-team"], "editors");
        assert_eq!(request.headers["content-encoding"], "gzip");
        let logs = request.message::<ExportLogsServiceRequest>().resource_logs;
        assert!(records(&logs).iter().any(|it| it.event_name == DETAILS), "{protocol}");
    }
}

/// Over HTTP, the path of the signal is appended to a common URL.
#[test]
fn log_records_have_their_own_path() {
    let http = HttpCollector::start();
    let url = http.url();
    let options = ["--protocol", "http/protobuf", "--otlp-endpoint", &url];
    let mut command = acp_traces(&options);
    command.args(["--logs", "--record-content=event"]).env("OTEL_TRACES_EXPORTER", "none");
    assert_eq!(turn(command), "");
    assert_eq!(http.request().path(), "/v1/logs");
}

#[test]
fn undelivered_log_records_are_counted() {
    let options = ["--otlp-endpoint", NO_COLLECTOR, "--logs", "--record-content=event"];
    let mut command = acp_traces(&options);
    command.env("OTEL_TRACES_EXPORTER", "none");
    let said = turn(command);
    assert!(said.contains(&format!(" log records did not reach {NO_COLLECTOR}: ")), "{said}");
}

/// A wrong URL of log records does not stop the session or the spans.
#[test]
fn wrong_address_of_log_records_is_reported() {
    let collector = Collector::start();
    let mut command = acp_traces(&["--logs", "--record-content=event"]);
    command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", collector.url());
    command.env("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "collector:4317");
    let said = turn(command);
    assert!(said.starts_with("acp-traces: invalid collector URL \"collector:4317\""), "{said}");
    assert!(said.ends_with("; no log records are sent\n"), "{said}");
    let trace = collector.received();
    let turn = trace.span("invoke_agent demo-agent");
    assert!(turn.events.iter().any(|event| event.name == DETAILS), "{:?}", turn.events);
}

/// Replayed records have the recorded times, and the ids of the replayed spans.
#[test]
fn replay_sends_log_records() {
    let collector = Collector::start();
    let url = collector.url();
    let options = ["replay", TURN, "--otlp-endpoint", &url, "--logs", "--record-content=event"];
    let output = acp_traces(&options).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(&*output.stderr, &b""[..]);
    let trace = collector.received();
    let logs = collector.logs();
    let turns: Vec<_> = trace.spans.iter().filter(|it| it.name == "invoke_agent agent").collect();
    let of_turns: Vec<_> =
        records(&logs).into_iter().filter(|it| it.event_name == DETAILS).collect();
    assert_eq!(of_turns.len(), turns.len());
    for (record, turn) in of_turns.into_iter().zip(turns) {
        assert_eq!(record.span_id, turn.span_id);
        assert_eq!(record.time_unix_nano, turn.end_time_unix_nano);
    }
}
