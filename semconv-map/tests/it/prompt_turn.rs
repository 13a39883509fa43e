//! Spans of turns.
use crate::lines::{error, notification, prompt, request, result, stop, text, tool, update};
use crate::spans::{A2C, C2A, Run};
use semconv_map::content::Capture;
use semconv_map::policy::{FinishReasonPolicy, ProviderPolicy};
use semconv_map::span::{Parent, SpanKind, Status};
use semconv_map::{ClosedBy, Policy};
use serde_json::{Value, json};

/// Most lines continue the text of the session of the last line. They are skipped without losing
/// anything.
#[test]
fn first_text_of_each_turn_is_timed() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &prompt(2, "r"));
    for session in ["s", "s", "r", "s", "r", "r"] {
        run.line(A2C, &text(session, "x"));
    }
    run.line(A2C, &stop(1, "end_turn"));
    run.line(A2C, &stop(2, "end_turn"));
    run.line(A2C, &text("s", "late"));
    run.line(C2A, &prompt(3, "s"));
    run.line(A2C, &text("s", "x"));
    run.line(A2C, &text("s", "x"));
    run.line(A2C, &stop(3, "end_turn"));
    let waited = run.spans.all.values().map(|turn| turn.f64("acp.prompt.time_to_first_update"));
    assert_eq!(waited.collect::<Vec<_>>(), [Some(2.0), Some(3.0), Some(1.0)]);
}

#[test]
fn turn_lasts_from_prompt_to_response() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &text("s", "Hello"));
    run.line(A2C, &text("s", " there"));
    run.line(A2C, &stop(1, "end_turn"));
    let turn = run.span("invoke_agent");
    assert_eq!(turn.start.kind, SpanKind::Client);
    assert_eq!(&turn.start.parent, &Parent::Root);
    assert_eq!(turn.start.time.as_secs(), 1);
    assert_eq!(turn.end.as_ref().map(|end| end.time.as_secs()), Some(4));
    assert_eq!(turn.f64("acp.prompt.time_to_first_update"), Some(1.0));
    assert_eq!(turn.str("gen_ai.conversation.id"), Some("s"));
    assert_eq!(turn.str("gen_ai.provider.name"), Some("acp"));
    assert_eq!(turn.str("acp.method.name"), Some("session/prompt"));
    assert_eq!(run.spans.all.len(), 1);
}

/// Status, error type, stop reason and finish reason for each way in which a turn can end.
#[test]
fn ends_of_a_turn_have_statuses() {
    type Row<'a> = (&'a str, Option<&'a str>, Option<&'a str>, Option<&'a str>);
    let answers: [Row<'_>; 10] = [
        (&stop(1, "end_turn"), None, Some("end_turn"), Some("stop")),
        (&stop(1, "max_tokens"), None, Some("max_tokens"), Some("length")),
        (&stop(1, "max_turn_requests"), None, Some("max_turn_requests"), Some("length")),
        (&stop(1, "refusal"), None, Some("refusal"), Some("content_filter")),
        (&stop(1, "cancelled"), None, Some("cancelled"), Some("cancelled")),
        (&stop(1, "newer"), None, Some("newer"), Some("newer")),
        (&result(1, json!({})), None, None, None),
        (&error(1, -32603, "no"), Some("-32603"), None, Some("error")),
        (&error(1, 400, "no"), Some("400"), None, Some("error")),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, Some("_OTHER"), None, Some("error")),
    ];
    for (answer, error_type, stop_reason, finish_reason) in answers {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, answer);
        let turn = run.span("invoke_agent");
        assert_eq!(turn.str("error.type"), error_type, "{answer}");
        assert_eq!(turn.str("acp.stop_reason"), stop_reason, "{answer}");
        assert_eq!(turn.finish_reasons(), finish_reason.map(|reason| vec![reason]), "{answer}");
        let code = error_type.filter(|error_type| *error_type != "_OTHER");
        assert_eq!(turn.str("rpc.response.status_code"), code, "{answer}");
    }
}

