//! Repeated, held and cancelled prompts of a version 2 editor, and the end of replays.
use super::cases::{Outputs, outputs, update, updates, v1_editor, v2_editor};
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss};
use serde_json::{Value, json};

fn prompt(bridge: &mut Bridge, id: &str, key: &str) -> Outputs {
    let line = json!({
        "jsonrpc": "2.0", "id": id, "method": "session/prompt",
        "params": {"sessionId": "s", "prompt": [{"type": "text", "text": "hi"}], "idempotencyKey": key},
    });
    bridge.handle_editor_line(&line.to_string());
    outputs(bridge)
}

fn chunk() -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "x"}})
}

/// Returns the responses: id, and the message or the code of the error.
fn responses(lines: &[Value]) -> Vec<(&str, Value)> {
    let responses = lines.iter().filter(|line| line.get("method").is_none());
    let responses = responses.map(|line| {
        let id = line["id"].as_str().unwrap();
        let outcome = line.pointer("/result/messageId").or_else(|| line.pointer("/error/code"));
        (id, outcome.unwrap().clone())
    });
    responses.collect()
}

/// A prompt that is repeated reaches the agent once, and each attempt has the same message.
#[test]
fn repeated_prompt_has_the_original_message() {
    let mut bridge = v2_editor(json!({}));
    assert_eq!(prompt(&mut bridge, "p", "k").1.len(), 1);
    assert_eq!(prompt(&mut bridge, "q", "k").1.len(), 0);
    let (editor, ..) = update(&mut bridge, chunk());
    let message = editor[0]["result"]["messageId"].clone();
    assert_eq!(responses(&editor), [("p", message.clone()), ("q", message.clone())]);
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#);
    outputs(&mut bridge);
    let (editor, agent, _) = prompt(&mut bridge, "r", "k");
    assert_eq!(responses(&editor), [("r", message)]);
    assert_eq!(agent, Vec::<Value>::new());
    // Another key is another prompt.
    assert_eq!(prompt(&mut bridge, "t", "other").1.len(), 1);
}

/// A prompt that failed before the agent had it is a new one when it is repeated.
#[test]
fn failed_prompt_can_be_submitted_again() {
    let mut bridge = v2_editor(json!({}));
    prompt(&mut bridge, "p", "k");
    prompt(&mut bridge, "q", "k");
    bridge.handle_agent_line(
        r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32603,"message":"busy"}}"#,
    );
    let (editor, ..) = outputs(&mut bridge);
    assert_eq!(responses(&editor), [("p", json!(-32603)), ("q", json!(-32603))]);
    assert_eq!(prompt(&mut bridge, "r", "k").1.len(), 1);
}

/// A cancellation of the session answers the prompts that the agent does not have, with their
/// repetitions; the prompt of the turn is inserted.
#[test]
fn cancellation_covers_held_prompts() {
    let mut bridge = v2_editor(json!({}));
    prompt(&mut bridge, "p", "1");
    prompt(&mut bridge, "q", "2");
    prompt(&mut bridge, "r", "2");
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
    );
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(agent[0]["method"], "session/cancel");
    assert_eq!(responses(&editor), [("q", json!(-32800)), ("r", json!(-32800))]);
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"cancelled"}}"#);
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(responses(&editor).len(), 1);
    assert_eq!(updates(&editor).last().unwrap()["stopReason"], "cancelled");
    assert_eq!(agent, Vec::<Value>::new());
}

/// A repetition that waits can be cancelled alone.
#[test]
fn repetition_can_be_cancelled_alone() {
    let mut bridge = v2_editor(json!({}));
    prompt(&mut bridge, "p", "k");
    prompt(&mut bridge, "q", "k");
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"q"}}"#,
    );
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(responses(&editor), [("q", json!(-32800))]);
    assert_eq!(agent, Vec::<Value>::new());
    let (editor, ..) = update(&mut bridge, chunk());
    assert_eq!(responses(&editor).len(), 1);
}

/// A prompt with a skill is refused, since an agent of version 1 has none.
#[test]
fn prompt_with_a_skill_is_refused() {
    let mut bridge = v2_editor(json!({}));
    let line = json!({
        "jsonrpc": "2.0", "id": "p", "method": "session/prompt",
        "params": {"sessionId": "s", "prompt": [{"type": "skill", "name": "review"}]},
    });
    bridge.handle_editor_line(&line.to_string());
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(responses(&editor), [("p", json!(-32602))]);
    assert_eq!(agent, Vec::<Value>::new());
}

fn resume(bridge: &mut Bridge, replay: Value) -> Outputs {
    let line = json!({
        "jsonrpc": "2.0", "id": "l", "method": "session/resume",
        "params": {"sessionId": "s", "cwd": "/", "replayFrom": replay},
    });
    bridge.handle_editor_line(&line.to_string());
    outputs(bridge)
}

/// A replay ends with `replay_complete` before the state and the response, exactly if the editor
/// has asked for one.
#[test]
fn replay_has_one_end() {
    let load = json!({"loadSession": true});
    let restore = json!({"sessionCapabilities": {"resume": {}}});
    let start = json!({"type": "start"});
    for (capabilities, replay, expected) in [
        (load.clone(), start.clone(), vec!["replay_complete", "state_update"]),
        (restore.clone(), start.clone(), vec!["replay_complete", "state_update"]),
        (load.clone(), Value::Null, vec!["state_update"]),
        (restore, Value::Null, vec!["state_update"]),
    ] {
        let mut bridge = v2_editor(capabilities);
        resume(&mut bridge, replay);
        bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"l","result":{}}"#);
        let (editor, ..) = outputs(&mut bridge);
        let (response, reported) = editor.split_last().unwrap();
        assert_eq!(response["id"], "l");
        let kinds: Vec<_> =
            updates(reported).iter().map(|it| it["sessionUpdate"].clone()).collect();
        assert_eq!(kinds, expected);
    }
    // A replay that fails is not complete.
    let mut bridge = v2_editor(load);
    resume(&mut bridge, start);
    bridge
        .handle_agent_line(r#"{"jsonrpc":"2.0","id":"l","error":{"code":-32603,"message":"no"}}"#);
    let (editor, ..) = outputs(&mut bridge);
    assert_eq!(editor.len(), 1);
}

/// The end of a replay is the response to `session/load` in version 1; without a replay it is lost.
#[test]
fn end_of_a_replay_is_the_response_in_version_1() {
    let end = json!({"sessionUpdate": "replay_complete"});
    let mut bridge = v1_editor(json!({}));
    let line = json!({
        "jsonrpc": "2.0", "id": "l", "method": "session/load",
        "params": {"sessionId": "s", "cwd": "/", "mcpServers": []},
    });
    bridge.handle_editor_line(&line.to_string());
    outputs(&mut bridge);
    let (editor, _, diagnostics) = update(&mut bridge, end.clone());
    assert_eq!(editor, Vec::<Value>::new());
    assert_eq!(diagnostics, []);
    let (editor, _, diagnostics) = update(&mut bridge, end);
    assert_eq!(editor, Vec::<Value>::new());
    let lost = BridgeDiagnostic::Lost(BridgeLoss::Update, "replay_complete".to_owned());
    assert_eq!(diagnostics, [lost]);
}
