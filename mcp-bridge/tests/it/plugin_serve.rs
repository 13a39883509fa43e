//! `book_flight` on a server, for clients of both generations.
use crate::plugin::{World, book_flight};
use crate::server::{CAPABILITIES, VERSION};
use futures::executor::block_on;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{PluginHost, SuspendPolicy, outcome};
use mcp_bridge::server::{Server, ServerEvent, ServerOptions};
use serde_json::{Value, json};
use std::sync::Arc;

fn server() -> Server {
    let tool = book_flight("1", &Arc::default()).tool().clone();
    Server::new(ServerOptions::new(Implementation::new("travel", "1"), [tool]))
}

/// Passes a line to a server, runs the resulting calls, and takes the messages sent.
pub(crate) fn exchange(server: &mut Server, host: &PluginHost, line: &Value) -> Vec<Value> {
    server.handle_line(Ok(&line.to_string()));
    while let Some(event) = server.poll_event() {
        let ServerEvent::Call(call) = event else { continue };
        let turn = block_on(host.handle(&call, "9c41", "ada", None));
        server.complete(call.id, outcome(&call, turn), None).expect("open");
    }
    let mut sent = Vec::new();
    while let Some(outgoing) = server.poll_outgoing() {
        let mut line = Vec::new();
        outgoing.message.as_message().to_line(&mut line);
        sent.push(serde_json::from_slice(&line).expect("JSON"));
    }
    sent
}

/// The response of a client to a request.
fn result(method: &Value, key: &str) -> Value {
    match (method.as_str(), key) {
        (Some("elicitation/create"), "Which seat?") => {
            json!({ "action": "accept", "content": { "row": 12, "seat": "C" } })
        }
        (Some("elicitation/create"), _) => {
            json!({ "action": "accept", "content": { "flightId": "CA-287" } })
        }
        (Some("sampling/createMessage"), _) => {
            let text = json!({ "type": "text", "text": "Take the train." });
            json!({ "role": "assistant", "content": text, "model": "m" })
        }
        other => panic!("asked for {other:?}"),
    }
}

/// The first line of a message, which may have a section with a context.
fn title(request: &Value) -> &str {
    let message = request["params"]["message"].as_str().unwrap_or_default();
    message.lines().next().unwrap_or_default()
}

fn check(result: &Value) {
    let booking = &result["structuredContent"];
    assert_eq!(&booking["seat"], &json!("12C"));
    assert_eq!(&booking["tip"], &json!("Take the train."));
}

const ARGUMENTS: fn() -> Value = || json!({ "from": "NYC", "destination": "LAX" });

#[test]
fn legacy_client_is_asked_during_the_call() {
    let world = World::new();
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay, world.token(true)] {
        let world = World::new();
        let mut server = server();
        let host = world.host(policy, "a");
        let capabilities = json!({ "elicitation": {}, "sampling": {} });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "c", "version": "1" } });
        exchange(
            &mut server,
            &host,
            &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        );
        let call = json!({ "name": "book_flight", "arguments": ARGUMENTS() });
        let mut line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        for _ in 0..3 {
            let sent = exchange(&mut server, &host, &line);
            let [request] = &sent[..] else { panic!("one request: {sent:?}") };
            let result = result(&request["method"], title(request));
            line = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        }
        let sent = exchange(&mut server, &host, &line);
        assert_eq!(sent[0]["id"], 1);
        check(&sent[0]["result"]);
    }
}

#[test]
fn modern_client_may_call_again_at_another_program() {
    let world = World::new();
    for policy in [SuspendPolicy::Replay, world.token(true)] {
        let world = World::new();
        let capabilities = json!({ "elicitation": {}, "sampling": {} });
        let meta = json!({ VERSION: "2026-07-28", CAPABILITIES: capabilities });
        let mut params = json!({ "name": "book_flight", "arguments": ARGUMENTS(), "_meta": meta });
        for (id, owner) in ["a", "b", "c"].into_iter().enumerate() {
            let mut server = server();
            let host = world.host(policy.clone(), owner);
            let line =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            let sent = exchange(&mut server, &host, &line);
            let asked = &sent[0]["result"];
            assert_eq!(asked["resultType"], "input_required");
            let requests = asked["inputRequests"].as_object().expect("requests");
            let answers = requests.iter();
            let answers = answers.map(|(key, it)| (key.clone(), result(&it["method"], title(it))));
            params["inputResponses"] = Value::Object(answers.collect());
            params["requestState"] = asked["requestState"].clone();
        }
        let mut server = server();
        let host = world.host(policy, "d");
        let line = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params });
        check(&exchange(&mut server, &host, &line)[0]["result"]);

        // The same state for another trip.
        params["arguments"]["destination"] = "SFO".into();
        let line = json!({ "jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": params });
        let sent = exchange(&mut server, &host, &line);
        assert_eq!(sent[0]["error"]["code"], -32602, "{sent:?}");
    }
}

#[test]
fn missing_capability_is_named_in_the_error() {
    let world = World::new();
    let mut server = server();
    let host = world.host(SuspendPolicy::Replay, "a");
    let meta = json!({ VERSION: "2026-07-28", CAPABILITIES: {} });
    let params = json!({ "name": "book_flight", "arguments": ARGUMENTS(), "_meta": meta });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let sent = exchange(&mut server, &host, &line);
    assert_eq!(sent[0]["error"]["code"], -32021);
    assert!(sent[0]["error"]["data"]["requiredCapabilities"]["elicitation"].is_object());
}
