//! Turns that an agent begins without a prompt, in runs without a prompt.
use crate::thread::{Rig, input, options, permission, raw, read, request, said, user};
use acp_types::client::{ReceivedValue, SessionEvent, Update};
use agui_bridge::AnsweredBy;
use agui_bridge::conversation::{Acceptance, AgentReply, Command, Notice, RunRefused};
use agui_types::event::Event;
use serde_json::{Value, json};
use std::time::Duration;

const QUIET: Duration = Duration::from_secs(2);

/// A state of the session in version 2.
fn state(state: &Value) -> SessionEvent {
    let mut update = json!({ "sessionUpdate": "state_update" });
    update.as_object_mut().unwrap().extend(state.as_object().cloned().unwrap());
    let params = json!({ "sessionId": "s", "update": update });
    SessionEvent::Update(ReceivedValue::new(Update::V2(read(&params)), raw(&params)))
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

fn follow(rig: &mut Rig, run: &str, members: &Value) -> Result<Acceptance, RunRefused> {
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
    assert_eq!(follow(&mut rig, "f", &json!({})), Ok(Acceptance::Resumed));
    assert_eq!(follow(&mut rig, "g", &json!({})), Ok(Acceptance::Again("f".into())));
    let text = "TEXT_MESSAGE_CONTENT";
    assert_eq!(rig.kinds("f"), ["RUN_STARTED", "TEXT_MESSAGE_START", text, text]);
    rig.wait(10 * QUIET);
    rig.session(said(" Two"));
    assert_eq!(rig.kinds("f").last().unwrap(), text, "the text goes on");
    assert_eq!(rig.say("p", "And?"), Err(RunRefused::Busy));
    rig.session(idle());
    assert_eq!(rig.outcome("f"), "RUN_FINISHED success");
    assert_eq!(follow(&mut rig, "g", &json!({})), Ok(Acceptance::Begun));
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
    assert_eq!(rig.run(resumed), Ok(Acceptance::Resumed));
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
    assert_eq!(rig.say("p", "And?"), Ok(Acceptance::Begun));
    assert_eq!(rig.outcome("g"), "RUN_FINISHED success");
    assert!(matches!(&rig.commands[..], [Command::Prompt { .. }]), "{:?}", rig.commands);
}

/// The values of the custom events of a run with this name.
fn values(rig: &Rig, run: &str, name: &str) -> Vec<Value> {
    let value = |(of, event): &(String, Event)| match event {
        Event::Custom(custom) if of == run && custom.name == name => custom.value.decode().ok(),
        _ => None,
    };
    rig.events.iter().filter_map(value).collect()
}

/// A form without fields.
fn elicitation(key: u64) -> SessionEvent {
    let params = json!({"sessionId": "s", "mode": "form", "message": "Name?",
        "requestedSchema": {"type": "object", "properties": {}}});
    request(key, "elicitation/create", &params)
}

/// The next message of the user answers the question, which no run has shown.
#[test]
fn question_that_the_next_message_leaves_is_cancelled() {
    for is_reported in [false, true] {
        let mut rig = rested();
        if is_reported {
            rig.session(running());
        }
        rig.session(permission(7));
        rig.session(elicitation(8));
        assert!(rig.commands.is_empty(), "the questions wait");
        rig.say("p", "Never mind").unwrap();
        let answers = rig.notices.iter().filter_map(|notice| match notice {
            Notice::RequestAnswered(response) => Some(response),
            _ => None,
        });
        let answers: Vec<_> = answers.map(|it| (it.answered_by, json!(it.result))).collect();
        let outcome = json!({"outcome": {"outcome": "cancelled"}});
        let action = json!({"action": "cancel"});
        assert_eq!(answers, [(AnsweredBy::User, outcome), (AnsweredBy::User, action)]);
        rig.end();
        assert_eq!(rig.outcome("p"), "RUN_FINISHED success");

        let asked = values(&rig, "p", "acp.permission.requested");
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0]["toolCallId"], "call-7");
        let resolved = values(&rig, "p", "acp.permission.resolved");
        let id = &asked[0]["interruptId"];
        let expected = json!({"interruptId": id, "outcome": "cancelled", "answeredBy": "user"});
        assert_eq!(resolved, [expected]);
        let asked = values(&rig, "p", "acp.elicitation.requested");
        let id = &asked[0]["interruptId"];
        let expected = json!({"interruptId": id, "action": "cancel", "answeredBy": "user"});
        assert_eq!(values(&rig, "p", "acp.elicitation.resolved"), [expected]);
        assert_eq!(call_results(&rig, "p"), [("call-7".to_owned(), "cancelled".to_owned())]);
    }
}

/// Returns the results of tool calls in a run, with the calls.
fn call_results(rig: &Rig, run: &str) -> Vec<(String, String)> {
    let result = |(of, event): &(String, Event)| match event {
        Event::ToolCallResult(result) if of == run => {
            Some((result.tool_call_id.to_string(), result.content.text()))
        }
        _ => None,
    };
    rig.events.iter().filter_map(result).collect()
}
