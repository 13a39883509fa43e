//! The reverse bridge: the editor's updates and the agent's inputs.
use acp_types::v1::prompt_turn::PromptRequest;
use agui_bridge::acp_agent::{
    AcpAgent, AcpAgentOptions, Output, PromptError, Question, QuestionAnswer,
};
use agui_types::profile::Profile;
use jsonrpc_core::wire::decode;
use serde_json::{Value, json};

mod questions;
mod updates;
mod version_2;

pub(crate) fn prompt(blocks: &Value) -> PromptRequest {
    decode(&json!({"sessionId": "s", "prompt": blocks}).to_string()).unwrap()
}

pub(crate) fn hi() -> PromptRequest {
    prompt(&json!([{"type": "text", "text": "Hi"}]))
}

/// Returns the due outputs as JSON: updates unchanged, others under a key.
pub(crate) fn outputs(agent: &mut AcpAgent) -> Vec<Value> {
    let shown = |output: Output| match output {
        Output::Run(input) => json!({"run": input}),
        Output::Update(update) => serde_json::to_value(update.update).unwrap(),
        Output::Ask(id, Question::Permission(request)) => json!({"ask": id, "permission": request}),
        Output::Ask(id, Question::Elicitation(request)) => {
            json!({"ask": id, "elicitation": request})
        }
        Output::CancelRun(run) => json!({"cancel": run}),
        Output::Respond(Ok(response)) => json!({"respond": response}),
        Output::Respond(Err(error)) => json!({"error": error}),
        Output::Lost(lost) => json!({"lost": lost.to_string()}),
        other => panic!("{other:?}"),
    };
    std::iter::from_fn(|| agent.poll_output()).map(shown).collect()
}

pub(crate) fn tell(agent: &mut AcpAgent, events: &[Value]) {
    for event in events {
        agent.handle_event(decode(&event.to_string()).unwrap());
    }
}

fn started() -> Value {
    json!({"type": "RUN_STARTED", "threadId": "s", "runId": "r", "protocolVersion": "1.0"})
}

fn finished(members: Value) -> Value {
    let mut event = json!({"type": "RUN_FINISHED", "threadId": "s", "runId": "r"});
    for (name, value) in members.as_object().unwrap() {
        event[name] = value.clone();
    }
    event
}

fn begun(options: AcpAgentOptions) -> AcpAgent {
    let mut agent = AcpAgent::new("s", options);
    agent.handle_prompt(&hi(), "r").unwrap();
    assert_eq!(outputs(&mut agent).len(), 1);
    tell(&mut agent, &[started()]);
    agent
}

/// Returns the editor's updates for these events, before the response to the prompt.
fn shown(options: AcpAgentOptions, events: &[Value]) -> Vec<Value> {
    let mut agent = begun(options);
    tell(&mut agent, events);
    outputs(&mut agent)
}

/// Returns the response to the prompt after this event.
fn answered(event: Value) -> Value {
    let mut agent = begun(AcpAgentOptions::new());
    tell(&mut agent, &[event]);
    assert!(!agent.is_in_turn());
    outputs(&mut agent).pop().unwrap()
}

#[test]
fn prompt_becomes_an_input_with_the_conversation() {
    let mut agent = AcpAgent::new("s", AcpAgentOptions::new());
    agent.handle_prompt(&hi(), "r").unwrap();
    let said = json!({"role": "user", "id": "user-1", "content": "Hi"});
    let input = json!({
        "threadId": "s", "runId": "r", "messages": [said], "protocolVersion": "1.0", "state": {}, "tools": [],
        "context": [], "forwardedProps": {}
    });
    assert_eq!(outputs(&mut agent), [json!({"run": input})]);
    let delta = json!([{"op": "add", "path": "/a", "value": 1}]);
    tell(
        &mut agent,
        &[
            started(),
            json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "Hello"}),
            json!({"type": "STATE_DELTA", "delta": delta}),
            finished(json!({})),
        ],
    );
    outputs(&mut agent);
    agent.handle_prompt(&hi(), "r2").unwrap();
    let out = outputs(&mut agent);
    assert_eq!(out[0]["run"]["state"], json!({"a": 1}));
    let ids: Vec<_> =
        out[0]["run"]["messages"].as_array().unwrap().iter().map(|m| m["id"].clone()).collect();
    assert_eq!(ids, ["user-1", "m", "user-2"]);
}

