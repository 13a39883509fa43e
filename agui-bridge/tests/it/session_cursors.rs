//! Conversations that go back to a cursor of the agent's session.
use crate::thread::{Rig, ended, input, opened, options, permission, refused, said, update, user};
use acp_types::client::{SessionEvent, Update};
use agui_bridge::UnansweredPolicy;
use agui_bridge::conversation::{
    AgentFeatures, Command, Conversation, ConversationDiagnostic, Notice, SessionOrigin,
};
use agui_bridge::input::Divergence;
use serde_json::{Value, json};
use std::time::Duration;

mod branches;
mod hub;
mod model;
mod places;

const OK: &str = "RUN_FINISHED success";

fn forks() -> AgentFeatures {
    let mut features = AgentFeatures::default();
    features.resume = true;
    features.fork = true;
    features
}

/// The agent's text with an id.
fn message(id: &str, text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    json!({"sessionUpdate": "agent_message_chunk", "messageId": id, "content": content})
}

/// A cursor with this anchor, at which the session can be forked.
fn cursor(id: &str, kind: &str, anchor: &str, position: &str) -> Value {
    let name = match kind {
        "tool_call" => "toolCallId",
        "compaction" => "compactionId",
        _ => "messageId",
    };
    let anchor = json!({"type": kind, name: anchor, "position": position});
    json!({"sessionUpdate": "cursor_update", "cursorId": id, "anchor": anchor,
        "capabilities": {"fork": {}}})
}

/// Handles an update of the open session.
fn tell(rig: &mut Rig, of_agent: &Value) {
    let mut event = update(of_agent);
    if let (Update::V1(update), Some(id)) = (&mut event.value, rig.thread.session_id()) {
        update.session_id = id.clone();
    }
    assert!(rig.session(SessionEvent::Update(event)).is_none());
}

fn agent(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "assistant", "content": text})
}

/// A turn with these updates of the agent.
fn turn(rig: &mut Rig, run: &str, text: &str, updates: &[Value]) {
    rig.say(run, text).unwrap();
    if matches!(rig.commands.last(), Some(Command::Open(..))) {
        rig.open("s");
    }
    for of_agent in updates {
        tell(rig, of_agent);
    }
    rig.end();
    assert_eq!(rig.outcome(run), OK);
}

/// A thread with two turns, of which the first one has these updates.
fn two_turns(rig: &mut Rig, updates: &[Value]) {
    turn(rig, "1", "Hi", updates);
    turn(rig, "2", "And you?", &[message("m2", "Well.")]);
    rig.take_commands();
}

fn with_two_turns(updates: &[Value]) -> Rig {
    let mut rig = Rig::new(options());
    rig.connect(forks());
    two_turns(&mut rig, updates);
    rig
}

/// Edits the second message.
fn edit(rig: &mut Rig, run: &str, text: &str) {
    let messages = [user("u-1", "Hi"), agent("msg-1", "Hello."), user("u-2", text)];
    rig.run(input(run, &messages, &json!({}))).unwrap();
}

fn at(cursor: &str) -> SessionOrigin {
    SessionOrigin::Fork("s".into(), Some(cursor.into()))
}

#[test]
fn edited_message_forks_at_the_cursor_before_it() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut rig = with_two_turns(&hello);
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, at("c1"));
    assert!(matches!(rig.commands[..], [Command::Release(_), Command::Open(..)]));
    rig.open("fork");
    assert_eq!(rig.prompt(), ["And now?"], "neither a transcript nor a note");
    rig.end();
    assert_eq!(rig.kinds("3"), ["RUN_STARTED", OK]);
    assert_eq!(rig.thread.session_id().unwrap().as_str(), "fork");
}

#[test]
fn repeated_message_forks_at_the_cursor_before_it() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut rig = with_two_turns(&hello);
    edit(&mut rig, "3", "And you?");
    assert_eq!(rig.opening().origin, at("c1"));
    rig.open("fork");
    assert_eq!(rig.prompt(), ["And you?"]);
}

