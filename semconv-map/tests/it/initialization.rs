//! Repeated initialization, after a restart of an agent behind a proxy or of the editor.
use crate::lines::{error, permission, prompt, request, result, stop, tool, tool_status, update};
use crate::spans::{A2C, C2A, Run, Span};
use semconv_map::metric::{self, MetricValue};
use semconv_map::policy::{Policy, UsagePolicy};
use semconv_map::span::Status;
use serde_json::{Value, json};

fn ask(id: i64) -> String {
    request(
        id,
        "initialize",
        json!({ "protocolVersion": 1, "clientInfo": { "name": "editor", "version": "7" } }),
    )
}

fn answer(id: i64, agent: &str) -> String {
    result(id, json!({ "protocolVersion": 1, "agentInfo": { "name": agent, "version": "1" } }))
}

/// A connection with the agent `first`.
fn initialized() -> Run {
    let mut policy = Policy::default();
    policy.record_metrics = true;
    let mut run = Run::new(policy);
    run.line(C2A, &ask(0));
    run.line(A2C, &answer(0, "first"));
    run
}

fn make_session(run: &mut Run, result_of_new: Value) {
    run.line(C2A, &request(100, "session/new", json!({ "cwd": "/", "mcpServers": [] })));
    run.line(A2C, &result(100, result_of_new));
}

fn cost(amount: f64) -> String {
    let cost = json!({ "amount": amount, "currency": "USD" });
    update("s", json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost }))
}

fn named<'a>(run: &'a Run, name: &str) -> Vec<&'a Span> {
    run.spans.all.values().filter(|span| span.name() == name).collect()
}

/// Leaves a request of each kind unanswered. Returns the names of the spans.
fn leave_open(run: &mut Run) -> [&'static str; 5] {
    run.line(C2A, &request(1, "session/list", json!({})));
    run.line(C2A, &prompt(2, "s"));
    run.line(A2C, &tool("s", "t", "read", "in_progress"));
    run.line(A2C, &permission(1, "s", "t"));
    run.line(A2C, &request(2, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" })));
    [
        "session/list",
        "invoke_agent first",
        "execute_tool read",
        "session/request_permission",
        "fs/read_text_file",
    ]
}

#[test]
fn open_spans_end_with_a_new_connection() {
    let mut run = initialized();
    let open = leave_open(&mut run);
    run.line(C2A, &ask(3));
    assert!(open.iter().all(|name| run.span(name).end.is_none()), "it may still fail");
    run.line(A2C, &answer(3, "second"));
    for name in open {
        let span = run.span(name);
        let key = if name == "execute_tool read" { "acp.tool.end" } else { "acp.request.end" };
        assert_eq!(span.str(key), Some("initialized_again"), "{name}");
        assert_eq!(*span.status(), Status::Unset, "{name}");
    }
    assert_eq!(run.span(open[1]).finish_reasons(), Some(vec!["incomplete"]));
    assert!(named(&run, "initialize").iter().all(|span| span.str("acp.request.end").is_none()));
    run.line(A2C, &stop(2, "end_turn"));
    run.line(A2C, &result(1, json!({})));
    assert_eq!(run.tracker.counters().unmatched_responses, 2);
    run.line(C2A, &prompt(4, "s"));
    assert!(run.span("invoke_agent second").end.is_none());
}

/// The last successful request determines the peers.
#[test]
fn failed_initialize_has_no_effect() {
    let mut run = initialized();
    let open = leave_open(&mut run);
    run.line(C2A, &request(3, "initialize", json!({ "protocolVersion": 2 })));
    run.line(A2C, &error(3, -32600, "initialized already"));
    assert!(open.iter().all(|name| run.span(name).end.is_none()));
    run.line(A2C, &stop(2, "end_turn"));
    assert_eq!(run.span("invoke_agent first").finish_reasons(), Some(vec!["stop"]));
    run.line(C2A, &prompt(4, "s"));
    let turns = named(&run, "invoke_agent first");
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[1].str("acp.client.name"), Some("editor"));
    assert_eq!(turns[1].i64("acp.protocol.version"), Some(1));
}

/// A version that is not 1 or 2 is counted: the messages may have another form.
#[test]
fn unknown_versions_are_counted() {
    for (version, count) in
        [(json!(0), 1), (json!(1), 0), (json!(2), 0), (json!(7), 1), (json!("one"), 1)]
    {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &ask(0));
        run.line(A2C, &result(0, json!({ "protocolVersion": version })));
        assert_eq!(run.tracker.counters().unknown_versions, count, "{version}");
    }
}

/// Agents number sessions and tool calls, and restart with the first number.
#[test]
fn sessions_with_reused_ids_are_independent() {
    let mut run = initialized();
    make_session(&mut run, json!({ "sessionId": "s", "models": { "currentModelId": "old" } }));
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "t", "read", "completed"));
    run.line(A2C, &cost(5.0));
    run.line(A2C, &stop(1, "end_turn"));
    run.line(C2A, &ask(2));
    run.line(A2C, &answer(2, "second"));

    make_session(&mut run, json!({ "sessionId": "s" }));
    run.line(A2C, &tool_status("s", "t", "completed"));
    assert_eq!(
        named(&run, "execute_tool other").len(),
        1,
        "it is another call, outside of any turn"
    );
    run.line(C2A, &prompt(3, "s"));
    run.line(A2C, &cost(1.0));
    run.line(A2C, &stop(3, "end_turn"));
    let turn = run.span("invoke_agent second");
    assert_eq!(turn.f64("acp.cost.turn_amount"), Some(1.0));
    assert_eq!(turn.str("gen_ai.request.model"), None);
    let costs = run.spans.metrics.iter().filter(|it| *it.metric == metric::ACP_SESSION_COST);
    let costs: Vec<_> = costs.map(|measured| measured.value).collect();
    assert_eq!(costs, [MetricValue::F64(5.0), MetricValue::F64(1.0)]);
    let active = run.spans.metrics.iter().filter(|it| *it.metric == metric::ACP_SESSION_ACTIVE);
    let active: Vec<_> = active.map(|measured| measured.value).collect();
    assert_eq!(active, [1, -1, 1].map(MetricValue::I64));
}

