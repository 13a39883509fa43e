//! Spans of requests, from the request to the response.
use crate::lines::{error, notification, prompt, request, result, tool};
use crate::spans::{A2C, C2A, Run, shown};
use acp_types::methods::{self, MethodKind, Receiver};
use semconv_map::span::{Parent, SpanKind};
use semconv_map::{Counters, Policy, Record, Tracker};
use serde_json::json;
use std::time::Duration;

/// Each request of the protocol is a span, including unstable ones and those of version 2.
/// Notifications are not.
#[test]
fn requests_become_spans() {
    for method in methods::V1.iter().chain(methods::V2) {
        let (sender, kind) = match method.receiver {
            Receiver::Agent => (C2A, SpanKind::Client),
            Receiver::Client => (A2C, SpanKind::Server),
            Receiver::Either | Receiver::Proxy | Receiver::ProxyOrConductor => continue,
            other => panic!("no sender for {other:?}"),
        };
        let mut run = Run::new(Policy::default());
        let params = json!({ "sessionId": "s" });
        if method.kind == MethodKind::Notification {
            run.line(sender, &notification(method.name, params));
            assert!(run.spans.all.is_empty(), "{}", method.name);
            continue;
        }
        run.line(sender, &request(1, method.name, params));
        let name = if method.name == "session/prompt" { "invoke_agent" } else { method.name };
        let span = run.span(name);
        assert_eq!(span.start.kind, kind, "{name}");
        assert_eq!(span.str("acp.method.name"), Some(method.name));
        assert_eq!(span.str("jsonrpc.request.id"), Some("1"), "{name}");
        if name == method.name {
            assert_eq!(span.str("rpc.system.name"), Some("jsonrpc"), "{name}");
            assert_eq!(span.str("rpc.method"), Some(name));
            assert_eq!(span.str("rpc.method_original"), None, "{name}");
            assert_eq!(span.str("jsonrpc.protocol.version"), Some("2.0"), "{name}");
        }
    }
}

/// A request that the protocol does not define, or in the wrong direction, is a span.
#[test]
fn unknown_method_is_not_a_span_name() {
    for (sender, kind, method) in [
        (C2A, SpanKind::Client, "session/set_model"),
        (C2A, SpanKind::Client, "fs/read_text_file"),
        (A2C, SpanKind::Server, "craft/drainMidTurnQueue"),
        (A2C, SpanKind::Server, "session/prompt"),
        (A2C, SpanKind::Server, "terminal/newer"),
    ] {
        let mut run = Run::new(Policy::default());
        run.line(sender, &request("x", method, json!([1])));
        let answerer = if sender == C2A { A2C } else { C2A };
        run.line(answerer, &error("x", -32601, "Method not found"));
        let span = run.span("jsonrpc");
        assert_eq!(span.start.kind, kind, "{method}");
        assert_eq!(span.str("rpc.method"), Some("_OTHER"), "{method}");
        assert_eq!(span.str("rpc.method_original"), Some(method));
        assert_eq!(span.str("acp.method.name"), Some(method));
        assert_eq!(span.str("error.type"), Some("-32601"), "{method}");
        assert_eq!(span.str("rpc.response.status_code"), Some("-32601"), "{method}");
        assert_eq!(run.tracker.counters(), Counters::default(), "{method}");
    }
}

/// The span of a fork belongs to the existing session and names the new one.
#[test]
fn fork_records_both_sessions() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &request(1, "session/fork", json!({ "sessionId": "s", "cwd": "/" })));
    let model = json!([{ "id": "m", "name": "Model", "category": "model", "type": "select", "currentValue": "big", "options": [] }]);
    run.line(A2C, &result(1, json!({ "sessionId": "t", "configOptions": model })));
    let fork = run.span("session/fork");
    assert_eq!(fork.str("gen_ai.conversation.id"), Some("s"));
    assert_eq!(fork.str("acp.session.fork.id"), Some("t"));
    run.line(C2A, &prompt(2, "t"));
    assert_eq!(run.span("invoke_agent").str("gen_ai.request.model"), Some("big"));
}

#[test]
fn new_session_is_known_from_the_response() {
    let mut run = Run::new(Policy::default());
    run.line(
        C2A,
        &request(1, "session/new", json!({ "cwd": "/", "mcpServers": [], "sessionId": "x" })),
    );
    run.line(A2C, &result(1, json!({ "sessionId": "s" })));
    assert_eq!(run.span("session/new").str("gen_ai.conversation.id"), Some("s"));
}

