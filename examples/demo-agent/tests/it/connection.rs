//! Methods, sessions, cancellation and invalid input.

use crate::client::{Client, nothing, outline, text};
use acp_types::v1::dispatch::AgentRequest;
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::initialization::InitializeResponse;
use acp_types::v1::prompt_turn::{PromptResponse, SessionUpdate, StopReason};
use acp_types::v1::session_setup::LoadSessionResponse;
use jsonrpc_core::{ErrorCode, Message};
use serde_json::{Value, json};

#[test]
fn initialize_returns_the_capabilities() {
    let mut client = Client::start(json!({}));
    let answer = client.call("initialize", &json!({ "protocolVersion": 1 })).unwrap();
    let response: InitializeResponse = answer.decode().unwrap();
    assert_eq!(response.protocol_version.0, 1);
    assert_eq!(response.agent_info.unwrap().name, "demo-agent");
    assert_eq!(response.agent_capabilities.unwrap().load_session, Some(true));
    let method = json!({ "methodId": "none" });
    assert_eq!(client.call("authenticate", &method).unwrap().as_str(), "{}");
    let error = client.call("authenticate", &json!({ "methodId": "key" })).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
}

#[test]
fn unknown_methods_are_refused_and_notifications_ignored() {
    let mut client = Client::start(json!({}));
    client.notify("_example.com/news", &json!({}));
    let error = client.call("_example.com/ping", &json!({})).unwrap_err();
    assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
    assert!(error.message.contains("_example.com/ping"), "{error}");
}

#[test]
fn invalid_params_are_reported_with_their_place() {
    let mut client = Client::start(json!({}));
    let error = client.call("session/new", &json!({ "cwd": 7, "mcpServers": [] })).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
    assert!(error.message.contains("/cwd"), "{error}");
}

#[test]
fn invalid_line_is_answered() {
    let mut client = Client::start(json!({}));
    client.send("{oops");
    let line = client.line();
    let Ok(Message::Response(response)) = Message::decode(&line) else { panic!("{line}") };
    assert_eq!(response.outcome.unwrap_err().code, ErrorCode::PARSE_ERROR);
}

#[test]
fn unknown_session_is_not_found() {
    let mut client = Client::start(json!({}));
    let session = json!({ "sessionId": "nowhere", "cwd": "/", "mcpServers": [] });
    assert_eq!(client.call("session/load", &session).unwrap_err().code, RESOURCE_NOT_FOUND);
    let prompt = json!({ "sessionId": "nowhere", "prompt": [] });
    assert_eq!(client.call("session/prompt", &prompt).unwrap_err().code, RESOURCE_NOT_FOUND);
}

#[test]
fn loaded_session_replays_its_history() {
    let (mut client, session) = Client::with_session();
    let turn = client.turn(&session, "read", nothing);
    let params = json!({ "sessionId": session, "cwd": "/project", "mcpServers": [] });
    let id = client.request("session/load", &params);
    let SessionUpdate::UserMessageChunk(said) = client.update().1 else { panic!("not the prompt") };
    assert_eq!(said.content, "read".into());
    let replayed: Vec<_> = turn.updates.iter().map(|_| client.update().1).collect();
    assert_eq!(replayed, turn.updates);
    let response: LoadSessionResponse = client.answer(id).unwrap().decode().unwrap();
    assert_eq!(response.modes.unwrap().current_mode_id.as_str(), "ask");
}

#[test]
fn mode_decides_whether_edits_need_permission() {
    let (mut client, session) = Client::with_session();
    let mode = |mode| json!({ "sessionId": session, "modeId": mode });
    client.call("session/set_mode", &mode("auto")).unwrap();
    let turn = client.turn(&session, "edit", nothing);
    assert!(turn.requests.is_empty());
    let error = client.call("session/set_mode", &mode("yolo")).unwrap_err();
    assert_eq!(error.code, ErrorCode::INVALID_PARAMS);
}

#[test]
fn slow_turn_is_cancelled_between_two_chunks() {
    for notification in ["session/cancel", "$/cancel_request"] {
        let (mut client, session) = Client::with_session();
        let prompt = client.prompt(&session, "slow");
        assert!(matches!(client.update().1, SessionUpdate::AgentMessageChunk(_)));
        client.notify(notification, &json!({ "sessionId": session, "requestId": prompt }));
        let (updates, response) = client.rest_of_turn(prompt);
        assert_eq!(response.stop_reason, StopReason::Cancelled);
        assert!(updates.len() < 20, "{}", updates.len());
    }
}