#[test]
fn close_reasons_have_statuses() {
    let rows = [
        (ClosedBy::Client, Some("client_closed"), None, "error"),
        (ClosedBy::Agent, Some("agent_exited"), None, "error"),
        (ClosedBy::Observer, None, Some("observer_stopped"), "incomplete"),
    ];
    for (reason, error_type, ended, finish_reason) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &request(9, "session/list", json!({})));
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &tool("s", "t", "read", "in_progress"));
        run.line(A2C, &request(1, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" })));
        run.close(reason);
        for name in ["invoke_agent", "execute_tool read", "fs/read_text_file", "session/list"] {
            let span = run.span(name);
            assert_eq!(span.str("error.type"), error_type, "{name}");
            let key = if name == "execute_tool read" { "acp.tool.end" } else { "acp.request.end" };
            assert_eq!(span.str(key), ended, "{name}");
        }
        assert_eq!(run.span("invoke_agent").finish_reasons(), Some(vec![finish_reason]));
    }
}

#[test]
fn closed_tracker_starts_over() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.close(ClosedBy::Agent);
    run.close(ClosedBy::Agent);
    run.line(A2C, &stop(1, "end_turn"));
    assert_eq!(run.tracker.counters().unmatched_responses, 1);
    assert_eq!(run.spans.all.len(), 1);
}

#[test]
fn error_message_requires_content_capture() {
    for (record_content, description) in [(false, None), (true, Some("no such thing".to_owned()))] {
        let mut policy = Policy::default();
        policy.content = if record_content { Capture::Span } else { Capture::Off };
        let mut run = Run::new(policy);
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &error(1, -32603, "no such thing"));
        assert_eq!(*run.span("invoke_agent").status(), Status::Error { description });
    }
}

#[test]
fn finish_reason_can_be_verbatim() {
    let mut policy = Policy::default();
    policy.finish_reason = FinishReasonPolicy::Verbatim;
    let mut run = Run::new(policy);
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &stop(1, "max_turn_requests"));
    assert_eq!(run.span("invoke_agent").finish_reasons(), Some(vec!["max_turn_requests"]));
}

fn initialize(run: &mut Run) {
    let client = json!({ "name": "editor", "version": "7" });
    let agent = json!({ "name": "coder", "title": "The Coder", "version": "1.2" });
    run.line(C2A, &request(0, "initialize", json!({ "protocolVersion": 1, "clientInfo": client })));
    run.line(A2C, &result(0, json!({ "protocolVersion": 1, "agentInfo": agent })));
}

#[test]
fn turn_records_its_peers() {
    let mut run = Run::new(Policy::default());
    initialize(&mut run);
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &stop(1, "end_turn"));
    let turn = run.span("invoke_agent coder");
    for (key, value) in [
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.provider.name", "coder"),
        ("gen_ai.agent.name", "coder"),
        ("gen_ai.agent.version", "1.2"),
        ("acp.agent.title", "The Coder"),
        ("acp.client.name", "editor"),
        ("acp.client.version", "7"),
        ("jsonrpc.request.id", "1"),
    ] {
        assert_eq!(turn.str(key), Some(value), "{key}");
    }
    assert_eq!(turn.i64("acp.protocol.version"), Some(1));
    assert_eq!(run.span("initialize").i64("acp.protocol.version"), Some(1));
}

#[test]
fn provider_policies_set_the_provider() {
    let rows = [
        (ProviderPolicy::AgentName, "coder", "acp"),
        (ProviderPolicy::Prefixed, "acp.coder", "acp"),
        (ProviderPolicy::Fixed("anthropic".into()), "anthropic", "anthropic"),
    ];
    for (provider, with_info, without_info) in rows {
        for (knows_agent, expected) in [(true, with_info), (false, without_info)] {
            let mut policy = Policy::default();
            policy.provider = provider.clone();
            let mut run = Run::new(policy);
            if knows_agent {
                initialize(&mut run);
            }
            run.line(C2A, &prompt(1, "s"));
            run.line(A2C, &stop(1, "end_turn"));
            let turn = run.spans.all.values().last().unwrap();
            assert_eq!(turn.str("gen_ai.provider.name"), Some(expected), "{provider:?}");
        }
    }
}

