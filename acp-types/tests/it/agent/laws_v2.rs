//! Laws of the agent in version 2, for any inputs: a model of prompts, their keys and messages, and
//! of cancelled work.
use super::*;
use jsonrpc_core::ErrorCode;
use proptest::sample::Index;
use std::collections::{BTreeMap, BTreeSet};

/// An input of the connection.
#[derive(Clone, Debug)]
enum Step {
    /// A prompt of a session, with a key or without.
    Prompt(usize, Option<usize>),
    /// `$/cancel_request` of a prompt.
    Withdraw(Index),
    Cancel(usize),
    /// The program polls the next event.
    Poll,
    /// The program accepts or refuses a prompt.
    Reply(Index, bool),
    /// The program asks for permission.
    Call(usize),
    /// The client answers a permission request, with an offered option or another.
    Answer(Index, bool),
}

const SESSIONS: [&str; 2] = ["a", "b"];
const KEYS: [&str; 3] = ["x", "y", "z"];

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let session = || 0..SESSIONS.len();
    prop_oneof![
        8 => (session(), proptest::option::weighted(0.8, 0..KEYS.len()))
            .prop_map(|(session, key)| Step::Prompt(session, key)),
        2 => index().prop_map(Step::Withdraw),
        2 => session().prop_map(Step::Cancel),
        6 => Just(Step::Poll),
        5 => (index(), any::<bool>()).prop_map(|(at, is_accepted)| Step::Reply(at, is_accepted)),
        3 => session().prop_map(Step::Call),
        3 => (index(), any::<bool>()).prop_map(|(at, is_offered)| Step::Answer(at, is_offered)),
    ]
}

type PromptKey = (usize, Option<usize>);

/// The answer to a prompt.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Message(String),
    Error(i64),
}

/// What the client and the program know.
struct Model {
    agent: Agent,
    next: i64,
    /// Prompts without an answer, in order. Those with the key of an earlier one repeat it.
    open: Vec<(i64, PromptKey)>,
    /// The messages of accepted prompts.
    messages: BTreeMap<PromptKey, String>,
    /// The answers that the client expects, and those it has.
    expected: BTreeMap<i64, Outcome>,
    answers: BTreeMap<i64, Outcome>,
    /// The prompts that the program has, by key.
    polled: BTreeMap<RequestKey, i64>,
    cancelled: BTreeSet<RequestKey>,
    /// Open calls, and those that are withdrawn.
    calls: BTreeMap<i64, usize>,
    expected_withdrawn: BTreeSet<i64>,
    withdrawn: BTreeSet<i64>,
    granted: usize,
    expected_granted: usize,
}

impl Model {
    fn new() -> Self {
        let options = Options::new([ProtocolVersion::V2]);
        let mut agent = Agent(Connection::new(options));
        let info = json!({ "name": "editor", "version": "1" });
        let params = json!({ "protocolVersion": 2, "info": info });
        let key = agent.ask(0, "initialize", params).unwrap();
        agent.reply(key, json!({ "protocolVersion": 2, "info": info }));
        agent.sent();
        Self {
            agent,
            next: 0,
            open: Vec::new(),
            messages: BTreeMap::new(),
            expected: BTreeMap::new(),
            answers: BTreeMap::new(),
            polled: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            calls: BTreeMap::new(),
            expected_withdrawn: BTreeSet::new(),
            withdrawn: BTreeSet::new(),
            granted: 0,
            expected_granted: 0,
        }
    }

    /// Returns the first open prompt with this key.
    fn first(&self, key: PromptKey) -> Option<i64> {
        self.open.iter().find(|(_, other)| *other == key).map(|(id, _)| *id)
    }

    fn is_repetition(&self, id: i64, key: PromptKey) -> bool {
        key.1.is_some() && self.first(key) != Some(id)
    }

