//! Content beyond the limits.
use super::*;
use semconv_map::acp::tool_call::MAX_LOCATIONS;
use semconv_map::messages::MAX_TOOL_CONTENT_BYTES;
use semconv_map::span::Status;

#[test]
fn long_text_is_truncated_at_a_character() {
    let mut run = Run::new(recording());
    run.line(C2A, &prompt(1, "s"));
    let euros = "€".repeat(MAX_PART_BYTES);
    run.line(A2C, &text("s", &euros));
    run.line(A2C, &text("s", "x"));
    run.line(A2C, &stop(1, "end_turn"));
    let output = json_of(run.span("invoke_agent").str("gen_ai.output.messages"));
    let part = &output[0]["parts"][0];
    assert_eq!(part["truncated"], true);
    let kept = part["content"].as_str().unwrap();
    assert!(
        euros.starts_with(kept) && kept.len() > MAX_PART_BYTES - 3 && kept.len() <= MAX_PART_BYTES
    );
}

#[test]
fn long_blob_is_replaced_by_its_uri() {
    let data = "A".repeat(MAX_PART_BYTES + 1);
    let image =
        json!({ "type": "image", "data": data, "mimeType": "image/png", "uri": "file:///a" });
    let audio = json!({ "type": "audio", "data": data, "mimeType": "audio/wav" });
    let file = json!({ "type": "resource", "resource": { "uri": "file:///b", "blob": data } });
    let mut run = Run::new(recording());
    run.line(
        C2A,
        &request(1, "session/prompt", json!({ "sessionId": "s", "prompt": [image, audio, file] })),
    );
    let input = json_of(run.span("invoke_agent").str("gen_ai.input.messages"));
    assert_eq!(
        input[0]["parts"],
        json!([
            { "type": "uri", "modality": "image", "mime_type": "image/png", "uri": "file:///a", "truncated": true },
            { "type": "blob", "modality": "audio", "mime_type": "audio/wav", "content": "", "truncated": true },
            { "type": "blob", "modality": "document", "uri": "file:///b", "content": "", "truncated": true },
        ])
    );
    assert_valid_parts(&input);
}

#[test]
fn long_tool_content_is_truncated_in_an_object() {
    for (len, is_whole) in [(MAX_TOOL_CONTENT_BYTES - 2, true), (MAX_TOOL_CONTENT_BYTES - 1, false)]
    {
        let mut run = Run::new(recording());
        let output = "x".repeat(len);
        run.line(A2C, &update("s", json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "rawOutput": output })));
        let written = json_of(run.span("execute_tool other").str("gen_ai.tool.call.result"));
        if is_whole {
            assert_eq!(written, json!(output));
        } else {
            assert_eq!(written["bytes"], len + 2);
            assert_eq!(written["truncated"].as_str().map(str::len), Some(MAX_TOOL_CONTENT_BYTES));
        }
    }
}

/// Titles, paths, URIs, command lines and error messages are truncated as well.
#[test]
fn other_content_is_truncated() {
    const PATH: usize = 4096;
    let long = "x".repeat(10_000);
    let start = |len: usize| "x".repeat(len);
    let mut run = Run::new(recording());
    let link = json!({ "type": "resource_link", "name": "a", "uri": long });
    run.line(C2A, &request(1, "session/prompt", json!({ "sessionId": "s", "prompt": [link] })));
    let locations = vec![json!({ "path": long, "line": 7 }); MAX_LOCATIONS + 1];
    run.line(A2C, &update("s", json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": long, "locations": locations })));
    run.line(A2C, &request(1, "fs/read_text_file", json!({ "sessionId": "s", "path": long })));
    run.line(
        A2C,
        &request(2, "terminal/create", json!({ "sessionId": "s", "command": "x", "args": [long] })),
    );
    run.line(A2C, &error(1, -32603, &long));
    let turn = run.span("invoke_agent");
    let input = json_of(turn.str("gen_ai.input.messages"));
    assert_eq!(input[0]["parts"][0]["uri"], start(PATH));
    assert_eq!(turn.status(), &Status::Error { description: Some(start(1024)) });
    let tool = run.span("execute_tool other");
    assert_eq!(tool.str("acp.tool.title"), Some(&*start(PATH)));
    let Some(AttributeValue::StringArray(places)) = tool.get("acp.tool.locations") else {
        panic!("no locations")
    };
    assert_eq!(*places, vec![format!("{}:7", start(PATH)); MAX_LOCATIONS]);
    let read = run.span("fs/read_text_file");
    assert_eq!(read.str("acp.fs.path"), Some(&*start(PATH)));
    let command = format!("x {}", start(PATH - 2));
    assert_eq!(run.span("terminal/create").str("acp.terminal.command"), Some(&*command));
}
