//! Sessions that are loaded and resumed.
use super::cases::{Outputs, outputs, update, updates, v1_editor, v2_editor};
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss};
use acp_types::session_state::STATE_META;
use serde_json::{Value, json};

fn lost((_, _, diagnostics): &Outputs) -> Vec<BridgeLoss> {
    let losses = diagnostics.iter().filter_map(|diagnostic| match diagnostic {
        BridgeDiagnostic::Lost(loss, _) => Some(*loss),
        _ => None,
    });
    losses.collect()
}

fn ask(bridge: &mut Bridge, id: &str, method: &str, members: Value) -> Outputs {
    let mut params = json!({"sessionId": "s"});
    members.as_object().unwrap().iter().for_each(|(name, it)| params[name] = it.clone());
    bridge.handle_editor_line(
        &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
    );
    outputs(bridge)
}

fn answer(bridge: &mut Bridge, id: &str, result: Value) -> Outputs {
    bridge.handle_agent_line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
    outputs(bridge)
}

fn setup() -> Value {
    json!({"cwd": "/", "mcpServers": []})
}

fn text(kind: &str, id: Option<&str>) -> Value {
    let mut chunk = json!({"sessionUpdate": kind, "content": {"type": "text", "text": "x"}});
    if let Some(id) = id {
        chunk["messageId"] = json!(id);
    }
    chunk
}

/// A session of version 2 that is loaded has each message and tool call again, also while a prompt
/// is open.
#[test]
fn replay_of_version_2_is_whole() {
    let message = json!({"sessionUpdate": "agent_message", "messageId": "m", "content": [{"type": "text", "text": "x"}]});
    let user = json!({"sessionUpdate": "user_message", "messageId": "u", "content": [{"type": "text", "text": "hi"}]});
    let call = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "T", "status": "completed"});
    for is_open in [false, true] {
        let mut bridge = v1_editor(json!({}));
        let prompt = json!({"prompt": [{"type": "text", "text": "hi"}]});
        ask(&mut bridge, "p", "session/prompt", prompt.clone());
        answer(&mut bridge, "p", json!({"messageId": "u"}));
        for given in [&message, &call] {
            assert_eq!(update(&mut bridge, given.clone()).0.len(), 1);
        }
        update(
            &mut bridge,
            json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
        );
        if is_open {
            ask(
                &mut bridge,
                "q",
                "session/prompt",
                json!({"prompt": [{"type": "text", "text": "more"}]}),
            );
        }
        let (_, agent, _) = ask(&mut bridge, "l", "session/load", setup());
        assert_eq!(agent[0]["params"]["replayFrom"], json!({"type": "start"}));
        let kinds = ["user_message_chunk", "agent_message_chunk", "tool_call"];
        for (given, kind) in [&user, &message, &call].into_iter().zip(kinds) {
            let done = update(&mut bridge, given.clone());
            let [shown] = updates(&done.0)[..] else { panic!("{done:?}") };
            assert_eq!(&shown["sessionUpdate"], &json!(kind));
            assert_eq!(lost(&done), vec![]);
        }
        assert_eq!(answer(&mut bridge, "l", json!({})).0[0]["result"], json!({}));
        // The prompt is still open.
        if is_open {
            answer(&mut bridge, "q", json!({"messageId": "v"}));
            update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
            let idle =
                json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "refusal"});
            let (editor, ..) = update(&mut bridge, idle);
            assert_eq!(editor[0]["result"]["stopReason"], "refusal");
        }
    }
}

/// A turn without a prompt that a resumed session has ends for the editor as well.
#[test]
fn turn_of_a_resumed_session_of_version_2_ends() {
    for method in ["session/load", "session/resume"] {
        let mut bridge = v1_editor(json!({}));
        update(&mut bridge, json!({"sessionUpdate": "state_update", "state": "running"}));
        ask(&mut bridge, "l", method, setup());
        let (editor, ..) = update(
            &mut bridge,
            json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
        );
        assert_eq!(updates(&editor)[0]["_meta"][STATE_META]["state"], "idle");
    }
}