/// Both directions use the same numbers, and ids differ by type.
#[test]
fn ids_differ_by_direction_and_type() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &request("1", "session/list", json!({})));
    run.line(A2C, &request(1, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" })));
    run.line(C2A, &error(1, -32002, "no"));
    assert!(run.span("fs/read_text_file").is_error());
    run.line(A2C, &error("1", -32601, "no"));
    assert!(run.span("session/list").is_error());
    assert_eq!(run.span("session/list").str("jsonrpc.request.id"), Some("1"));
    run.line(A2C, &stop(1, "end_turn"));
    assert!(!run.span("invoke_agent").is_error());
    assert_eq!(run.tracker.counters(), semconv_map::Counters::default());
}

#[test]
fn reused_id_ends_the_first_request() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &stop(1, "end_turn"));
    let turns: Vec<_> = run.spans.all.values().collect();
    assert_eq!(turns[0].str("acp.request.end"), Some("id_reused"));
    assert_eq!(turns[0].finish_reasons(), Some(vec!["incomplete"]));
    assert_eq!(turns[1].str("acp.stop_reason"), Some("end_turn"));
}

/// Updates belong to the oldest prompt, and sessions are independent.
#[test]
fn prompts_and_sessions_are_concurrent() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &prompt(2, "s"));
    run.line(C2A, &prompt(3, "other"));
    run.line(A2C, &tool("s", "t", "read", "completed"));
    run.line(A2C, &tool("other", "t", "edit", "completed"));
    run.line(A2C, &stop(1, "end_turn"));
    run.line(A2C, &tool("s", "u", "search", "completed"));
    let handles: Vec<_> = run.spans.all.keys().copied().collect();
    assert_eq!(run.span("execute_tool read").start.parent, Parent::Span(handles[0]));
    assert_eq!(run.span("execute_tool search").start.parent, Parent::Span(handles[1]));
    assert_eq!(run.span("execute_tool edit").start.parent, Parent::Span(handles[2]));
    run.line(A2C, &stop(2, "end_turn"));
    run.line(A2C, &stop(3, "end_turn"));
    assert!(run.spans.all.values().all(|span| span.end.is_some()));
}

#[test]
fn cancelling_is_an_event_of_each_open_turn() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(C2A, &request(2, "session/list", json!({})));
    run.line(C2A, &notification("session/cancel", json!({ "sessionId": "s" })));
    run.line(C2A, &notification("session/cancel", json!({ "sessionId": "elsewhere" })));
    run.line(C2A, &notification("$/cancel_request", json!({ "requestId": 1 })));
    run.line(C2A, &notification("$/cancel_request", json!({ "requestId": 2 })));
    run.line(A2C, &notification("$/cancel_request", json!({ "requestId": 1 })));
    assert_eq!(
        run.span("invoke_agent").event_names(),
        ["acp.session.cancel", "acp.cancel_request"]
    );
    assert_eq!(run.span("session/list").event_names(), ["acp.cancel_request"]);
}