#[test]
fn content_blocks_become_parts() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let data = |kind: &str| json!({"type": "data", "value": "AAAA", "mimeType": kind});
    let image = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
    let audio = json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"});
    let web = json!({"type": "resource_link", "name": "n", "uri": "https://example.org/n", "mimeType": "text/html"});
    let file = json!({"type": "resource_link", "name": "n", "uri": "file:///n"});
    let embedded = json!({"type": "resource", "resource": {"uri": "file:///n", "text": "t"}});
    let blob = json!({"type": "resource", "resource": {"uri": "file:///n", "blob": "AAAA"}});
    let url = json!({"type": "url", "value": "https://example.org/n", "mimeType": "text/html"});
    let binary = |kind: &str| json!({"type": "binary", "mimeType": kind, "data": "AAAA"});
    let octets = "application/octet-stream";
    let table = [
        (image, json!({"type": "image", "source": data("image/png")}), binary("image/png")),
        (audio, json!({"type": "audio", "source": data("audio/wav")}), binary("audio/wav")),
        (web, json!({"type": "document", "source": url}), text("[n](https://example.org/n)")),
        (file, text("[n](file:///n)"), text("[n](file:///n)")),
        (embedded, text("file:///n\nt"), text("file:///n\nt")),
        (blob, json!({"type": "document", "source": data(octets)}), binary(octets)),
    ];
    for (block, modern, legacy) in table {
        for (profile, expected) in [(Profile::V1, modern), (Profile::Legacy, legacy)] {
            let mut options = AcpAgentOptions::new();
            options.profile = profile;
            let mut agent = AcpAgent::new("s", options);
            agent.handle_prompt(&prompt(&json!([text("a"), block])), "r").unwrap();
            let content = &outputs(&mut agent)[0]["run"]["messages"][0]["content"];
            assert_eq!(*content, json!([text("a"), expected]), "{block}");
        }
    }
}

#[test]
fn invalid_prompt_is_refused() {
    let mut agent = AcpAgent::new("s", AcpAgentOptions::new());
    let mut other = hi();
    other.session_id = "other".into();
    let hologram = prompt(&json!([{"type": "text", "text": "a"}, {"type": "hologram"}]));
    let table = [
        (other, PromptError::Session, -32602),
        (prompt(&json!([])), PromptError::Empty, -32602),
        (hologram, PromptError::Unknown(1), -32602),
    ];
    for (request, error, code) in table {
        assert_eq!(agent.handle_prompt(&request, "r"), Err(error.clone()));
        assert_eq!(error.to_error().code.0, code);
    }
    assert!(outputs(&mut agent).is_empty());
    agent.handle_prompt(&hi(), "r").unwrap();
    assert_eq!(agent.handle_prompt(&hi(), "r2"), Err(PromptError::Busy));
}

#[test]
fn each_end_has_its_response() {
    let error = |code: &str| json!({"type": "RUN_ERROR", "message": "m", "code": code});
    let reason = |reason: &str| json!({"respond": {"stopReason": reason}});
    let failed = |number: i32, code: &str| json!({"error": {"code": number, "message": "m", "data": {"code": code}}});
    let mut numbered = error("ACP_ERROR");
    numbered["metadata"] = json!({"acp": {"code": 400}});
    let table = [
        (finished(json!({})), reason("end_turn")),
        (
            finished(json!({"outcome": {"type": "success", "pendingToolCallIds": []}})),
            reason("end_turn"),
        ),
        (finished(json!({"result": {"stopReason": "max_tokens"}})), reason("max_tokens")),
        (finished(json!({"result": {"stopReason": "newer"}})), reason("end_turn")),
        (finished(json!({"result": 7})), reason("end_turn")),
        (finished(json!({"outcome": {"type": "cancelled"}})), reason("cancelled")),
        (error("CANCELLED"), reason("cancelled")),
        (error("cancelled"), reason("cancelled")),
        (error("ACP_REFUSAL"), reason("refusal")),
        (error("ACP_MAX_TOKENS"), reason("max_tokens")),
        (error("ACP_MAX_TURN_REQUESTS"), reason("max_turn_requests")),
        (error("ACP_AUTH_REQUIRED"), failed(-32000, "ACP_AUTH_REQUIRED")),
        (error("ACP_SESSION_NOT_FOUND"), failed(-32002, "ACP_SESSION_NOT_FOUND")),
        (error("OVERLOADED"), failed(-32603, "OVERLOADED")),
        (numbered, failed(400, "ACP_ERROR")),
        (
            json!({"type": "RUN_ERROR", "message": "m"}),
            json!({"error": {"code": -32603, "message": "m"}}),
        ),
    ];
    for (event, expected) in table {
        assert_eq!(answered(event.clone()), expected, "{event}");
    }
    let usage = json!([{"inputTokens": 1, "outputTokens": 2, "reasoningTokens": 3}, {"inputTokens": 4, "totalTokens": 9}]);
    let expected = json!({"stopReason": "end_turn", "usage": {"totalTokens": 9, "inputTokens": 5, "outputTokens": 2, "thoughtTokens": 3}});
    assert_eq!(answered(finished(json!({"usage": usage}))), json!({"respond": expected}));
}

