//! Exported spans of a session with the demo agent.

use crate::collector::{Collector, Trace, attributes};
use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy, acp_traces, test_agent};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use serde_json::json;
use std::net::TcpListener;
use std::time::Duration;

/// Time limit from the end of the editor to the end of the proxy, on a busy machine.
const AT_ONCE: Duration = Duration::from_secs(3);

fn text(value: &str) -> Value {
    Value::StringValue(value.to_owned())
}

fn attribute(span: &Span, name: &str) -> Option<Value> {
    attributes(&span.attributes).remove(name)
}

fn status(span: &Span) -> StatusCode {
    span.status.as_ref().unwrap().code()
}

/// Runs a turn of the demo agent and returns the received spans.
fn trace(options: &[&str], prompt: &str) -> Trace {
    let collector = Collector::start();
    let url = collector.url();
    let options = [&["--otlp-endpoint", url.as_str()], options].concat();
    let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
    editor.prompt(prompt);
    let (end, _) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    assert_eq!(&*end.stderr, "");
    collector.received()
}

#[test]
fn turn_is_a_span_tree() {
    let trace = trace(&[], "tour");
    let expected = [
        "execute_tool edit_file",
        "execute_tool read_file",
        "execute_tool run_command",
        "initialize",
        "invoke_agent demo-agent",
        "session/new",
        "session/request_permission",
    ];
    assert_eq!(trace.names(), expected);
    let turn = trace.span("invoke_agent demo-agent");
    let edit = trace.span("execute_tool edit_file");
    for (name, kind, parent) in [
        ("initialize", SpanKind::Client, None),
        ("session/new", SpanKind::Client, None),
        ("invoke_agent demo-agent", SpanKind::Client, None),
        ("execute_tool read_file", SpanKind::Internal, Some(turn)),
        ("execute_tool edit_file", SpanKind::Internal, Some(turn)),
        ("execute_tool run_command", SpanKind::Internal, Some(turn)),
        ("session/request_permission", SpanKind::Server, Some(edit)),
    ] {
        let span = trace.span(name);
        assert_eq!(span.kind(), kind, "{name}");
        assert_eq!(status(span), StatusCode::Unset, "{name}");
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{name}");
        let Some(parent) = parent else {
            assert!(span.parent_span_id.is_empty(), "{name}");
            continue;
        };
        assert_eq!(span.parent_span_id, parent.span_id, "{name}");
        assert_eq!(span.trace_id, parent.trace_id, "{name}");
        assert!(parent.start_time_unix_nano <= span.start_time_unix_nano, "{name}");
        assert!(span.end_time_unix_nano <= parent.end_time_unix_nano, "{name}");
    }
    assert_eq!(trace.schema_url, "https://opentelemetry.io/schemas/1.41.1");
    assert_eq!(trace.scope.name, "acp-traces");
    assert_eq!(trace.resource["service.name"], text("acp-traces"));
}

#[test]
fn spans_have_the_attributes_of_the_conventions() {
    let trace = trace(&[], "tour");
    let turn = trace.span("invoke_agent demo-agent");
    let edit = trace.span("execute_tool edit_file");
    let permission = trace.span("session/request_permission");
    for (span, name, expected) in [
        (turn, "gen_ai.operation.name", text("invoke_agent")),
        (turn, "gen_ai.agent.name", text("demo-agent")),
        (turn, "gen_ai.usage.input_tokens", Value::IntValue(1200)),
        (turn, "gen_ai.usage.output_tokens", Value::IntValue(300)),
        (turn, "acp.stop_reason", text("end_turn")),
        (turn, "network.transport", text("pipe")),
        (edit, "gen_ai.operation.name", text("execute_tool")),
        (edit, "gen_ai.tool.name", text("edit_file")),
        (edit, "gen_ai.tool.call.id", text("call-7")),
        (permission, "rpc.system.name", text("jsonrpc")),
        (permission, "rpc.method", text("session/request_permission")),
        (permission, "acp.permission.outcome", text("selected")),
        (permission, "acp.permission.option.kind", text("allow_once")),
    ] {
        assert_eq!(attribute(span, name), Some(expected), "{name} of {}", span.name);
    }
    let Some(Value::StringValue(session)) = attribute(turn, "gen_ai.conversation.id") else {
        panic!("no session")
    };
    assert!(session.starts_with("demo-"), "{session}");
    assert_eq!(attribute(edit, "gen_ai.conversation.id"), Some(text(&session)));
    let Some(Value::ArrayValue(reasons)) = attribute(turn, "gen_ai.response.finish_reasons") else {
        panic!("no finish reasons")
    };
    assert_eq!(reasons.values[0].value, Some(text("stop")));
    let plans = turn.events.iter().filter(|event| event.name == "acp.plan").count();
    assert_eq!(plans, 4);
}

