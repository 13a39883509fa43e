//! Version 2 of the protocol, which responds to a prompt when it is accepted and later reports the
//! session as idle.
use crate::lines::{error, prompt, request, result, stop, tool_status, update};
use crate::spans::{A2C, C2A, Run};
use semconv_map::span::Parent;
use semconv_map::{ClosedBy, Counters, Policy};
use serde_json::{Value, json};

fn run(agent: Value) -> Run {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &request(0, "initialize", json!({ "protocolVersion": 2 })));
    run.line(A2C, &result(0, agent));
    run.line(C2A, &prompt(1, "s"));
    run
}

fn v2() -> Run {
    let info = json!({ "name": "coder", "version": "1" });
    run(json!({ "protocolVersion": 2, "info": info, "capabilities": {} }))
}

fn accepted() -> String {
    result(1, json!({ "messageId": "m" }))
}

fn state(mut state: Value) -> String {
    state["sessionUpdate"] = "state_update".into();
    update("s", state)
}

#[test]
fn turn_ends_when_the_session_is_idle() {
    let mut run = v2();
    run.line(A2C, &state(json!({ "state": "running" })));
    run.line(A2C, &accepted());
    run.line(A2C, &tool_status("s", "t", "in_progress"));
    run.line(A2C, &state(json!({ "state": "requires_action" })));
    assert!(run.span("invoke_agent coder").end.is_none());
    let usage = json!({ "totalTokens": 3, "inputTokens": 1, "outputTokens": 2 });
    run.line(A2C, &state(json!({ "state": "idle", "stopReason": "end_turn", "usage": usage })));
    run.line(A2C, &state(json!({ "state": "idle", "stopReason": "cancelled" })));
    let turn = run.span("invoke_agent coder");
    assert_eq!(turn.str("acp.stop_reason"), Some("end_turn"));
    assert_eq!(turn.i64("gen_ai.usage.output_tokens"), Some(2));
    assert_eq!(run.span("execute_tool other").str("acp.tool.end"), Some("turn_end"));
    assert_eq!(run.tracker.counters(), Counters::default());
}

/// Each idle state, with the resulting error type and finish reason.
#[test]
fn idle_states_end_a_turn() {
    let code = json!({ "code": -32000, "message": "log in" });
    let rows = [
        (json!({ "state": "idle" }), None, None),
        (json!({ "state": "idle", "stopReason": null }), None, None),
        (json!({ "state": "idle", "stopReason": "refusal" }), None, Some("content_filter")),
        (
            json!({ "state": "idle", "stopReason": "error", "error": code }),
            Some("-32000"),
            Some("error"),
        ),
        (json!({ "state": "idle", "stopReason": "error" }), Some("_OTHER"), Some("error")),
    ];
    for (idle, error_type, finish_reason) in rows {
        let mut run = v2();
        run.line(A2C, &accepted());
        run.line(A2C, &state(idle.clone()));
        let turn = run.span("invoke_agent coder");
        assert_eq!(turn.str("error.type"), error_type, "{idle}");
        assert_eq!(turn.finish_reasons(), finish_reason.map(|reason| vec![reason]), "{idle}");
    }
}

#[test]
fn idle_does_not_end_an_unaccepted_prompt() {
    let mut run = v2();
    run.line(A2C, &state(json!({ "state": "idle" })));
    assert!(run.span("invoke_agent coder").end.is_none());
    run.line(A2C, &error(1, -32602, "no"));
    assert_eq!(run.span("invoke_agent coder").str("error.type"), Some("-32602"));
}

#[test]
fn accepted_turn_ends_with_the_connection() {
    let mut run = v2();
    run.line(A2C, &accepted());
    run.close(ClosedBy::Agent);
    assert_eq!(run.span("invoke_agent coder").str("error.type"), Some("agent_exited"));
}

#[test]
fn cancelled_tool_call_is_not_an_error() {
    let mut run = v2();
    run.line(A2C, &tool_status("s", "t", "paused"));
    run.line(A2C, &tool_status("s", "t", "cancelled"));
    let tool = run.span("execute_tool other");
    assert!(tool.end.is_some() && !tool.is_error());
    assert_eq!(tool.str("acp.tool.end"), Some("cancelled"));
}

/// Some agents echo the requested version and continue in version 1.
#[test]
fn echoed_version_is_not_version_2() {
    let info = json!({ "name": "coder", "version": "1" });
    let mut run = run(json!({ "protocolVersion": 2, "agentInfo": info }));
    run.line(A2C, &state(json!({ "state": "idle" })));
    run.line(A2C, &stop(1, "end_turn"));
    let turn = run.span("invoke_agent coder");
    assert_eq!(turn.str("acp.stop_reason"), Some("end_turn"));
    assert_eq!(turn.i64("acp.protocol.version"), Some(2));
}

