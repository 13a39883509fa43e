use crate::lines::{prompt, request, result, stop, tool};
use crate::spans::{A2C, C2A, Run};
use semconv_map::span::SpanKind;
use semconv_map::{Policy, Profile, SCHEMA_URL};
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
fn the_default_profile_is_v1_41() {
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
fn v1_39_has_no_names_that_came_later() {
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

#[test]
fn the_transport_is_on_every_span_if_it_is_known() {
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