#[test]
fn cursor_is_not_used_without_a_reason_to_fork() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let edited_first = [user("u-1", "Ho")];
    let mut rig = with_two_turns(&hello);
    rig.run(input("3", &edited_first, &json!({}))).unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::New, "nothing is kept");

    let mut rig = Rig::connected(options());
    two_turns(&mut rig, &hello);
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, SessionOrigin::New, "the agent cannot fork");

    let mut without = options();
    without.rules.cursors = false;
    let mut rig = Rig::new(without);
    rig.connect(forks());
    two_turns(&mut rig, &hello);
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, SessionOrigin::New, "a rule");

    let mut rig = with_two_turns(&hello);
    assert!(rig.session(SessionEvent::Lagged { dropped: 1 }).is_none());
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, at("c1"), "the loss is later");
    let mut rig = Rig::new(options());
    rig.connect(forks());
    turn(&mut rig, "1", "Hi", &hello);
    assert!(rig.session(SessionEvent::Lagged { dropped: 1 }).is_none());
    turn(&mut rig, "2", "And you?", &[message("m2", "Well.")]);
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, SessionOrigin::New, "an entry may be missing");
}

#[test]
fn session_with_removed_messages_is_not_forked_at_a_cursor() {
    for divergence in [Divergence::Ignore, Divergence::Fork] {
        let mut rules = options();
        rules.rules.divergence = divergence;
        let mut rig = Rig::new(rules);
        rig.connect(forks());
        two_turns(&mut rig, &[message("m1", "Hello.")]);
        edit(&mut rig, "3", "And now?");
        if divergence == Divergence::Fork {
            assert_eq!(rig.opening().origin, SessionOrigin::Fork("s".into(), None));
            rig.open("fork");
            assert!(rig.prompt()[0].contains("went back"), "{:?}", rig.prompt());
        }
        rig.take_commands();
        let cursor = cursor("c3", "agent_message", "m3", "after");
        for of_agent in [message("m3", "Now."), cursor] {
            tell(&mut rig, &of_agent);
        }
        rig.end();
        let kept = [user("u-1", "Hi"), agent("a", "Hello."), user("u-2", "And now?")];
        let mut all = kept.to_vec();
        all.extend([agent("b", "Now."), user("u-4", "Then?")]);
        rig.run(input("4", &all, &json!({}))).unwrap();
        rig.end();
        all[4] = user("u-5", "Later?");
        rig.take_commands();
        rig.run(input("5", &all, &json!({}))).unwrap();
        let opened = rig.commands.iter().filter_map(|command| match command {
            Command::Open(_, open) => Some(open.origin.clone()),
            _ => None,
        });
        let opened: Vec<_> = opened.collect();
        let expected = SessionOrigin::Fork("fork".into(), None);
        let expected = if divergence == Divergence::Fork { vec![expected] } else { vec![] };
        assert_eq!(opened, expected);
    }
}

#[test]
fn refused_fork_is_a_new_session_with_the_conversation() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut rig = with_two_turns(&hello);
    edit(&mut rig, "3", "And now?");
    let unknown = refused(&json!({"code": -32602, "message": "no such cursor"}));
    assert!(rig.session(SessionEvent::Refused(unknown)).is_none());
    let why = ConversationDiagnostic::ForkRefused("no such cursor".into());
    assert!(rig.notices.contains(&Notice::Diagnostic(why)), "{:?}", rig.notices);
    assert_eq!(rig.opening().origin, SessionOrigin::New);
    rig.open("s2");
    assert!(rig.prompt()[0].contains("Hello."), "{:?}", rig.prompt());
    assert_eq!(rig.prompt().last().unwrap(), "And now?");
    for text in rig.prompt() {
        let content = json!({"type": "text", "text": text});
        tell(&mut rig, &json!({"sessionUpdate": "user_message_chunk", "content": content}));
    }
    rig.end();
    assert_eq!(rig.outcome("3"), OK);
    let kinds = rig.kinds("3");
    assert!(!kinds.iter().any(|kind| kind == "TEXT_MESSAGE_START"), "a repetition: {kinds:?}");
    edit(&mut rig, "4", "And then?");
    assert_eq!(rig.opening().origin, SessionOrigin::New, "it has no cursor");
    let login = refused(&json!({"code": -32000, "message": "log in"}));
    assert!(rig.session(SessionEvent::Refused(login)).is_none());
    assert_eq!(rig.outcome("4"), "RUN_ERROR ACP_AUTH_REQUIRED");
}