/// A session keeps its modes if its resumption fails.
#[test]
fn failed_resumption_keeps_the_modes() {
    let modes = json!({"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]});
    let fail = |bridge: &mut Bridge| {
        bridge.handle_agent_line(
            r#"{"jsonrpc":"2.0","id":"l","error":{"code":-32602,"message":"no"}}"#,
        );
        assert_eq!(outputs(bridge).0[0]["error"]["code"], -32602);
    };
    let mut bridge = v2_editor(json!({"loadSession": true}));
    ask(&mut bridge, "n", "session/new", setup());
    answer(&mut bridge, "n", json!({"sessionId": "s", "modes": modes}));
    ask(&mut bridge, "l", "session/resume", setup());
    fail(&mut bridge);
    let option = json!({"configId": "mode", "type": "id", "value": "b"});
    let (_, agent, _) = ask(&mut bridge, "m", "session/set_config_option", option);
    assert_eq!(agent[0]["method"], "session/set_mode");

    let option = json!({
        "configId": "style", "name": "Style", "category": "mode", "type": "select", "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    });
    let mut bridge = v1_editor(json!({}));
    ask(&mut bridge, "n", "session/new", setup());
    answer(&mut bridge, "n", json!({"sessionId": "s", "configOptions": [option]}));
    ask(&mut bridge, "l", "session/load", setup());
    fail(&mut bridge);
    let (_, agent, _) = ask(&mut bridge, "m", "session/set_mode", json!({"modeId": "b"}));
    assert_eq!(agent[0]["params"]["configId"], "style");
}

/// A session of version 1 that is loaded for want of `session/resume` has its commands, options,
/// title and usage, but not its conversation.
#[test]
fn left_out_replay_is_the_conversation() {
    let mut bridge = v2_editor(json!({"loadSession": true}));
    ask(&mut bridge, "l", "session/resume", setup());
    let kept = [
        json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "a"}),
        json!({"sessionUpdate": "config_option_update", "configOptions": []}),
        json!({"sessionUpdate": "session_info_update", "title": "T"}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
    ];
    for given in kept {
        let done = update(&mut bridge, given.clone());
        assert_eq!(done.0.len(), 1, "{given}");
        assert!(!lost(&done).contains(&BridgeLoss::Replay), "{given}");
    }
    let left_out = [
        text("user_message_chunk", None),
        text("agent_message_chunk", Some("m")),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}),
        json!({"sessionUpdate": "plan", "entries": []}),
        json!({"sessionUpdate": "notice", "severity": "info", "title": "n"}),
    ];
    for given in left_out {
        let done = update(&mut bridge, given);
        assert_eq!(done.0.len(), 0);
        assert_eq!(lost(&done), vec![BridgeLoss::Replay]);
    }
    answer(&mut bridge, "l", json!({}));
    assert_eq!(update(&mut bridge, text("agent_message_chunk", Some("m"))).0.len(), 2);
}

/// Invented ids of messages differ from those before the session was resumed, since the editor
/// keeps these.
#[test]
fn invented_ids_stay_unique_in_a_resumed_session() {
    let mut bridge = v2_editor(json!({"sessionCapabilities": {"resume": {}}}));
    let mut ids = Vec::new();
    for turn in 0..3 {
        ask(&mut bridge, "r", "session/resume", setup());
        answer(&mut bridge, "r", json!({}));
        ask(&mut bridge, "p", "session/prompt", json!({"prompt": []}));
        let (editor, ..) = update(&mut bridge, text("agent_message_chunk", None));
        ids.extend(
            updates(&editor)
                .into_iter()
                .filter_map(|it| it["messageId"].as_str().map(str::to_owned)),
        );
        answer(&mut bridge, "p", json!({"stopReason": "end_turn"}));
        assert_eq!(ids.len(), 2 * (turn + 1), "the user's and the agent's message");
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

/// The state after a replay is that of the open turn.
#[test]
fn session_that_is_resumed_during_a_prompt_is_running() {
    let mut bridge = v2_editor(json!({"sessionCapabilities": {"resume": {}}}));
    ask(&mut bridge, "p", "session/prompt", json!({"prompt": []}));
    ask(&mut bridge, "r", "session/resume", setup());
    let (editor, ..) = answer(&mut bridge, "r", json!({}));
    assert_eq!(updates(&editor)[0]["state"], "running");
    let (editor, ..) = answer(&mut bridge, "p", json!({"stopReason": "end_turn"}));
    assert_eq!(updates(&editor).last().unwrap()["state"], "idle");
}