fn spend(run: &mut Run, id: i64, tokens: u64, amount: f64) {
    run.line(C2A, &prompt(id, "s"));
    run.line(A2C, &cost(amount));
    let usage = json!({ "totalTokens": tokens, "inputTokens": tokens, "outputTokens": 0 });
    run.line(A2C, &result(id, json!({ "stopReason": "end_turn", "usage": usage })));
}

/// A loaded session continues its tokens and cost after its last turn. A new session with the same
/// id does not.
#[test]
fn loaded_session_continues() {
    let load = json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] });
    for (is_new, tokens, amount) in [(false, 3, 1.0), (true, 13, 6.0)] {
        let mut policy = Policy::default();
        policy.usage = UsagePolicy::Cumulative;
        let mut run = Run::new(policy);
        run.line(C2A, &ask(0));
        run.line(A2C, &answer(0, "first"));
        spend(&mut run, 1, 10, 5.0);
        for id in [2, 3] {
            run.line(C2A, &ask(id));
            run.line(A2C, &answer(id, "second"));
        }
        if is_new {
            make_session(&mut run, json!({ "sessionId": "s" }));
        }
        run.line(C2A, &request(4, "session/load", load.clone()));
        run.line(A2C, &result(4, json!({})));
        spend(&mut run, 5, 13, 6.0);
        let turn = run.span("invoke_agent second");
        assert_eq!(turn.i64("gen_ai.usage.input_tokens"), Some(tokens), "{is_new}");
        assert_eq!(turn.f64("acp.cost.turn_amount"), Some(amount), "{is_new}");
        let first = run.span("invoke_agent first").start.span;
        let links: Vec<_> = turn.start.links.iter().map(|link| link.to).collect();
        assert_eq!(links, if is_new { vec![] } else { vec![first] });
    }
}

/// Recorded: gemini-cli responds to `session/load` before it repeats the conversation. Calls of the
/// past have no spans.
#[test]
fn replay_after_the_response_has_no_spans() {
    let call = |id: &str| {
        let call = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": "Edit",
            "kind": "edit", "status": "completed" });
        update("s", call)
    };
    let mut run = Run::new(Policy::default());
    let load = json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] });
    run.line(C2A, &ask(0));
    run.line(A2C, &answer(0, "agent"));
    run.line(C2A, &request(1, "session/load", load));
    run.line(A2C, &result(1, json!({})));
    run.line(A2C, &call("old"));
    let before = run.spans.names().len();
    let prompt = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "Hi" }] });
    run.line(C2A, &request(2, "session/prompt", prompt));
    run.line(A2C, &call("new"));
    run.line(A2C, &result(2, json!({ "stopReason": "end_turn" })));
    assert_eq!(before, 2, "{:?}", run.spans.names());
    assert_eq!(run.spans.names().len(), 4, "the turn, and the call in it");
}

/// The cost that an agent reports while loading a session replaces the previous one.
#[test]
fn cost_reported_while_loading_is_used() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &ask(0));
    run.line(A2C, &answer(0, "first"));
    spend(&mut run, 1, 10, 5.0);
    run.line(C2A, &ask(2));
    run.line(A2C, &answer(2, "second"));
    run.line(C2A, &request(3, "session/load", json!({ "sessionId": "s" })));
    run.line(A2C, &cost(5.5));
    run.line(A2C, &result(3, json!({})));
    spend(&mut run, 4, 10, 6.0);
    assert_eq!(run.span("invoke_agent second").f64("acp.cost.turn_amount"), Some(0.5));
}

/// A client that does not wait has already sent requests to the new agent.
#[test]
fn requests_after_initialize_belong_to_the_new_connection() {
    let mut run = initialized();
    leave_open(&mut run);
    run.line(C2A, &ask(3));
    run.line(
        C2A,
        &request(4, "session/load", json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] })),
    );
    run.line(
        C2A,
        &request(5, "session/fork", json!({ "sessionId": "s", "cwd": "/", "mcpServers": [] })),
    );
    run.line(C2A, &prompt(6, "r"));
    run.line(A2C, &answer(3, "second"));
    run.line(A2C, &tool("s", "t", "edit", "completed"));
    run.line(A2C, &result(4, json!({})));
    run.line(A2C, &result(5, json!({ "sessionId": "f" })));
    run.line(A2C, &stop(6, "end_turn"));
    assert_eq!(run.span("session/load").i64("acp.session.replayed_updates"), Some(1));
    assert_eq!(run.span("session/fork").str("acp.session.fork.id"), Some("f"));
    let turns = named(&run, "invoke_agent first");
    for span in [run.span("session/load"), run.span("session/fork"), turns[1]] {
        assert_eq!(span.str("acp.request.end"), None, "{}", span.name());
    }
    assert_eq!(turns[0].finish_reasons(), Some(vec!["incomplete"]));
    assert_eq!(turns[1].finish_reasons(), Some(vec!["stop"]));
    assert_eq!(run.tracker.counters().unmatched_responses, 0);
}
