//! Prompts and their turns, their cancellation, and their end.
use super::cases::{outputs, update, updates, v1_editor, v2_editor};
use acp_types::convert::{BridgeDiagnostic, BridgeLoss};
use serde_json::{Value, json};

/// A prompt of version 1 is open until the turn ends.
#[test]
fn prompt_of_version_1_ends_with_the_turn() {
    let table = [
        (
            json!({"stopReason": "max_tokens"}),
            json!({"result": {"stopReason": "max_tokens"}}),
            None,
        ),
        (
            json!({"stopReason": "error", "error": {"code": -32000, "message": "login"}}),
            json!({"error": {"code": -32000, "message": "login"}}),
            None,
        ),
        (
            json!({"stopReason": "_tired"}),
            json!({"result": {"stopReason": "end_turn"}}),
            Some(BridgeLoss::StopReason),
        ),
    ];
    for (end, expected, loss) in table {
        let mut bridge = v1_editor(json!({}));
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#);
        bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
        update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
        let mut state = json!({"sessionUpdate": "state_update", "state": "idle"});
        end.as_object().unwrap().iter().for_each(|(name, value)| state[name] = value.clone());
        let (editor, _, diagnostics) = update(&mut bridge, state);
        let [response] = &editor[..] else { panic!("{editor:?}") };
        assert_eq!(response["id"], "p");
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&response[name], value);
        }
        let lost = diagnostics.iter().find_map(|it| match it {
            BridgeDiagnostic::Lost(loss, _) => Some(*loss),
            _ => None,
        });
        assert_eq!(lost, loss);
    }
}

/// A user message without content is not the message of a prompt, which follows.
#[test]
fn message_without_content_is_no_prompt() {
    let mut bridge = v1_editor(json!({}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#);
    outputs(&mut bridge);
    let mut replay = |message: &str, content: Value| {
        let message =
            json!({"sessionUpdate": "user_message", "messageId": message, "content": content});
        let (editor, _, diagnostics) = update(&mut bridge, message);
        let is_lost = diagnostics
            .iter()
            .any(|it| matches!(it, BridgeDiagnostic::Lost(BridgeLoss::PromptMessage, _)));
        (editor.len(), is_lost)
    };
    assert_eq!(replay("empty", json!([])), (0, false));
    assert_eq!(replay("u", json!([{"type": "text", "text": "hi"}])), (0, true));
    assert_eq!(replay("other", json!([{"type": "text", "text": "hi"}])), (1, false));
}

/// The end of a turn does not end a prompt that the agent holds, and a turn may end before the
/// response to its prompt.
#[test]
fn held_prompt_survives_the_end_of_another_turn() {
    let mut bridge = v1_editor(json!({}));
    for id in ["p", "q"] {
        bridge.handle_editor_line(&json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}).to_string());
    }
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    outputs(&mut bridge);
    update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
    let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"});
    let (editor, ..) = update(&mut bridge, idle.clone());
    assert_eq!(editor.iter().map(|line| &line["id"]).collect::<Vec<_>>(), ["p"]);
    update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
    let (editor, ..) = update(&mut bridge, idle);
    assert_eq!(editor, Vec::<Value>::new());
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"q","result":{"messageId":"v"}}"#);
    let (editor, ..) = outputs(&mut bridge);
    assert_eq!(editor.iter().map(|line| &line["id"]).collect::<Vec<_>>(), ["q"]);
}

#[test]
fn cancelled_request_of_an_accepted_prompt_cancels_the_turn() {
    let mut bridge = v1_editor(json!({}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#);
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"p"}}"#;
    bridge.handle_editor_line(cancel);
    let (_, agent, _) = outputs(&mut bridge);
    assert_eq!(agent[1]["method"], "$/cancel_request");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"messageId":"u"}}"#);
    bridge.handle_editor_line(cancel);
    let (_, agent, _) = outputs(&mut bridge);
    assert_eq!(&agent[0]["method"], &json!("session/cancel"));
    assert_eq!(&agent[0]["params"], &json!({"sessionId": "s"}));
}

