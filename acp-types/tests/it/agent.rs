//! The agent machine: requests, versions, calls, and properties.
use acp_types::agent::{
    Call, CallError, CallKey, ClientRequest, ClientResponse, CloseReason, Connection, Diagnostic,
    Event, Limits, Options, Reply, RequestKey,
};
use acp_types::v1::dispatch;
use acp_types::v1::file_system::ReadTextFileRequest;
use acp_types::v1::initialization::ProtocolVersion;
use acp_types::v1::prompt_turn::{
    ContentChunk, PromptResponse, SessionNotification, SessionUpdate, StopReason,
};
use acp_types::v2::error::{ErrorData, UNSUPPORTED_PROTOCOL_VERSION};
use core::iter;
use core::time::Duration;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::wire::Raw;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const NOW: Duration = Duration::from_secs(1_000);

struct Agent(Connection);

impl Agent {
    fn v1() -> Self {
        let mut agent = Self(Connection::new(Options::v1()));
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
    assert_eq!((&sent[1]["id"], &sent[1]["result"]["stopReason"]), (&json!(1), &json!("end_turn")));
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
    assert_eq!((*ended, file.content.as_str()), (call, "text"));
}

#[test]
fn withdrawn_call_still_ends() {
    let mut agent = Agent::v1();
    let call = agent.0.call(Call::new(&ReadTextFileRequest::new("s", "/x")), NOW);
    agent.0.withdraw(call);
    agent.0.withdraw(call);
    let sent = agent.sent();
    assert_eq!((sent.len(), &sent[1]["method"]), (2, &json!("$/cancel_request")));
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
    assert_eq!((agent.events(), agent.sent()), (vec![], vec![]));
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

/// An input of the connection.
#[derive(Clone, Debug)]
enum Step {
    Ask(Index),
    /// A request with a reused id.
    AskAgain(Index),
    Cancel(Index),
    Withdraw(Index),
    Notify(Index),
    Reply(Index),
    Call,
    WithdrawCall(Index),
    Answer(Index, bool),
    Hostile(String),
    Wait(u64),
    Poll,
    End,
    Close,
}

const SESSIONS: [&str; 3] = ["a", "b", "c"];

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    prop_oneof![
        6 => index().prop_map(Step::Ask),
        1 => index().prop_map(Step::AskAgain),
        3 => index().prop_map(Step::Cancel),
        2 => index().prop_map(Step::Withdraw),
        2 => index().prop_map(Step::Notify),
        5 => index().prop_map(Step::Reply),
        3 => Just(Step::Call),
        1 => index().prop_map(Step::WithdrawCall),
        3 => (index(), any::<bool>()).prop_map(|(at, is_right)| Step::Answer(at, is_right)),
        2 => "[\\[\\]{}\",:a-z0-9]{0,40}".prop_map(Step::Hostile),
        1 => (0_u64..20).prop_map(Step::Wait),
        4 => Just(Step::Poll),
        1 => Just(Step::End),
        1 => Just(Step::Close),
    ]
}

/// The outputs of a connection.
struct Model {
    agent: Agent,
    now: Duration,
    /// Ids of the client's requests, and the number of responses to each.
    asked: BTreeMap<i64, usize>,
    given: BTreeMap<RequestKey, bool>,
    cancelled: BTreeSet<RequestKey>,
    calls: BTreeMap<CallKey, usize>,
    received: Vec<i64>,
    next: i64,
    closed: bool,
}

impl Model {
    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Ask(at) => {
                self.next += 1;
                self.asked.insert(self.next, 0);
                let methods =
                    ["session/prompt", "session/prompt", "session/list", "_x", "session/load"];
                let method = *at.get(&methods);
                let params = prompt(SESSIONS[at.index(SESSIONS.len())]);
                self.agent.line(json!({ "id": self.next, "method": method, "params": params }));
            }
            Step::AskAgain(at) => {
                let ids: Vec<_> = self.asked.keys().copied().collect();
                if !ids.is_empty() {
                    let id = *at.get(&ids);
                    self.asked.remove(&id);
                    self.agent.line(json!({ "id": id, "method": "_x" }));
                }
            }
            Step::Cancel(at) => {
                self.agent.notify(
                    "session/cancel",
                    json!({ "sessionId": SESSIONS[at.index(SESSIONS.len())] }),
                );
            }
            Step::Withdraw(at) => {
                let id = at.index(usize::try_from(self.next).unwrap() + 1);
                self.agent.notify("$/cancel_request", json!({ "requestId": id }));
            }
            Step::Notify(at) => self.agent.notify("_note", json!({ "n": at.index(100) })),
            Step::Reply(at) => {
                let keys: Vec<_> = self.given.keys().copied().collect();
                if !keys.is_empty() {
                    let key = *at.get(&keys);
                    let replied =
                        self.agent.0.reply(key, Reply::error(ErrorCode::INTERNAL_ERROR, ""));
                    let was_answered = self.given.insert(key, true);
                    let is_gone = was_answered == Some(true) || self.agent.0.is_closed();
                    prop_assert_eq!(replied.is_err(), is_gone);
                }
            }
            Step::Call => {
                let call = Call::new(&ReadTextFileRequest::new("s", "/x"));
                let call = self.agent.0.call(call.with_timeout(Duration::from_secs(30)), self.now);
                if !self.closed {
                    self.calls.insert(call, 0);
                }
            }
            Step::WithdrawCall(at) => {
                let keys: Vec<_> = self.calls.keys().copied().collect();
                if !keys.is_empty() {
                    self.agent.0.withdraw(*at.get(&keys));
                }
            }
            Step::Answer(at, is_right) => {
                if !self.received.is_empty() {
                    let result = if is_right { json!({ "content": "" }) } else { json!(7) };
                    self.agent.line(json!({ "id": at.get(&self.received), "result": result }));
                }
            }
            Step::Hostile(line) => self.agent.line(line),
            Step::Wait(seconds) => {
                self.now += Duration::from_secs(seconds);
                self.agent.0.handle_timeout(self.now);
                prop_assert!(self.agent.0.poll_timeout().is_none_or(|at| at > self.now));
            }
            Step::Poll => self.poll()?,
            Step::End => self.agent.0.handle_end(),
            Step::Close => self.agent.0.handle_closed(CloseReason::ClientClosed),
        }
        for line in self.agent.sent() {
            match (line["id"].as_i64(), line.get("method")) {
                (Some(id), Some(_)) => self.received.push(id),
                (Some(id), None) => {
                    self.asked.entry(id).and_modify(|answers| *answers += 1);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<(), TestCaseError> {
        let mut notifications = 0;
        for event in self.agent.events() {
            prop_assert!(!self.closed, "after the end: {event:?}");
            match event {
                Event::Request(key, request) => {
                    prop_assert!(matches!(request.value, ClientRequest::V1(_)));
                    prop_assert!(self.given.insert(key, false).is_none());
                }
                Event::Cancelled(key) => {
                    prop_assert!(self.given.contains_key(&key) && self.cancelled.insert(key));
                }
                Event::CallEnded(key, _) => *self.calls.get_mut(&key).unwrap() += 1,
                Event::Notification(_) => notifications += 1,
                Event::Closed(_) => self.closed = true,
                Event::Diagnostic(Diagnostic::Missed { .. } | Diagnostic::Dropped { .. }) => {}
                _ => {}
            }
        }
        prop_assert!(notifications <= limits().events, "{notifications}");
        Ok(())
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.requests, limits.calls, limits.events, limits.event_bytes) = (4, 3, 3, 600);
    limits
}

proptest! {
    /// For any inputs in any order: each request is reported once and answered once, unless the connection closes
    /// before; each cancellation is reported once; each call ends once; limits hold; no event follows the end.
    #[test]
    fn everything_ends_once(steps in prop::collection::vec(step(), 0..100)) {
        let mut model = Model {
            agent: Agent(Connection::new(Options::v1().with_limits(limits()))),
            now: NOW,
            asked: BTreeMap::new(),
            given: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            calls: BTreeMap::new(),
            received: Vec::new(),
            next: 0,
            closed: false,
        };
        for step in steps {
            model.take(step)?;
        }
        model.poll()?;
        let was_closed = model.agent.0.is_closed();
        for (key, _) in core::mem::take(&mut model.given) {
            let _ = model.agent.0.reply(key, Reply::error(ErrorCode::INTERNAL_ERROR, ""));
        }
        model.take(Step::Poll)?;
        for (id, answers) in &model.asked {
            prop_assert!(*answers == 1 || was_closed && *answers == 0, "{id}: {answers} answers");
        }
        model.take(Step::Close)?;
        model.poll()?;
        prop_assert!(model.closed);
        prop_assert!(model.calls.values().all(|ends| *ends == 1), "{:?}", model.calls);
        prop_assert_eq!(model.agent.0.poll_timeout(), None);
    }
}
