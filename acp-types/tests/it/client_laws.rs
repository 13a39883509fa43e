//! Properties of the client machine, for calls and lines in any order.
use acp_types::client::{
    Call, CallKey, CloseReason, Connection, Limits, Options, Prompt, Reply, RequestKey, SessionKey,
    SessionSetupRequest, TurnKey,
};
use acp_types::v1::initialization::{InitializeRequest, ProtocolVersion};
use acp_types::v1::session_list::ListSessionsRequest;
use acp_types::v1::session_setup::{LoadSessionRequest, NewSessionRequest};
use core::time::Duration;
use jsonrpc_core::ErrorCode;
use jsonrpc_core::framing::Lines;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

mod checks;
mod steps;
mod version_2;

use steps::{Answer, Question, Step, step};

/// Session ids of the agent.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.sessions = 6;
    limits.calls = 3;
    limits.requests = 4;
    limits.events = 5;
    limits.early = 3;
    limits.replay = 4;
    limits.diagnostics = 6;
    limits.event_bytes = 1500;
    limits
}

/// A connection, and its outputs.
struct Model {
    connection: Connection,
    now: Duration,
    /// Requests received by the agent: ids and methods.
    received: Vec<(i64, String)>,
    /// Ids of the agent's requests, and the number of responses to each.
    asked: BTreeMap<String, usize>,
    opened: BTreeMap<SessionKey, usize>,
    turns: BTreeMap<TurnKey, usize>,
    calls: BTreeMap<CallKey, usize>,
    names: BTreeMap<SessionKey, String>,
    /// The last owner of each session, as reported by the agent.
    owned: BTreeSet<String>,
    requests: Vec<RequestKey>,
    /// The last update of each session id, by reporting session.
    last: BTreeMap<(SessionKey, String), u64>,
    next: u64,
    closed: bool,
}

impl Model {
    fn new() -> Self {
        let options =
            Options::v1(InitializeRequest::new(ProtocolVersion::V1)).with_limits(limits());
        let now = Duration::from_secs(100);
        let mut model = Self {
            connection: Connection::new(options, now),
            now,
            received: Vec::new(),
            asked: BTreeMap::new(),
            opened: BTreeMap::new(),
            turns: BTreeMap::new(),
            calls: BTreeMap::new(),
            names: BTreeMap::new(),
            owned: BTreeSet::new(),
            requests: Vec::new(),
            last: BTreeMap::new(),
            next: 0,
            closed: false,
        };
        model.transmit();
        model
    }

    fn session(&self, at: &Index) -> Option<SessionKey> {
        let keys: Vec<_> = self.opened.keys().copied().collect();
        (!keys.is_empty()).then(|| *at.get(&keys))
    }

