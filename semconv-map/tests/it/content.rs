//! Content of messages and tool calls on spans, and its limits.
use crate::lines::{
    error, permission, prompt, request, result, stop, text, tool, tool_status, update,
};
use crate::spans::{A2C, C2A, Run};
use proptest::prelude::*;
use semconv_map::content::Capture;
use semconv_map::messages::{MAX_MESSAGE_BYTES, MAX_PART_BYTES, MAX_PARTS};
use semconv_map::{AttributeValue, ClosedBy, Direction, Policy, Profile};
use serde_json::{Value, json};

mod truncated;

fn recording() -> Policy {
    let mut policy = Policy::default();
    policy.content = Capture::Span;
    policy
}

/// A session that contains the word wherever users, models or tools write text.
pub(crate) fn session_full_of(word: &str) -> Vec<(Direction, String)> {
    let block = json!({ "type": "text", "text": word, "_meta": { "x": word } });
    let path = format!("/home/{word}/a.rs");
    let update = |more: Value| update("s", more);
    let chunk = |kind: &str| update(json!({ "sessionUpdate": kind, "content": block }));
    let tool_call = json!({
        "toolCallId": "t", "title": word, "rawInput": { "command": word }, "rawOutput": word,
        "locations": [{ "path": path, "line": 3 }], "_meta": { "description": word },
        "content": [
            { "type": "content", "content": block },
            { "type": "diff", "path": path, "oldText": word, "newText": word },
        ],
    });
    let mut announced = tool_call.clone();
    announced["sessionUpdate"] = "tool_call".into();
    let options = json!([{ "optionId": "yes", "name": word, "kind": "allow_once" }]);
    let resource = json!({ "type": "resource", "resource": { "uri": path, "text": word } });
    let link = json!({ "type": "resource_link", "name": word, "uri": path, "title": word });
    let image = json!({ "type": "image", "data": word, "mimeType": "image/png", "uri": path });
    let terminal = json!({ "sessionId": "s", "command": word, "args": [word], "cwd": path, "env": [{ "name": "X", "value": word }] });
    vec![
        (
            C2A,
            request(
                0,
                "session/new",
                json!({ "cwd": path, "mcpServers": [{ "name": word, "command": word, "args": [], "env": [] }] }),
            ),
        ),
        (A2C, result(0, json!({ "sessionId": "s", "_meta": { "x": word } }))),
        (
            C2A,
            request(
                1,
                "session/prompt",
                json!({ "sessionId": "s", "prompt": [block, resource, link, image] }),
            ),
        ),
        (A2C, chunk("user_message_chunk")),
        (A2C, chunk("agent_thought_chunk")),
        (A2C, chunk("agent_message_chunk")),
        (
            A2C,
            update(
                json!({ "sessionUpdate": "plan", "entries": [{ "content": word, "priority": "low", "status": "pending" }] }),
            ),
        ),
        (
            A2C,
            update(
                json!({ "sessionUpdate": "notice", "severity": "info", "title": word, "description": word }),
            ),
        ),
        (A2C, update(json!({ "sessionUpdate": "session_info_update", "title": word }))),
        (
            A2C,
            update(
                json!({ "sessionUpdate": "available_commands_update", "availableCommands": [{ "name": word, "description": word }] }),
            ),
        ),
        (
            A2C,
            update(
                json!({ "sessionUpdate": "compaction_update", "compactionId": "c", "status": "failed", "error": word, "summary": [block] }),
            ),
        ),
        (A2C, update(announced)),
        (
            A2C,
            request(
                0,
                "session/request_permission",
                json!({ "sessionId": "s", "toolCall": tool_call, "options": options }),
            ),
        ),
        (C2A, crate::lines::chose(0, "yes")),
        (
            A2C,
            request(
                1,
                "fs/write_text_file",
                json!({ "sessionId": "s", "path": path, "content": word }),
            ),
        ),
        (C2A, error(1, -32603, word)),
        (A2C, request(2, "terminal/create", terminal)),
        (C2A, result(2, json!({ "terminalId": "term" }))),
        (A2C, request(3, "terminal/output", json!({ "sessionId": "s", "terminalId": "term" }))),
        (C2A, result(3, json!({ "output": word, "truncated": false }))),
        (
            A2C,
            request(
                4,
                "elicitation/create",
                json!({ "mode": "url", "message": word, "url": word, "sessionId": "s", "elicitationId": "e" }),
            ),
        ),
        (C2A, result(4, json!({ "action": "accept", "content": { "answer": word } }))),
        (A2C, request(5, "_vendor/ask", json!({ "question": word }))),
        (C2A, error(5, -32601, word)),
        (A2C, tool_status("s", "t", "failed")),
        (A2C, format!("{word} on stdout")),
        (A2C, error(1, -32000, word)),
        (C2A, request(2, "authenticate", json!({ "methodId": "x", "_meta": { "key": word } }))),
    ]
}

