//! Options of a session before and at its beginning.
use super::cases::{Outputs, outputs, v1_editor, v2_editor};
use acp_types::convert::{Bridge, BridgeDiagnostic, BridgeLoss};
use serde_json::{Value, json};

fn lost(outputs: &Outputs) -> Vec<(BridgeLoss, &str)> {
    let lost = outputs.2.iter().map(|diagnostic| match diagnostic {
        BridgeDiagnostic::Lost(loss, detail) => (*loss, &**detail),
        other => panic!("{other}"),
    });
    lost.collect()
}

fn ask(bridge: &mut Bridge, method: &str, params: Value) -> Value {
    let line = json!({"jsonrpc": "2.0", "id": "q", "method": method, "params": params});
    bridge.handle_editor_line(&line.to_string());
    let (_, agent, _) = outputs(bridge);
    agent[0]["params"].clone()
}

fn answer(bridge: &mut Bridge, result: Value) -> Outputs {
    let line = json!({"jsonrpc": "2.0", "id": "q", "result": result});
    bridge.handle_agent_line(&line.to_string());
    outputs(bridge)
}

fn select(id: &str, category: &str) -> Value {
    json!({
        id: category, "name": "N", "category": category, "type": "select", "currentValue": "a",
        "options": [{"value": "a", "name": "A"}, {"value": "b", "name": "B"}],
    })
}

fn modes() -> Value {
    json!({"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]})
}

/// Initial values reach the agent in its version, of each request that begins a session.
#[test]
fn initial_values_reach_the_agent() {
    let first = json!([
        {"configId": "model", "value": "b", "_meta": {"i": 1}},
        {"configId": "fast", "type": "boolean", "value": true},
    ]);
    let second = json!([
        {"configId": "model", "type": "id", "value": "b", "_meta": {"i": 1}},
        {"configId": "fast", "type": "boolean", "value": true},
    ]);
    for method in ["session/new", "session/load", "session/resume", "session/fork"] {
        let params =
            json!({"sessionId": "s", "cwd": "/", "mcpServers": [], "configOptions": first});
        let sent = ask(&mut v1_editor(json!({})), method, params);
        assert_eq!(sent["configOptions"], second, "{method}");
    }
    let start = json!({"type": "start"});
    for (method, replay, capabilities) in [
        ("session/new", Value::Null, json!({})),
        ("session/fork", Value::Null, json!({})),
        ("session/resume", start, json!({"loadSession": true})),
        ("session/resume", Value::Null, json!({"sessionCapabilities": {"resume": {}}})),
    ] {
        let params = json!({
            "sessionId": "s", "cwd": "/", "replayFrom": replay, "configOptions": second,
        });
        let sent = ask(&mut v2_editor(capabilities), method, params);
        assert_eq!(sent["configOptions"], first, "{method}");
    }
}

/// A fork at a cursor has the cursor in both versions.
#[test]
fn fork_has_its_cursor() {
    let params = json!({"sessionId": "s", "cwd": "/", "cursorId": "k"});
    let sent = ask(&mut v1_editor(json!({})), "session/fork", params.clone());
    assert_eq!(sent["cursorId"], "k");
    let sent = ask(&mut v2_editor(json!({})), "session/fork", params);
    assert_eq!(sent["cursorId"], "k");
}

/// The options of a session that may begin are those of the editor's version.
#[test]
fn options_before_a_session_are_converted() {
    let mut bridge = v1_editor(json!({}));
    let params = json!({"cwd": "/", "sessionId": "s"});
    assert_eq!(ask(&mut bridge, "session/options", params.clone()), params);
    let switch = json!({"configId": "fast", "name": "F", "type": "boolean", "currentValue": true});
    let command = json!({"type": "command", "name": "go", "description": "D"});
    let all = answer(
        &mut bridge,
        json!({
            "configOptions": [select("configId", "mode"), switch], "availableCommands": [command],
            "_meta": {"r": 1},
        }),
    );
    let expected =
        json!({"modes": modes(), "configOptions": [select("id", "mode")], "_meta": {"r": 1}});
    assert_eq!(all.0[0]["result"], expected);
    assert_eq!(lost(&all), [(BridgeLoss::ConfigOption, "fast"), (BridgeLoss::Command, "go")]);

    let mut bridge = v2_editor(json!({}));
    assert_eq!(ask(&mut bridge, "session/options", params.clone()), params);
    let all = answer(
        &mut bridge,
        json!({"modes": modes(), "configOptions": [select("id", "model")], "_meta": {"r": 1}}),
    );
    let mut mode = select("configId", "mode");
    mode["name"] = json!("Mode");
    let expected = json!({"configOptions": [select("configId", "model"), mode], "_meta": {"r": 1}});
    assert_eq!(all.0[0]["result"], expected);
    assert_eq!(lost(&all), [(BridgeLoss::Modes, "a")]);
}

/// An initial mode is no option of an agent of version 1 with modes, and is named as lost.
#[test]
fn initial_mode_of_an_agent_with_modes_is_lost() {
    let initial = |mode: &str| json!({"cwd": "/", "configOptions": [{"configId": "mode", "type": "id", "value": mode}]});
    for (mode, names) in [("a", vec!["a"]), ("b", vec!["b", "a"])] {
        let mut bridge = v2_editor(json!({}));
        ask(&mut bridge, "session/new", initial(mode));
        let all = answer(&mut bridge, json!({"sessionId": "n", "modes": modes()}));
        let expected: Vec<_> = names.into_iter().map(|name| (BridgeLoss::Modes, name)).collect();
        assert_eq!(lost(&all), expected);
    }
}

/// The capabilities of both features pass.
#[test]
fn capabilities_pass_in_both_directions() {
    let mut bridge = Bridge::new(acp_types::convert::BridgeOptions::default());
    let session = json!({"promptSuggestions": {"image": {}}});
    let params = json!({"protocolVersion": 1, "clientCapabilities": {"session": session}});
    let line = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    bridge.handle_editor_line(&line.to_string());
    let (_, agent, _) = outputs(&mut bridge);
    assert_eq!(agent[0]["params"]["capabilities"]["session"], session);
    let capabilities = json!({"session": {"options": {}}});
    let result = json!({
        "protocolVersion": 2, "info": {"name": "a", "version": "1"}, "capabilities": capabilities,
    });
    bridge.handle_agent_line(&json!({"jsonrpc": "2.0", "id": 0, "result": result}).to_string());
    let (editor, ..) = outputs(&mut bridge);
    let result = &editor[0]["result"]["agentCapabilities"]["sessionCapabilities"];
    assert_eq!(result["options"], json!({}));

    let options = acp_types::convert::BridgeOptions::default();
    let mut bridge =
        Bridge::new(options.with_agent(acp_types::v1::initialization::ProtocolVersion::V1));
    let params = json!({
        "protocolVersion": 2, "info": {"name": "e", "version": "1"}, "capabilities": {"session": session},
    });
    let line = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    bridge.handle_editor_line(&line.to_string());
    let (_, agent, _) = outputs(&mut bridge);
    let sent = &agent[0]["params"]["clientCapabilities"]["session"];
    assert_eq!(sent["promptSuggestions"], session["promptSuggestions"]);
    assert_eq!(sent["cursors"], json!({}));
    let result = json!({
        "protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"options": {}}},
    });
    bridge.handle_agent_line(&json!({"jsonrpc": "2.0", "id": 0, "result": result}).to_string());
    let (editor, ..) = outputs(&mut bridge);
    assert_eq!(editor[0]["result"]["capabilities"]["session"]["options"], json!({}));
}
