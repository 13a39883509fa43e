//! Files of spans, according to the specification of the OTLP file exporter.

use crate::collector::Collector;
use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the lines of a file of spans.
pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the span of a line.
pub(crate) fn span(line: &Value) -> &Value {
    &line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
}

/// Returns the names of the spans, in file order.
pub(crate) fn names(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| span(line)["name"].as_str().unwrap()).collect()
}

/// Runs a turn of the demo agent. Standard error has to be empty.
fn tour(mut command: Command) {
    command.arg("--").arg(test_agent()).arg("demo");
    let mut editor = Editor::start(Proxy::spawn(command));
    editor.prompt("tour, said the canary");
    let (end, _) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    assert_eq!(&*end.stderr, "");
}

fn to_file(path: &Path) -> [&str; 2] {
    ["--file", path.to_str().unwrap()]
}

const TOUR: [&str; 7] = [
    "initialize",
    "session/new",
    "execute_tool read_file",
    "session/request_permission",
    "execute_tool edit_file",
    "execute_tool run_command",
    "invoke_agent demo-agent",
];

#[test]
fn file_replaces_the_default_collector() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    tour(acp_traces(&to_file(&path)));
    let lines = lines(&path);
    assert_eq!(names(&lines), TOUR);
    assert!(!fs::read_to_string(&path).unwrap().contains("canary"));
}

/// The encoding rules of the specification: hexadecimal ids, 64-bit numbers as strings, numeric
/// enums.
#[test]
fn lines_are_otlp_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    tour(acp_traces(&to_file(&path)));
    let lines = lines(&path);
    let is_id = |value: &Value, digits| {
        let id = value.as_str().unwrap();
        id.len() == digits && id.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    };
    for line in &lines {
        let span = span(line);
        assert!(is_id(&span["traceId"], 32) && is_id(&span["spanId"], 16), "{span}");
        for time in ["startTimeUnixNano", "endTimeUnixNano"] {
            assert!(span[time].as_str().unwrap().parse::<u64>().is_ok(), "{span}");
        }
    }
    let permission = span(&lines[3]);
    let turn = span(&lines[6]);
    assert_eq!(&permission["kind"], &json!(2));
    assert_eq!(&turn["kind"], &json!(3));
    assert_eq!(permission["parentSpanId"], span(&lines[4])["spanId"]);
    let attributes = turn["attributes"].as_array().unwrap();
    for (key, value) in [
        ("gen_ai.usage.input_tokens", json!({ "intValue": "1200" })),
        ("gen_ai.operation.name", json!({ "stringValue": "invoke_agent" })),
        (
            "gen_ai.response.finish_reasons",
            json!({ "arrayValue": { "values": [{ "stringValue": "stop" }] } }),
        ),
    ] {
        assert!(attributes.contains(&json!({ "key": key, "value": value })), "{key} in {turn}");
    }
    let scope = &lines[0]["resourceSpans"][0]["scopeSpans"][0];
    assert_eq!(scope["scope"]["name"], "acp-traces");
    assert_eq!(scope["schemaUrl"], "https://opentelemetry.io/schemas/1.41.1");
    let resource = &lines[0]["resourceSpans"][0]["resource"]["attributes"];
    let resource = resource.as_array().unwrap();
    let name = json!({ "key": "service.name", "value": { "stringValue": "acp-traces" } });
    assert!(resource.contains(&name), "{resource:?}");
    for key in ["service.instance.id", "process.pid", "host.name"] {
        assert!(resource.iter().any(|attribute| attribute["key"] == key), "{key}");
    }
}

#[test]
fn file_and_collector_receive_the_same_spans() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    let collector = Collector::start();
    let url = collector.url();
    tour(acp_traces(&[&to_file(&path)[..], &["--otlp-endpoint", &url]].concat()));
    let text = fs::read_to_string(&path).unwrap();
    let written: Vec<Span> = text
        .lines()
        .flat_map(|line| serde_json::from_str::<TracesData>(line).unwrap().resource_spans)
        .flat_map(|it| it.scope_spans)
        .flat_map(|it| it.spans)
        .collect();
    assert_eq!(written, collector.received().spans);
    assert_eq!(written.len(), TOUR.len());
}

#[test]
fn collector_of_the_environment_is_used_with_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start();
    let mut command = acp_traces(&to_file(&folder.path().join("spans.jsonl")));
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    tour(command);
    assert_eq!(collector.received().spans.len(), TOUR.len());
}

#[test]
fn sessions_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    tour(acp_traces(&to_file(&path)));
    tour(acp_traces(&to_file(&path)));
    assert_eq!(names(&lines(&path)), [TOUR, TOUR].concat());
}

#[cfg(target_os = "linux")]
#[test]
fn spans_beyond_the_disk_are_counted() {
    let mut editor =
        Editor::start(Proxy::with_options(&to_file(Path::new("/dev/full")), &["demo"]));
    editor.prompt("tour");
    let (end, _) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    let told = "acp-traces: 7 of 7 spans are missing in /dev/full: No space left on device";
    assert!(end.stderr.starts_with(told), "{}", end.stderr);
}

#[test]
fn environment_disables_the_export() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spans.jsonl");
    let options = [&to_file(&path)[..], &["--otlp-endpoint", NO_COLLECTOR]].concat();
    let mut command = acp_traces(&options);
    command.env("OTEL_SDK_DISABLED", "True");
    tour(command);
    assert!(!path.exists());
}

/// Two concurrent proxies are separate series of metrics.
#[test]
fn sessions_have_distinct_instance_ids() {
    let folder = tempfile::tempdir().unwrap();
    let instance_of = |name: &str| {
        let path = folder.path().join(name);
        let mut command = acp_traces(&["--file", path.to_str().unwrap(), "--"]);
        let mut editor = Editor::start(Proxy::spawn({
            command.arg(test_agent()).arg("demo");
            command
        }));
        editor.prompt("hello");
        editor.proxy.finish();
        let line = lines(&path).remove(0);
        let attributes = line["resourceSpans"][0]["resource"]["attributes"].clone();
        let mut attributes = attributes.as_array().unwrap().iter();
        attributes.find(|it| it["key"] == "service.instance.id").cloned().unwrap()
    };
    assert_ne!(instance_of("one"), instance_of("two"));
}
