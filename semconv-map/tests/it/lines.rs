//! Lines as sent by peers.
use serde_json::{Value, json};

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params }).to_string()
}

pub(crate) fn notification(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

pub(crate) fn result(id: impl Into<Value>, result: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": result }).to_string()
}

pub(crate) fn error(id: impl Into<Value>, code: i64, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id.into(), "error": { "code": code, "message": message } })
        .to_string()
}

pub(crate) fn prompt(id: impl Into<Value>, session: &str) -> String {
    let text = json!([{ "type": "text", "text": "Hi" }]);
    request(id, "session/prompt", json!({ "sessionId": session, "prompt": text }))
}

pub(crate) fn stop(id: impl Into<Value>, reason: &str) -> String {
    result(id, json!({ "stopReason": reason }))
}

/// A `session/update`. `update` contains its kind.
pub(crate) fn update(session: &str, update: Value) -> String {
    notification("session/update", json!({ "sessionId": session, "update": update }))
}

pub(crate) fn text(session: &str, text: &str) -> String {
    let content = json!({ "type": "text", "text": text });
    update(session, json!({ "sessionUpdate": "agent_message_chunk", "content": content }))
}

pub(crate) fn tool(session: &str, id: &str, kind: &str, status: &str) -> String {
    update(
        session,
        json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": "A title", "kind": kind, "status": status }),
    )
}

pub(crate) fn tool_status(session: &str, id: &str, status: &str) -> String {
    update(
        session,
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status }),
    )
}

pub(crate) fn permission(id: impl Into<Value>, session: &str, tool: &str) -> String {
    let options = json!([
        { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
        { "optionId": "never", "name": "Never", "kind": "reject_always" },
        { "optionId": "ask", "name": "Ask again", "kind": "newer" },
    ]);
    let tool_call = json!({ "toolCallId": tool });
    request(
        id,
        "session/request_permission",
        json!({ "sessionId": session, "toolCall": tool_call, "options": options }),
    )
}

pub(crate) fn chose(id: impl Into<Value>, option: &str) -> String {
    result(id, json!({ "outcome": { "outcome": "selected", "optionId": option } }))
}
