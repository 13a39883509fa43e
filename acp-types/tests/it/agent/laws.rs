//! Laws of the agent, for any inputs.
use super::*;
use acp_types::agent::{CallKey, Diagnostic};
use jsonrpc_core::ErrorCode;
use proptest::sample::Index;
use std::collections::{BTreeMap, BTreeSet};

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
    limits.requests = 4;
    limits.calls = 3;
    limits.events = 3;
    limits.event_bytes = 600;
    limits
}

proptest! {
    /// For any inputs in any order: each request is reported once and answered once, unless the
    /// connection closes before; each cancellation is reported once; each call ends once; limits
    /// hold; no event follows the end.
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
