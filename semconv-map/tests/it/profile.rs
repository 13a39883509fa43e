//! Names of attributes in each profile.
use crate::lines::{chose, error, prompt, request, result, stop, tool, tool_status};
use crate::spans::{A2C, C2A, Run};
use semconv_map::content::Capture;
use semconv_map::policy::{ProviderPolicy, ToolTypePolicy};
use semconv_map::span::{Parent, SpanKind};
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

/// A compaction is a part of the message if the conventions define one, and an event in each
/// profile.
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

/// In v1.39, file and terminal requests are tools with arguments and results, on the span and in
/// two events.
#[test]
fn early_profile_records_content_of_client_tools() {
    let params = json!({ "sessionId": "s", "path": "/a" });
    let answer = json!({ "content": "text" });
    for (profile, content, on_span, events) in [
        (Profile::V1_39, Capture::Off, false, 0),
        (Profile::V1_39, Capture::Span, true, 0),
        (Profile::V1_39, Capture::Event, false, 2),
        (Profile::V1_41, Capture::Span, false, 0),
        (Profile::GENAI_DEV, Capture::Event, false, 1),
    ] {
        let mut policy = Policy::default();
        policy.profile = profile;
        policy.content = content;
        let mut run = Run::new(policy);
        run.line(C2A, &prompt(1, "s"));
        run.line(A2C, &request(7, "fs/read_text_file", params.clone()));
        run.line(C2A, &result(7, answer.clone()));
        run.line(A2C, &stop(1, "end_turn"));
        let is_tool = profile == Profile::V1_39;
        let method = "fs/read_text_file";
        let name = if is_tool { format!("execute_tool {method}") } else { method.to_owned() };
        let read = run.span(&name);
        let recorded = |key| read.str(key).map(|text| serde_json::from_str(text).unwrap());
        let shown = format!("{} {content:?}", profile.schema_url());
        let expected = |value: &serde_json::Value| on_span.then(|| value.clone());
        assert_eq!(recorded("gen_ai.tool.call.arguments"), expected(&params), "{shown}");
        assert_eq!(recorded("gen_ai.tool.call.result"), expected(&answer), "{shown}");
        assert_eq!(read.event_names(), vec!["acp.details"; events], "{shown}");
    }
}

/// The kinds of tools in the table of the early design, those of the type `datastore` first.
const EARLY_KINDS: [&str; 9] =
    ["read", "search", "fetch", "edit", "delete", "move", "execute", "think", "other"];

/// A session with the policies that reproduce the early design.
fn early_run() -> Run {
    let mut policy = Policy::default();
    policy.profile = Profile::V1_39;
    policy.provider = ProviderPolicy::Prefixed;
    policy.tool_type = ToolTypePolicy::ByKind;
    policy.network_transport = Some("pipe".into());
    let mut run = Run::new(policy);
    let agent = json!({ "name": "kiro", "version": "1.2" });
    let client = json!({ "name": "zed", "version": "0.9" });
    let params = json!({ "protocolVersion": 1, "clientInfo": client });
    run.line(C2A, &request(0, "initialize", params));
    run.line(A2C, &result(0, json!({ "protocolVersion": 1, "agentInfo": agent })));
    run.line(C2A, &prompt(1, "s"));
    for kind in EARLY_KINDS {
        run.line(A2C, &tool("s", kind, kind, "in_progress"));
        run.line(A2C, &tool_status("s", kind, "completed"));
    }
    run.line(A2C, &request(7, "fs/read_text_file", json!({ "sessionId": "s", "path": "/a" })));
    run.line(C2A, &error(7, -32002, "no such file"));
    let options = json!([{ "optionId": "yes", "name": "Yes", "kind": "allow_once" }]);
    let params = json!({ "sessionId": "s", "options": options });
    run.line(A2C, &request(8, "session/request_permission", params));
    run.line(C2A, &chose(8, "yes"));
    run.line(A2C, &stop(1, "end_turn"));
    run
}

/// Expected values are those of the tables in the design.
#[test]
fn early_design_of_turns_and_permissions_is_reproduced() {
    let run = early_run();
    let turn = run.span("invoke_agent kiro");
    assert_eq!(turn.start.kind, SpanKind::Client);
    assert!(!turn.is_error());
    for (key, expected) in [
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.provider.name", "acp.kiro"),
        ("gen_ai.agent.name", "kiro"),
        ("gen_ai.conversation.id", "s"),
        ("acp.method.name", "session/prompt"),
        ("acp.agent.version", "1.2"),
        ("acp.client.name", "zed"),
        ("acp.client.version", "0.9"),
        ("jsonrpc.request.id", "1"),
        ("network.transport", "pipe"),
    ] {
        assert_eq!(turn.str(key), Some(expected), "{key}");
    }
    assert_eq!(turn.i64("acp.protocol.version"), Some(1));
    let permission = run.span("session/request_permission");
    assert_eq!(permission.str("acp.method.name"), Some("session/request_permission"));
    assert_eq!(permission.str("acp.permission.option.kind"), Some("allow_once"));
}

