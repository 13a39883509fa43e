//! Limits of a bridge: what happens past each.
use super::cases::{Outputs, outputs, update, updates, v1_editor, v2_editor};
use acp_types::convert::{
    Bridge, BridgeDiagnostic, BridgeOptions, MAX_EARLY_LINES, MAX_PROMPTS, MAX_REQUESTS,
    MAX_SESSIONS,
};
use serde_json::{Value, json};

fn ask(bridge: &mut Bridge, id: usize, method: &str, params: &Value) {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    bridge.handle_editor_line(&request.to_string());
}

/// Asserts that the bridge has refused a request of the editor for this limit.
fn assert_refused((editor, _, diagnostics): &Outputs, id: usize, limit: &str) {
    let last = editor.last().unwrap();
    assert_eq!(&last["id"], &json!(id), "{limit}");
    assert_eq!(&last["error"]["code"], &json!(-32603), "{limit}");
    let is_full =
        |it: &BridgeDiagnostic| matches!(it, BridgeDiagnostic::Full(_, full) if *full == limit);
    assert_eq!(diagnostics.iter().filter(|it| is_full(it)).count(), 1, "{limit}");
}

#[test]
fn prompts_beyond_the_limit_are_refused() {
    let params = json!({"sessionId": "s", "prompt": []});
    for mut bridge in [v1_editor(json!({})), v2_editor(json!({}))] {
        let open = (1..).find(|id| {
            ask(&mut bridge, *id, "session/prompt", &params);
            let outputs = outputs(&mut bridge);
            let is_refused = outputs.0.iter().any(|line| line.get("error").is_some());
            if is_refused {
                assert_refused(&outputs, *id, "MAX_PROMPTS");
            }
            is_refused
        });
        // The agent of version 1 has one more prompt, and the others wait.
        assert!(matches!(open, Some(id) if (1..=2).contains(&(id - MAX_PROMPTS))), "{open:?}");
    }
}

#[test]
fn requests_beyond_the_limit_are_refused() {
    let params = json!({"cwd": "/", "mcpServers": []});
    for mut bridge in [v1_editor(json!({})), v2_editor(json!({}))] {
        for id in 1..=MAX_REQUESTS {
            ask(&mut bridge, id, "session/new", &params);
        }
        let (editor, agent, diagnostics) = outputs(&mut bridge);
        assert_eq!(editor.len(), 0);
        assert_eq!(agent.len(), MAX_REQUESTS);
        assert_eq!(diagnostics.len(), 0);
        ask(&mut bridge, MAX_REQUESTS + 1, "session/new", &params);
        assert_refused(&outputs(&mut bridge), MAX_REQUESTS + 1, "MAX_REQUESTS");
    }
}

#[test]
fn lines_before_the_handshake_are_limited_and_kept_in_order() {
    let mut bridge = Bridge::new(BridgeOptions::default());
    ask(&mut bridge, 0, "initialize", &json!({"protocolVersion": 1}));
    let params = json!({"cwd": "/", "mcpServers": []});
    for id in 1..=MAX_EARLY_LINES + 1 {
        ask(&mut bridge, id, "session/new", &params);
    }
    assert_refused(&outputs(&mut bridge), MAX_EARLY_LINES + 1, "MAX_EARLY_LINES");
    bridge.handle_agent_line(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}"#);
    let (_, agent, _) = outputs(&mut bridge);
    let ids: Vec<_> = agent.iter().filter_map(|line| line["id"].as_u64()).collect();
    assert_eq!(ids, (1..=MAX_EARLY_LINES as u64).collect::<Vec<_>>());
}

/// The oldest session without an open prompt is forgotten: a change of its call announces it again.
#[test]
fn oldest_session_without_a_prompt_is_forgotten() {
    let change =
        || json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Read"});
    let begins = |bridge: &mut Bridge| {
        let (editor, ..) = update(bridge, change());
        updates(&editor)[0]["sessionUpdate"] == "tool_call"
    };
    for (has_prompt, is_forgotten) in [(false, true), (true, false)] {
        let mut bridge = v1_editor(json!({}));
        if has_prompt {
            ask(&mut bridge, 1, "session/prompt", &json!({"sessionId": "s", "prompt": []}));
        }
        assert!(begins(&mut bridge) && !begins(&mut bridge));
        for session in 1..MAX_SESSIONS {
            bridge.handle_agent_line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session.to_string(), "update": change()}}).to_string());
        }
        outputs(&mut bridge);
        assert!(!begins(&mut bridge), "all sessions fit");
        bridge.handle_agent_line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "last", "update": change()}}).to_string());
        outputs(&mut bridge);
        assert_eq!(begins(&mut bridge), is_forgotten);
    }
}
