//! Turns that an agent begins without a prompt, in runs without a prompt.
use crate::thread::{Rig, input, options, permission, raw, read, said, user};
use acp_types::client::{Received, SessionEvent, Update};
use agui_bridge::conversation::{Accepted, AgentReply, Command, Notice, RunRefused};
use serde_json::{Value, json};
use std::time::Duration;

const QUIET: Duration = Duration::from_secs(2);

/// A state of the session in version 2.
fn state(state: &Value) -> SessionEvent {
    let mut update = json!({ "sessionUpdate": "state_update" });
    update.as_object_mut().unwrap().extend(state.as_object().cloned().unwrap());
    let params = json!({ "sessionId": "s", "update": update });
    SessionEvent::Update(Received::new(Update::V2(read(&params)), raw(&params)))
}

fn running() -> SessionEvent {
    state(&json!({ "state": "running" }))
}

fn idle() -> SessionEvent {
    state(&json!({ "state": "idle", "stopReason": "end_turn" }))
}

/// A thread with an ended turn.
fn rested() -> Rig {
    let mut rig = Rig::connected(options());
    rig.turn("r", "Hi", "Hello");
    rig.take_commands();
    rig.notices.clear();
    rig
}

fn follow(rig: &mut Rig, run: &str, members: &Value) -> Result<Accepted, RunRefused> {
    let mut all = json!({ "forwardedProps": { "acp": { "follow": true } } });
    all.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
    rig.run(input(run, &[], &all))
}

fn announced(rig: &Rig) -> usize {
    rig.notices.iter().filter(|notice| matches!(notice, Notice::Activity)).count()
}

#[test]
fn reported_turn_is_live_until_it_is_idle() {
    let mut rig = rested();
    assert_eq!(announced(&rig), 0);
    rig.session(running());
    assert!(!rig.thread.has_activity(), "nothing to show yet");
    rig.session(said("One"));
    rig.session(said("."));
    assert_eq!(announced(&rig), 1);
    assert_eq!(follow(&mut rig, "f", &json!({})), Ok(Accepted::Resumed));
    assert_eq!(follow(&mut rig, "g", &json!({})), Ok(Accepted::Again("f".into())));
    let text = "TEXT_MESSAGE_CONTENT";
    assert_eq!(rig.kinds("f"), ["RUN_STARTED", "TEXT_MESSAGE_START", text, text]);
    rig.wait(10 * QUIET);
    rig.session(said(" Two"));
    assert_eq!(rig.kinds("f").last().unwrap(), text, "the text goes on");
    assert_eq!(rig.say("p", "And?"), Err(RunRefused::Busy));
    rig.session(idle());
    assert_eq!(rig.outcome("f"), "RUN_FINISHED success");
    assert_eq!(follow(&mut rig, "g", &json!({})), Ok(Accepted::Begun));
    assert_eq!(rig.kinds("g"), ["RUN_STARTED", "RUN_FINISHED success"]);
    assert!(!rig.commands.iter().any(|command| matches!(command, Command::Prompt { .. })));
    assert_eq!(announced(&rig), 1);
}

#[test]
fn question_of_an_own_turn_is_an_interrupt() {
    let mut rig = rested();
    rig.session(running());
    rig.session(permission(7));
    assert!(rig.commands.is_empty(), "the question waits");
    assert!(rig.thread.has_activity());
    follow(&mut rig, "f", &json!({})).unwrap();
    rig.wait(Duration::from_millis(50));
    let ids = rig.interrupts("f");
    assert_eq!(ids.len(), 1, "{:?}", rig.kinds("f"));
    assert!(!rig.thread.has_activity(), "the client knows the question");
    let answer =
        json!({ "interruptId": ids[0], "status": "resolved", "payload": { "optionId": "yes" } });
    let resumed = input("g", &[user("u-r", "Hi")], &json!({ "resume": [answer] }));
    assert_eq!(rig.run(resumed), Ok(Accepted::Resumed));
    assert!(matches!(
        &rig.commands[..],
        [Command::Reply { request, reply: AgentReply::Answer(_), .. }] if request.get() == 7
    ));
    rig.session(said("Done"));
    rig.session(idle());
    assert_eq!(rig.outcome("g"), "RUN_FINISHED success");
}

#[test]
fn own_turn_is_cancelled() {
    let mut rig = rested();
    rig.session(running());
    rig.session(said("One"));
    follow(&mut rig, "f", &json!({})).unwrap();
    assert!(rig.cancel("f"));
    assert!(matches!(&rig.commands[..], [Command::Cancel { .. }]), "{:?}", rig.commands);
    rig.session(state(&json!({ "state": "idle", "stopReason": "cancelled" })));
    assert_eq!(rig.outcome("f"), "RUN_FINISHED cancelled");
}

#[test]
fn failed_turn_is_shown_if_no_run_was_open() {
    let mut rig = rested();
    rig.session(running());
    let error = json!({ "code": -32603, "message": "no model" });
    rig.session(state(&json!({ "state": "idle", "stopReason": "error", "error": error })));
    assert_eq!(announced(&rig), 1);
    follow(&mut rig, "f", &json!({})).unwrap();
    assert!(rig.outcome("f").starts_with("RUN_ERROR"), "{:?}", rig.kinds("f"));
}

/// Version 1 reports no end of such a turn.
#[test]
fn silence_ends_a_turn_without_a_report() {
    let mut rig = rested();
    rig.session(said("One"));
    follow(&mut rig, "f", &json!({})).unwrap();
    rig.wait(QUIET / 2);
    rig.session(said(" two"));
    rig.wait(QUIET - Duration::from_millis(1));
    assert_eq!(rig.outcome("f"), "TEXT_MESSAGE_CONTENT");
    rig.wait(Duration::from_millis(1));
    assert_eq!(rig.outcome("f"), "RUN_FINISHED success");
    // A prompt does not wait for the silence.
    rig.session(said("Three"));
    follow(&mut rig, "g", &json!({})).unwrap();
    assert_eq!(rig.say("p", "And?"), Ok(Accepted::Begun));
    assert_eq!(rig.outcome("g"), "RUN_FINISHED success");
    assert!(matches!(&rig.commands[..], [Command::Prompt { .. }]), "{:?}", rig.commands);
}