#[test]
fn session_keeps_what_an_unsent_instruction_was_to_replace() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut abandons = options();
    abandons.translator.unanswered = UnansweredPolicy::Abandon;
    let mut rig = Rig::new(abandons);
    rig.connect(forks());
    turn(&mut rig, "1", "Hi", &hello);
    rig.say("2", "And you?").unwrap();
    tell(&mut rig, &message("m2", "Well."));
    assert!(rig.session(permission(7)).is_none());
    rig.wait(Duration::from_secs(1));
    assert_eq!(rig.outcome("2"), "RUN_FINISHED interrupt");
    // It waits for the end of the turn with the question.
    edit(&mut rig, "3", "And now?");
    rig.cancel("3");
    rig.end();
    tell(&mut rig, &cursor("c2", "agent_message", "m2", "after"));
    let go_on = [user("u-1", "Hi"), agent("msg-1", "Hello."), user("u-4", "Go on")];
    rig.run(input("4", &go_on, &json!({}))).unwrap();
    assert_eq!(rig.prompt(), ["Go on"]);
    rig.end();
    rig.take_commands();
    let [first, answer, _] = go_on;
    let other = [first, answer, user("u-4", "Go back")];
    rig.run(input("5", &other, &json!({}))).unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::New, "a fork would have the second turn");
}

#[test]
fn another_process_forks_at_the_cursor() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut rig = with_two_turns(&hello);
    // A cursor that follows the end of the turn is remembered as well.
    tell(&mut rig, &cursor("c2", "agent_message", "m2", "after"));
    let text = serde_json::to_string(rig.thread.remembered().unwrap()).unwrap();
    for (edited, cursor) in [(1, "c1"), (2, "c2")] {
        let remembered = serde_json::from_str(&text).unwrap();
        let mut rig = Rig::of(Conversation::new(options()).with_remembered(remembered));
        rig.connect(forks());
        let mut messages = vec![user("u-1", "Hi"), agent("msg-1", "Hello.")];
        if edited == 2 {
            messages.extend([user("u-2", "And you?"), agent("msg-2", "Well."), user("u-3", "So?")]);
            rig.run(input("3", &messages, &json!({}))).unwrap();
            rig.open("s");
            rig.end();
            messages.pop();
        }
        messages.push(user("new", "And now?"));
        rig.run(input("4", &messages, &json!({}))).unwrap();
        if edited == 1 {
            assert_eq!(rig.opening().origin, SessionOrigin::Resume("s".into()));
            rig.open("s");
        }
        assert_eq!(rig.opening().origin, at(cursor));
        rig.open("fork");
        assert_eq!(rig.prompt(), ["And now?"]);
    }
}

