//! The client machine: the effect of each call and each line.
mod closings;

use acp_types::client::{
    AgentRequest, Call, CallError, CloseReason, Connection, Diagnostic, Event, Limits, Options,
    Prompt, PromptError, Purpose, Reply, SessionEvent, SessionKey, TurnEnd, TurnError, Update,
};
use acp_types::v1;
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v1::prompt_turn::StopReason;
use acp_types::v1::session_list::ListSessionsRequest;
use acp_types::v1::session_setup::{ForkSessionRequest, NewSessionRequest};
use core::iter;
use core::time::Duration;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::wire::Raw;
use serde_json::{Value, json};

mod updates;
mod version_2;
mod versions;

const NOW: Duration = Duration::from_secs(1_000);

/// A connection, and the lines it has sent.
struct Client(Connection);

impl Client {
    fn new(options: Options) -> Self {
        Self(Connection::new(options, NOW))
    }

    /// A client with an agent of version 1 that closes sessions.
    fn v1() -> Self {
        Self::with_limits(Limits::default())
    }

    fn with_limits(limits: Limits) -> Self {
        let mut client = Self::new(v1_options().with_limits(limits));
        client.sent();
        client.answer(
            1,
            json!({
                "protocolVersion": 1,
                "agentCapabilities": { "sessionCapabilities": { "close": {} } },
                "authMethods": [{ "id": "login", "name": "Log in" }],
            }),
        );
        assert!(matches!(client.events()[..], [Event::Initialized(_)]));
        client
    }

    /// A client with an open session.
    fn with_session() -> (Self, SessionKey) {
        let mut client = Self::v1();
        let session = client.open("s");
        (client, session)
    }

    /// Opens a session with the agent's id `id`.
    fn open(&mut self, id: &str) -> SessionKey {
        let key = self.0.open_session(NewSessionRequest::new("/work", []), NOW);
        let request = self.sent_id();
        self.answer(request, json!({ "sessionId": id }));
        let events = self.events();
        assert!(matches!(&events[..], [Event::Session(_, SessionEvent::Opened(_))]), "{events:?}");
        key
    }

    fn line(&mut self, line: impl ToString) {
        self.0.handle_line(Ok(&line.to_string()), NOW);
    }

