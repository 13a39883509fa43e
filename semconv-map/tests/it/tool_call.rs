//! Spans of tool calls.
use crate::lines::{
    error, permission, prompt, request, result, stop, text, tool, tool_status, update,
};
use crate::spans::{A2C, C2A, Run};
use semconv_map::policy::ToolTypePolicy;
use semconv_map::span::{Parent, SpanKind};
use semconv_map::{ClosedBy, Policy};
use serde_json::{Value, json};

#[test]
fn tool_call_lasts_until_completion() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "t", "read", "pending"));
    run.line(A2C, &tool_status("s", "t", "in_progress"));
    run.line(A2C, &tool_status("s", "t", "completed"));
    run.line(A2C, &stop(1, "end_turn"));
    let span = run.span("execute_tool read");
    assert_eq!(span.start.kind, SpanKind::Internal);
    assert_eq!(span.start.parent, Parent::Span(run.span("invoke_agent").start.span));
    assert_eq!(span.start.time.as_secs(), 2);
    assert_eq!(span.end.as_ref().unwrap().time.as_secs(), 4);
    for (key, value) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.conversation.id", "s"),
        ("gen_ai.tool.call.id", "t"),
        ("gen_ai.tool.name", "read"),
        ("acp.tool.kind", "read"),
    ] {
        assert_eq!(span.str(key), Some(value), "{key}");
    }
    assert_eq!(span.get("gen_ai.tool.type"), None);
    assert!(!span.is_error());
}

#[test]
fn reused_id_in_a_later_turn_is_a_new_call() {
    let mut run = Run::new(Policy::default());
    for turn in [1, 2] {
        run.line(C2A, &prompt(turn, "s"));
        run.line(A2C, &tool("s", "t", "read", "pending"));
        run.line(A2C, &tool_status("s", "t", "completed"));
        // A late update has no effect.
        run.line(A2C, &tool_status("s", "t", "in_progress"));
        run.line(A2C, &stop(turn, "end_turn"));
    }
    run.line(C2A, &prompt(3, "s"));
    run.line(A2C, &tool_status("s", "t", "in_progress"));
    run.line(A2C, &stop(3, "end_turn"));
    let names = run.spans.names();
    assert_eq!(names.iter().filter(|name| **name == "execute_tool read").count(), 2, "{names:?}");
}

/// The reports with which a call begins after the end of another one with its id, within a turn.
#[test]
fn reused_id_in_a_turn_is_a_new_call() {
    let later = |members: Value| {
        let mut said = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t" });
        said.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        update("s", said)
    };
    let rows = [
        (tool("s", "t", "execute", "in_progress"), true),
        (permission(7, "s", "t"), true),
        (later(json!({ "status": "pending", "rawInput": { "command": "make" } })), true),
        (later(json!({ "status": "in_progress", "title": "make" })), true),
        (later(json!({ "status": "in_progress" })), false),
        (later(json!({ "rawInput": { "command": "make" } })), false),
        (later(json!({ "status": "pending", "rawInput": null })), false),
    ];
    for (report, begins) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &tool("s", "t", "read", "pending"));
        run.line(A2C, &tool_status("s", "t", "completed"));
        run.line(A2C, &report);
        run.line(A2C, &tool_status("s", "t", "failed"));
        run.line(A2C, &stop(1, "end_turn"));
        let calls = run.spans.all.values();
        let calls = calls.filter(|span| span.str("gen_ai.tool.call.id") == Some("t"));
        let errors: Vec<_> = calls.map(|span| span.is_error()).collect();
        let expected: &[bool] = if begins { &[false, true] } else { &[false] };
        assert_eq!(errors, expected, "{report}");
    }
}

/// Cline announces a call after the end of its permission request.
#[test]
fn announcement_after_the_end_of_an_unannounced_call_is_late() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    let mut said = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t" });
    said["kind"] = json!("read");
    run.line(A2C, &update("s", said));
    run.line(A2C, &tool_status("s", "t", "failed"));
    for expected in [1, 2] {
        run.line(A2C, &tool("s", "t", "read", "pending"));
        run.line(A2C, &tool_status("s", "t", "failed"));
        let names = run.spans.names();
        let calls = names.iter().filter(|name| **name == "execute_tool read").count();
        assert_eq!(calls, expected, "{names:?}");
    }
}