/// The agent announces its cursors in the replay of the session only.
#[test]
fn cursor_of_a_replay_is_used() {
    let mut rig = with_two_turns(&[message("m1", "Hello.")]);
    let remembered = rig.thread.remembered().cloned().unwrap();
    let mut features = forks();
    features.resume = false;
    features.load = true;
    rig = Rig::of(Conversation::new(options()).with_remembered(remembered));
    rig.connect(features);
    edit(&mut rig, "3", "And now?");
    assert_eq!(rig.opening().origin, SessionOrigin::Load("s".into()));
    let SessionEvent::Opened(mut loaded) = opened("s", &json!({})) else { panic!() };
    let cursor = cursor("c1", "agent_message", "m1", "after");
    let said = |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    let replay = [
        said("user_message_chunk", "Hi"),
        message("m1", "Hello."),
        said("user_message_chunk", "And you?"),
        message("m2", "Well."),
        cursor,
    ];
    loaded.replay = replay.iter().map(update).collect();
    assert!(rig.session(SessionEvent::Opened(loaded)).is_none());
    assert_eq!(rig.opening().origin, at("c1"));
    rig.open("fork");
    assert_eq!(rig.prompt(), ["And now?"]);
    rig.end();
    assert_eq!(rig.kinds("3"), ["RUN_STARTED", OK], "a page receives no cursor");
}

/// The agent does not end its turn, so that its session is released.
#[test]
fn prompt_without_its_session_has_the_conversation() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut abandons = options();
    abandons.translator.unanswered = UnansweredPolicy::Abandon;
    let mut rig = Rig::new(abandons);
    rig.connect(forks());
    two_turns(&mut rig, &hello);
    let all = [
        user("u-1", "Hi"),
        agent("msg-1", "Hello."),
        user("u-2", "And you?"),
        agent("msg-2", "Well."),
        user("u-3", "Go on"),
    ];
    rig.run(input("3", &all, &json!({}))).unwrap();
    assert!(rig.session(crate::thread::permission(7)).is_none());
    rig.wait(Duration::from_secs(1));
    assert_eq!(rig.outcome("3"), "RUN_FINISHED interrupt");
    edit(&mut rig, "4", "And now?");
    rig.wait(Duration::from_secs(60));
    assert_eq!(rig.opening().origin, SessionOrigin::New);
    rig.open("s2");
    assert!(rig.prompt()[0].contains("Hello."), "{:?}", rig.prompt());
    assert!(rig.session(said("Now.")).is_none());
    assert!(rig.session(ended("end_turn")).is_none());
    assert_eq!(rig.outcome("4"), OK);
}

/// A late update of an entry that the fork has from its source is not at the end of the fork.
#[test]
fn cursor_of_a_copied_entry_is_not_used_for_a_later_place() {
    let call = |title| json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": title});
    let hello =
        [call("Read"), message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut rig = with_two_turns(&hello);
    edit(&mut rig, "3", "And now?");
    rig.open("fork");
    for of_agent in [message("m3", "Now."), call("Late"), cursor("c2", "tool_call", "t1", "after")]
    {
        tell(&mut rig, &of_agent);
    }
    rig.end();
    let mut all = vec![user("u-1", "Hi"), agent("a", "Hello."), user("u-2", "And now?")];
    all.extend([agent("b", "Now."), user("u-4", "Then?")]);
    rig.run(input("4", &all, &json!({}))).unwrap();
    rig.end();
    all[4] = user("u-5", "Later?");
    rig.run(input("5", &all, &json!({}))).unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::New);
}

/// The agent has not received the context of the removed turns.
#[test]
fn context_of_a_removed_turn_is_sent_again() {
    let mut changed = options();
    changed.rules.repeat = agui_bridge::input::Repeat::WhenChanged;
    let mut rig = Rig::new(changed);
    rig.connect(forks());
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    turn(&mut rig, "1", "Hi", &hello);
    let context = |text| json!({"context": [{"description": "page", "value": text}]});
    let mut messages = vec![user("u-1", "Hi"), agent("msg-1", "Hello."), user("u-2", "And you?")];
    rig.run(input("2", &messages, &context("one"))).unwrap();
    assert_eq!(rig.prompt().len(), 2, "{:?}", rig.prompt());
    rig.end();
    messages[2] = user("u-2", "And now?");
    rig.run(input("3", &messages, &context("one"))).unwrap();
    assert_eq!(rig.opening().origin, at("c1"));
    rig.open("fork");
    assert_eq!(rig.prompt().len(), 2, "{:?}", rig.prompt());
}
