//! Names of attributes in each profile.
use crate::lines::{prompt, request, result, stop, tool};
use crate::spans::{A2C, C2A, Run};
use semconv_map::content::Capture;
use semconv_map::policy::ToolTypePolicy;
use semconv_map::span::SpanKind;
use semconv_map::{ClosedBy, Policy, Profile, SCHEMA_URL};
use serde_json::json;

fn run(profile: Profile) -> Run {
    let mut policy = Policy::default();
    policy.profile = profile;
    let mut run = Run::new(policy);
    let agent = json!({ "name": "coder", "version": "1.2" });
    run.line(C2A, &request(0, "initialize", json!({ "protocolVersion": 1 })));
    run.line(A2C, &result(0, json!({ "protocolVersion": 1, "agentInfo": agent })));
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "t", "read", "in_progress"));
    run.line(A2C, &request(7, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" })));
    run.line(C2A, &result(7, json!({ "content": "" })));
    let usage = json!({ "totalTokens": 6, "inputTokens": 1, "outputTokens": 2, "cachedReadTokens": 3, "cachedWriteTokens": 0 });
    run.line(A2C, &result(1, json!({ "stopReason": "end_turn", "usage": usage })));
    run
}

#[test]
fn default_profile_is_v1_41() {
    assert_eq!(Policy::default().profile, Profile::V1_41);
    assert_eq!(Profile::V1_41.schema_url(), SCHEMA_URL);
    let run = run(Profile::V1_41);
    let turn = run.span("invoke_agent coder");
    assert_eq!(turn.str("gen_ai.agent.version"), Some("1.2"));
    assert_eq!(turn.i64("gen_ai.usage.cache_read.input_tokens"), Some(3));
    assert_eq!(turn.i64("gen_ai.usage.cache_creation.input_tokens"), Some(0));
    let read = run.span("fs/read_text_file");
    assert_eq!(read.start.kind, SpanKind::Server);
    assert_eq!(read.get("gen_ai.operation.name"), None);
}

#[test]
fn development_profile_has_new_names() {
    assert_eq!(
        Profile::GENAI_DEV.schema_url(),
        "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
    );
    let run = run(Profile::GENAI_DEV);
    let turn = run.span("invoke_agent coder");
    assert_eq!(turn.str("gen_ai.agent.version"), Some("1.2"));
    assert_eq!(turn.i64("gen_ai.usage.cache_read.input_tokens"), Some(3));
    assert_eq!(turn.i64("gen_ai.usage.cache_write.input_tokens"), Some(0));
    assert_eq!(turn.get("gen_ai.usage.cache_creation.input_tokens"), None);
    assert_eq!(turn.get("gen_ai.usage.reasoning.output_tokens"), None, "not reported by the agent");
    assert_eq!(run.span("fs/read_text_file").start.kind, SpanKind::Server);
}

/// Tool arguments and results in each profile.
#[test]
fn development_profile_wraps_tool_content() {
    let rows = [
        (json!({ "a": 1 }), r#"{"a":1}"#, r#"{"a":1}"#),
        (json!("text"), r#""text""#, r#"{"value":"text"}"#),
        (json!([1]), "[1]", r#"{"value":[1]}"#),
        (json!(7), "7", r#"{"value":7}"#),
    ];
    for (given, any, object) in rows {
        for (profile, expected) in
            [(Profile::V1_39, any), (Profile::V1_41, any), (Profile::GENAI_DEV, object)]
        {
            let mut policy = Policy::default();
            policy.profile = profile;
            policy.content = Capture::Span;
            let mut run = Run::new(policy);
            let update = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "status": "completed", "rawInput": given, "rawOutput": given });
            run.line(A2C, &crate::lines::update("s", update));
            let tool = run.span("execute_tool other");
            assert_eq!(tool.str("gen_ai.tool.call.arguments"), Some(expected), "{given}");
            assert_eq!(tool.str("gen_ai.tool.call.result"), Some(expected), "{given}");
        }
    }
}

/// A compaction is a part of the message if the conventions define one, and an event in each profile.
#[test]
fn development_profile_has_compaction_parts() {
    for (profile, expected) in [
        (Profile::V1_39, json!([])),
        (Profile::V1_41, json!([])),
        (Profile::GENAI_DEV, json!([{ "type": "compaction", "id": "c" }])),
    ] {
        let mut policy = Policy::default();
        policy.profile = profile;
        policy.content = Capture::Span;
        let mut run = Run::new(policy);
        run.line(C2A, &prompt(1, "s"));
        for status in ["in_progress", "completed"] {
            let update = json!({ "sessionUpdate": "compaction_update", "compactionId": "c", "status": status });
            run.line(A2C, &crate::lines::update("s", update));
        }
        run.line(A2C, &stop(1, "end_turn"));
        let turn = run.span("invoke_agent");
        assert_eq!(turn.event_names(), ["acp.compaction"; 2]);
        let output = turn.str("gen_ai.output.messages").unwrap();
        let output: serde_json::Value = serde_json::from_str(output).unwrap();
        assert_eq!(output[0]["parts"], expected, "{}", profile.schema_url());
    }
}

/// The observed place of execution determines the tool type.
#[test]
fn tool_type_by_execution_is_observed() {
    let mut policy = Policy::default();
    policy.tool_type = ToolTypePolicy::ByExecution;
    let mut run = Run::new(policy);
    let read =
        |id: i64| request(id, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" }));
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "a", "read", "in_progress"));
    run.line(A2C, &read(7));
    run.line(A2C, &tool("s", "a", "read", "completed"));
    run.line(A2C, &tool("s", "b", "edit", "in_progress"));
    run.line(A2C, &tool("s", "c", "fetch", "in_progress"));
    run.line(A2C, &read(8));
    run.line(
        A2C,
        &request(
            9,
            "session/request_permission",
            json!({ "sessionId": "s", "toolCall": { "toolCallId": "c" } }),
        ),
    );
    run.line(A2C, &stop(1, "end_turn"));
    for (name, expected) in [
        ("execute_tool read", "function"),
        ("execute_tool edit", "extension"),
        ("execute_tool fetch", "extension"),
    ] {
        assert_eq!(run.span(name).str("gen_ai.tool.type"), Some(expected), "{name}");
    }
}

#[test]
fn v1_39_has_no_later_names() {
    assert_eq!(Profile::V1_39.schema_url(), "https://opentelemetry.io/schemas/1.39.0");
    let run = run(Profile::V1_39);
    let turn = run.span("invoke_agent coder");
    assert_eq!(turn.get("gen_ai.agent.version"), None);
    assert_eq!(turn.str("acp.agent.version"), Some("1.2"));
    assert_eq!(turn.i64("gen_ai.usage.input_tokens"), Some(4));
    assert_eq!(turn.get("gen_ai.usage.cache_read.input_tokens"), None);
    let read = run.span("execute_tool fs/read_text_file");
    assert_eq!(read.start.kind, SpanKind::Internal);
    for (key, value) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "fs/read_text_file"),
        ("gen_ai.tool.type", "function"),
        ("gen_ai.tool.call.id", "7"),
        ("gen_ai.agent.name", "coder"),
    ] {
        assert_eq!(read.str(key), Some(value), "{key}");
    }
    assert!(run.spans.names().contains(&"execute_tool read"));
}

/// No id is generated for a tool call without one.
#[test]
fn request_without_an_id_is_a_tool_call_without_an_id() {
    let mut policy = Policy::default();
    policy.profile = Profile::V1_39;
    let mut run = Run::new(policy);
    run.line(A2C, &request(json!(null), "fs/read_text_file", json!({ "path": "/a" })));
    run.close(ClosedBy::Client);
    assert_eq!(run.span("execute_tool fs/read_text_file").get("gen_ai.tool.call.id"), None);
}

#[test]
fn known_transport_is_on_every_span() {
    let mut policy = Policy::default();
    policy.network_transport = Some("pipe".into());
    let mut run = Run::new(policy);
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "t", "read", "in_progress"));
    run.line(A2C, &request(7, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" })));
    run.line(A2C, &stop(1, "end_turn"));
    for span in run.spans.all.values() {
        assert_eq!(span.str("network.transport"), Some("pipe"), "{}", span.name());
    }
}