/// Each status, and whether and how it ends the tool call.
#[test]
fn statuses_end_a_tool_call() {
    let rows = [
        ("pending", false, None),
        ("in_progress", false, None),
        ("completed", true, None),
        ("failed", true, Some("tool_error")),
        ("newer", false, None),
    ];
    for (status, ends, error_type) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &tool("s", "t", "edit", status));
        assert_eq!(run.span("execute_tool edit").end.is_some(), ends, "{status}");
        run.line(A2C, &stop(1, "end_turn"));
        let span = run.span("execute_tool edit");
        assert_eq!(span.str("error.type"), error_type, "{status}");
        assert_eq!(span.str("acp.tool.end"), (!ends).then_some("turn_end"), "{status}");
    }
}

/// A tool call is one span, however it starts, and does not start again.
#[test]
fn tool_call_is_one_span_in_any_order() {
    let beginnings = [
        tool("s", "t", "execute", "pending"),
        tool_status("s", "t", "in_progress"),
        permission(7, "s", "t"),
    ];
    for first in &beginnings {
        for second in &beginnings {
            let mut run = Run::new(Policy::default());
            run.line(C2A, &prompt(1, "s"));
            run.line(A2C, first);
            run.line(A2C, second);
            run.line(A2C, &tool("s", "t", "execute", "pending"));
            run.line(A2C, &tool_status("s", "t", "completed"));
            run.line(A2C, &tool_status("s", "t", "failed"));
            run.line(A2C, &stop(1, "end_turn"));
            assert!(!run.span("execute_tool execute").is_error());
        }
    }
}

/// Descriptions of the tool, initially and later, with the span name and the tool name.
#[test]
fn tool_name_is_an_identifier() {
    let rows = [
        (json!({ "name": "Bash", "kind": "execute" }), json!({}), "Bash"),
        (json!({ "name": "Bash" }), json!({ "name": "Other", "kind": "read" }), "Bash"),
        (json!({ "_meta": { "tool_name": "run" } }), json!({ "kind": "execute" }), "run"),
        (json!({ "kind": "execute" }), json!({ "kind": "read" }), "read"),
        (json!({}), json!({ "kind": "execute" }), "execute"),
        (
            json!({ "kind": "execute" }),
            json!({ "_meta": { "claudeCode": { "toolName": "Bash" } } }),
            "Bash",
        ),
        (json!({ "kind": "newer" }), json!({}), "newer"),
        (json!({}), json!({}), "other"),
    ];
    for (first, later, name) in rows {
        let mut run = Run::new(Policy::default());
        for (kind, more) in [("tool_call", &first), ("tool_call_update", &later)] {
            let mut said = json!({ "sessionUpdate": kind, "toolCallId": "t", "title": "Run `make` in /home/x" });
            said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            run.line(A2C, &update("s", said));
        }
        run.line(A2C, &tool_status("s", "t", "completed"));
        let span = run.span(&format!("execute_tool {name}"));
        assert_eq!(span.str("gen_ai.tool.name"), Some(name));
    }
}

#[test]
fn tool_type_follows_the_policy() {
    let mut policy = Policy::default();
    policy.tool_type = ToolTypePolicy::ByKind;
    let mut run = Run::new(policy);
    run.line(A2C, &tool("s", "a", "fetch", "completed"));
    run.line(A2C, &tool("s", "b", "edit", "completed"));
    run.line(A2C, &tool_status("s", "c", "completed"));
    let types = ["fetch", "edit", "other"]
        .map(|name| run.span(&format!("execute_tool {name}")).str("gen_ai.tool.type"));
    assert_eq!(types, [Some("datastore"), Some("extension"), Some("extension")]);
}

