//! Updates of sessions: before they are open, in a replay, and of those that are not polled.
use super::*;
use acp_types::v1::session_setup::LoadSessionRequest;

#[test]
fn early_updates_follow_the_opening() {
    let mut client = Client::v1();
    let session = client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    let request = client.sent_id();
    client.say("other", "x");
    client.say("s", "early");
    assert_eq!(client.events(), []);
    client.answer(request, json!({ "sessionId": "s" }));
    let events = client.events();
    assert!(matches!(&events[0], Event::Session(key, SessionEvent::Opened(_)) if *key == session));
    assert_eq!(texts(&events), ["early"]);
    client.say("other", "y");
    let unknown = Diagnostic::UnknownSession { session_id: "other".to_owned() };
    assert_eq!(client.events(), [Event::Diagnostic(unknown)]);
}

#[test]
fn early_updates_are_bounded() {
    let mut limits = Limits::default();
    limits.early = 2;
    let mut client = Client::with_limits(limits);
    client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    let request = client.sent_id();
    ["a", "b", "c"].into_iter().for_each(|text| client.say("s", text));
    client.answer(request, json!({ "sessionId": "s" }));
    let events = client.events();
    assert_eq!(texts(&events), ["b", "c"]);
    assert!(matches!(events.last(), Some(Event::Diagnostic(Diagnostic::EarlyDropped { .. }))));
}

#[test]
fn loaded_session_has_its_replay_within_bounds() {
    let mut limits = Limits::default();
    limits.replay = 2;
    let mut client = Client::with_limits(limits);
    let load = || LoadSessionRequest::new("old", "/work", []);
    let session = client.0.open_session(load(), NOW);
    let request = client.sent_id();
    let second = client.0.open_session(load(), NOW);
    let in_use = SessionEvent::Refused(CallError::InUse("old".into()));
    assert_eq!(client.events(), [Event::Session(second, in_use)]);
    ["a", "b", "c"].into_iter().for_each(|text| client.say("old", text));
    client.answer(request, Value::Null);
    let events = client.events();
    let [Event::Session(key, SessionEvent::Opened(opened))] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(*key, session);
    assert_eq!(opened.session_id.as_str(), "old");
    assert_eq!(opened.left_out, 1);
    assert_eq!(opened.replay.len(), 2);
    assert!(matches!(opened.replay[0].value, Update::V1(_)));
}

#[test]
fn early_updates_precede_those_of_a_load() {
    let mut client = Client::v1();
    client.0.open_session(NewSessionRequest::new("/work", []), NOW);
    client.say("old", "a");
    client.0.open_session(LoadSessionRequest::new("old", "/work", []), NOW);
    let request = client.sent_id();
    client.say("old", "b");
    client.answer(request, json!({}));
    let events = client.events();
    let [Event::Session(_, SessionEvent::Opened(opened))] = &events[..] else {
        panic!("{events:?}");
    };
    let texts = opened.replay.iter().map(|update| update.raw.as_str().contains(r#""text":"a""#));
    assert_eq!(texts.collect::<Vec<_>>(), [true, false]);
}

#[test]
fn unpolled_session_loses_its_own_oldest_updates() {
    let mut limits = Limits::default();
    limits.events = 2;
    let mut client = Client::with_limits(limits);
    let slow = client.open("slow");
    let fast = client.open("fast");
    client.ask("q", "session/request_permission", permission("slow"));
    for text in ["a", "b", "c", "d"] {
        client.say("slow", text);
    }
    client.say("fast", "x");
    assert!(matches!(client.0.poll_session_event(fast), Some(SessionEvent::Update(_))));
    assert_eq!(client.0.poll_session_event(fast), None);
    let events: Vec<_> = iter::from_fn(|| client.0.poll_session_event(slow)).collect();
    assert_eq!(events[0], SessionEvent::Lagged { dropped: 2 });
    assert!(matches!(events[1], SessionEvent::Request(..)));
    let events: Vec<_> = events.into_iter().map(|event| Event::Session(slow, event)).collect();
    assert_eq!(texts(&events), ["c", "d"]);
}

#[test]
fn sessions_take_turns() {
    let mut client = Client::v1();
    let one = client.open("one");
    let two = client.open("two");
    ["a", "b", "c"].into_iter().for_each(|text| client.say("one", text));
    client.say("two", "x");
    let order: Vec<_> = client
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::Session(key, SessionEvent::Update(_)) => Some(key),
            _ => None,
        })
        .collect();
    assert_eq!(order, [one, two, one, one]);
}

#[test]
fn updates_of_an_owned_session_reach_its_owner() {
    let (mut client, session) = Client::with_session();
    let update = json!({ "sessionUpdate": "subagent_update", "sessionId": "child", "state": { "state": "running" } });
    let params = json!({ "sessionId": "s", "update": update });
    client.line(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
    client.say("child", "x");
    let events = client.events();
    assert_eq!(texts(&events), ["x"]);
    assert!(
        events.iter().all(|event| matches!(event, Event::Session(key, _) if *key == session)),
        "{events:?}"
    );
}