    fn line(&mut self, line: &str) {
        self.connection.handle_line(Ok(line), self.now);
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn ask(&mut self, question: Question, name: Option<&str>, id: &str) {
        let (method, mut params) = match question {
            Question::Permission => (
                "session/request_permission",
                json!({ "toolCall": { "toolCallId": "t" }, "options": [] }),
            ),
            Question::Elicitation => (
                "elicitation/create",
                json!({ "mode": "url", "message": "?", "url": "u", "elicitationId": "e", "requestId": 1 }),
            ),
            Question::File => ("fs/read_text_file", json!({ "path": "/x" })),
            Question::Extension => ("_ask", json!({})),
            Question::Bad => ("fs/read_text_file", json!([])),
        };
        if let (Some(name), Value::Object(params)) = (name, &mut params) {
            params.insert("sessionId".to_owned(), json!(name));
        }
        self.asked.entry(id.to_owned()).or_default();
        self.line(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string(),
        );
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::New => self.open(NewSessionRequest::new("/", [])),
            Step::Load(at) => self.open(LoadSessionRequest::new(*at.get(&NAMES), "/", [])),
            Step::Prompt(at) => {
                if let Some(session) = self.session(&at)
                    && let Ok(turn) =
                        self.connection.prompt(session, Prompt::v1(["x".into()]), self.now)
                {
                    self.turns.insert(turn, 0);
                }
            }
            Step::Cancel(at, grace) => {
                if let Some(session) = self.session(&at) {
                    self.connection.cancel(session, Duration::from_secs(grace), self.now);
                }
            }
            Step::Release(at) => {
                if let Some(session) = self.session(&at) {
                    self.connection.release(session, self.now);
                }
            }
            Step::Call => {
                let call = self.connection.call(Call::new(&ListSessionsRequest::new()), self.now);
                if !self.closed {
                    self.calls.insert(call, 0);
                }
            }
            Step::Reply(at) => {
                if !self.requests.is_empty() {
                    let key = *at.get(&self.requests);
                    let _ =
                        self.connection.reply(key, Reply::error(ErrorCode::INTERNAL_ERROR, "no"));
                }
            }
            Step::Answer(at, answer) => self.answer(&at, answer),
            Step::Update(at) => {
                let name = *at.get(&NAMES);
                let number = self.number();
                let line = update(name, number);
                self.line(&line);
            }
            Step::Own(owner, owned) => {
                let owner = *owner.get(&NAMES);
                let owned = *owned.get(&NAMES);
                self.owned.insert(owned.to_owned());
                let update = json!({ "sessionUpdate": "subagent_update", "sessionId": owned, "state": { "state": "running" } });
                let params = json!({ "sessionId": owner, "update": update });
                self.line(&json!({ "method": "session/update", "params": params }).to_string());
            }
            Step::Ask(question, at) => {
                let id = format!("q{}", self.number());
                self.ask(question, at.map(|at| *at.get(&NAMES)), &id);
            }
            Step::AskAgain(at) => {
                let ids: Vec<_> = self.asked.keys().cloned().collect();
                if !ids.is_empty() {
                    let id = at.get(&ids).clone();
                    // A request with the id of an open one is refused, which ends the count for
                    // that id.
                    self.asked.remove(&id);
                    self.ask(Question::Extension, None, &id);
                    self.asked.remove(&id);
                }
            }
            Step::Withdraw(at) => {
                let ids: Vec<_> = self.asked.keys().cloned().collect();
                if !ids.is_empty() {
                    let params = json!({ "requestId": at.get(&ids) });
                    self.line(
                        &json!({ "method": "$/cancel_request", "params": params }).to_string(),
                    );
                }
            }
            Step::Hostile(line) => self.line(&line),
            Step::Wait(seconds) => {
                self.now += Duration::from_secs(seconds);
                if self.connection.poll_timeout().is_some_and(|at| at <= self.now) {
                    self.connection.handle_timeout(self.now);
                    let next = self.connection.poll_timeout();
                    prop_assert!(next.is_none_or(|at| at > self.now), "{next:?}");
                }
            }
            Step::Poll => self.poll()?,
            Step::PollSession(at) => {
                if let Some(key) = self.session(&at)
                    && let Some(event) = self.connection.poll_session_event(key)
                {
                    self.session_event(key, event)?;
                }
            }
            Step::Close => self.connection.handle_closed(CloseReason::ClientClosed),
        }
        self.transmit();
        Ok(())
    }

    fn open(&mut self, how: impl Into<SessionSetupRequest>) {
        let key = self.connection.open_session(how, self.now);
        if !self.closed {
            self.opened.insert(key, 0);
        }
    }

    fn answer(&mut self, at: &Index, answer: Answer) {
        if self.received.is_empty() {
            return;
        }
        let (id, method) = at.get(&self.received).clone();
        let error = |code: i64| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "no" } });
        let line = match answer {
            Answer::Right(name) => {
                let result = match &*method {
                    "initialize" => {
                        json!({ "protocolVersion": 1, "agentCapabilities": { "sessionCapabilities": { "close": {} } } })
                    }
                    "session/new" => json!({ "sessionId": NAMES[name] }),
                    "session/prompt" => json!({ "stopReason": "end_turn" }),
                    "session/list" => json!({ "sessions": [] }),
                    _ => json!({}),
                };
                json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
            }
            Answer::Null => json!({ "jsonrpc": "2.0", "id": id, "result": null }).to_string(),
            Answer::Wrong => json!({ "jsonrpc": "2.0", "id": id, "result": [1] }).to_string(),
            Answer::Error => error(-32603).to_string(),
            Answer::Login => error(-32000).to_string(),
            Answer::Broken => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#),
        };
        self.line(&line);
    }
}