    fn answer(&mut self, id: i64, result: Value) {
        self.line(json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&mut self, id: i64, code: i64) {
        let error = json!({ "code": code, "message": "no" });
        self.line(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    fn say(&mut self, session: &str, text: &str) {
        self.line(update(session, text));
    }

    fn ask(&mut self, id: &str, method: &str, params: Value) {
        self.line(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn events(&mut self) -> Vec<Event> {
        iter::from_fn(|| self.0.poll_event()).collect()
    }

    fn sent(&mut self) -> Vec<Value> {
        let lines = iter::from_fn(|| self.0.poll_transmit());
        lines.map(|transmit| serde_json::from_slice(&transmit.line).unwrap()).collect()
    }

    /// Returns the id of the last request.
    fn sent_id(&mut self) -> i64 {
        self.sent().last().and_then(|line| line["id"].as_i64()).expect("a request")
    }
}

fn v1_options() -> Options {
    Options::v1(InitializeRequest::new(ProtocolVersion::V1))
}

fn update(session: &str, text: &str) -> Value {
    let content = json!({ "type": "text", "text": text });
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let params = json!({ "sessionId": session, "update": update });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
}

fn permission(session: &str) -> Value {
    json!({ "sessionId": session, "toolCall": { "toolCallId": "t" }, "options": [] })
}

/// Returns the texts of the updates among events.
fn texts(events: &[Event]) -> Vec<String> {
    let text = |event: &Event| match event {
        Event::Session(_, SessionEvent::Update(update)) => {
            let params: Value = serde_json::from_str(update.raw.as_str()).unwrap();
            params["update"]["content"]["text"].as_str().map(str::to_owned)
        }
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[test]
fn calls_before_initialize_wait_for_it() {
    let mut client = Client::new(v1_options());
    client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    client.0.call(Call::new(&ListSessionsRequest::new()), NOW);
    let methods = |sent: Vec<Value>| sent.iter().map(|l| l["method"].clone()).collect::<Vec<_>>();
    assert_eq!(methods(client.sent()), ["initialize"]);
    client.answer(1, json!({ "protocolVersion": 1 }));
    assert_eq!(methods(client.sent()), ["session/new", "session/list"]);
}

#[test]
fn turn_ends_after_its_updates() {
    let (mut client, session) = Client::with_session();
    let turn = client.0.prompt(session, Prompt::v1(["Hi".into()]), NOW).unwrap();
    let again = client.0.prompt(session, Prompt::v1(["Hi".into()]), NOW);
    assert_eq!(again, Err(PromptError::TurnOpen(turn)));
    let transmit = client.0.poll_transmit().unwrap();
    assert_eq!(transmit.purpose, Purpose::Prompt(session, turn));
    client.say("s", "a");
    client.say("s", "b");
    client.answer(3, json!({ "stopReason": "end_turn" }));
    let events = client.events();
    assert_eq!(texts(&events), ["a", "b"]);
    let Some(Event::Session(key, SessionEvent::TurnEnded(ended, Ok(end)))) = events.last() else {
        panic!("{events:?}");
    };
    assert_eq!(*key, session);
    assert_eq!(*ended, turn);
    assert!(
        matches!(&end.value, TurnEnd::V1(response) if response.stop_reason == StopReason::EndTurn)
    );
    assert!(client.0.prompt(session, Prompt::v1(["Hi".into()]), NOW).is_ok());
}

/// Diagnostics beyond the limit are counted, once.
#[test]
fn diagnostics_are_bounded() {
    let mut limits = Limits::default();
    limits.diagnostics = 2;
    let mut client = Client::with_limits(limits);
    for (lines, missed) in [(2, None), (5, Some(3)), (1, None)] {
        (0..lines).for_each(|_| client.line("no JSON"));
        let events = client.events();
        let is_malformed =
            |event: &&Event| matches!(event, Event::Diagnostic(Diagnostic::Malformed { .. }));
        assert_eq!(events.iter().filter(is_malformed).count(), lines.min(2), "{events:?}");
        let counted = events.iter().find_map(|event| match event {
            Event::Diagnostic(Diagnostic::Missed { count }) => Some(*count),
            _ => None,
        });
        assert_eq!(counted, missed);
    }
}

#[test]
fn cancel_answers_questions_and_ends_after_grace() {
    let (mut client, session) = Client::with_session();
    let turn = client.0.prompt(session, Prompt::v1(["Hi".into()]), NOW).unwrap();
    client.ask("q", "session/request_permission", permission("s"));
    client.ask("f", "fs/read_text_file", json!({ "sessionId": "s", "path": "/x" }));
    let requests: Vec<_> = client
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Session(_, SessionEvent::Request(key, request)) => Some((key, request)),
            _ => None,
        })
        .collect();
    let [(question, _), (file, read)] = &requests[..] else { panic!("{requests:?}") };
    assert!(
        matches!(&read.value, AgentRequest::V1(request) if request.method() == "fs/read_text_file")
    );
    client.sent();
    client.0.cancel(session, Duration::from_secs(5), NOW);
    let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
    assert_eq!(
        client.sent(),
        [
            json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s" } }),
            json!({ "jsonrpc": "2.0", "id": "q", "result": cancelled }),
        ]
    );
    assert_eq!(client.events(), [Event::Session(session, SessionEvent::Withdrawn(*question))]);
    assert!(client.0.reply(*question, Reply::error(ErrorCode::INTERNAL_ERROR, "late")).is_err());
    assert!(client.0.reply(*file, Reply::result(&json!({ "content": "" }))).is_ok());
    // A question that crosses the cancellation is answered at once.
    client.ask("r", "session/request_permission", permission("s"));
    assert_eq!(client.events(), []);
    assert_eq!(client.0.poll_timeout(), Some(NOW + Duration::from_secs(5)));
    client.0.handle_timeout(NOW + Duration::from_secs(5));
    let ended = SessionEvent::TurnEnded(turn, Err(TurnError::GraceOver));
    assert_eq!(client.events(), [Event::Session(session, ended)]);
    client.answer(3, json!({ "stopReason": "cancelled" }));
    assert_eq!(client.events(), [Event::Diagnostic(Diagnostic::Unmatched { id: 3.into() })]);
}

#[test]
fn withdrawn_request_is_answered() {
    let (mut client, session) = Client::with_session();
    let withdraw = |client: &mut Client, id: &str| {
        client.line(json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": id } }));
    };
    client.ask("q", "session/request_permission", permission("s"));
    withdraw(&mut client, "q");
    assert_eq!(client.events(), [], "it was not polled");
    client.ask("f", "fs/read_text_file", json!({ "sessionId": "s", "path": "/x" }));
    let events = client.events();
    let [Event::Session(_, SessionEvent::Request(file, _))] = &events[..] else { panic!() };
    withdraw(&mut client, "f");
    assert_eq!(client.events(), [Event::Session(session, SessionEvent::Withdrawn(*file))]);
    let sent = client.sent();
    assert_eq!(sent[0]["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(sent[1]["error"]["code"], -32800);
}

#[test]
fn requests_of_unknown_sessions_are_answered_by_the_machine() {
    let mut client = Client::v1();
    client.sent();
    client.ask("q", "session/request_permission", permission("x"));
    client.ask("f", "fs/read_text_file", json!({ "sessionId": "x", "path": "/x" }));
    client.ask("b", "session/request_permission", json!({}));
    let sent = client.sent();
    assert_eq!(sent[0]["result"]["outcome"]["outcome"], "cancelled");
    assert_eq!(sent[1]["error"]["code"], -32002);
    assert_eq!(sent[2]["error"]["code"], -32602);
    let refused = |e: &Event| matches!(e, Event::Diagnostic(Diagnostic::Refused { .. }));
    assert_eq!(client.events().iter().filter(|event| refused(event)).count(), 3);
}

#[test]
fn released_session_ends_its_turn_and_is_closed() {
    let (mut client, session) = Client::with_session();
    let turn = client.0.prompt(session, Prompt::v1(["Hi".into()]), NOW).unwrap();
    client.ask("q", "session/request_permission", permission("s"));
    client.say("s", "lost");
    client.sent();
    client.0.release(session, NOW);
    let methods: Vec<_> = client.sent().iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods, [json!("session/cancel"), Value::Null, json!("session/close")]);
    let released = TurnError::Call(CallError::Released);
    let ended = SessionEvent::TurnEnded(turn, Err(released));
    assert_eq!(client.events(), [Event::Session(session, ended)]);
    client.say("s", "late");
    assert!(matches!(client.events()[..], [Event::Diagnostic(Diagnostic::UnknownSession { .. })]));
    // The agent may reuse the id.
    client.open("s");
}

#[test]
fn source_of_a_fork_is_closed_after_the_fork() {
    let (mut client, session) = Client::with_session();
    client.sent();
    client.0.release(session, NOW);
    client.0.open_session(ForkSessionRequest::new("s", "/work"), NOW);
    let sent = client.sent();
    let methods: Vec<_> = sent.iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods, ["session/fork"]);
    let request = sent[0]["id"].as_i64().unwrap();
    client.answer(request, json!({ "sessionId": "f" }));
    assert_eq!(client.sent()[0]["method"], "session/close");
}

#[test]
fn session_released_while_opening_is_closed_once_named() {
    let mut client = Client::v1();
    let session = client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    let request = client.sent_id();
    client.0.release(session, NOW);
    let released = SessionEvent::Refused(CallError::Released);
    assert_eq!(client.events(), [Event::Session(session, released)]);
    client.answer(request, json!({ "sessionId": "s" }));
    assert_eq!(client.events(), []);
    let sent = client.sent();
    assert_eq!(&sent[0]["method"], &json!("session/close"));
    assert_eq!(&sent[0]["params"]["sessionId"], &json!("s"));
}

#[test]
fn refused_login_carries_the_methods() {
    let mut client = Client::v1();
    client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    let request = client.sent_id();
    client.refuse(request, -32000);
    let events = client.events();
    let [Event::Session(_, SessionEvent::Refused(CallError::AuthRequired { methods, .. }))] =
        &events[..]
    else {
        panic!("{events:?}");
    };
    assert!(format!("{methods:?}").contains("login"));
}

#[test]
fn malformed_response_ends_its_call() {
    let mut client = Client::v1();
    let call = client.0.call(Call::new(&ListSessionsRequest::new()), NOW);
    let id = client.sent_id();
    client.line(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}"#));
    let events = client.events();
    assert!(
        matches!(&events[0], Event::CallEnded(ended, Err(CallError::Malformed(_))) if *ended == call),
        "{events:?}"
    );
}

#[test]
fn call_ends_at_its_deadline() {
    let mut client = Client::v1();
    let call = Call::new(&ListSessionsRequest::new()).with_timeout(Duration::from_secs(2));
    let call = client.0.call(call, NOW);
    assert_eq!(client.0.poll_timeout(), Some(NOW + Duration::from_secs(2)));
    client.0.handle_timeout(NOW + Duration::from_secs(2));
    assert_eq!(client.events(), [Event::CallEnded(call, Err(CallError::Timeout))]);
}

#[test]
fn closed_connection_ends_everything_once() {
    let (mut client, session) = Client::with_session();
    let turn = client.0.prompt(session, Prompt::v1(["Hi".into()]), NOW).unwrap();
    let opening = client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    let call = client.0.call(Call::new(&ListSessionsRequest::new()), NOW);
    client.say("s", "last words");
    let why = CloseReason::AgentClosed("exit status: 3".to_owned());
    client.0.handle_closed(why.clone());
    let closed = || CallError::Closed(why.clone());
    let events = client.events();
    assert_eq!(events[0], Event::CallEnded(call, Err(closed())));
    assert_eq!(texts(&events), ["last words"]);
    let ended = SessionEvent::TurnEnded(turn, Err(TurnError::Call(closed())));
    assert!(events.contains(&Event::Session(session, ended)));
    assert!(events.contains(&Event::Session(opening, SessionEvent::Refused(closed()))));
    assert_eq!(events.last(), Some(&Event::Closed(why)));
    client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    client.0.call(Call::new(&ListSessionsRequest::new()), NOW);
    client.say("s", "too late");
    assert_eq!(client.events(), vec![]);
    assert!(client.sent().is_empty());
    assert_eq!(client.0.poll_timeout(), None);
}

#[test]
fn extensions_work_in_both_directions() {
    let (mut client, session) = Client::with_session();
    client.ask("x", "_example.com/ask", json!({ "sessionId": "s" }));
    client.ask("y", "_example.com/ask", json!({}));
    let events = client.events();
    assert!(matches!(events[0], Event::Request(..)), "{events:?}");
    assert!(matches!(events[1], Event::Session(key, SessionEvent::Request(..)) if key == session));
    client.0.notify_raw("_example.com/tell", &Raw::from_text("{}").unwrap()).unwrap();
    let call = client.0.call(Call::raw("_example.com/ask", Raw::from_text("{}").unwrap()), NOW);
    let id = client.sent_id();
    client.answer(id, json!([1.50]));
    let events = client.events();
    let [Event::CallEnded(ended, Ok(result))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*ended, call);
    assert_eq!(result.raw.as_str(), "[1.5]");
}

#[test]
fn agent_that_does_not_read_is_disconnected() {
    let mut limits = Limits::default();
    limits.replies = 3;
    let mut client = Client::with_limits(limits);
    client.sent();
    for _ in 0..4 {
        client.line("{");
    }
    assert_eq!(client.events().last(), Some(&Event::Closed(CloseReason::Congested)));
}
