//! Sessions that are continued: what the agent sends before, during and after its response.
use super::*;
use crate::thread::{ended, opened, update};
use agui_bridge::PermissionMode;
use agui_bridge::conversation::{Conversation, ConversationOptions};
use agui_bridge::input::Divergence;
use agui_types::event::Event;
use agui_types::message::Message;
use serde_json::Value;

fn features(can_load: bool) -> AgentFeatures {
    let mut features = AgentFeatures::default();
    features.load = can_load;
    features.resume = !can_load;
    features
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

fn asked(text: &str) -> Value {
    chunk("user_message_chunk", text)
}

fn answered(text: &str) -> Value {
    chunk("agent_message_chunk", text)
}

fn call(id: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Edit", "kind": "edit",
        "status": "completed", "content": []})
}

/// The messages of the thread: a question, a call with its result, and an answer.
fn thread() -> Vec<Value> {
    let call =
        json!({"id": "t1", "type": "function", "function": {"name": "Edit", "arguments": "{}"}});
    vec![
        user("u-1", "one"),
        json!({"id": "msg-1", "role": "assistant", "content": "", "toolCalls": [call]}),
        json!({"id": "res-t1", "role": "tool", "toolCallId": "t1", "content": "done"}),
        json!({"id": "msg-2", "role": "assistant", "content": "ok"}),
    ]
}

/// A thread that another process continues with these updates before the response of the agent.
fn continued(can_load: bool, messages: &[Value], updates: &[Value]) -> Rig {
    let rig = loading(can_load, messages, updates);
    assert_eq!(rig.prompt(), ["two"]);
    rig
}

fn loading(can_load: bool, messages: &[Value], updates: &[Value]) -> Rig {
    loading_with(options(), can_load, messages, updates)
}

fn loading_with(
    options: ConversationOptions,
    can_load: bool,
    messages: &[Value],
    updates: &[Value],
) -> Rig {
    let mut rig = reconnected(options, can_load);
    rig.run(input("2", messages, &json!({}))).unwrap();
    let SessionEvent::Opened(mut loaded) = opened("s", &json!({})) else { panic!() };
    loaded.replay = updates.iter().map(update).collect();
    assert!(rig.session(SessionEvent::Opened(loaded)).is_none());
    rig
}

/// The thread in another process, which is connected to the agent.
fn reconnected(options: ConversationOptions, can_load: bool) -> Rig {
    let mut rig = Rig::connected(options.clone());
    rig.say("1", "one").unwrap();
    rig.open("s");
    assert!(rig.session(SessionEvent::Update(update(&call("t1")))).is_none());
    assert!(rig.session(said("ok")).is_none());
    rig.end();
    let remembered = rig.thread.remembered().cloned().unwrap();
    let mut rig = Rig::of(Conversation::new(options).with_remembered(remembered));
    rig.connect(features(can_load));
    rig
}

fn with_prompt(mut messages: Vec<Value>) -> Vec<Value> {
    messages.push(user("u-2", "two"));
    messages
}

/// Returns role and text of the messages of the only snapshot of run `2`, or nothing.
fn restated(rig: &Rig) -> Option<Vec<(String, String)>> {
    let snapshots: Vec<_> = rig
        .events
        .iter()
        .filter_map(|(run, event)| match event {
            Event::MessagesSnapshot(snapshot) if run == "2" => Some(&snapshot.messages),
            _ => None,
        })
        .collect();
    assert!(snapshots.len() < 2);
    let written = |message: &Message| {
        let value = serde_json::to_value(message).unwrap();
        let text = value["content"].as_str().unwrap_or_default();
        (message.tag().to_owned(), text.to_owned())
    };
    snapshots.first().map(|messages| messages.iter().map(written).collect())
}

/// Returns the texts that run `2` has streamed.
fn streamed(rig: &Rig) -> Vec<String> {
    streamed_in(rig, "2")
}

fn streamed_in(rig: &Rig, run: &str) -> Vec<String> {
    let text = |(_, event): &(String, Event)| match event {
        Event::TextMessageContent(content) => Some(content.delta.clone()),
        Event::ToolCallStart(call) => Some(format!("call {}", call.tool_call_id)),
        _ => None,
    };
    rig.events.iter().filter(|(of, _)| of == run).filter_map(text).collect()
}