    /// Ends a prompt, and its repetitions.
    fn end(&mut self, id: i64, key: PromptKey, outcome: &Outcome) {
        let is_first = key.1.is_some() && self.first(key) == Some(id);
        let ends = |other: &(i64, PromptKey)| other.0 == id || is_first && other.1 == key;
        for (id, _) in self.open.iter().filter(|other| ends(other)) {
            self.expected.insert(*id, outcome.clone());
        }
        self.open.retain(|other| !ends(other));
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Prompt(session, key) => {
                self.next += 1;
                let id = self.next;
                let mut params = prompt(SESSIONS[session]);
                if let Some(key) = key {
                    params["idempotencyKey"] = json!(KEYS[key]);
                }
                let known = self.messages.get(&(session, key)).filter(|_| key.is_some());
                match known {
                    Some(message) => {
                        self.expected.insert(id, Outcome::Message(message.clone()));
                    }
                    None => self.open.push((id, (session, key))),
                }
                self.agent.line(json!({ "id": id, "method": "session/prompt", "params": params }));
            }
            Step::Withdraw(at) => {
                if self.open.is_empty() {
                    return Ok(());
                }
                let (id, key) = *at.get(&self.open);
                if self.is_repetition(id, key) {
                    self.end(id, key, &Outcome::Error(-32800));
                }
                self.agent.notify("$/cancel_request", json!({ "requestId": id }));
            }
            Step::Cancel(session) => {
                for (id, key) in self.open.clone() {
                    if key.0 == session {
                        self.end(id, key, &Outcome::Error(-32800));
                    }
                }
                let calls = self.calls.iter().filter(|(_, owner)| **owner == session);
                self.expected_withdrawn.extend(calls.map(|(id, _)| *id));
                self.agent.notify("session/cancel", json!({ "sessionId": SESSIONS[session] }));
            }
            Step::Poll => self.poll()?,
            Step::Reply(at, is_accepted) => self.reply(&at, is_accepted)?,
            Step::Call(session) => {
                let option = json!({ "optionId": "yes", "name": "Yes", "kind": "allow_once" });
                let params =
                    json!({ "sessionId": SESSIONS[session], "title": "?", "options": [option] });
                let params = Raw::from_value(&params).unwrap();
                let call = Call::raw("session/request_permission", params);
                self.agent.0.call(call, NOW);
                let sent = self.agent.sent();
                prop_assert_eq!(sent.len(), 1);
                self.calls.insert(sent[0]["id"].as_i64().unwrap(), session);
            }
            Step::Answer(at, is_offered) => {
                let ids: Vec<_> = self.calls.keys().copied().collect();
                if ids.is_empty() {
                    return Ok(());
                }
                let id = *at.get(&ids);
                self.calls.remove(&id);
                self.expected_granted += usize::from(is_offered);
                let option = if is_offered { "yes" } else { "other" };
                let outcome = json!({ "outcome": "selected", "optionId": option });
                self.agent.line(json!({ "id": id, "result": { "outcome": outcome } }));
            }
        }
        self.receive()
    }

    fn poll(&mut self) -> Result<(), TestCaseError> {
        match self.agent.0.poll_event() {
            Some(Event::Request(key, _)) => {
                let id = self.agent.0.request_id(key).unwrap().to_string().parse().unwrap();
                let prompt = self.open.iter().find(|(open, _)| *open == id);
                prop_assert!(prompt.is_some(), "an answered prompt is reported: {id}");
                prop_assert!(!self.is_repetition(id, prompt.unwrap().1), "{id} is a repetition");
                prop_assert!(self.polled.insert(key, id).is_none());
            }
            Some(Event::Cancelled(key)) => {
                prop_assert!(self.polled.contains_key(&key));
                prop_assert!(self.cancelled.insert(key), "reported twice");
            }
            Some(Event::CallEnded(_, outcome)) => self.granted += usize::from(outcome.is_ok()),
            _ => {}
        }
        Ok(())
    }

    fn reply(&mut self, at: &Index, is_accepted: bool) -> Result<(), TestCaseError> {
        let keys: Vec<_> = self.polled.keys().copied().collect();
        if keys.is_empty() {
            return Ok(());
        }
        let request = *at.get(&keys);
        let id = self.polled[&request];
        let message = format!("m{id}");
        let reply = if is_accepted {
            Reply::result(&json!({ "messageId": message }))
        } else {
            Reply::error(ErrorCode::INTERNAL_ERROR, "no")
        };
        let open = self.open.iter().find(|(other, _)| *other == id).copied();
        prop_assert_eq!(self.agent.0.reply(request, reply).is_ok(), open.is_some());
        let Some((id, key)) = open else { return Ok(()) };
        if is_accepted {
            self.end(id, key, &Outcome::Message(message.clone()));
            self.messages.insert(key, message);
        } else {
            self.end(id, key, &Outcome::Error(-32603));
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<(), TestCaseError> {
        for line in self.agent.sent() {
            if line["method"] == "$/cancel_request" {
                let id = line["params"]["requestId"].as_i64().unwrap();
                prop_assert!(self.withdrawn.insert(id), "withdrawn twice: {id}");
                continue;
            }
            let outcome = match line["result"]["messageId"].as_str() {
                Some(message) => Outcome::Message(message.to_owned()),
                None => Outcome::Error(line["error"]["code"].as_i64().unwrap()),
            };
            let id = line["id"].as_i64().unwrap();
            prop_assert!(self.answers.insert(id, outcome).is_none(), "answered twice: {id}");
        }
        prop_assert_eq!(&self.answers, &self.expected);
        prop_assert_eq!(&self.withdrawn, &self.expected_withdrawn);
        Ok(())
    }
}

proptest! {
    /// A prompt has one answer: the message of the first one with its key, the program's error, or
    /// that it is cancelled. Cancelled work withdraws its own calls, once. Only offered options
    /// are answers.
    #[test]
    fn prompts_and_cancelled_work_follow_the_model(
        steps in prop::collection::vec(step(), 0..80),
    ) {
        let mut model = Model::new();
        for step in steps {
            model.take(step)?;
        }
        for _ in 0..1_000 {
            model.poll()?;
        }
        prop_assert_eq!(model.granted, model.expected_granted);
        // The program refuses the rest.
        for key in model.polled.keys().copied().collect::<Vec<_>>() {
            let _ = model.agent.0.reply(key, Reply::error(ErrorCode::INTERNAL_ERROR, "no"));
        }
        prop_assert_eq!(model.agent.0.open_requests(), 0);
    }
}