#[test]
fn model_is_that_of_the_session() {
    let option = |model: &str| {
        json!([
            { "id": "m", "name": "Mode", "category": "mode", "type": "select", "currentValue": "ask", "options": [] },
            { "id": "x", "name": "Model", "category": "model", "type": "select", "currentValue": model, "options": [] },
        ])
    };
    let mut run = Run::new(Policy::default());
    let mut id = 10;
    let mut model = |run: &mut Run| {
        id += 1;
        run.line(C2A, &prompt(id, "s"));
        run.line(A2C, &stop(id, "end_turn"));
        run.spans.all.values().last().unwrap().str("gen_ai.request.model").map(str::to_owned)
    };
    run.line(C2A, &request(0, "session/new", json!({})));
    run.line(A2C, &result(0, json!({ "sessionId": "s", "configOptions": option("one"), "models": { "currentModelId": "old" } })));
    assert_eq!(model(&mut run).as_deref(), Some("one"));
    // An agent with several options of the category.
    let several = ["provider", "model", "other"].map(|id| json!({ "id": id, "name": id, "category": "model", "type": "select", "currentValue": id, "options": [] }));
    let several = json!({ "sessionUpdate": "config_option_update", "configOptions": several });
    run.line(A2C, &update("s", several));
    assert_eq!(model(&mut run).as_deref(), Some("model"));
    run.line(
        A2C,
        &update(
            "s",
            json!({ "sessionUpdate": "config_option_update", "configOptions": option("two") }),
        ),
    );
    assert_eq!(model(&mut run).as_deref(), Some("two"));
    run.line(
        C2A,
        &request(
            1,
            "session/set_config_option",
            json!({ "sessionId": "s", "configId": "x", "value": "three" }),
        ),
    );
    run.line(A2C, &result(1, json!({ "configOptions": option("three") })));
    assert_eq!(model(&mut run).as_deref(), Some("three"));
    run.line(C2A, &request(2, "session/new", json!({})));
    run.line(A2C, &result(2, json!({ "sessionId": "s", "models": { "currentModelId": "old" } })));
    assert_eq!(
        model(&mut run).as_deref(),
        Some("three"),
        "the member of the schema takes precedence"
    );
}

/// Older agents use a separate request with an empty result.
#[test]
fn set_model_affects_the_next_turn() {
    let set = |id: i64, model: Value| {
        request(id, "session/set_model", json!({ "sessionId": "s", "modelId": model }))
    };
    let rows = [
        (result(2, json!({})), json!("new"), "new"),
        (result(2, Value::Null), json!("new"), "new"),
        (error(2, -32603, "no such model"), json!("new"), "old"),
        (result(2, json!({})), json!(7), "old"),
    ];
    for (answer, given, expected) in rows {
        let mut run = Run::new(Policy::default());
        run.line(C2A, &request(1, "session/new", json!({})));
        run.line(
            A2C,
            &result(1, json!({ "sessionId": "s", "models": { "currentModelId": "old" } })),
        );
        run.line(C2A, &set(2, given));
        run.line(A2C, &answer);
        run.line(C2A, &prompt(3, "s"));
        assert_eq!(
            run.span("invoke_agent").str("gen_ai.request.model"),
            Some(expected),
            "{answer}"
        );
    }
}

#[test]
fn session_updates_are_events_of_the_turn() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    for event in [
        json!({ "sessionUpdate": "plan", "entries": [
            { "content": "one", "priority": "high", "status": "completed" },
            { "content": "two", "priority": "low", "status": "pending" },
        ] }),
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": "code" }),
        json!({ "sessionUpdate": "config_option_update", "configOptions": [] }),
        json!({ "sessionUpdate": "notice", "severity": "warning", "title": "Low disk" }),
        json!({ "sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed" }),
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] }),
        json!({ "sessionUpdate": "newer" }),
    ] {
        run.line(A2C, &update("s", event));
    }
    let turn = run.span("invoke_agent");
    assert_eq!(
        turn.event_names(),
        ["acp.plan", "acp.mode", "acp.config_options", "acp.notice", "acp.compaction"]
    );
    let said: Vec<_> = turn
        .events
        .iter()
        .flat_map(|event| &event.attributes)
        .map(|attribute| attribute.key)
        .collect();
    assert_eq!(
        said,
        [
            "acp.plan.entries",
            "acp.plan.completed",
            "acp.session.mode.id",
            "acp.notice.severity",
            "acp.compaction.status"
        ]
    );
    assert_eq!(run.tracker.counters(), semconv_map::Counters::default());
}

/// Some agents write the kind of update last, or with escapes.
#[test]
fn kind_of_update_may_be_anywhere() {
    let mut run = Run::new(Policy::default());
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, r#"{"method":"session\/update","params":{"update":{"content":{"type":"text","text":"x","sessionUpdate":"plan"},"sessionUpdate":"agent_mess\u0061ge_chunk"},"sessionId":"\u0073"},"jsonrpc":"2.0"}"#);
    run.line(A2C, &stop(1, "end_turn"));
    assert_eq!(run.span("invoke_agent").f64("acp.prompt.time_to_first_update"), Some(1.0));
}