#[test]
fn truncated_stream_is_an_error_unless_cancelled() {
    let call = json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "n"});
    let mut agent = begun(AcpAgentOptions::new());
    tell(&mut agent, std::slice::from_ref(&call));
    agent.handle_stream_end();
    agent.handle_stream_end();
    let out = outputs(&mut agent);
    assert_eq!(out[1]["status"], "failed");
    let message = "The agent's answer ended before its run did.";
    assert_eq!(
        out[2..],
        [json!({"error": {"code": -32603, "message": message, "data": {"code": "TRUNCATED"}}})]
    );

    let mut agent = begun(AcpAgentOptions::new());
    tell(&mut agent, &[call]);
    agent.handle_cancel();
    agent.handle_cancel();
    assert_eq!(outputs(&mut agent)[1..], [json!({"cancel": "r"})]);
    tell(&mut agent, &[json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "late"})]);
    agent.handle_stream_end();
    let out = outputs(&mut agent);
    assert_eq!(out[0]["sessionUpdate"].as_str(), Some("agent_message_chunk"));
    assert_eq!(out[1]["status"].as_str(), Some("failed"));
    assert_eq!(out[2..], [json!({"respond": {"stopReason": "cancelled"}})]);
    tell(&mut agent, &[finished(json!({}))]);
    assert_eq!(outputs(&mut agent), [json!({"lost": "RUN_FINISHED: no run is open"})]);
}

#[test]
fn limits_and_invalid_events_lose_only_those_events() {
    let mut options = AcpAgentOptions::new();
    options.max_call_bytes = 4;
    let out = shown(
        options,
        &[
            json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "n"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "12345"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "never", "delta": "1"}),
            json!({"type": "TOOL_CALL_END", "toolCallId": "never"}),
            json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "whose?"}),
        ],
    );
    let lost = |text: &str| {
        out.iter()
            .filter(|out| out["lost"].as_str().is_some_and(|lost| lost.contains(text)))
            .count()
    };
    assert_eq!(lost("too long"), 1, "{out:?}");
    assert_eq!(lost("its call is not open"), 2, "{out:?}");
    assert_eq!(lost("TEXT_MESSAGE_CHUNK"), 1, "{out:?}");
}

#[test]
fn prompt_capabilities_are_complete() {
    let capabilities = serde_json::to_value(AcpAgent::prompt_capabilities()).unwrap();
    assert_eq!(capabilities, json!({"image": true, "audio": true, "embeddedContext": true}));
}

/// Calls release their memory when they end, so any number of successive calls fits.
#[test]
fn memory_of_all_calls_is_bounded() {
    let mut options = AcpAgentOptions::new();
    options.max_call_bytes = 64;
    let mut agent = begun(options);
    let large = json!({"type": "diff", "path": "/x", "newText": "b".repeat(100)});
    let small = json!({"type": "diff", "path": "/x", "newText": "b"});
    for (number, diff) in [&small, &large, &small, &small].into_iter().enumerate() {
        let id = format!("c{number}");
        let activity = json!({"toolCallId": id, "content": [diff]});
        tell(
            &mut agent,
            &[
                json!({"type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": "n"}),
                json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": format!("{:60}", "{}")}),
                json!({"type": "TOOL_CALL_END", "toolCallId": id}),
                json!({"type": "ACTIVITY_SNAPSHOT", "messageId": format!("a{number}"), "activityType": "acp.tool", "content": activity}),
                json!({"type": "TOOL_CALL_RESULT", "toolCallId": id, "messageId": format!("r{number}"), "content": "text"}),
            ],
        );
        let out = outputs(&mut agent);
        assert_eq!(out.len(), 4, "{out:?}");
        assert_eq!(out[1]["rawInput"], json!({}), "{number}");
        let shown = if diff == &small { "diff" } else { "content" };
        assert_eq!(out[3]["content"][0]["type"], shown, "{number}");
    }
}