/// A plan that is sent inline or as a file, and removed.
#[test]
fn plan_changes_are_events() {
    let entry = |status: &str| json!({ "content": "x", "priority": "low", "status": status });
    let entries = json!([entry("completed"), entry("cancelled"), entry("pending")]);
    let rows = [
        (
            json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": "p", "entries": entries } }),
            2,
        ),
        (
            json!({ "sessionUpdate": "plan_update", "plan": { "type": "file", "planId": "p", "uri": "file:///p" } }),
            0,
        ),
        (json!({ "sessionUpdate": "plan_update", "plan": { "type": "newer" } }), 0),
        (json!({ "sessionUpdate": "plan_removed", "planId": "p" }), 2),
    ];
    for (plan, attributes) in rows {
        let mut run = v2();
        run.line(A2C, &accepted());
        run.line(A2C, &update("s", plan.clone()));
        let turn = run.span("invoke_agent coder");
        assert_eq!(turn.event_names(), ["acp.plan"], "{plan}");
        assert_eq!(turn.events[0].attributes.len(), attributes, "{plan}");
        assert_eq!(run.tracker.counters(), Counters::default(), "{plan}");
    }
}

/// The first chunk of work counts as much as a complete message.
#[test]
fn any_chunk_of_work_counts() {
    for kind in ["agent_message", "agent_thought", "plan_update", "tool_call_content_chunk"] {
        let mut run = v2();
        run.line(A2C, &accepted());
        run.line(A2C, &update("s", json!({ "sessionUpdate": kind, "toolCallId": "t", "messageId": "m", "plan": { "type": "newer" } })));
        run.line(A2C, &state(json!({ "state": "idle", "stopReason": "end_turn" })));
        let turn = run.span("invoke_agent coder");
        assert_eq!(turn.f64("acp.prompt.time_to_first_update"), Some(2.0), "{kind}");
    }
}

/// Returns the turns with their stop reasons and methods, oldest first.
fn turns(run: &Run) -> Vec<(Option<&str>, Option<&str>, bool)> {
    let turns = run.spans.all.values().filter(|span| span.name() == "invoke_agent coder");
    turns
        .map(|it| (it.str("acp.method.name"), it.str("acp.stop_reason"), it.end.is_some()))
        .collect()
}

#[test]
fn turn_without_a_prompt_is_a_span() {
    let mut run = v2();
    run.line(A2C, &accepted());
    run.line(A2C, &state(json!({ "state": "running" })));
    run.line(A2C, &state(json!({ "state": "idle", "stopReason": "end_turn" })));
    let prompted = (Some("session/prompt"), Some("end_turn"), true);
    assert_eq!(turns(&run), [prompted]);
    run.line(A2C, &state(json!({ "state": "running" })));
    run.line(A2C, &tool_status("s", "t", "in_progress"));
    run.line(A2C, &state(json!({ "state": "requires_action" })));
    run.line(A2C, &state(json!({ "state": "running" })));
    let usage = json!({ "totalTokens": 3, "inputTokens": 1, "outputTokens": 2 });
    run.line(A2C, &state(json!({ "state": "idle", "stopReason": "max_tokens", "usage": usage })));
    assert_eq!(turns(&run), [prompted, (None, Some("max_tokens"), true)]);
    let own = run.spans.all.values().rfind(|span| span.name() == "invoke_agent coder").unwrap();
    assert_eq!(own.str("gen_ai.conversation.id"), Some("s"));
    assert_eq!(own.str("jsonrpc.request.id"), None);
    assert_eq!(own.i64("acp.protocol.version"), Some(2));
    assert_eq!(own.i64("gen_ai.usage.output_tokens"), Some(2));
    assert_eq!(own.start.parent, Parent::Root);
    let tool = run.span("execute_tool other");
    assert_eq!(tool.start.parent, Parent::Span(own.start.span));
    assert_eq!(tool.str("acp.tool.end"), Some("turn_end"));
    assert_eq!(run.tracker.counters(), Counters::default());
}

/// A prompt during such a turn ends with it.
#[test]
fn prompt_joins_a_turn_without_a_prompt() {
    let mut run = v2();
    run.line(A2C, &accepted());
    run.line(A2C, &state(json!({ "state": "idle", "stopReason": "end_turn" })));
    run.line(A2C, &state(json!({ "state": "running" })));
    run.line(C2A, &prompt(2, "s"));
    run.line(A2C, &result(2, json!({ "messageId": "n" })));
    run.line(A2C, &state(json!({ "state": "idle", "stopReason": "refusal" })));
    let prompt = Some("session/prompt");
    assert_eq!(
        turns(&run),
        [
            (prompt, Some("end_turn"), true),
            (None, Some("refusal"), true),
            (prompt, Some("refusal"), true)
        ]
    );
}

/// The states of a replay begin no turns; the last one does if it is the present.
#[test]
fn resumed_session_that_works_has_a_turn() {
    for (last, is_working) in [("running", true), ("requires_action", true), ("idle", false)] {
        let mut run = v2();
        run.line(A2C, &accepted());
        run.line(A2C, &state(json!({ "state": "idle", "stopReason": "end_turn" })));
        run.line(C2A, &request(2, "session/resume", json!({ "sessionId": "s", "cwd": "/" })));
        for replayed in ["running", "idle", "running", last] {
            run.line(A2C, &state(json!({ "state": replayed })));
        }
        assert_eq!(turns(&run).len(), 1, "{last}");
        run.line(A2C, &result(2, json!({})));
        assert_eq!(turns(&run).len(), 1 + usize::from(is_working), "{last}");
        run.line(A2C, &state(json!({ "state": "idle" })));
        assert!(turns(&run).iter().all(|(_, _, has_ended)| *has_ended), "{last}");
    }
}
