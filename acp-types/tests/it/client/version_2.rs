//! Version 2: keys of prompts, replays with an end, states before the response, and cursors.
use super::versions::both;
use super::*;
use acp_types::client::{AgentResponse, OpenedSession};
use acp_types::v2;
use acp_types::v2::prompt_lifecycle::{IdempotencyKey, SessionUpdate};
use acp_types::v2::session_setup::SessionOptionsRequest;
use acp_types::v2::session_setup::{
    ForkSessionRequest, NewSessionRequest as NewV2, ReplayFrom, ReplayFromStart,
    ResumeSessionRequest,
};

impl Client {
    fn v2() -> Self {
        Self::v2_with(both())
    }

    fn v2_with(options: Options) -> Self {
        let mut client = Self::new(options);
        client.sent();
        client.answer(1, json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" } }));
        assert!(matches!(client.events()[..], [Event::Initialized(_)]));
        client
    }

    fn open_v2(&mut self, id: &str) -> SessionKey {
        let key = self.0.open_session(NewV2::new("/work"), NOW);
        let request = self.sent_id();
        self.answer(request, json!({ "sessionId": id }));
        self.events();
        key
    }

    fn update_v2(&mut self, session: &str, update: &Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.line(json!({ "method": "session/update", "params": params }));
    }

    fn state(&mut self, session: &str, state: &str) {
        self.update_v2(session, &json!({ "sessionUpdate": "state_update", "state": state }));
    }

    /// Returns the number of ends of turns in the next events.
    fn ends(&mut self) -> usize {
        let is_end =
            |event: &Event| matches!(event, Event::Session(_, SessionEvent::TurnEnded(_, Ok(_))));
        self.events().iter().filter(|event| is_end(event)).count()
    }
}

fn resume(id: &str) -> ResumeSessionRequest {
    let mut request = ResumeSessionRequest::new(id, "/work");
    request.replay_from = Some(ReplayFrom::Start(ReplayFromStart::new()));
    request
}

fn opened(events: &[Event]) -> &OpenedSession {
    let Some(Event::Session(_, SessionEvent::Opened(opened))) = events.first() else {
        panic!("{events:?}");
    };
    opened
}

fn user_message(id: &str) -> Value {
    let content = [json!({ "type": "text", "text": "Hi" })];
    json!({ "sessionUpdate": "user_message", "messageId": id, "content": content })
}

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::new(text).expect("a key")
}

