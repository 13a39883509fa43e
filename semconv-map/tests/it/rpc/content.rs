//! Content of MCP messages in spans.
use super::*;
use semconv_map::AttributeValue;
use semconv_map::content::{Capture, Gate, Redaction};
use semconv_map::span::Status;

#[test]
fn mcp_content_is_recorded_by_policy() {
    let mut policy = Policy::default();
    policy.content = Capture::Span;
    policy.paths = Gate::Always;
    let run = session(policy.clone(), Protocol::McpClient);
    let weather = run.span("tools/call weather");
    assert_eq!(weather.str("gen_ai.tool.call.arguments"), Some(r#"{"city":"Paris"}"#));
    assert_eq!(
        weather.str("gen_ai.tool.call.result"),
        Some(r#"{"content":[{"text":"rain","type":"text"}]}"#)
    );
    assert_eq!(run.span("resources/read").str("mcp.resource.uri"), Some("file:///secret"));
    let status = format!("{:?}", run.span("prompts/get greet").status());
    assert!(status.contains("no such prompt"));

    policy.content = Capture::Event;
    let run = session(policy, Protocol::McpClient);
    let weather = run.span("tools/call weather");
    assert_eq!(weather.get("gen_ai.tool.call.result"), None);
    let details = weather.events.last().unwrap();
    let expected = AttributeValue::Json(r#"{"city":"Paris"}"#.to_owned());
    assert_eq!(details.name, "acp.details");
    assert_eq!(&details.attributes[0].value, &expected);
}

/// Servers may report explicitly that a tool did not fail.
#[test]
fn successful_tool_is_not_an_error() {
    let mut run = mcp(|_| {});
    run.line(Sent, &call(1, "a"));
    run.line(Received, &result(1, json!({ "content": [], "isError": false })));
    assert_eq!(*run.span("tools/call a").status(), Status::Unset);
}

/// A redaction receives MCP content with its kinds, and its replacement is recorded.
#[test]
fn mcp_content_is_redacted() {
    let mut policy = Policy::default();
    policy.content = Capture::Span;
    policy.redaction = Some(Redaction::new(|kind, _| Some(format!("{kind:?}"))));
    let run = session(policy, Protocol::McpClient);
    let read = run.span("resources/read");
    assert_eq!(read.str("mcp.resource.uri"), Some("Uri"));
    let weather = run.span("tools/call weather");
    let given = weather.str("gen_ai.tool.call.arguments");
    assert_eq!(given, Some(r#"{"ToolArguments":"ToolArguments"}"#));
    let result = weather.str("gen_ai.tool.call.result").unwrap();
    assert!(!result.contains("rain") && result.contains("ToolResult"), "{result}");
    let status = format!("{:?}", run.span("prompts/get greet").status());
    assert!(status.contains("ErrorMessage") && !status.contains("no such prompt"), "{status}");
}

/// No text of users or tools is recorded with content capture off.
#[test]
fn no_mcp_content_is_recorded_with_capture_off() {
    let run = session(Policy::default(), Protocol::McpClient);
    let shown: String = run
        .spans
        .all
        .values()
        .map(|span| format!("{:?}{:?}{:?}", span.start, span.events, span.end))
        .collect();
    for word in ["Paris", "rain", "secret", "no such prompt"] {
        assert!(!shown.contains(word), "{word}");
    }
}
