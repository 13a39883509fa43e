//! The agent machine: requests, versions, calls, and properties.
use acp_types::agent::{
    Call, CallError, ClientRequest, ClientResponse, CloseReason, Connection, Event, Limits,
    Options, Reply, RequestKey,
};
use acp_types::v1::dispatch;
use acp_types::v1::file_system::ReadTextFileRequest;
use acp_types::v1::initialization::ProtocolVersion;
use acp_types::v1::prompt_turn::{
    ContentChunk, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use acp_types::v2;
use acp_types::v2::error::{ErrorData, UNSUPPORTED_PROTOCOL_VERSION};
use core::iter;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use proptest::prelude::*;
use serde_json::{Value, json};

mod laws;
mod laws_v2;
mod limits;
mod version_2;

const NOW: Duration = Duration::from_secs(1_000);

struct Agent(Connection);

impl Agent {
    fn v1() -> Self {
        Self::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let mut agent = Self(Connection::new(Options::v1().with_limits(limits)));
        let key = agent.ask(0, "initialize", json!({ "protocolVersion": 1 })).expect("accepted");
        agent.reply(key, json!({ "protocolVersion": 1 }));
        agent.sent();
        agent
    }

    /// Sends a request of the client, and returns its key if it is reported.
    fn ask(&mut self, id: i64, method: &str, params: Value) -> Option<RequestKey> {
        self.line(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.events().into_iter().find_map(|event| match event {
            Event::Request(key, _) => Some(key),
            _ => None,
        })
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.line(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn reply(&mut self, key: RequestKey, result: Value) {
        self.0.reply(key, Reply::result(&result)).expect("open");
    }

    fn line(&mut self, line: impl ToString) {
        self.0.handle_line(Ok(&line.to_string()));
    }

    fn events(&mut self) -> Vec<Event> {
        iter::from_fn(|| self.0.poll_event()).collect()
    }

    fn sent(&mut self) -> Vec<Value> {
        let lines = iter::from_fn(|| self.0.poll_transmit());
        lines.map(|transmit| serde_json::from_slice(&transmit.line).unwrap()).collect()
    }
}

fn prompt(session: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Hi" }] })
}

#[test]
fn updates_are_sent_before_a_later_response() {
    let mut agent = Agent::v1();
    let turn = agent.ask(1, "session/prompt", prompt("s")).unwrap();
    let update = SessionUpdate::AgentMessageChunk(ContentChunk::new("Hello"));
    agent.0.notify(&SessionNotification::new("s", update)).unwrap();
    agent.0.reply(turn, Reply::result(&PromptResponse::new(StopReason::EndTurn))).unwrap();
    let sent = agent.sent();
    assert_eq!(sent[0]["params"]["update"]["content"]["text"], "Hello");
    assert_eq!(&sent[1]["id"], &json!(1));
    assert_eq!(&sent[1]["result"]["stopReason"], &json!("end_turn"));
    assert!(agent.0.reply(turn, Reply::method_not_found("x")).is_err());
}

#[test]
fn cancelled_prompt_is_reported_once_and_answered() {
    let mut agent = Agent::v1();
    let turn = agent.ask(1, "session/prompt", prompt("s")).unwrap();
    let other = agent.ask(2, "session/prompt", prompt("t")).unwrap();
    agent.notify("session/cancel", json!({ "sessionId": "s" }));
    agent.notify("session/cancel", json!({ "sessionId": "s" }));
    agent.notify("$/cancel_request", json!({ "requestId": 1 }));
    agent.notify("$/cancel_request", json!({ "requestId": 2 }));
    let cancelled: Vec<_> = agent
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Cancelled(key) => Some(key),
            _ => None,
        })
        .collect();
    assert_eq!(cancelled, [turn, other]);
    agent.reply(turn, json!({ "stopReason": "cancelled" }));
    assert_eq!(agent.sent().len(), 1);
}

#[test]
fn call_ends_with_its_typed_result() {
    let mut agent = Agent::v1();
    let call = agent.0.call(Call::new(&ReadTextFileRequest::new("s", "/x")), NOW);
    let sent = agent.sent();
    assert_eq!(sent[0]["method"], "fs/read_text_file");
    agent.line(json!({ "jsonrpc": "2.0", "id": sent[0]["id"], "result": { "content": "text" } }));
    let events = agent.events();
    let [Event::CallEnded(ended, Ok(result))] = &events[..] else { panic!("{events:?}") };
    let ClientResponse::V1(dispatch::ClientResponse::ReadTextFileResponse(file)) = &result.value
    else {
        panic!("{result:?}");
    };
    assert_eq!(*ended, call);
    assert_eq!(file.content.as_str(), "text");
}

#[test]
fn withdrawn_call_still_ends() {
    let mut agent = Agent::v1();
    let call = agent.0.call(Call::new(&ReadTextFileRequest::new("s", "/x")), NOW);
    agent.0.withdraw(call);
    agent.0.withdraw(call);
    let sent = agent.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(&sent[1]["method"], &json!("$/cancel_request"));
    agent.line(json!({ "jsonrpc": "2.0", "id": sent[0]["id"], "error": { "code": -32800, "message": "" } }));
    assert!(matches!(&agent.events()[..], [Event::CallEnded(_, Err(CallError::Answered(_)))]));
}

#[test]
fn call_ends_at_its_deadline() {
    let mut agent = Agent::v1();
    let call = Call::new(&ReadTextFileRequest::new("s", "/x")).with_timeout(Duration::from_secs(1));
    let call = agent.0.call(call, NOW);
    let due = agent.0.poll_timeout().unwrap();
    agent.0.handle_timeout(due);
    assert_eq!(agent.events(), [Event::CallEnded(call, Err(CallError::Timeout))]);
    agent.0.call(Call::new(&ReadTextFileRequest::new("s", "/x")), NOW);
    assert_eq!(agent.0.poll_timeout(), None, "people may take their time");
}

#[test]
fn invalid_requests_are_answered_by_the_machine() {
    let mut agent = Agent::v1();
    assert_eq!(agent.ask(1, "session/prompt", json!({ "prompt": [] })), None);
    let sent = agent.sent();
    assert_eq!(sent[0]["error"]["code"], -32602);
    let extension = agent.ask(2, "_example.com/x", json!({})).unwrap();
    agent.0.reply(extension, Reply::method_not_found("_example.com/x")).unwrap();
    assert_eq!(agent.sent()[0]["error"]["code"], -32601);
}

/// Supported versions, the requested one, and the selected one; `None` is an error.
#[test]
fn version_selection_follows_the_specification() {
    for (supported, asked, expected) in [
        (&[1][..], 1, Some(1)),
        (&[1], 2, Some(1)),
        (&[1], 65535, Some(1)),
        (&[1], 0, Some(1)),
        (&[1, 2], 1, Some(1)),
        (&[1, 2], 2, Some(2)),
        (&[1, 2], 3, Some(2)),
        (&[2, 1], 2, Some(2)),
        (&[2], 3, Some(2)),
        (&[2], 1, None),
        (&[1, 2], 0, None),
        (&[], 1, None),
    ] {
        let versions = supported.iter().copied().map(ProtocolVersion);
        let mut agent = Agent(Connection::new(Options::new(versions)));
        let info = json!({ "name": "editor", "version": "1" });
        let key = agent.ask(1, "initialize", json!({ "protocolVersion": asked, "info": info }));
        let chosen = agent.0.version().map(|version| version.0);
        assert_eq!(chosen, expected, "{supported:?} {asked}");
        assert_eq!(key.is_some(), expected.is_some());
        if expected.is_none() {
            let error = agent.sent()[0]["error"].clone();
            assert_eq!(error["code"], UNSUPPORTED_PROTOCOL_VERSION.0);
            let data = json!({ "requested": asked, "supported": supported });
            assert_eq!(error["data"], data);
            let data = ErrorData::from(Raw::from_value(&data).unwrap());
            assert!(matches!(data, ErrorData::UnsupportedProtocolVersion(_)), "{data:?}");
        }
    }
}

#[test]
fn parameters_of_a_later_version_are_partially_decoded() {
    let both = || Options::new([ProtocolVersion::V1, ProtocolVersion::V2]);
    for (options, params, is_given) in [
        (both(), json!({ "protocolVersion": 3 }), true),
        (both(), json!({ "protocolVersion": 3, "info": { "name": 7 } }), true),
        (both(), json!({ "protocolVersion": 2 }), false),
        (
            Options::v1(),
            json!({ "protocolVersion": 2, "clientCapabilities": { "fs": 7 }, "clientInfo": "me" }),
            true,
        ),
        (Options::v1(), json!({ "protocolVersion": "1" }), false),
        (Options::v1(), json!({ "protocolVersion": 65536 }), false),
        (Options::v1(), json!({}), false),
    ] {
        let mut agent = Agent(Connection::new(options));
        let given = agent.ask(1, "initialize", params.clone());
        assert_eq!(given.is_some(), is_given, "{params}");
        assert_eq!(agent.sent().len(), usize::from(!is_given), "{params}");
    }
}

#[test]
fn closed_connection_ends_calls() {
    let mut agent = Agent::v1();
    let call = agent.0.call(Call::new(&ReadTextFileRequest::new("s", "/x")), NOW);
    let turn = agent.ask(1, "session/prompt", prompt("s")).unwrap();
    agent.0.handle_closed(CloseReason::ClientClosed);
    let closed = CallError::Closed(CloseReason::ClientClosed);
    let expected = [Event::CallEnded(call, Err(closed)), Event::Closed(CloseReason::ClientClosed)];
    assert_eq!(agent.events(), expected);
    assert!(agent.0.reply(turn, Reply::method_not_found("x")).is_err());
    agent.line(
        json!({ "jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt("s") }),
    );
    assert_eq!(agent.events(), vec![]);
    assert!(agent.sent().is_empty());
}

#[test]
fn requests_can_be_answered_after_the_end_of_input() {
    let mut agent = Agent::v1();
    let call = agent.0.call(Call::new(&ReadTextFileRequest::new("s", "/x")), NOW);
    let turn = agent.ask(1, "session/prompt", prompt("s")).unwrap();
    agent.sent();
    agent.0.handle_end();
    let closed = CallError::Closed(CloseReason::ClientClosed);
    assert_eq!(agent.events(), [Event::CallEnded(call, Err(closed))]);
    agent.reply(turn, json!({ "stopReason": "end_turn" }));
    assert_eq!(agent.sent().len(), 1);
}
