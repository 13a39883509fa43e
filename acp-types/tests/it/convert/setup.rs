//! Requests outside of turns, which pass a chain of version 2 with each of their members.
use super::chain::{Chain, OTHER};
use acp_types::convert::BridgeLoss;
use serde_json::{Value, json};

/// Requests with the results of the agent.
fn table() -> Vec<(&'static str, Value, Value)> {
    let servers = json!([{"type": "http", "name": "h", "url": "http://localhost/", "headers": [], "_meta": {"h": 1}}]);
    let opened = json!({"sessionId": OTHER, "_meta": {"r": 1}});
    let start = json!({"type": "start", "_meta": {"f": 1}});
    vec![
        (
            "session/new",
            json!({"cwd": "/x", "mcpServers": servers, "_meta": {"k": [1.5]}}),
            opened.clone(),
        ),
        (
            "session/fork",
            json!({"sessionId": "s", "cwd": "/x", "mcpServers": [], "_meta": {"k": 1}}),
            opened,
        ),
        (
            "session/resume",
            json!({"sessionId": OTHER, "cwd": "/x", "mcpServers": servers, "_meta": {"k": null}}),
            json!({"_meta": {"r": 2}}),
        ),
        (
            "session/resume",
            json!({"sessionId": OTHER, "cwd": "/x", "mcpServers": [], "replayFrom": start}),
            json!({"_meta": {"r": 3}}),
        ),
        (
            "session/resume",
            json!({"sessionId": OTHER, "cwd": "/x", "mcpServers": [], "replayFrom": {"type": "start", "newer": 1}}),
            json!({}),
        ),
        (
            "session/list",
            json!({"cwd": "/w", "_meta": {"k": 1}}),
            json!({"sessions": [{"sessionId": OTHER, "cwd": "/x", "title": "T"}], "nextCursor": "c", "_meta": {"r": 4}}),
        ),
        (
            "session/close",
            json!({"sessionId": OTHER, "_meta": {"k": 1}}),
            json!({"_meta": {"r": 5}}),
        ),
        (
            "session/delete",
            json!({"sessionId": OTHER, "_meta": {"k": 1}}),
            json!({"_meta": {"r": 6}}),
        ),
        ("auth/login", json!({"methodId": "m", "_meta": {"k": 1}}), json!({"_meta": {"r": 7}})),
        ("providers/list", json!({"_meta": {"k": 1}}), json!({"providers": [], "_meta": {"r": 8}})),
    ]
}

/// Sends a request of the table, and asserts that the agent and the editor receive what the other
/// side has sent.
pub(super) fn setup(chain: &mut Chain, id: &Value, place: usize) {
    let table = table();
    let (method, params, result) = &table[place % table.len()];
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    chain.editor(&request);
    let mut expected = request;
    if let Some(from) = expected.pointer_mut("/params/replayFrom") {
        from.as_object_mut().unwrap().retain(|name, _| name == "type");
        assert!(chain.lost(BridgeLoss::Replay).any(|name| name == format!("{OTHER}: replayFrom")));
    }
    assert_eq!(chain.to_agent.back(), Some(&expected));
    if *method == "session/resume" {
        if params.get("replayFrom").is_some() {
            let end = json!({"sessionUpdate": "replay_complete"});
            let params = json!({"sessionId": OTHER, "update": end});
            chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
        }
        let idle = json!({"sessionUpdate": "state_update", "state": "idle"});
        let params = json!({"sessionId": OTHER, "update": idle});
        chain.agent(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }
    let response = json!({"jsonrpc": "2.0", "id": id, "result": result});
    chain.agent(&response);
    assert_eq!(chain.responses(id), [&response]);
}