fn update(name: &str, number: u64) -> String {
    let content = json!({ "type": "text", "text": number.to_string() });
    let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let params = json!({ "sessionId": name, "update": update });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string()
}

proptest! {
    /// For any inputs in any order: each opening, turn and call ends once; each request of the
    /// agent is answered once, unless the connection closes before; updates keep their session and
    /// order; limits hold; no event follows the end.
    #[test]
    fn everything_ends_once(steps in prop::collection::vec(step(), 0..120)) {
        let mut model = Model::new();
        // Most agents answer `initialize` first.
        if steps.len() % 8 != 0 {
            let (id, _) = model.received[0].clone();
            let result = json!({ "protocolVersion": 1, "agentCapabilities": { "sessionCapabilities": { "close": {} } } });
            model.line(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
            model.transmit();
        }
        for step in steps {
            model.take(step)?;
        }
        model.poll()?;
        let was_closed = model.connection.is_closed();
        for key in model.opened.keys().copied().collect::<Vec<_>>() {
            model.connection.release(key, model.now);
        }
        for key in core::mem::take(&mut model.requests) {
            let _ = model.connection.reply(key, Reply::error(ErrorCode::INTERNAL_ERROR, "no"));
        }
        model.transmit();
        for (id, answers) in &model.asked {
            prop_assert!(*answers == 1 || was_closed && *answers == 0, "{id}: {answers} answers");
        }
        model.connection.handle_closed(CloseReason::ClientClosed);
        model.poll()?;
        prop_assert!(model.closed);
        for ends in [
            model.opened.values().collect::<Vec<_>>(),
            model.turns.values().collect(),
            model.calls.values().collect(),
        ] {
            prop_assert!(ends.iter().all(|count| **count == 1), "{ends:?}");
        }
        model.line(&update("a", 0));
        model.connection.handle_timeout(Duration::MAX);
        prop_assert_eq!(model.connection.poll_event(), None);
        prop_assert_eq!(model.connection.poll_transmit(), None);
        prop_assert_eq!(model.connection.poll_timeout(), None);
    }

    /// Events and lines do not depend on how the bytes are split.
    #[test]
    fn events_do_not_depend_on_the_split(
        texts in prop::collection::vec("[a-z\\\\\"é]{0,12}", 0..8),
        cuts in prop::collection::vec(any::<Index>(), 0..12),
    ) {
        let bytes: String = conversation(&texts).into_iter().map(|line| line + "\n").collect();
        let run = |ends: Vec<usize>| {
            let mut connection = begun();
            let mut lines = Lines::default();
            let mut out = Vec::new();
            let mut start = 0;
            for end in ends {
                lines.push(&bytes.as_bytes()[start..end]);
                start = end;
                while let Some(line) = lines.next() {
                    connection.handle_line(line, Duration::ZERO);
                }
                out.extend(core::iter::from_fn(|| connection.poll_event()));
            }
            out
        };
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.sort_unstable();
        ends.push(bytes.len());
        prop_assert_eq!(run(ends), run(vec![bytes.len()]));
    }
}

/// A connection that opens a session, without a prompt.
fn begun() -> Connection {
    let options = Options::v1(InitializeRequest::new(ProtocolVersion::V1));
    let mut connection = Connection::new(options, Duration::ZERO);
    connection.open_session(NewSessionRequest::new("/", []), Duration::ZERO);
    connection
}

/// The agent's lines for it, with these texts.
fn conversation(texts: &[String]) -> Vec<String> {
    let answers = [
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": 1, "agentCapabilities": {} } }),
        json!({ "jsonrpc": "2.0", "id": 2, "result": { "sessionId": "s" } }),
    ];
    let updates = texts.iter().enumerate().map(|(at, text)| {
        let tag = if at % 3 == 2 { "agent_thought_chunk" } else { "agent_message_chunk" };
        let update = json!({ "sessionUpdate": tag, "content": { "type": "text", "text": text } });
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "s", "update": update } })
    });
    answers.into_iter().chain(updates).map(|line| line.to_string()).collect()
}