/// The editor of version 2 gets the response to a prompt with the first sign of the agent, or its
/// error.
#[test]
fn prompt_of_version_2_is_answered_by_the_first_output() {
    let prompt = |id: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": [{"type": "text", "text": id}]}}).to_string()
    };
    let mut bridge = v2_editor(json!({}));
    bridge.handle_editor_line(&prompt("p"));
    bridge.handle_editor_line(&prompt("q"));
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(updates(&editor)[0]["state"], "running");
    assert_eq!(agent.len(), 1, "the second prompt is held");
    let (editor, ..) = update(
        &mut bridge,
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}),
    );
    let message = &editor[0]["result"]["messageId"];
    assert_eq!(&editor[0]["id"], &json!("p"));
    assert_eq!(&updates(&editor)[1]["messageId"], message);
    assert_eq!(updates(&editor)[1]["content"][0]["text"], "p");
    assert_eq!(updates(&editor)[2]["content"]["text"], "x");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn","usage":{"totalTokens":3,"inputTokens":1,"outputTokens":2}}}"#);
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(&updates(&editor)[0]["stopReason"], &json!("end_turn"));
    assert_eq!(&updates(&editor)[0]["usage"]["totalTokens"], &json!(3));
    assert_eq!(agent[0]["id"], "q");
    bridge.handle_agent_line(
        r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32000,"message":"login"}}"#,
    );
    let (editor, ..) = outputs(&mut bridge);
    assert_eq!(&editor[0]["id"], &json!("q"));
    assert_eq!(&editor[0]["error"]["code"], &json!(-32000));
    assert_eq!(updates(&editor)[1]["error"]["message"], "login");
}

/// Open questions of an agent of version 1 are cancelled with the turn, as those of version 2 are.
#[test]
fn cancellation_withdraws_the_open_questions() {
    let mut bridge = v2_editor(json!({}));
    bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#);
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}"#);
    let (editor, ..) = outputs(&mut bridge);
    let question = editor.last().unwrap();
    assert_eq!(&question["params"]["title"], &json!("c"));
    assert_eq!(&question["params"]["subject"]["toolCall"]["toolCallId"], &json!("c"));
    bridge.handle_editor_line(
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#,
    );
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(agent[0]["method"], "session/cancel");
    assert_eq!(&editor[0]["method"], &json!("$/cancel_request"));
    assert_eq!(&editor[0]["params"]["requestId"], &json!(7));
    bridge
        .handle_editor_line(r#"{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"later"}}}"#);
    let (editor, agent, _) = outputs(&mut bridge);
    assert_eq!(
        agent[0]["result"]["outcome"]["outcome"], "cancelled",
        "an unknown outcome is no permission"
    );
    assert_eq!(updates(&editor)[0]["state"], "running");
}

/// The late result of a turn that was closed does not end the next turn.
#[test]
fn late_result_does_not_end_another_turn() {
    for late in
        [r#""result":{"stopReason":"cancelled"}"#, r#""error":{"code":-32603,"message":"no"}"#]
    {
        let mut bridge = v2_editor(json!({"loadSession": true}));
        let prompt = |id: &str| {
            json!({"jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}).to_string()
        };
        bridge.handle_editor_line(&prompt("p"));
        bridge.handle_editor_line(
            r#"{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"s"}}"#,
        );
        let (editor, agent, _) = outputs(&mut bridge);
        assert_eq!(&agent[1]["method"], &json!("session/cancel"));
        assert_eq!(&editor[1]["error"]["code"], &json!(-32800));
        assert_eq!(&updates(&editor)[2]["stopReason"], &json!("cancelled"));
        assert_eq!(&editor[3]["id"], &json!(1));
        bridge.handle_editor_line(r#"{"jsonrpc":"2.0","id":2,"method":"session/resume","params":{"sessionId":"s","cwd":"/","replayFrom":{"type":"start"}}}"#);
        bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        bridge.handle_editor_line(&prompt("q"));
        outputs(&mut bridge);
        bridge.handle_agent_line(&format!(r#"{{"jsonrpc":"2.0","id":"p",{late}}}"#));
        assert_eq!(outputs(&mut bridge).0, Vec::<Value>::new());
        bridge
            .handle_agent_line(r#"{"jsonrpc":"2.0","id":"q","result":{"stopReason":"end_turn"}}"#);
        let (editor, ..) = outputs(&mut bridge);
        assert_eq!(updates(&editor).last().unwrap()["stopReason"], "end_turn");
    }
}