#[test]
fn cancelling_closes_the_open_tool_call() {
    let (mut client, session) = Client::with_session();
    let prompt = client.prompt(&session, "edit");
    let mut updates = vec![client.update().1];
    let question = client.line();
    let Ok(Message::Request(question)) = Message::decode(&question) else { panic!("{question}") };
    client.notify("session/cancel", &json!({ "sessionId": session }));
    updates.push(client.update().1);
    assert_eq!(outline(&updates), ["tool_call pending", "tool_call_update failed"]);
    let response: PromptResponse = client.answer(prompt).unwrap().decode().unwrap();
    assert_eq!(response.stop_reason, StopReason::Cancelled);

    // The late answer arrives during the next turn, and has no effect on it.
    let late = client.prompt(&session, "permission");
    let next = client.line();
    let Ok(Message::Request(next)) = Message::decode(&next) else { panic!("{next}") };
    let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
    let allowed = json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } });
    for (id, result) in [(&question.id, cancelled), (&next.id, allowed)] {
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }
    let (updates, response) = client.rest_of_turn(late);
    assert_eq!(text(&updates), "Thank you. I will not make use of it. ");
    assert_eq!(response.stop_reason, StopReason::EndTurn);
}

#[test]
fn sessions_run_turns_concurrently_and_one_each() {
    let (mut client, first) = Client::with_session();
    let second = client.new_session();
    let slow = client.prompt(&first, "slow");
    assert_eq!(client.update().0, first);
    let again = client.prompt(&first, "hello");
    let quick = client.prompt(&second, "hello");
    let mut said = Vec::new();
    let mut refused = None;
    let mut answered = false;
    while !answered || refused.is_none() {
        let line = client.line();
        match Message::decode(&line) {
            Ok(Message::Notification(it)) => {
                let params: Value = serde_json::from_str(it.params.unwrap().get()).unwrap();
                if params["sessionId"] == second.as_str() {
                    said.push(serde_json::from_value(params["update"].clone()).unwrap());
                }
            }
            Ok(Message::Response(it)) if it.id == again.into() => refused = it.outcome.err(),
            Ok(Message::Response(it)) if it.id == quick.into() => answered = true,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(refused.unwrap().code, ErrorCode::INVALID_REQUEST);
    assert!(text(&said).starts_with("Hello!"));
    client.notify("session/cancel", &json!({ "sessionId": first }));
    assert_eq!(client.rest_of_turn(slow).1.stop_reason, StopReason::Cancelled);
}

#[test]
fn end_of_input_ends_the_agent() {
    let (mut client, session) = Client::with_session();
    client.prompt(&session, "slow");
    client.update();
    assert!(client.finish().success());
}

#[test]
fn client_without_permission_support_sees_a_failed_call() {
    let (mut client, session) = Client::with_session();
    let prompt = client.prompt(&session, "edit");
    client.update();
    let question = client.line();
    let Ok(Message::Request(question)) = Message::decode(&question) else { panic!("{question}") };
    assert!(matches!(
        AgentRequest::decode(&question.method, question.params),
        Ok(AgentRequest::RequestPermissionRequest(_))
    ));
    let id = &question.id;
    client.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no"}}}}"#
    ));
    assert_eq!(outline(&[client.update().1]), ["tool_call_update failed"]);
    let response: PromptResponse = client.answer(prompt).unwrap().decode().unwrap();
    assert_eq!(response.stop_reason, StopReason::EndTurn);
}

#[test]
fn closed_session_is_gone_and_its_id_is_not_reused() {
    let mut client = Client::start(json!({}));
    let first = client.new_session();
    let closed = json!({ "sessionId": first });
    assert_eq!(client.call("session/close", &closed).unwrap().as_str(), "{}");
    assert_eq!(client.call("session/close", &closed).unwrap_err().code, RESOURCE_NOT_FOUND);
    let prompt = json!({ "sessionId": first, "prompt": [] });
    assert_eq!(client.call("session/prompt", &prompt).unwrap_err().code, RESOURCE_NOT_FOUND);
    assert_ne!(client.new_session(), first);
}

#[test]
fn another_process_reuses_no_id_and_knows_none() {
    let (mut before, first) = Client::with_session();
    let second = before.new_session();
    before.finish();
    let (mut after, third) = Client::with_session();
    for id in [first, second] {
        assert_ne!(id, third);
        let load = json!({ "sessionId": id, "cwd": "/", "mcpServers": [] });
        assert_eq!(after.call("session/load", &load).unwrap_err().code, RESOURCE_NOT_FOUND);
    }
}
