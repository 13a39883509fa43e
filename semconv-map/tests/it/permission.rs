//! Spans and events of permission requests.
use crate::lines::{chose, error, permission, prompt, result, stop, tool};
use crate::spans::{A2C, C2A, Run};
use semconv_map::Policy;
use semconv_map::span::{Parent, SpanKind};
use serde_json::json;

/// Each response, and the attributes of the span and of the event on the tool call.
#[test]
fn responses_have_outcomes() {
    let rows = [
        (chose(0, "yes"), Some("selected"), Some("yes"), Some("allow_once")),
        (chose(0, "never"), Some("selected"), Some("never"), Some("reject_always")),
        (chose(0, "ask"), Some("selected"), Some("ask"), Some("newer")),
        (chose(0, "not offered"), Some("selected"), Some("not offered"), None),
        (
            result(0, json!({ "outcome": { "outcome": "cancelled" } })),
            Some("cancelled"),
            None,
            None,
        ),
        (
            result(0, json!({ "outcome": { "outcome": "newer", "optionId": "yes" } })),
            Some("newer"),
            None,
            None,
        ),
        (result(0, json!({})), None, None, None),
        (error(0, -32601, "no"), None, None, None),
    ];
    for (answer, outcome, option, kind) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &prompt(0, "s"));
        run.line(A2C, &tool("s", "t", "edit", "pending"));
        run.line(A2C, &permission(0, "s", "t"));
        run.line(C2A, &answer);
        let span = run.span("session/request_permission");
        let tool = run.span("execute_tool edit");
        assert_eq!(span.start.kind, SpanKind::Server);
        assert_eq!(span.start.parent, Parent::Span(tool.start.span));
        assert_eq!(span.str("acp.permission.outcome"), outcome, "{answer}");
        assert_eq!(span.str("acp.permission.option.id"), option, "{answer}");
        assert_eq!(span.str("acp.permission.option.kind"), kind, "{answer}");
        assert_eq!(span.f64("acp.permission.wait.duration"), outcome.map(|_| 1.0), "{answer}");
        assert_eq!(span.is_error(), answer.contains("error"), "{answer}");
        assert_eq!(tool.event_names().len(), usize::from(outcome.is_some()), "{answer}");
        if let [event] = &*tool.events {
            assert_eq!(event.name, "acp.permission");
            let learnt = &span.end.as_ref().unwrap().attributes;
            assert_eq!(event.attributes, *learnt);
        }
    }
}

/// Some agents announce a tool call only by a permission request.
#[test]
fn permission_request_announces_its_tool_call() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &permission(0, "s", "t"));
    assert_eq!(
        run.span("session/request_permission").start.parent,
        Parent::Span(run.span("execute_tool other").start.span)
    );
}

#[test]
fn permission_request_after_the_end_of_a_tool_call_announces_another() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "t", "edit", "completed"));
    run.line(A2C, &permission(0, "s", "t"));
    assert_eq!(
        run.span("session/request_permission").start.parent,
        Parent::Span(run.span("execute_tool other").start.span)
    );
}

/// The turn ends before the user answers. The late response has no effect.
#[test]
fn permission_request_ends_with_its_turn() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &permission(0, "s", "t"));
    run.line(A2C, &stop(1, "cancelled"));
    run.line(C2A, &chose(0, "yes"));
    let span = run.span("session/request_permission");
    assert_eq!(span.str("acp.request.end"), Some("parent_end"));
    assert_eq!(span.str("acp.permission.outcome"), None);
    assert_eq!(run.span("execute_tool other").str("acp.tool.end"), Some("turn_end"));
    assert_eq!(run.tracker.counters(), semconv_map::Counters::default());
}

/// A malformed request is still a request.
#[test]
fn malformed_permission_request_is_a_span() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(
        A2C,
        &crate::lines::request(0, "session/request_permission", json!({ "sessionId": "s" })),
    );
    run.line(C2A, &chose(0, "yes"));
    let span = run.span("session/request_permission");
    assert!(span.end.is_some());
    assert_eq!(span.start.parent, Parent::Span(run.span("invoke_agent").start.span));
    assert_eq!(run.tracker.counters().undecodable, 1);
}
