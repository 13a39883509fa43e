//! Requests on the wire, in both versions.
use crate::thread::{input, options, user};
use acp_types::client;
use acp_types::v1::initialization::{Implementation, InitializeRequest, ProtocolVersion};
use agui_bridge::hub::{Hub, HubOptions};
use serde_json::{Value, json};
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

/// Expects a request of this method, answers it, and returns its parameters.
fn answer(hub: &mut Hub, method: &str, result: &Value) -> Value {
    let transmit = hub.poll_transmit().expect("a line to the agent");
    let mut request: Value = serde_json::from_slice(&transmit.line).unwrap();
    assert_eq!(request["method"], method, "{request}");
    let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    hub.handle_line(Ok(&response.to_string()), NOW);
    request["params"].take()
}

fn tell(hub: &mut Hub, update: &Value) {
    let params = json!({"sessionId": "s", "update": update});
    let line = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    hub.handle_line(Ok(&line.to_string()), NOW);
}

/// The agent's message with this id, and a cursor after it.
fn answered(hub: &mut Hub, id: &str, text: &str) {
    let content = json!({"type": "text", "text": text});
    tell(
        hub,
        &json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": content}),
    );
    let anchor = json!({"type": "agent_message", "messageId": id, "position": "after"});
    let cursor = format!("after {id}");
    tell(
        hub,
        &json!({"sessionUpdate": "cursor_update", "cursorId": cursor, "anchor": anchor,
            "capabilities": {"fork": {}}}),
    );
}

fn say(hub: &mut Hub, run: &str, messages: &[Value]) {
    hub.handle_run("t", input(run, messages, &json!({})), NOW).unwrap();
}

fn conversation(text: &str) -> [Value; 3] {
    let hello = json!({"id": "a", "role": "assistant", "content": "Hello."});
    [user("u1", "Hi"), hello, user("u2", text)]
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[test]
fn request_names_the_cursor_in_version_1() {
    let mut hub = Hub::new(HubOptions::new(options()));
    hub.connect(client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)), NOW);
    let agent = json!({"protocolVersion": 1, "agentCapabilities": {
        "sessionCapabilities": {"fork": {}, "close": {}}}});
    say(&mut hub, "1", &[user("u1", "Hi")]);
    answer(&mut hub, "initialize", &agent);
    answer(&mut hub, "session/new", &json!({"sessionId": "s"}));
    for (run, id, said) in [("2", "m1", "Hello."), ("3", "m2", "Well.")] {
        // The prompt is answered after its updates.
        let transmit = hub.poll_transmit().expect("a prompt");
        let request: Value = serde_json::from_slice(&transmit.line).unwrap();
        assert_eq!(request["method"], "session/prompt");
        answered(&mut hub, id, said);
        let end =
            json!({"jsonrpc": "2.0", "id": request["id"], "result": {"stopReason": "end_turn"}});
        hub.handle_line(Ok(&end.to_string()), NOW);
        let text = if run == "2" { "And you?" } else { "And now?" };
        say(&mut hub, run, &conversation(text));
    }
    let fork = answer(&mut hub, "session/fork", &json!({"sessionId": "f"}));
    assert_eq!(fork["sessionId"], "s");
    assert_eq!(fork["cursorId"], "after m1");
    let mut lines = Vec::new();
    while let Some(transmit) = hub.poll_transmit() {
        lines.push(serde_json::from_slice::<Value>(&transmit.line).unwrap());
    }
    let methods: Vec<_> = lines.iter().map(|line| line["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["session/prompt", "session/close"], "the source is closed after the fork");
    assert_eq!(lines[0]["params"]["sessionId"], "f");
    assert_eq!(lines[0]["params"]["prompt"], text("And now?"));
}

#[test]
fn request_names_the_cursor_in_version_2() {
    let mut hub = Hub::new(HubOptions::new(options()));
    hub.connect(client::Options::new(Implementation::new("c", "1")), NOW);
    let agent = json!({"protocolVersion": 2, "info": {"name": "a", "version": "1"},
        "capabilities": {"session": {"fork": {}}}});
    say(&mut hub, "1", &[user("u1", "Hi")]);
    answer(&mut hub, "initialize", &agent);
    answer(&mut hub, "session/new", &json!({"sessionId": "s"}));
    answer(&mut hub, "session/prompt", &json!({"messageId": "m0"}));
    let idle = json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"});
    answered(&mut hub, "m1", "Hello.");
    tell(&mut hub, &idle);
    say(&mut hub, "2", &conversation("And you?"));
    answer(&mut hub, "session/prompt", &json!({"messageId": "m2"}));
    let anchor = json!({"type": "user_message", "messageId": "m2", "position": "before"});
    tell(
        &mut hub,
        &json!({"sessionUpdate": "cursor_update", "cursorId": "before m2", "anchor": anchor,
            "capabilities": {"fork": {}}}),
    );
    tell(&mut hub, &idle);
    say(&mut hub, "3", &conversation("And now?"));
    let fork = answer(&mut hub, "session/fork", &json!({"sessionId": "f"}));
    assert_eq!(fork["sessionId"], "s");
    assert_eq!(fork["cursorId"], "before m2");
    let prompt = answer(&mut hub, "session/prompt", &json!({"messageId": "m3"}));
    assert_eq!(prompt["sessionId"], "f");
    assert_eq!(prompt["prompt"], text("And now?"));
}