#[test]
fn prompts_have_keys_of_their_own() {
    let mut options = both();
    options.prompt_keys = Some(key("connection"));
    let mut client = Client::v2_with(options);
    let mut keys = Vec::new();
    for id in ["s", "t"] {
        let session = client.open_v2(id);
        client.0.prompt(session, Prompt::v2(["Hi".into()]), NOW).unwrap();
        let sent = client.sent();
        let text = sent[0]["params"]["idempotencyKey"].as_str().unwrap().to_owned();
        assert!(text.starts_with("connection-"), "{text}");
        assert_eq!(client.0.prompt_key(session).map(IdempotencyKey::as_str), Some(&*text));
        keys.push(text);
    }
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn key_of_the_caller_is_kept() {
    let mut options = both();
    options.prompt_keys = Some(key("connection"));
    let mut client = Client::v2_with(options);
    let session = client.open_v2("s");
    let prompt = Prompt::v2(["Hi".into()]).with_idempotency_key(key("mine"));
    client.0.prompt(session, prompt, NOW).unwrap();
    assert_eq!(client.sent()[0]["params"]["idempotencyKey"], "mine");
}

#[test]
fn prompts_have_no_keys_by_default_or_with_a_long_start() {
    let mut long = both();
    long.prompt_keys = Some(key(&"k".repeat(Options::MAX_PROMPT_KEYS + 1)));
    for options in [both(), long] {
        let mut client = Client::v2_with(options);
        let session = client.open_v2("s");
        client.0.prompt(session, Prompt::v2(["Hi".into()]), NOW).unwrap();
        assert_eq!(client.sent()[0]["params"].get("idempotencyKey"), None);
        assert_eq!(client.0.prompt_key(session), None);
    }
}

#[test]
fn longest_start_makes_valid_keys() {
    let mut options = both();
    options.prompt_keys = Some(key(&"k".repeat(Options::MAX_PROMPT_KEYS)));
    let mut client = Client::v2_with(options);
    let session = client.open_v2("s");
    client.0.prompt(session, Prompt::v2(["Hi".into()]), NOW).unwrap();
    assert!(client.0.prompt_key(session).is_some());
}

#[test]
fn replay_ends_with_its_mark() {
    let mut client = Client::v2();
    client.0.open_session(resume("s"), NOW);
    let request = client.sent_id();
    client.update_v2("s", &user_message("m"));
    client.update_v2("s", &json!({ "sessionUpdate": "replay_complete" }));
    client.state("s", "running");
    assert_eq!(client.events(), []);
    client.answer(request, json!({}));
    let events = client.events();
    let replay = &opened(&events).replay;
    assert_eq!(replay.len(), 2);
    assert!(matches!(
        &replay[1].value,
        Update::V2(update) if matches!(update.update, SessionUpdate::ReplayComplete(_))
    ));
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(matches!(
        &events[1],
        Event::Session(_, SessionEvent::Update(update)) if update.raw.as_str().contains("running")
    ));
}

#[test]
fn replay_without_a_mark_ends_with_the_response() {
    let mut client = Client::v2();
    client.0.open_session(resume("s"), NOW);
    let request = client.sent_id();
    client.update_v2("s", &user_message("m"));
    client.state("s", "idle");
    client.answer(request, json!({}));
    client.update_v2("s", &user_message("n"));
    let events = client.events();
    assert_eq!(opened(&events).replay.len(), 2);
    assert_eq!(events.len(), 2, "{events:?}");
}

#[test]
fn updates_after_a_replay_are_bounded_like_it() {
    let mut options = both();
    options.limits.replay = 2;
    let mut client = Client::v2_with(options);
    client.0.open_session(resume("s"), NOW);
    let request = client.sent_id();
    client.update_v2("s", &json!({ "sessionUpdate": "replay_complete" }));
    for state in ["running", "idle", "running"] {
        client.state("s", state);
    }
    client.answer(request, json!({}));
    let events = client.events();
    assert_eq!(opened(&events).left_out, 0);
    assert!(
        matches!(events[1], Event::Session(_, SessionEvent::Lagged { dropped: 1 })),
        "{events:?}"
    );
    assert_eq!(events.len(), 4);
}

/// The response to `session/new` does not replace a state that the agent has reported before it.
#[test]
fn state_before_the_response_is_kept() {
    let mut client = Client::v2();
    let session = client.0.open_session(NewV2::new("/work"), NOW);
    let request = client.sent_id();
    client.state("s", "running");
    client.answer(request, json!({ "sessionId": "s" }));
    client.events();
    // The session works, so there is something to cancel.
    client.0.cancel(session, Duration::ZERO, NOW);
    assert_eq!(client.sent()[0]["method"], "session/cancel");
}

#[test]
fn repeated_prompt_of_finished_work_ends_at_once() {
    let mut client = Client::v2();
    let session = client.0.open_session(resume("s"), NOW);
    let request = client.sent_id();
    client.update_v2("s", &user_message("m"));
    client.update_v2("s", &json!({ "sessionUpdate": "replay_complete" }));
    client.state("s", "idle");
    client.answer(request, json!({}));
    client.events();
    let repetition = || Prompt::v2(["Hi".into()]).with_idempotency_key(key("k"));
    client.0.prompt(session, repetition(), NOW).unwrap();
    let request = client.sent_id();
    client.answer(request, json!({ "messageId": "m" }));
    assert_eq!(client.ends(), 1);
    // Another message is new work.
    client.0.prompt(session, repetition(), NOW).unwrap();
    let request = client.sent_id();
    client.answer(request, json!({ "messageId": "n" }));
    assert_eq!(client.ends(), 0);
}

#[test]
fn repeated_prompt_of_open_work_ends_with_it() {
    let mut client = Client::v2();
    let session = client.0.open_session(resume("s"), NOW);
    let request = client.sent_id();
    client.update_v2("s", &user_message("m"));
    client.state("s", "running");
    client.answer(request, json!({}));
    client.events();
    client
        .0
        .prompt(session, Prompt::v2(["Hi".into()]).with_idempotency_key(key("k")), NOW)
        .unwrap();
    let request = client.sent_id();
    client.answer(request, json!({ "messageId": "m" }));
    assert_eq!(client.ends(), 0);
    client.state("s", "idle");
    assert_eq!(client.ends(), 1);
}

#[test]
fn refused_prompt_of_a_cancelled_turn_ends_it() {
    let mut client = Client::v2();
    let session = client.open_v2("s");
    client.0.prompt(session, Prompt::v2(["Hi".into()]), NOW).unwrap();
    let request = client.sent_id();
    client.0.cancel(session, Duration::from_secs(1), NOW);
    client.refuse(request, -32800);
    let events = client.events();
    let [Event::Session(_, SessionEvent::TurnEnded(_, Err(error)))] = &events[..] else {
        panic!("{events:?}");
    };
    assert!(matches!(
        error,
        TurnError::Call(CallError::Answered(error)) if error.code == ErrorCode::REQUEST_CANCELLED
    ));
}

#[test]
fn options_are_asked_before_a_session_exists() {
    let mut client = Client::new(both());
    client.sent();
    let call = client.0.call(Call::new(&SessionOptionsRequest::new("/work")), NOW);
    assert_eq!(client.sent(), Vec::<Value>::new());
    client.answer(1, json!({ "protocolVersion": 2, "info": { "name": "a", "version": "1" } }));
    let sent = client.sent();
    assert_eq!(&sent[0]["method"], "session/options");
    client.answer(sent[0]["id"].as_i64().unwrap(), json!({ "configOptions": [] }));
    let events = client.events();
    let Event::CallEnded(ended, Ok(answer)) = &events[1] else { panic!("{events:?}") };
    assert_eq!(ended, &call);
    assert!(matches!(
        &answer.value,
        AgentResponse::V2(v2::dispatch::AgentResponse::SessionOptionsResponse(_))
    ));
}

#[test]
fn fork_begins_at_a_cursor_with_options() {
    let mut client = Client::v2();
    client.open_v2("s");
    let cursor = json!({
        "sessionUpdate": "cursor_update",
        "cursorId": "c",
        "anchor": { "type": "user_message", "messageId": "m", "position": "after" },
        "capabilities": { "fork": {} },
    });
    client.update_v2("s", &cursor);
    let events = client.events();
    let [Event::Session(_, SessionEvent::Update(update))] = &events[..] else {
        panic!("{events:?}");
    };
    let Update::V2(update) = &update.value else { panic!("{update:?}") };
    let SessionUpdate::CursorUpdate(cursor) = &update.update else { panic!("{update:?}") };
    let mut fork = ForkSessionRequest::new("s", "/work");
    fork.cursor_id = Some(cursor.cursor_id.clone());
    let fork_session = client.0.open_session(fork, NOW);
    let sent = client.sent();
    assert_eq!(&sent[0]["params"]["cursorId"], "c");
    client.answer(sent[0]["id"].as_i64().unwrap(), json!({ "sessionId": "f" }));
    client.events();
    assert_eq!(client.0.session_id(fork_session), Some("f"));
}

#[test]
fn suggestions_are_updates_of_their_session() {
    let mut client = Client::v2();
    client.open_v2("s");
    let suggestion = json!({ "suggestionId": "a", "title": "Run", "prompt": [{ "type": "text", "text": "Run" }] });
    let update =
        json!({ "sessionUpdate": "prompt_suggestions_update", "suggestions": [suggestion] });
    client.update_v2("s", &update);
    let events = client.events();
    let [Event::Session(_, SessionEvent::Update(update))] = &events[..] else {
        panic!("{events:?}");
    };
    let Update::V2(update) = &update.value else { panic!("{update:?}") };
    assert!(matches!(update.update, SessionUpdate::PromptSuggestionsUpdate(_)));
}