/// A recycled buffer contains no attributes of its former span.
#[test]
fn recycled_attributes_are_cleared() {
    let mut tracker = Tracker::new(Policy::default());
    let mut attributes = |id| {
        tracker.handle_line(C2A, Duration::ZERO, request(id, "session/list", json!({})).as_bytes());
        let Some(Record::Start(start)) = tracker.poll() else { panic!("no span") };
        let seen: Vec<_> = start.attributes.iter().map(shown).collect();
        tracker.recycle(start.attributes);
        seen
    };
    let [first, second] = [attributes(1), attributes(2)];
    assert_eq!(first.len(), 5, "{first:?}");
    assert_eq!(second.join(" "), first.join(" ").replace(r#""1""#, r#""2""#));
}

/// Each form of request id, and the attribute value.
#[test]
fn request_ids_are_text_without_quotes() {
    let rows = [
        ("1", Some("1")),
        ("-7", Some("-7")),
        ("9007199254740993", Some("9007199254740993")),
        ("18446744073709551616", Some("18446744073709551616")),
        ("1.0", Some("1.0")),
        (r#""a-1""#, Some("a-1")),
        (r#""1""#, Some("1")),
        (r#""\u0061\"""#, Some("a\"")),
        ("null", None),
    ];
    for (id, expected) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &format!(r#"{{"jsonrpc":"2.0","method":"session/list","id":{id}}}"#));
        run.line(A2C, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        let span = run.span("session/list");
        assert_eq!(span.str("jsonrpc.request.id"), expected, "{id}");
        assert!(span.end.is_some(), "{id}");
    }
}

/// The parent of an agent request is the only running tool call, else the turn, else none.
#[test]
fn client_request_belongs_to_running_work() {
    let read =
        |id: i64| request(id, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" }));
    let parent = |run: &Run| run.spans.all.values().last().unwrap().start.parent.clone();
    let mut run = Run::new(Policy::default());
    run.line(A2C, &read(1));
    assert_eq!(parent(&run), Parent::Root);
    // A tool call outside of any turn runs concurrently with all turns.
    run.line(A2C, &tool("s", "before", "think", "in_progress"));
    run.line(C2A, &prompt(1, "s"));
    let turn = Parent::Span(run.span("invoke_agent").start.span);
    run.line(A2C, &read(2));
    assert_eq!(parent(&run), turn);
    run.line(A2C, &tool("s", "a", "read", "in_progress"));
    run.line(A2C, &read(3));
    assert_eq!(parent(&run), Parent::Span(run.span("execute_tool read").start.span));
    run.line(A2C, &tool("s", "b", "edit", "in_progress"));
    run.line(A2C, &read(4));
    assert_eq!(parent(&run), turn);
    run.line(A2C, &request(5, "_x/ask", json!({})));
    assert_eq!(parent(&run), turn, "the only turn");
    run.line(C2A, &prompt(2, "other"));
    run.line(A2C, &request(6, "_x/ask", json!({})));
    assert_eq!(parent(&run), Parent::Root);
}

#[test]
fn terminal_records_the_exit_code() {
    for (answer, code) in [
        (json!({ "exitCode": 2 }), Some(2)),
        (json!({ "exitCode": null, "signal": "KILL" }), None),
        (json!(null), None),
    ] {
        let mut run = Run::new(Policy::default());
        run.line(
            A2C,
            &request(1, "terminal/wait_for_exit", json!({ "sessionId": "s", "terminalId": "t" })),
        );
        run.line(C2A, &result(1, answer));
        assert_eq!(run.span("terminal/wait_for_exit").i64("process.exit.code"), code);
    }
}

/// In version 2 both peers use the member `info`.
#[test]
fn peers_of_version_2_are_recorded() {
    let mut run = Run::new(Policy::default());
    let client = json!({ "name": "editor", "version": "7" });
    let agent = json!({ "name": "coder", "version": "1" });
    run.line(C2A, &request(0, "initialize", json!({ "protocolVersion": 2, "info": client })));
    run.line(A2C, &result(0, json!({ "protocolVersion": 2, "info": agent, "capabilities": {} })));
    run.line(C2A, &prompt(1, "s"));
    let turn = run.span("invoke_agent coder");
    assert_eq!(turn.str("acp.client.name"), Some("editor"));
    assert_eq!(turn.i64("acp.protocol.version"), Some(2));
}
