//! Sessions of a conversation: continued, replaced and refused.
use super::*;
use crate::thread::opened;
use agui_bridge::conversation::Conversation;
use agui_bridge::input::SessionScope;

fn resumes() -> AgentFeatures {
    let mut features = AgentFeatures::default();
    features.resume = true;
    features
}

#[test]
fn changed_conversation_has_a_new_session() {
    let mut rig = Rig::connected(options());
    rig.turn("1", "Hi", "Hello.");
    rig.say("2", "Bye").unwrap();
    rig.end();
    rig.take_commands();
    let edited = [
        user("u-1", "Hi!"),
        json!({"id": "msg-1", "role": "assistant", "content": "Hello."}),
        user("u-3", "Go on"),
    ];
    rig.run(input("3", &edited, &json!({}))).unwrap();
    let kinds: Vec<_> = rig.commands.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 2, "{:?}", rig.commands);
    assert!(matches!(rig.commands[..], [Command::Release(_), Command::Open(..)]));
    rig.open("s2");
    assert!(rig.prompt()[0].contains("Hi!"), "{:?}", rig.prompt());
    assert_eq!(rig.prompt().last().unwrap(), "Go on");
    assert_eq!(rig.kinds("3"), ["RUN_STARTED"], "no notice: the user has changed it");
}

#[test]
fn session_for_each_turn_is_configurable() {
    let mut of_turn = options();
    of_turn.rules.session = SessionScope::Turn;
    let mut rig = Rig::connected(of_turn);
    rig.turn("1", "Hi", "Hello.");
    assert_eq!(rig.commands.last(), Some(&Command::Release(rig.session.unwrap())));
    let all = [
        user("u-1", "Hi"),
        json!({"id": "a", "role": "assistant", "content": "Hello."}),
        user("u-2", "Bye"),
    ];
    rig.run(input("2", &all, &json!({}))).unwrap();
    rig.open("s2");
    assert!(rig.prompt()[0].contains("Hello."), "{:?}", rig.prompt());
    assert_eq!(rig.thread.remembered(), None);
}

#[test]
fn session_is_continued_after_a_lost_agent() {
    let mut rig = Rig::new(options());
    rig.connect(resumes());
    rig.turn("1", "Hi", "Hello.");
    rig.say("2", "Bye").unwrap();
    rig.disconnect();
    assert_eq!(rig.outcome("2"), "RUN_ERROR AGENT_EXITED");
    rig.connect(resumes());
    assert_eq!(rig.say("3", "Still there?"), Ok(Accepted::Queued));
    assert_eq!(rig.opening().origin, SessionOrigin::Resume("s".into()));
    rig.open("s");
    assert_eq!(rig.prompt().last().unwrap(), "Still there?");
    rig.end();
    assert_eq!(rig.outcome("3"), OK);

    // Another process continues as well.
    let Some(Notice::Remember(remembered)) =
        rig.notices.iter().rfind(|notice| matches!(notice, Notice::Remember(_))).cloned()
    else {
        panic!("{:?}", rig.notices)
    };
    let text = serde_json::to_string(&remembered).unwrap();
    let read = serde_json::from_str(&text).unwrap();
    let mut rig = Rig::of(Conversation::new(options()).with_remembered(read));
    let mut loads = AgentFeatures::default();
    loads.load = true;
    rig.connect(loads);
    rig.say("4", "Here I am").unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::Load("s".into()));
    let SessionEvent::Opened(mut loaded) = opened("s", &json!({})) else { panic!() };
    let SessionEvent::Update(update) = said("Hello again.") else { panic!() };
    loaded.replay = vec![update];
    assert!(rig.session(SessionEvent::Opened(loaded)).is_none());
    assert_eq!(rig.prompt(), ["Here I am"]);
    assert_eq!(rig.kinds("4"), ["RUN_STARTED", "MESSAGES_SNAPSHOT"]);
}

#[test]
fn session_that_cannot_be_continued_is_replaced() {
    let mut rig = Rig::new(options());
    rig.connect(resumes());
    rig.turn("1", "Hi", "Hello.");
    rig.disconnect();
    rig.connect(resumes());
    rig.say("2", "Still there?").unwrap();
    let gone = refused(&json!({"code": -32002, "message": "no such session"}));
    assert!(rig.session(SessionEvent::Refused(gone)).is_none());
    let lost = ConversationDiagnostic::SessionLost("no such session".into());
    assert!(
        rig.notices.contains(&Notice::Diagnostic(lost)) && rig.notices.contains(&Notice::Forget)
    );
    assert_eq!(rig.opening().origin, SessionOrigin::New);
    rig.open("s2");
    rig.end();
    assert_eq!(rig.outcome("2"), OK);

    // A run that is cancelled before does not wait for the session.
    rig.disconnect();
    rig.connect(resumes());
    rig.say("3", "Hello?").unwrap();
    rig.cancel("3");
    assert_eq!(rig.kinds("3"), ["RUN_STARTED", CANCELLED]);
    assert!(rig.thread.remembered().is_some());
}

#[test]
fn refused_session_ends_the_run() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    let error = refused(&json!({"code": -32000, "message": "log in"}));
    assert!(rig.session(SessionEvent::Refused(error)).is_none());
    assert_eq!(rig.outcome("1"), "RUN_ERROR ACP_AUTH_REQUIRED");
    rig.say("2", "Hi").unwrap();
    assert!(rig.session(SessionEvent::Refused(CallError::Timeout)).is_none());
    assert_eq!(rig.outcome("2"), "RUN_ERROR AGENT_TIMEOUT");
}
