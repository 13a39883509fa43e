//! Calls that questions, log messages and progress of a server belong to, on connections of one
//! user and of several.
use super::*;
use std::collections::BTreeMap;

/// A message of the server, or an action of a user. Indexes are taken modulo the number of what
/// they select.
#[derive(Clone, Copy, Debug)]
enum Step {
    Call { user: usize, connection: usize },
    Ask { call: usize, is_named: bool, method: usize },
    Log { call: usize, is_named: bool },
    Progress { call: usize, stream: Option<usize> },
    Answer { question: usize },
    Finish { call: usize },
    Cancel { call: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let index = || 0..64_usize;
    let step = prop_oneof![
        3 => (0..2_usize, 0..2_usize).prop_map(|(user, connection)| Step::Call { user, connection }),
        4 => (index(), any::<bool>(), 0..3_usize)
            .prop_map(|(call, is_named, method)| Step::Ask { call, is_named, method }),
        1 => (index(), any::<bool>()).prop_map(|(call, is_named)| Step::Log { call, is_named }),
        1 => (index(), prop::option::of(index()))
            .prop_map(|(call, stream)| Step::Progress { call, stream }),
        3 => index().prop_map(|question| Step::Answer { question }),
        1 => index().prop_map(|call| Step::Finish { call }),
        1 => index().prop_map(|call| Step::Cancel { call }),
    ];
    prop::collection::vec(step, 1..60)
}

/// A call, on one of three connections: one of each user, and a shared one.
struct Call {
    user: usize,
    connection: usize,
    call: UpstreamCall,
    request: Value,
    is_open: bool,
}

/// A question that a user sees.
struct Question {
    call: usize,
    key: String,
    id: String,
}

struct World {
    connections: Vec<Server>,
    calls: Vec<Call>,
    questions: Vec<Question>,
    asked: usize,
}

const SHARED: usize = 2;

const METHODS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

fn params(method: &str) -> Value {
    match method {
        "elicitation/create" => {
            json!({ "message": "m", "requestedSchema": { "type": "object", "properties": {} } })
        }
        "sampling/createMessage" => json!({ "messages": [], "maxTokens": 1 }),
        _ => json!({}),
    }
}

impl World {
    fn new() -> Self {
        let connect = |is_shared| {
            Server::ready_with(Era::Legacy, |options| {
                options.is_shared = is_shared;
                // Calls ask as often as the steps say.
                options.max_rounds = u32::MAX;
            })
        };
        let connections = vec![connect(false), connect(false), connect(true)];
        Self { connections, calls: Vec::new(), questions: Vec::new(), asked: 0 }
    }

    fn step(&mut self, step: Step) {
        if !self.calls.is_empty() || matches!(step, Step::Call { .. }) {
            match step {
                Step::Call { user, connection } => {
                    let connection = [user, SHARED][connection];
                    let server = &mut self.connections[connection];
                    let mut params = CallParams::new("t", wire_raw(&json!({ "user": user })));
                    params.wants_progress = true;
                    let call = server.client.call(params).expect("ready");
                    let request = server.take();
                    self.calls.push(Call { user, connection, call, request, is_open: true });
                }
                Step::Ask { call, is_named, method } => {
                    self.ask(call % self.calls.len(), is_named, METHODS[method]);
                }
                Step::Log { call, is_named } => self.log(call % self.calls.len(), is_named),
                Step::Progress { call, stream } => {
                    let stream = stream.map(|stream| stream % self.calls.len());
                    self.progress(call % self.calls.len(), stream);
                }
                Step::Answer { question } if !self.questions.is_empty() => {
                    self.answer(question % self.questions.len());
                }
                Step::Answer { .. } => {}
                Step::Finish { call } => self.finish(call % self.calls.len()),
                Step::Cancel { call } => self.cancel(call % self.calls.len()),
            }
        }
    }

    /// Returns the call that a message about `call` belongs to: the named one while it is open, or
    /// else the only open one of a connection with one user.
    fn expected(&self, call: usize, is_named: bool) -> Option<usize> {
        let Call { connection, is_open, .. } = self.calls[call];
        if is_named {
            return is_open.then_some(call);
        }
        let open: Vec<_> = (0..self.calls.len())
            .filter(|other| {
                self.calls[*other].connection == connection && self.calls[*other].is_open
            })
            .collect();
        match open[..] {
            [only] if connection != SHARED => Some(only),
            _ => None,
        }
    }