#[test]
fn updates_of_a_resumed_session_do_not_restate_the_conversation() {
    let updates = [
        json!({"sessionUpdate": "session_info_update", "title": "T"}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
        json!({"sessionUpdate": "config_option_update", "configOptions": []}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
        json!({"sessionUpdate": "plan", "entries": []}),
        json!({"sessionUpdate": "replay_complete"}),
        json!({"sessionUpdate": "state_update", "state": "idle"}),
    ];
    for can_load in [false, true] {
        for messages in [with_prompt(thread()), with_prompt(Vec::new())] {
            let mut rig = continued(can_load, &messages, &updates);
            rig.end();
            assert_eq!(restated(&rig), None);
            assert_eq!(rig.outcome("2"), OK);
        }
    }
}

#[test]
fn replay_adds_what_the_thread_lacks() {
    let all = ["user one", "assistant ", "tool done", "assistant ok"];
    let with = |more: &[&str]| {
        let all = all.iter().chain(more).map(|text| text.split_once(' ').unwrap());
        Some(all.map(|(role, text)| (role.to_owned(), text.to_owned())).collect::<Vec<_>>())
    };
    let context = asked("<session_context>");
    let rows = [
        (vec![], None),
        (vec![context.clone()], None),
        (vec![asked("one"), call("t1"), answered("ok")], None),
        (vec![context, asked("some context\none"), answered("ok")], None),
        // Only the agent's messages, and parts of them.
        (vec![answered("o"), answered("k")], None),
        (vec![call("t1")], None),
        // The session was continued elsewhere.
        (
            vec![asked("one"), call("t1"), answered("ok"), asked("more"), answered("yes")],
            with(&["user more", "assistant yes", "user two"]),
        ),
        (vec![asked("other"), answered("no")], None),
    ];
    for (updates, expected) in rows {
        let rig = continued(true, &with_prompt(thread()), &updates);
        assert_eq!(restated(&rig), expected, "{updates:?}");
    }
}

#[test]
fn replay_is_not_shown_without_the_messages_that_the_page_has() {
    let alone = [user("u-2", "two")];
    let rig = continued(true, &alone, &[asked("<session_context>")]);
    assert_eq!(restated(&rig), None);
    let rig = continued(true, &alone, &[asked("one"), answered("ok")]);
    let texts = restated(&rig).unwrap().into_iter().map(|(_, text)| text).collect::<Vec<_>>();
    assert_eq!(texts, ["one", "ok", "two"]);
}

/// Recorded: gemini-cli responds to `session/load` before it repeats the conversation, with
/// messages of its own.
#[test]
fn replay_after_the_response_is_not_shown_in_the_run() {
    let late = [
        asked("one"),
        call("t1"),
        asked("[Function Response: edit]"),
        answered("o"),
        answered("k"),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
    ];
    for replay in [vec![], vec![asked("<session_context>")]] {
        let mut rig = continued(true, &with_prompt(thread()), &replay);
        for part in &late {
            assert!(rig.session(SessionEvent::Update(update(part))).is_none());
        }
        assert_eq!(streamed(&rig), [""; 0]);
        assert!(rig.session(said("ok")).is_none());
        assert!(rig.session(said(", and more")).is_none());
        rig.end();
        assert_eq!(restated(&rig), None);
        assert_eq!(streamed(&rig).concat(), "ok, and more");
        assert_eq!(rig.outcome("2"), OK);
    }
}

/// A session that is being loaded for a run that is cancelled is that of the next run, which begins
/// before the response, before the replay, or after it. Another request would have another replay.
#[test]
fn load_of_a_cancelled_run_is_that_of_the_next_one() {
    let replay = [asked("one"), call("t1"), answered("ok")];
    for early in 0..=replay.len() {
        for begins_at in 0..=replay.len() + 1 {
            let mut rig = reconnected(options(), true);
            rig.run(input("2", &with_prompt(thread()), &json!({}))).unwrap();
            assert!(matches!(rig.opening().origin, SessionOrigin::Load(_)));
            rig.cancel("2");
            assert_eq!(rig.outcome("2"), CANCELLED);
            let mut messages = thread();
            messages.push(user("u-3", "three"));
            let SessionEvent::Opened(mut loaded) = opened("s", &json!({})) else { panic!() };
            loaded.replay = replay[..early].iter().map(update).collect();
            let late = replay[early..].iter().map(|part| SessionEvent::Update(update(part)));
            let events = core::iter::once(SessionEvent::Opened(loaded)).chain(late);
            for (place, event) in events.enumerate() {
                if place == begins_at {
                    rig.run(input("3", &messages, &json!({}))).unwrap();
                }
                assert!(rig.session(event).is_none());
            }
            if begins_at > replay.len() - early {
                rig.run(input("3", &messages, &json!({}))).unwrap();
            }
            assert_eq!(rig.prompt(), ["three"], "{early} {begins_at}");
            let is_open = |command: &&Command| matches!(command, Command::Open(..));
            assert_eq!(rig.commands.iter().filter(is_open).count(), 1, "{early} {begins_at}");
            assert!(rig.session(said("Well")).is_none());
            rig.end();
            assert_eq!(streamed_in(&rig, "3"), ["Well"], "{early} {begins_at}");
            assert_eq!(rig.outcome("3"), OK);
        }
    }
}

/// What an agent has repeated before it died says nothing about the replay of its successor.
#[test]
fn session_is_loaded_again_after_the_death_of_the_agent() {
    let replay = [asked("one"), call("t1"), answered("ok")];
    for before in 0..=replay.len() {
        let mut rig = reconnected(options(), true);
        rig.run(input("2", &with_prompt(thread()), &json!({}))).unwrap();
        rig.cancel("2");
        rig.open("s");
        for part in &replay[..before] {
            assert!(rig.session(SessionEvent::Update(update(part))).is_none());
        }
        rig.disconnect();
        rig.connect(features(true));
        let mut messages = thread();
        messages.push(user("u-3", "three"));
        rig.run(input("3", &messages, &json!({}))).unwrap();
        assert!(matches!(rig.opening().origin, SessionOrigin::Load(_)));
        rig.open("s");
        for part in &replay {
            assert!(rig.session(SessionEvent::Update(update(part))).is_none());
        }
        assert!(rig.session(said("Well")).is_none());
        rig.end();
        assert_eq!(streamed_in(&rig, "3"), ["Well"], "{before}");
    }
}

#[test]
fn answer_is_shown_if_it_equals_an_old_one() {
    let full = [asked("one"), call("t1"), answered("ok")];
    for (can_load, replay) in [(true, &full[..]), (true, &[]), (false, &[])] {
        let mut rig = continued(can_load, &with_prompt(thread()), replay);
        assert!(rig.session(SessionEvent::Update(update(&call("t1")))).is_none());
        assert!(rig.session(said("ok")).is_none());
        rig.end();
        assert_eq!(streamed(&rig).concat().matches("ok").count(), 1);
        assert!(streamed(&rig).iter().any(|text| text.starts_with("call t1")));
    }
}

/// What is not recognized as old is shown: at the end of the turn, or after some silence of the
/// replay.
#[test]
fn unknown_part_of_a_late_replay_is_shown() {
    let mut rig = continued(true, &with_prompt(thread()), &[asked("<session_context>")]);
    for part in [asked("one"), answered("o"), answered("dd")] {
        assert!(rig.session(SessionEvent::Update(update(&part))).is_none());
    }
    assert_eq!(streamed(&rig), [""; 0]);
    rig.wait(Duration::from_secs(2));
    assert_eq!(streamed(&rig).concat(), "odd");
    assert!(rig.session(said(", and more")).is_none());
    assert_eq!(streamed(&rig).concat(), "odd, and more");
    rig.end();

    let mut rig = continued(true, &with_prompt(thread()), &[]);
    for part in [asked("<session_context>"), answered("hm")] {
        assert!(rig.session(SessionEvent::Update(update(&part))).is_none());
    }
    assert_eq!(streamed(&rig), [""; 0]);
    assert!(rig.session(ended("end_turn")).is_none());
    assert_eq!(streamed(&rig).concat(), "hm");
    assert_eq!(rig.outcome("2"), OK);
}

/// The user has sent a message again after a failure, so that the agent has it more often.
#[test]
fn repeated_prompt_of_a_late_replay_is_not_shown() {
    let mut rig = continued(true, &with_prompt(thread()), &[]);
    let replay = [
        asked("one"),
        answered("cut o"),
        asked("one"),
        call("t1"),
        answered("ok"),
        asked("one"),
        call("t1"),
        answered("ok"),
        asked("two"),
        answered("new"),
    ];
    for part in &replay {
        assert!(rig.session(SessionEvent::Update(update(part))).is_none());
    }
    rig.end();
    // The second call `t1` has no counterpart in the thread.
    assert_eq!(streamed(&rig), ["new"]);
    assert_eq!(restated(&rig), None);
}

/// The message of a turn that was killed with the program is sent again in the loaded session.
#[test]
fn replay_is_not_shown_in_the_run_of_a_repeated_message() {
    let mut rig = Rig::begun(options(), "one");
    assert!(rig.session(said("o")).is_none());
    let remembered = rig.thread.remembered().cloned().unwrap();
    let mut rig = Rig::of(Conversation::new(options()).with_remembered(remembered));
    rig.connect(features(true));
    rig.run(input("2", &[user("u-1", "one")], &json!({}))).unwrap();
    rig.open("s");
    assert_eq!(rig.prompt(), ["one"]);
    for part in [asked("<session_context>"), asked("one"), answered("o"), asked("one")] {
        assert!(rig.session(SessionEvent::Update(update(&part))).is_none());
    }
    assert!(rig.session(said("ok")).is_none());
    rig.end();
    assert_eq!(streamed(&rig), ["ok"]);
    assert_eq!(restated(&rig), None);
}

/// The session of an edited conversation is left with its replay, before the response and after it.
#[test]
fn replay_of_a_left_session_is_not_shown() {
    for (early, late) in [(0, 3), (1, 2), (3, 0)] {
        let edited = [user("u-1", "one, edited")];
        let replay = [asked("<session_context>"), asked("one"), answered("ok")];
        let mut rig = loading(true, &edited, &replay[..early]);
        let left = rig.commands.iter().find_map(|command| match command {
            Command::Open(number, _) => Some(*number),
            _ => None,
        });
        assert_ne!(left, rig.session);
        for part in &replay[early..early + late] {
            let event = SessionEvent::Update(update(part));
            assert!(rig.thread.handle_session(left.unwrap(), event, rig.now).is_none());
        }
        rig.wait(Duration::ZERO);
        rig.open("s-2");
        assert_eq!(rig.prompt(), ["one, edited"]);
        assert!(rig.session(said("Well")).is_none());
        rig.end();
        assert_eq!(restated(&rig), None);
        assert_eq!(streamed(&rig), ["Well"]);
    }
}

/// The session goes on after an edit, and its replay has what the user has removed.
#[test]
fn replay_does_not_undo_an_edit() {
    let mut ignoring = options();
    ignoring.rules.divergence = Divergence::Ignore;
    ignoring.rules.new_alone = false;
    let replay = [asked("one"), call("t1"), answered("ok")];
    for id in ["u-1", "u-9"] {
        let edited = [user(id, "one, edited")];
        let mut rig = loading_with(ignoring.clone(), true, &edited, &replay);
        assert_eq!(rig.prompt(), ["one, edited"]);
        assert!(rig.session(said("Well")).is_none());
        rig.end();
        assert_eq!(restated(&rig), None);
        assert_eq!(streamed(&rig), ["Well"]);
        assert_eq!(rig.outcome("2"), OK);
    }
    // The thread lacks the last answer of a late replay, which may be new.
    for early in 0..replay.len() {
        let edited = [user("u-1", "one, edited")];
        let mut rig = loading_with(ignoring.clone(), true, &edited, &replay[..early]);
        for part in &replay[early..] {
            assert!(rig.session(SessionEvent::Update(update(part))).is_none());
        }
        assert!(rig.session(said("Well")).is_none());
        rig.end();
        assert_eq!(restated(&rig), None);
        let shown = streamed(&rig);
        assert!(shown.ends_with(&["ok".to_owned(), "Well".to_owned()]), "{shown:?}");
        assert!(!rig.kinds("2").is_empty() && !shown.contains(&"one".to_owned()));
    }
}

/// A run that names the session of its thread. The agent loads it with these updates before its
/// response.
fn named(messages: &[Value], early: &[Value]) -> Rig {
    let mut naming = options();
    naming.rules.forwarded.session_id = true;
    let mut rig = naming_run(naming, messages);
    open_named(&mut rig, early);
    rig
}

fn naming_run(options: ConversationOptions, messages: &[Value]) -> Rig {
    let mut rig = Rig::new(options);
    rig.connect(features(true));
    let name = json!({"forwardedProps": {"acp": {"sessionId": "s"}}});
    rig.run(input("2", messages, &name)).unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::Load("s".into()));
    rig
}

fn open_named(rig: &mut Rig, early: &[Value]) {
    let SessionEvent::Opened(mut loaded) = opened("s", &json!({})) else { panic!() };
    loaded.replay = early.iter().map(update).collect();
    assert!(rig.session(SessionEvent::Opened(loaded)).is_none());
    assert_eq!(rig.prompt(), ["two"]);
}

/// The session `s` of [`named`], with one turn more than [`thread`].
fn longer() -> [Value; 6] {
    let context = asked("<session_context>");
    [context, asked("one"), call("t1"), answered("ok"), asked("more"), answered("yes")]
}

/// Messages of the user and earlier answers are not shown. The last answer may be new: it is not
/// known whether the agent has the one of the page.
#[test]
fn late_replay_of_a_named_session_is_not_shown() {
    let mut whole = thread();
    whole.push(user("u-9", "more"));
    whole.push(json!({"id": "msg-9", "role": "assistant", "content": "yes"}));
    for messages in [whole, thread()] {
        for early in [0, 1, 4, 5] {
            let mut rig = named(&with_prompt(messages.clone()), &longer()[..early]);
            for part in &longer()[early..] {
                assert!(rig.session(SessionEvent::Update(update(part))).is_none());
            }
            assert!(rig.session(said("Well")).is_none());
            rig.end();
            assert_eq!(streamed(&rig), ["yes", "Well"], "{early}");
            assert_eq!(rig.outcome("2"), OK);
        }
    }
}

#[test]
fn replay_of_a_named_session_adds_what_the_thread_lacks() {
    let all = ["one", "", "done", "ok", "more", "yes", "two"];
    for messages in [with_prompt(thread()), with_prompt(Vec::new())] {
        let mut rig = named(&messages, &longer()[1..]);
        let texts = restated(&rig).unwrap().into_iter().map(|(_, text)| text);
        // The content of the call is empty in the replay.
        let expected =
            all.map(|text| if messages.len() == 1 && text == "done" { "" } else { text });
        assert_eq!(texts.collect::<Vec<_>>(), expected);
        assert!(rig.session(said("Well")).is_none());
        rig.end();
        assert_eq!(streamed(&rig), ["Well"]);
        assert_eq!(rig.outcome("2"), OK);
        // The thread goes on in this session.
        rig.take_commands();
        rig.say("3", "And?").unwrap();
        assert_eq!(rig.prompt(), ["And?"]);
        assert_eq!(rig.commands.len(), 1, "{:?}", rig.commands);
    }
}

/// The call of a question that the run has shown is not in the replay.
#[test]
fn replay_of_a_named_session_does_not_remove_a_question() {
    let mut naming = options();
    naming.rules.forwarded.session_id = true;
    naming.translator.permission = PermissionMode::InStream;
    let mut rig = naming_run(naming, &with_prompt(Vec::new()));
    assert!(rig.session(crate::thread::permission(7)).is_none());
    open_named(&mut rig, &longer());
    assert_eq!(restated(&rig), None);
    rig.end();
    let kinds = rig.kinds("2");
    let results = kinds.iter().filter(|kind| *kind == "TOOL_CALL_RESULT").count();
    assert_eq!(results, 1, "{kinds:?}");
    assert_eq!(rig.outcome("2"), OK);
}
