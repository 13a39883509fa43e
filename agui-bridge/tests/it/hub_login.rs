//! Logins of a program while a hub is connected.
use crate::thread::options;
use acp_types::client::{self, Call, CallError};
use acp_types::v1::authentication::AuthenticateRequest;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use agui_bridge::hub::{Hub, HubEvent, HubOptions};
use agui_types::input::RunAgentInput;
use jsonrpc_core::wire;
use serde_json::{Value, json};
use std::time::Duration;

const NOW: Duration = Duration::ZERO;

/// Returns the lines that the hub sends.
fn sent(hub: &mut Hub) -> Vec<Value> {
    let lines = core::iter::from_fn(|| hub.poll_transmit());
    lines.map(|it| serde_json::from_slice(&it.line).unwrap()).collect()
}

fn handle(hub: &mut Hub, message: &Value) {
    hub.handle_line(Ok(&message.to_string()), NOW);
}

/// Begins a run with one message.
fn say(hub: &mut Hub, run: &str) {
    let message = json!({ "id": "u", "role": "user", "content": "Hi" });
    let input = json!({ "threadId": "t", "runId": run, "messages": [message] }).to_string();
    hub.handle_run("t", wire::decode::<RunAgentInput>(&input).unwrap(), NOW).unwrap();
}

/// Returns a hub, and its request for a session.
fn opening() -> (Hub, Value) {
    let mut hub = Hub::new(HubOptions::new(options()));
    hub.connect(client::Options::v1(InitializeRequest::new(ProtocolVersion::V1)), NOW);
    say(&mut hub, "1");
    sent(&mut hub);
    handle(&mut hub, &json!({ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": 1 } }));
    let opened = sent(&mut hub).remove(0);
    assert_eq!(opened["method"], "session/new");
    assert!(!hub.needs_login());
    (hub, opened["id"].clone())
}

fn refuse(hub: &mut Hub, id: &Value) {
    let error = json!({ "code": -32000, "message": "Authentication required" });
    handle(hub, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    assert!(hub.needs_login());
}

/// Returns a hub after its agent has refused a session.
fn refused() -> Hub {
    let (mut hub, id) = opening();
    refuse(&mut hub, &id);
    while hub.poll_event().is_some() {}
    hub
}

/// Some agents open sessions without a login, and refuse prompts.
#[test]
fn refused_prompt_needs_login_until_one_is_answered() {
    let (mut hub, id) = opening();
    handle(&mut hub, &json!({ "jsonrpc": "2.0", "id": id, "result": { "sessionId": "s" } }));
    let prompt = sent(&mut hub).remove(0);
    assert_eq!(prompt["method"], "session/prompt");
    refuse(&mut hub, &prompt["id"]);
    say(&mut hub, "2");
    let again = sent(&mut hub).remove(0);
    assert_eq!(again["method"], "session/prompt", "the message is sent again");
    assert_eq!(again["params"]["prompt"], prompt["params"]["prompt"]);
    let ended = json!({ "stopReason": "end_turn" });
    handle(&mut hub, &json!({ "jsonrpc": "2.0", "id": again["id"], "result": ended }));
    assert!(!hub.needs_login());
}

#[test]
fn call_of_program_logs_in() {
    let mut hub = refused();
    let key = hub.call(Call::new(&AuthenticateRequest::new("browser")), NOW).unwrap();
    let call = sent(&mut hub).remove(0);
    assert_eq!(&call["method"], &json!("authenticate"));
    assert_eq!(&call["params"], &json!({ "methodId": "browser" }));
    handle(&mut hub, &json!({ "jsonrpc": "2.0", "id": call["id"], "result": {} }));
    assert!(matches!(hub.poll_event(), Some(HubEvent::CallEnded(ended, Ok(_))) if ended == key));
    assert!(hub.needs_login(), "the program decides whether this was a login");
    hub.handle_logged_in();
    assert!(!hub.needs_login());
}

#[test]
fn withdrawn_call_ends_with_answer_of_agent() {
    let mut hub = refused();
    let key = hub.call(Call::new(&AuthenticateRequest::new("browser")), NOW).unwrap();
    let call = sent(&mut hub).remove(0);
    hub.withdraw(key);
    let withdrawn = sent(&mut hub);
    assert_eq!(withdrawn.len(), 1);
    assert_eq!(withdrawn[0]["method"], "$/cancel_request");
    hub.withdraw(key);
    assert_eq!(sent(&mut hub), [] as [Value; 0], "once");
    assert_eq!(hub.poll_event(), None);
    let error = json!({ "code": -32800, "message": "cancelled" });
    handle(&mut hub, &json!({ "jsonrpc": "2.0", "id": call["id"], "error": error }));
    let ended = hub.poll_event();
    assert!(
        matches!(&ended, Some(HubEvent::CallEnded(it, Err(CallError::Answered(_)))) if *it == key),
        "{ended:?}"
    );
}