    fn ask(&mut self, call: usize, is_named: bool, method: &str) {
        let expected = self.expected(call, is_named);
        let Call { user, connection, call: named, .. } = self.calls[call];
        self.asked += 1;
        let id = format!("q{}", self.asked);
        let line =
            json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params(method) });
        let server = &mut self.connections[connection];
        server.client.handle_line(Ok(&line.to_string()), is_named.then_some(named));
        let event = server.client.poll_event().expect("an event");
        assert!(server.client.poll_event().is_none());
        let Some(expected) = expected else {
            assert!(
                matches!(&event, ClientEvent::Unassigned { method: refused, .. } if refused == method),
                "{event:?}"
            );
            let refusal = server.take();
            assert_eq!(refusal["id"], *id);
            assert_eq!(refusal["error"]["code"], -32600);
            return;
        };
        let ClientEvent::Needs { call: needing, needs } = event else { panic!("{event:?}") };
        assert_eq!(needing, self.calls[expected].call);
        assert_eq!(self.calls[expected].user, user, "a question has reached another user");
        let [(key, _)] = &needs.requests[..] else { panic!("{needs:?}") };
        self.questions.push(Question { call: expected, key: key.clone(), id });
    }

    fn log(&mut self, call: usize, is_named: bool) {
        let expected = self.expected(call, is_named).map(|call| self.calls[call].call);
        let Call { connection, call: named, .. } = self.calls[call];
        let params = json!({ "level": "info", "data": 1 });
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
        let server = &mut self.connections[connection];
        server.client.handle_line(Ok(&line.to_string()), is_named.then_some(named));
        let event = server.client.poll_event();
        assert!(matches!(event, Some(ClientEvent::Log { call, .. }) if call == expected));
    }

    fn progress(&mut self, call: usize, stream: Option<usize>) {
        let Call { connection, call: named, is_open, ref request, .. } = self.calls[call];
        let stream = stream.filter(|stream| self.calls[*stream].connection == connection);
        let token = &request["params"]["_meta"]["progressToken"];
        let params = json!({ "progressToken": token, "progress": 1 });
        let line =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        let is_expected = is_open && stream.is_none_or(|stream| stream == call);
        let related = stream.map(|stream| self.calls[stream].call);
        let server = &mut self.connections[connection];
        server.client.handle_line(Ok(&line.to_string()), related);
        match server.client.poll_event() {
            Some(ClientEvent::Progress { call, .. }) => assert!(is_expected && call == named),
            None => assert!(!is_expected),
            other => panic!("{other:?}"),
        }
    }

    /// The answer to a question is the response to that request alone, on the connection of its
    /// call.
    fn answer(&mut self, question: usize) {
        let Question { call, key, id } = self.questions.remove(question);
        let Call { connection, call, .. } = self.calls[call];
        let server = &mut self.connections[connection];
        let answers = vec![(key, Ok(wire_raw(&json!({ "for": id }))))];
        server.client.answer(call, answers).expect("an open call");
        let response = server.take();
        assert_eq!(response["id"], *id);
        assert_eq!(response["result"]["for"], *id);
        self.check_silence();
    }

    fn finish(&mut self, call: usize) {
        let Call { connection, is_open, ref request, .. } = self.calls[call];
        // A server that answers a call has no further use for its questions.
        if !is_open || self.questions.iter().any(|question| question.call == call) {
            return;
        }
        let result = json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "content": [] } });
        let server = &mut self.connections[connection];
        server.line(&result);
        let named = self.calls[call].call;
        let event = server.client.poll_event();
        assert!(matches!(event, Some(ClientEvent::Done { call, .. }) if call == named));
        self.calls[call].is_open = false;
    }

    fn cancel(&mut self, call: usize) {
        if !self.calls[call].is_open {
            return;
        }
        let server = &mut self.connections[self.calls[call].connection];
        server.client.cancel(self.calls[call].call).expect("an open call");
        self.calls[call].is_open = false;
        let mut refused = BTreeMap::new();
        assert_eq!(server.take()["method"], "notifications/cancelled");
        while let Some(message) = server.client.poll_outgoing() {
            let mut line = Vec::new();
            message.as_message().to_line(&mut line);
            let response: Value = serde_json::from_slice(&line).expect("JSON");
            refused.insert(response["id"].as_str().expect("an id").to_owned(), response);
        }
        let (ended, open) =
            self.questions.drain(..).partition(|question: &Question| question.call == call);
        self.questions = open;
        let ended: Vec<_> = ended;
        assert_eq!(refused.len(), ended.len());
        for question in ended {
            assert_eq!(refused[&question.id]["error"]["code"], -32800);
        }
        self.check_silence();
    }

    fn check_silence(&mut self) {
        for server in &mut self.connections {
            assert!(server.client.poll_outgoing().is_none());
            assert!(server.client.poll_event().is_none());
        }
    }
}

proptest! {
    /// A question reaches only the call that it names, or the only open call of a connection with
    /// one user. Its answer reaches only the request.
    #[test]
    fn question_reaches_only_its_call(steps in steps()) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
        }
    }
}

/// A tool that was called first asks while another call is open.
#[test]
fn question_without_a_call_is_refused_while_several_calls_are_open() {
    let mut world = World::new();
    let call = Step::Call { user: 0, connection: 0 };
    world.step(call);
    world.step(call);
    world.ask(0, false, "elicitation/create");
    assert!(world.questions.is_empty());
    world.finish(1);
    world.ask(0, false, "elicitation/create");
    assert_eq!(world.questions.len(), 1);
}

#[test]
fn question_without_a_call_is_refused_on_a_shared_connection() {
    let mut world = World::new();
    world.step(Step::Call { user: 0, connection: 1 });
    world.ask(0, false, "elicitation/create");
    assert!(world.questions.is_empty());
    world.ask(0, true, "elicitation/create");
    assert_eq!(world.questions.len(), 1);
}

#[test]
fn question_in_the_stream_of_an_ended_call_is_refused() {
    let mut world = World::new();
    let call = Step::Call { user: 0, connection: 0 };
    world.step(call);
    world.finish(0);
    world.step(call);
    world.ask(0, true, "elicitation/create");
    assert!(world.questions.is_empty());
}
