//! What an editor of version 1 shows of a request for permission.
use super::cases::{outputs, update, v1_editor};
use acp_types::convert::Bridge;
use serde_json::{Value, json};

fn permission(bridge: &mut Bridge, params: Value) -> Vec<Value> {
    let line = json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": params});
    bridge.handle_agent_line(&line.to_string());
    outputs(bridge).0
}

/// An editor of version 1 shows all that the agent says about what is to be allowed.
#[test]
fn permission_shows_description_and_unknown_subject() {
    let mut bridge = v1_editor(json!({}));
    let text = |text: &str| json!({"type": "content", "content": {"type": "text", "text": text}});
    update(
        &mut bridge,
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Write",
        "status": "pending", "content": [text("the file")]}),
    );
    let unknown = json!({"type": "_purchase", "item": "a house"});
    for (subject, content, input) in [
        (
            json!({"type": "tool_call", "toolCall": {"toolCallId": "c"}}),
            vec!["why", "the file"],
            Value::Null,
        ),
        (
            json!({"type": "command", "command": "rm", "cwd": "/srv"}),
            vec!["why"],
            json!({"command": "rm", "cwd": "/srv"}),
        ),
        (unknown.clone(), vec!["why"], unknown),
    ] {
        let lines = permission(
            &mut bridge,
            json!({"sessionId": "s", "title": "t", "description": "why",
            "options": [], "subject": subject}),
        );
        let call = &lines.last().unwrap()["params"]["toolCall"];
        let shown: Vec<_> = content.into_iter().map(text).collect();
        assert_eq!(call["content"], json!(shown), "{call}");
        assert_eq!(call["rawInput"], input, "{call}");
    }
}