#[test]
fn content_is_exported_only_on_request() {
    // In the prompt, a message, a title, a path and an argument.
    let canaries =
        ["tour, said the canary", "no model behind me", "Edit greeting", "/project", "dear"];
    let quiet = format!("{:?}", trace(&[], "tour, said the canary"));
    let recorded = format!("{:?}", trace(&["--record-content"], "tour, said the canary"));
    for canary in canaries {
        assert!(!quiet.contains(canary), "{canary}");
        assert!(recorded.contains(canary), "{canary}");
    }
}

#[test]
fn failed_turn_is_an_error() {
    let trace = trace(&[], "error");
    let turn = trace.span("invoke_agent demo-agent");
    assert_eq!(status(turn), StatusCode::Error);
    assert_eq!(attribute(turn, "rpc.response.status_code"), Some(text("-32603")));
    assert!(attribute(turn, "error.type").is_some());
}

#[test]
fn noise_and_unknown_messages_have_no_effect() {
    for word in ["noise", "odd"] {
        let trace = trace(&[], word);
        assert_eq!(status(trace.span("invoke_agent demo-agent")), StatusCode::Unset, "{word}");
    }
}

#[test]
fn turn_continues_the_trace_of_its_prompt() {
    let collector = Collector::start();
    let proxy = Proxy::with_options(&["--otlp-endpoint", &collector.url()], &["demo"]);
    let mut editor = Editor::start(proxy);
    let prompt = json!([{ "type": "text", "text": "hello" }]);
    let context = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let meta = json!({ "traceparent": context });
    let session = editor.session.clone();
    let params = json!({ "sessionId": session, "prompt": prompt, "_meta": meta });
    editor.call("session/prompt", &params);
    editor.proxy.finish();
    let trace = collector.received();
    let turn = trace.span("invoke_agent demo-agent");
    assert_eq!(hex(&turn.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&turn.parent_span_id), "b7ad6b7169203331");
}