const CANARY: &str = "canary-5e1f";

fn run_canary(policy: Policy) -> String {
    let mut run = Run::new(policy);
    let mut seen = String::new();
    for (direction, line) in session_full_of(CANARY) {
        run.line(direction, &line);
    }
    run.close(ClosedBy::Agent);
    for span in run.spans.all.values() {
        seen.push_str(&format!("{:?} {:?} {:?}\n", span.start, span.events, span.end));
    }
    seen
}

/// No text of users, models or tools is recorded with content capture off.
#[test]
fn no_content_is_recorded_with_capture_off() {
    for profile in [Profile::V1_41, Profile::V1_39, Profile::GENAI_DEV] {
        let mut policy = Policy::default();
        policy.profile = profile;
        assert!(!run_canary(policy.clone()).contains(CANARY));
        policy.content = Capture::Span;
        assert!(run_canary(policy).contains(CANARY), "the canary is recorded with capture on");
    }
}

#[test]
fn content_attributes_follow_the_conventions() {
    let mut run = Run::new(recording());
    for (direction, line) in session_full_of("word") {
        run.line(direction, &line);
    }
    let turn = run.span("invoke_agent");
    assert_eq!(
        json_of(turn.str("gen_ai.input.messages")),
        json!([{ "role": "user", "parts": [
            { "type": "text", "content": "word" },
            { "type": "text", "content": "word", "uri": "/home/word/a.rs" },
            { "type": "uri", "modality": "document", "uri": "/home/word/a.rs", "name": "word", "title": "word" },
            { "type": "blob", "modality": "image", "mime_type": "image/png", "content": "word", "uri": "/home/word/a.rs" },
        ] }])
    );
    assert_eq!(
        json_of(turn.str("gen_ai.output.messages")),
        json!([{ "role": "assistant", "finish_reason": "error", "parts": [
            { "type": "reasoning", "content": "word" },
            { "type": "text", "content": "word" },
            { "type": "tool_call", "id": "t", "name": "other" },
        ] }])
    );
    let tool = run.span("execute_tool other");
    assert_eq!(tool.str("gen_ai.tool.call.arguments"), Some(r#"{"command":"word"}"#));
    assert_eq!(tool.str("gen_ai.tool.call.result"), Some(r#""word""#));
    assert_eq!(tool.str("acp.tool.title"), Some("word"));
    assert_eq!(
        tool.get("acp.tool.locations"),
        Some(&AttributeValue::StringArray(vec!["/home/word/a.rs:3".into()]))
    );
    assert_eq!(run.span("fs/write_text_file").str("acp.fs.path"), Some("/home/word/a.rs"));
    assert_eq!(run.span("terminal/create").str("acp.terminal.command"), Some("word word"));
}

/// The result of a tool without `rawOutput` is its content.
#[test]
fn content_of_a_tool_call_is_its_result() {
    let mut run = Run::new(recording());
    let content = json!([{ "type": "content", "content": { "type": "text", "text": "x" } }]);
    run.line(A2C, &update("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "content": content })));
    assert_eq!(json_of(run.span("execute_tool other").str("gen_ai.tool.call.result")), content);
}

/// Agents announce pending output as an empty list.
#[test]
fn tool_call_without_output_has_no_result() {
    let mut run = Run::new(recording());
    run.line(A2C, &update("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "content": [] })));
    assert_eq!(run.span("execute_tool other").get("gen_ai.tool.call.result"), None);
}

/// Each kind of content block, and the corresponding part.
#[test]
fn content_blocks_become_parts() {
    let rows = [
        (json!({ "type": "text", "text": "a" }), json!({ "type": "text", "content": "a" })),
        (
            json!({ "type": "image", "data": "AA", "mimeType": "image/png" }),
            json!({ "type": "blob", "modality": "image", "mime_type": "image/png", "content": "AA" }),
        ),
        (
            json!({ "type": "audio", "data": "AA", "mimeType": "audio/wav" }),
            json!({ "type": "blob", "modality": "audio", "mime_type": "audio/wav", "content": "AA" }),
        ),
        (
            json!({ "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "video/mp4", "size": 7 }),
            json!({ "type": "uri", "modality": "video", "mime_type": "video/mp4", "uri": "file:///a", "name": "a", "size": 7 }),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "b", "mimeType": "text/plain" } }),
            json!({ "type": "text", "content": "b", "uri": "file:///a", "mime_type": "text/plain" }),
        ),
        (
            json!({ "type": "resource", "resource": { "uri": "file:///a", "blob": "AA" } }),
            json!({ "type": "blob", "modality": "document", "content": "AA", "uri": "file:///a" }),
        ),
        (json!({ "type": "newer", "text": "a" }), json!({ "type": "newer" })),
    ];
    let known: Vec<_> = rows.iter().map(|(block, _)| block["type"].as_str().unwrap()).collect();
    for name in acp_types::v1::content::ContentBlock::NAMES {
        assert!(known.contains(name), "{name} has no row");
    }
    for (block, part) in rows {
        let mut run = Run::new(recording());
        run.line(
            C2A,
            &request(1, "session/prompt", json!({ "sessionId": "s", "prompt": [block] })),
        );
        let input = json_of(run.span("invoke_agent").str("gen_ai.input.messages"));
        assert_eq!(input[0]["parts"], json!([part]), "{block}");
        assert_valid_parts(&input);
    }
}

/// Chunks of one message form one part. A new message, a thought or a tool call starts another.
#[test]
fn output_keeps_its_order() {
    let chunk = |kind: &str, message: Value, text: &str| {
        let content = json!({ "type": "text", "text": text });
        update("s", json!({ "sessionUpdate": kind, "messageId": message, "content": content }))
    };
    let say = "agent_message_chunk";
    let think = "agent_thought_chunk";
    let mut run = Run::new(recording());
    run.line(C2A, &prompt(1, "s"));
    for line in [
        chunk(think, json!("m"), "hm"),
        chunk(say, json!("m"), "a"),
        chunk(say, json!("m"), "b"),
        chunk(say, json!("n"), "c"),
        tool("s", "t", "read", "completed"),
        chunk(say, json!("n"), "d"),
        chunk(say, json!(null), "e"),
        stop(1, "max_tokens"),
    ] {
        run.line(A2C, &line);
    }
    let output = json_of(run.span("invoke_agent").str("gen_ai.output.messages"));
    let parts = output[0]["parts"].as_array().unwrap();
    let seen: Vec<_> = parts
        .iter()
        .map(|part| part["content"].as_str().or(part["name"].as_str()).unwrap())
        .collect();
    assert_eq!(seen, ["hm", "ab", "c", "read", "d", "e"]);
    assert_eq!(output[0]["finish_reason"], "length");
    assert_valid_parts(&output);
}

fn json_of(text: Option<&str>) -> Value {
    serde_json::from_str(text.expect("no content")).expect("not JSON")
}

/// Validates each part against the definition of its own type, because the schemas as a whole
/// accept any object with a type.
///
/// Spec: [gen-ai-input-messages.json](https://github.com/open-telemetry/semantic-conventions/blob/v1.41.1/docs/gen-ai/gen-ai-input-messages.json)
pub(crate) fn assert_valid_parts(messages: &Value) {
    for message in messages.as_array().unwrap() {
        for part in message["parts"].as_array().unwrap() {
            let required: &[&str] = match part["type"].as_str().unwrap() {
                "text" | "reasoning" => &["content"],
                "tool_call" => &["name"],
                "blob" => &["modality", "content"],
                "uri" => &["modality", "uri"],
                "newer" => &[],
                other => panic!("no such part: {other}"),
            };
            assert!(required.iter().all(|member| part[member].is_string()), "{part}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// For any output of an agent, the JSON and its parts are valid, and the limits hold.
    #[test]
    fn output_stays_valid_and_bounded(
        said in prop::collection::vec((any::<bool>(), 0..3_u8, "\\PC{0,4}", 0..8000_usize), 0..40),
    ) {
        let mut run = Run::new(recording());
        run.line(C2A, &prompt(1, "s"));
        for (thought, message, word, times) in said {
            let kind = if thought { "agent_thought_chunk" } else { "agent_message_chunk" };
            let content = json!({ "type": "text", "text": word.repeat(times) });
            run.line(A2C, &update("s", json!({ "sessionUpdate": kind, "messageId": message.to_string(), "content": content })));
        }
        run.line(A2C, &permission(5, "s", "t"));
        run.line(A2C, &stop(1, "end_turn"));
        let output = json_of(run.span("invoke_agent").str("gen_ai.output.messages"));
        assert_valid_parts(&output);
        let parts = output[0]["parts"].as_array().unwrap();
        let sizes = parts.iter().filter_map(|part| part["content"].as_str()).map(str::len);
        prop_assert!(parts.len() <= MAX_PARTS);
        prop_assert!(sizes.clone().all(|size| size <= MAX_PART_BYTES));
        prop_assert!(sizes.sum::<usize>() <= MAX_MESSAGE_BYTES);
    }
}