/// Agents may continue in the background after the response.
#[test]
fn tool_call_outside_of_a_turn_is_a_root_span() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &stop(1, "end_turn"));
    run.line(A2C, &tool("s", "t", "read", "pending"));
    run.line(C2A, &prompt(2, "s"));
    run.line(A2C, &stop(2, "end_turn"));
    assert_eq!(run.span("execute_tool read").start.parent, Parent::Root);
    assert!(run.span("execute_tool read").end.is_none(), "its turn has not ended");
    run.line(C2A, &request(3, "session/close", json!({ "sessionId": "s" })));
    run.line(A2C, &result(3, json!({})));
    assert_eq!(run.span("execute_tool read").str("acp.tool.end"), Some("turn_end"));
    run.close(ClosedBy::Client);
}

/// Updates replayed by `session/load` describe the past.
#[test]
fn replayed_tool_calls_make_no_spans() {
    let mut run = Run::new(Policy::default());
    run.line(
        C2A,
        &request(1, "session/load", json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] })),
    );
    run.line(A2C, &tool("s", "t", "read", "completed"));
    run.line(A2C, &update("s", json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "x" } })));
    run.line(
        A2C,
        &update(
            "s",
            json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] }),
        ),
    );
    run.line(A2C, &tool("other", "t", "edit", "completed"));
    run.line(A2C, &result(1, json!(null)));
    run.line(C2A, &prompt(2, "s"));
    run.line(A2C, &tool("s", "u", "search", "completed"));
    assert_eq!(
        run.spans.names(),
        ["session/load", "execute_tool edit", "invoke_agent", "execute_tool search"]
    );
    assert_eq!(run.span("session/load").i64("acp.session.replayed_updates"), Some(2));
    assert_eq!(run.tracker.counters(), semconv_map::Counters::default());
}

/// A running turn has its tool calls, even while another session is loaded.
#[test]
fn tool_calls_of_a_running_turn_are_not_replayed() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &request(2, "session/load", json!({ "sessionId": "s" })));
    run.line(A2C, &tool("s", "t", "read", "completed"));
    run.line(A2C, &result(2, json!({})));
    let turn = run.span("invoke_agent").start.span;
    assert_eq!(run.span("execute_tool read").start.parent, Parent::Span(turn));
    assert_eq!(run.span("session/load").i64("acp.session.replayed_updates"), Some(0));
}

/// Updates that precede the response to `session/fork` describe the past as well.
#[test]
fn tool_calls_of_a_forked_session_make_no_spans() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &request(2, "session/fork", json!({ "sessionId": "s", "cwd": "/" })));
    run.line(A2C, &tool("fork", "t", "read", "completed"));
    run.line(
        A2C,
        &update("fork", json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2 })),
    );
    run.line(A2C, &text("fork", "x"));
    run.line(A2C, &tool("s", "t", "edit", "completed"));
    run.line(A2C, &result(2, json!({ "sessionId": "fork" })));
    run.line(C2A, &prompt(3, "fork"));
    run.line(A2C, &tool("fork", "u", "search", "completed"));
    assert_eq!(
        run.spans.names(),
        [
            "invoke_agent",
            "session/fork",
            "execute_tool edit",
            "invoke_agent",
            "execute_tool search"
        ]
    );
    assert_eq!(run.span("session/fork").i64("acp.session.replayed_updates"), Some(2));
    assert_eq!(run.tracker.counters(), semconv_map::Counters::default());
}

/// A failed fork has no effect: later updates of the session describe the present.
#[test]
fn failed_fork_has_no_effect() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &request(1, "session/fork", json!({ "sessionId": "s", "cwd": "/" })));
    run.line(A2C, &tool("fork", "t", "read", "completed"));
    run.line(A2C, &error(1, -32603, "no"));
    run.line(C2A, &prompt(2, "fork"));
    run.line(A2C, &stop(2, "end_turn"));
    run.line(A2C, &tool("fork", "u", "search", "completed"));
    assert_eq!(run.spans.names(), ["session/fork", "invoke_agent", "execute_tool search"]);
}