/// Only the selected entries are recorded, on the span of their request.
#[test]
fn baggage_is_recorded_by_the_key() {
    for (options, expected) in [
        (&[][..], [None, None]),
        (
            &["--baggage", "tenant", "--baggage", "tenant.user", "--baggage", "absent"],
            [Some("blue sky"), Some("7")],
        ),
        (&["--baggage", "tenant"], [Some("blue sky"), None]),
    ] {
        let collector = Collector::start();
        let url = collector.url();
        let options = [&["--otlp-endpoint", url.as_str()], options].concat();
        let mut editor = Editor::start(Proxy::with_options(&options, &["demo"]));
        let meta =
            json!({ "baggage": "tenant=red;x, tenant.user = 7 ,secret=canary,tenant=blue%20sky" });
        let prompt = json!([{ "type": "text", "text": "tour" }]);
        let session = editor.session.clone();
        let params = json!({ "sessionId": session, "prompt": prompt, "_meta": meta });
        editor.call("session/prompt", &params);
        assert_eq!(editor.proxy.finish().0.stderr, "");
        let trace = collector.received();
        let turn = trace.span("invoke_agent demo-agent");
        let recorded = ["tenant", "tenant.user"].map(|key| attribute(turn, key));
        assert_eq!(recorded, expected.map(|value| value.map(text)));
        assert!(!format!("{trace:?}").contains("canary"));
        let tool = trace.span("execute_tool edit_file");
        assert_eq!(attribute(tool, "tenant"), None);
        assert_eq!(attribute(turn, "absent"), None);
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn exit_of_an_agent_ends_its_turn_with_an_error() {
    let collector = Collector::start();
    let proxy = Proxy::with_options(&["--otlp-endpoint", &collector.url()], &["demo"]);
    let mut editor = Editor::start(proxy);
    editor.begin("crash");
    assert_eq!(editor.proxy.exit_status(), Some(3));
    let trace = collector.received();
    let turn = trace.span("invoke_agent demo-agent");
    assert_eq!(status(turn), StatusCode::Error);
    assert_eq!(attribute(turn, "error.type"), Some(text("agent_exited")));
}

#[test]
fn environment_sets_collector_and_service() {
    for (options, variable, value, service) in [
        (&[][..], "OTEL_SERVICE_NAME", "variable", "variable"),
        (&[], "OTEL_RESOURCE_ATTRIBUTES", "service.name=attribute", "attribute"),
        (&["--service-name", "flag"], "OTEL_SERVICE_NAME", "variable", "flag"),
    ] {
        let collector = Collector::start();
        let mut command = acp_traces(options);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
        command.env(variable, value);
        command.arg("--").arg(test_agent()).arg("demo");
        Editor::start(Proxy::spawn(command)).proxy.finish();
        let trace = collector.received();
        assert_eq!(trace.resource["service.name"], text(service));
        assert_eq!(trace.names(), ["initialize", "session/new"]);
    }
}

#[test]
fn option_overrides_the_environment() {
    let collector = Collector::start();
    let mut command = acp_traces(&["--otlp-endpoint", &collector.url()]);
    command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", NO_COLLECTOR);
    command.arg("--").arg(test_agent()).arg("demo");
    Editor::start(Proxy::spawn(command)).proxy.finish();
    assert_eq!(collector.received().names(), ["initialize", "session/new"]);
}

#[test]
fn missing_collector_does_not_affect_the_session() {
    let mut editor = Editor::start(Proxy::start(&["demo"]));
    editor.prompt("tour");
    let (end, took) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    assert!(took < AT_ONCE, "{took:?}");
    let told = "acp-traces: 7 of 7 spans did not reach http://127.0.0.1:1: ";
    assert!(end.stderr.starts_with(told), "{}", end.stderr);
    assert_eq!(end.stderr.lines().count(), 1);
}

/// More spans than the queue can hold, for an unresponsive collector: the session continues, and
/// each span is counted.
#[test]
fn spans_beyond_the_queue_are_counted_while_the_session_continues() {
    // The system accepts connections that are never served.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut command = acp_traces(&["--otlp-endpoint", &url]);
    command.envs([
        ("OTEL_BSP_MAX_QUEUE_SIZE", "8"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4"),
        ("OTEL_BSP_SCHEDULE_DELAY", "1"),
    ]);
    command.arg("--").arg(test_agent()).arg("echo");
    let mut proxy = Proxy::spawn(command);
    let asked = 200;
    for id in 0..asked {
        for message in [
            json!({ "jsonrpc": "2.0", "id": id, "method": "session/list", "params": {} }),
            json!({ "jsonrpc": "2.0", "id": id, "result": { "sessions": [] } }),
        ] {
            let line = format!("{message}\n");
            proxy.write(line.as_bytes());
            assert_eq!(proxy.read_line(), line);
        }
    }
    let (end, took) = proxy.finish();
    assert_eq!(end.status, Some(0));
    assert!(took < AT_ONCE, "{took:?}");
    // The agent echoes requests, so both directions have spans.
    let all = 2 * asked;
    let told = format!("acp-traces: {all} of {all} spans did not reach {url}: ");
    assert!(end.stderr.starts_with(&told), "{}", end.stderr);
}

#[test]
fn unresponsive_collector_does_not_delay_the_end() {
    // The system accepts connections that are never served.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut editor = Editor::start(Proxy::with_options(&["--otlp-endpoint", &url], &["demo"]));
    editor.prompt("hello");
    let (end, took) = editor.proxy.finish();
    assert_eq!(end.status, Some(0));
    assert!(took < AT_ONCE, "{took:?}");
    assert!(end.stderr.contains("3 of 3 spans did not reach"), "{}", end.stderr);
}
