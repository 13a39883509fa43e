//! When a released session is closed.
use super::{Client, NOW};
use acp_types::client::{Call, Options, SessionKey};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v1::session_setup::{ForkSessionRequest, LoadSessionRequest, NewSessionRequest};
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Raw};
use serde_json::json;

/// A client that has released its session and creates another one. Returns the request for that.
fn replacing() -> (Client, i64) {
    let (mut client, session) = Client::with_session();
    client.0.release(session, NOW);
    create(&mut client);
    let sent = client.sent();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0]["method"], "session/new");
    (client, sent[0]["id"].as_i64().expect("an id"))
}

fn create(client: &mut Client) -> SessionKey {
    client.0.open_session(NewSessionRequest::new("/work", []), NOW)
}

/// Returns the methods and the session ids of the lines that the client sends.
fn sent(client: &mut Client) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let lines = client.sent();
    lines.iter().map(|line| (text(&line["method"]), text(&line["params"]["sessionId"]))).collect()
}

fn closed(session: &str) -> [(String, String); 1] {
    [("session/close".to_owned(), session.to_owned())]
}

#[test]
fn closing_waits_for_the_session_that_is_created() {
    let (mut client, request) = replacing();
    client.answer(request, json!({ "sessionId": "t" }));
    assert_eq!(sent(&mut client), closed("s"));
    let (mut client, request) = replacing();
    client.refuse(request, -32603);
    assert_eq!(sent(&mut client), closed("s"));
}

#[test]
fn closing_does_not_wait_for_an_agent_that_is_silent() {
    let (mut client, _request) = replacing();
    let limit = Options::v1(InitializeRequest::new(ProtocolVersion::V1)).call_timeout;
    client.0.handle_timeout(NOW + limit - Duration::from_millis(1));
    assert_eq!(sent(&mut client), []);
    client.0.handle_timeout(NOW + limit);
    assert_eq!(sent(&mut client), closed("s"));
}

#[test]
fn later_sessions_do_not_delay_a_closing() {
    let (mut client, request) = replacing();
    create(&mut client);
    assert_eq!(sent(&mut client), [("session/new".to_owned(), String::new())]);
    client.answer(request, json!({ "sessionId": "t" }));
    assert_eq!(sent(&mut client), closed("s"));
}

#[test]
fn closing_precedes_requests_that_name_its_session() {
    let (mut client, _request) = replacing();
    client.0.open_session(LoadSessionRequest::new("s", "/work", []), NOW);
    let [closing] = closed("s");
    assert_eq!(sent(&mut client), [closing, ("session/load".to_owned(), "s".to_owned())]);
}

#[test]
fn requests_about_other_sessions_do_not_hasten_a_closing() {
    let (mut client, session) = Client::with_session();
    client.0.release(session, NOW);
    client.0.open_session(ForkSessionRequest::new("s", "/work"), NOW);
    let fork = client.sent()[0]["id"].as_i64().expect("an id");
    client.0.open_session(LoadSessionRequest::new("other", "/work", []), NOW);
    client.0.call(Call::raw("_list", Raw::of(&Extra::new())), NOW);
    let load = ("session/load".to_owned(), "other".to_owned());
    assert_eq!(sent(&mut client), [load, ("_list".to_owned(), String::new())]);
    client.answer(fork, json!({ "sessionId": "t" }));
    assert_eq!(sent(&mut client), closed("s"));
}

#[test]
fn closing_of_the_source_waits_for_a_fork_that_is_requested_later() {
    let (mut client, request) = replacing();
    client.0.open_session(ForkSessionRequest::new("s", "/work"), NOW);
    let fork = client.sent()[0]["id"].as_i64().expect("an id");
    client.answer(request, json!({ "sessionId": "t" }));
    assert_eq!(sent(&mut client), []);
    client.answer(fork, json!({ "sessionId": "u" }));
    assert_eq!(sent(&mut client), closed("s"));
}

#[test]
fn session_with_a_reused_id_is_not_closed() {
    let (mut client, request) = replacing();
    client.answer(request, json!({ "sessionId": "s" }));
    assert_eq!(sent(&mut client), []);
    assert_eq!(client.0.poll_timeout(), None, "nothing waits for an answer");
}