#[test]
fn early_design_of_tools_is_reproduced() {
    let run = early_run();
    let turn = run.span("invoke_agent kiro").start.span;
    for (at, kind) in EARLY_KINDS.into_iter().enumerate() {
        let call = run.span(&format!("execute_tool {kind}"));
        assert_eq!(call.start.kind, SpanKind::Internal);
        assert_eq!(&call.start.parent, &Parent::Span(turn));
        let expected = if at < 3 { "datastore" } else { "extension" };
        assert_eq!(call.str("gen_ai.tool.type"), Some(expected), "{kind}");
        assert_eq!(call.str("gen_ai.operation.name"), Some("execute_tool"));
        assert_eq!(call.str("gen_ai.tool.call.id"), Some(kind));
        assert_eq!(call.str("acp.tool.kind"), Some(kind));
    }
    let read = run.span("execute_tool fs/read_text_file");
    assert_eq!(read.start.kind, SpanKind::Internal);
    assert_eq!(&read.start.parent, &Parent::Span(turn));
    assert!(read.is_error());
    for (key, expected) in [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "fs/read_text_file"),
        ("gen_ai.tool.type", "function"),
        ("gen_ai.tool.call.id", "7"),
        ("error.type", "-32002"),
    ] {
        assert_eq!(read.str(key), Some(expected), "{key}");
    }
}

/// A request without a result has no result, and a tool call has no request id.
#[test]
fn early_profile_follows_its_design() {
    let mut policy = Policy::default();
    policy.profile = Profile::V1_39;
    policy.content = Capture::Span;
    policy.record_metrics = true;
    let mut run = Run::new(policy);
    run.line(C2A, &prompt(1, "s"));
    run.line(A2C, &tool("s", "t", "read", "in_progress"));
    run.line(A2C, &request(7, "terminal/create", json!({ "sessionId": "s", "command": "ls" })));
    let error = json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": -32603, "message": "no" } });
    run.line(C2A, &error.to_string());
    run.line(A2C, &stop(1, "end_turn"));
    let create = run.span("execute_tool terminal/create");
    assert!(create.is_error() && create.get("gen_ai.tool.call.arguments").is_some());
    assert_eq!(create.get("gen_ai.tool.call.result"), None);
    assert_eq!(create.str("acp.method.name"), Some("terminal/create"));
    let call = run.span("execute_tool read");
    assert_eq!(call.str("acp.method.name"), Some("session/update"));
    assert_eq!(call.get("jsonrpc.request.id"), None);
    // Only the tool call has the duration of a tool call.
    let durations =
        run.spans.metrics.iter().filter(|it| it.metric.name == "acp.tool_call.duration");
    assert_eq!(durations.count(), 1);
}

/// The event of a turn has the attributes of an inference that the development version defines.
#[test]
fn event_of_a_turn_describes_the_inference() {
    for (profile, has_inference) in [(Profile::V1_41, false), (Profile::GENAI_DEV, true)] {
        let mut policy = Policy::default();
        policy.profile = profile;
        policy.content = Capture::Event;
        let mut run = Run::new(policy);
        run.line(C2A, &request(0, "session/new", json!({ "cwd": "/", "mcpServers": [] })));
        let option = |id, category, value| json!({ "id": id, "name": id, "category": category, "type": "select", "currentValue": value, "options": [] });
        let options = [option("m", "model", "claude-x"), option("t", "thought_level", "high")];
        run.line(A2C, &result(0, json!({ "sessionId": "s", "configOptions": options })));
        run.line(C2A, &prompt(1, "s"));
        let update = json!({ "sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed" });
        run.line(A2C, &crate::lines::update("s", update));
        let usage = json!({ "totalTokens": 3, "inputTokens": 1, "outputTokens": 2 });
        run.line(A2C, &result(1, json!({ "stopReason": "end_turn", "usage": usage })));
        run.line(C2A, &prompt(2, "s"));
        run.line(A2C, &stop(2, "end_turn"));
        let turns: Vec<_> =
            run.spans.all.values().filter(|span| span.name() == "invoke_agent").collect();
        let value = |turn: usize, key: &str| {
            let event = turns[turn].events.iter().find(|event| event.is_log()).unwrap();
            event.attributes.iter().find(|it| it.key == key).map(|it| it.value.clone())
        };
        assert_eq!(value(0, "gen_ai.request.model"), Some("claude-x".into()));
        assert_eq!(value(0, "gen_ai.usage.input_tokens"), Some(1.into()));
        let level = has_inference.then_some("high".into());
        assert_eq!(value(0, "gen_ai.request.reasoning.level"), level);
        assert_eq!(value(1, "gen_ai.request.reasoning.level"), level);
        let compacted = has_inference.then_some(true.into());
        assert_eq!(value(0, "gen_ai.conversation.compacted"), compacted);
        assert_eq!(value(1, "gen_ai.conversation.compacted"), None);
    }
}
