//! Laws of version 2: the parts of a replay, and the ends of turns with repeated prompts.
use acp_types::client::{Connection, Event, Options, Prompt, SessionEvent, SessionKey};
use acp_types::v1::initialization::ProtocolVersion;
use acp_types::v2::initialization::{Implementation, InitializeRequest};
use acp_types::v2::prompt_lifecycle::IdempotencyKey;
use acp_types::v2::session_setup::{ReplayFrom, ReplayFromStart, ResumeSessionRequest};
use core::iter;
use core::time::Duration;
use proptest::prelude::*;
use serde_json::{Value, json};

const NOW: Duration = Duration::ZERO;

/// A connection of version 2.
struct Client(Connection);

impl Client {
    fn new() -> Self {
        let info = Implementation::new("client", "1");
        let options = Options::v2(InitializeRequest::new(ProtocolVersion::V2, info));
        let mut client = Self(Connection::new(options, NOW));
        let info = json!({ "name": "agent", "version": "1" });
        client.answer(1, json!({ "protocolVersion": 2, "info": info }));
        client.events();
        client
    }

    fn answer(&mut self, id: i64, result: Value) {
        let line = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        self.0.handle_line(Ok(&line), NOW);
    }

    fn update(&mut self, update: &Value) {
        let params = json!({ "sessionId": "s", "update": update });
        let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
        self.0.handle_line(Ok(&line.to_string()), NOW);
    }

    fn events(&mut self) -> Vec<SessionEvent> {
        let events = iter::from_fn(|| self.0.poll_event());
        events
            .filter_map(|event| match event {
                Event::Session(_, event) => Some(event),
                _ => None,
            })
            .collect()
    }

    fn resume(&mut self) -> SessionKey {
        let mut request = ResumeSessionRequest::new("s", "/");
        request.replay_from = Some(ReplayFrom::Start(ReplayFromStart::new()));
        self.0.open_session(request, NOW)
    }
}

fn chunk(number: usize) -> Value {
    let content = json!({ "type": "text", "text": number.to_string() });
    json!({ "sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content })
}

fn state(is_busy: bool, has_reason: bool) -> Value {
    let mut update = json!({ "sessionUpdate": "state_update", "state": "running" });
    if !is_busy {
        update["state"] = json!("idle");
    }
    if !is_busy && has_reason {
        update["stopReason"] = json!("end_turn");
    }
    update
}

/// An input after a prompt.
#[derive(Clone, Copy, Debug)]
enum Input {
    /// The session works, or not, with a reason or without.
    State(bool, bool),
    Response,
}

proptest! {
    /// The mark of its end, or else the response, ends a replay. No update is lost, and none
    /// precedes the opening.
    #[test]
    fn mark_ends_a_replay(
        history in 0..6_usize,
        live in proptest::option::of(0..6_usize),
        after in 0..4_usize,
    ) {
        let mut client = Client::new();
        client.resume();
        let mut number = 0;
        let mut send = |client: &mut Client, count: usize| {
            for _ in 0..count {
                client.update(&chunk(number));
                number += 1;
            }
        };
        send(&mut client, history);
        if let Some(live) = live {
            client.update(&json!({ "sessionUpdate": "replay_complete" }));
            send(&mut client, live);
        }
        prop_assert_eq!(client.events().len(), 0);
        client.answer(2, json!({}));
        send(&mut client, after);
        let events = client.events();
        let Some(SessionEvent::Opened(opened)) = events.first() else {
            return Err(TestCaseError::fail(format!("{events:?}")));
        };
        prop_assert_eq!(opened.replay.len(), history + usize::from(live.is_some()));
        let replay = opened.replay.iter().take(history);
        let updates = events.iter().skip(1).map(|event| match event {
            SessionEvent::Update(update) => update,
            other => panic!("{other:?}"),
        });
        for (number, update) in replay.chain(updates).enumerate() {
            let text = json!(number.to_string()).to_string();
            prop_assert!(update.raw.as_str().contains(&text));
        }
        prop_assert_eq!(events.len(), 1 + live.unwrap_or_default() + after);
    }

    /// The turn of a repeated prompt ends once, after its response, when the session is idle; the
    /// session may have worked on it before the prompt, or at the same time.
    #[test]
    fn turn_of_a_repeated_prompt_ends_when_the_session_is_idle(
        was_busy in any::<bool>(),
        before in prop::collection::vec(any::<(bool, bool)>(), 0..4),
        after in prop::collection::vec(any::<(bool, bool)>(), 0..4),
    ) {
        let mut client = Client::new();
        let session = client.resume();
        let content = [json!({ "type": "text", "text": "Hi" })];
        client.update(&json!({ "sessionUpdate": "user_message", "messageId": "m", "content": content }));
        client.update(&json!({ "sessionUpdate": "replay_complete" }));
        client.update(&state(was_busy, true));
        client.answer(2, json!({}));
        let key = IdempotencyKey::new("k").expect("a key");
        let prompt = Prompt::v2(["Hi".into()]).with_idempotency_key(key);
        client.0.prompt(session, prompt, NOW).expect("open");
        client.events();
        let state_of = |(is_busy, has_reason)| Input::State(is_busy, has_reason);
        let inputs = before
            .into_iter()
            .map(state_of)
            .chain([Input::Response])
            .chain(after.into_iter().map(state_of));
        let mut is_busy = was_busy;
        let mut is_answered = false;
        let mut is_over = false;
        for input in inputs {
            match input {
                Input::State(busy, has_reason) => {
                    is_busy = busy;
                    client.update(&state(busy, has_reason));
                }
                Input::Response => {
                    is_answered = true;
                    client.answer(3, json!({ "messageId": "m" }));
                }
            }
            let is_end = |event: &SessionEvent| matches!(event, SessionEvent::TurnEnded(_, Ok(_)));
            let ends = client.events().iter().filter(|event| is_end(event)).count();
            let is_due = is_answered && !is_busy && !is_over;
            prop_assert_eq!(ends, usize::from(is_due), "{:?}", input);
            is_over |= is_due;
        }
    }
}
