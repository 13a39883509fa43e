//! Runs of a conversation: their beginning, waiting and end.
use crate::thread::{Rig, failed, input, options, raw, refused, said, user};
use acp_types::client::{CallError, SessionEvent, TurnError};
use agui_bridge::conversation::{
    Acceptance, AgentFeatures, Command, ConversationDiagnostic, Notice, RunRefused, RunRequest,
    SessionOrigin, WhenBusy,
};
use serde_json::json;
use std::time::Duration;

mod cancelled;
mod preparation;
mod questions;
mod replays;
mod sessions;

const OK: &str = "RUN_FINISHED success";

const CANCELLED: &str = "RUN_FINISHED cancelled";

fn resumes() -> AgentFeatures {
    let mut features = AgentFeatures::default();
    features.resume = true;
    features
}

#[test]
fn thread_keeps_its_session() {
    let mut rig = Rig::connected(options());
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Begun));
    assert_eq!(&*rig.opening().cwd, "/work");
    assert_eq!(&rig.opening().origin, &SessionOrigin::New);
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);
    assert!(rig.session(said("Hello.")).is_none());
    rig.end();
    assert_eq!(
        rig.kinds("1"),
        ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", OK]
    );
    rig.take_commands();
    rig.say("2", "And you?").unwrap();
    assert_eq!(rig.prompt(), ["And you?"]);
    assert_eq!(rig.commands.len(), 1, "{:?}", rig.commands);
    rig.end();
    assert_eq!(rig.outcome("2"), OK);
    assert!(!rig.thread.is_running());
}

/// The memory of a thread without a run does not depend on the length of its texts.
#[test]
fn idle_thread_holds_no_text() {
    const LENGTH: usize = 100_000;
    let mut rig = Rig::connected(options());
    for run in ["1", "2", "3"] {
        rig.turn(run, &"q".repeat(LENGTH), &"a".repeat(LENGTH));
        rig.take_commands();
    }
    let idle = serde_json::to_string(&rig.thread).unwrap();
    assert!(idle.len() < LENGTH, "{} bytes", idle.len());
}

#[test]
fn input_without_news_needs_no_agent() {
    let mut rig = Rig::connected(options());
    rig.turn("1", "Hi", "Hello.");
    rig.take_commands();
    let known =
        [user("u-1", "Hi"), json!({"id": "msg-1", "role": "assistant", "content": "Hello."})];
    assert_eq!(rig.run(input("2", &known, &json!({}))), Ok(Acceptance::Begun));
    assert_eq!(rig.kinds("2"), ["RUN_STARTED", OK]);
    assert_eq!(rig.commands, []);
}

#[test]
fn repeated_input_does_not_run_again() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Again("1".into())));
    assert_eq!(rig.say("1", "Ho"), Err(RunRefused::OtherRun));
    rig.open("s");
    rig.end();
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Again("1".into())));
    assert_eq!(rig.say("1", "Ho"), Err(RunRefused::OtherRun));
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", OK]);
}

#[test]
fn known_runs_are_bounded() {
    let mut options = options();
    options.max_known_runs = 2;
    let mut rig = Rig::connected(options);
    for run in ["1", "2", "3"] {
        rig.turn(run, run, "ok");
    }
    assert_eq!(rig.say("3", "3"), Ok(Acceptance::Again("3".into())));
    assert_eq!(rig.say("1", "other"), Ok(Acceptance::Begun), "the oldest is forgotten");
}

#[test]
fn input_without_a_prompt_is_refused() {
    let mut rig = Rig::connected(options());
    let blank = input("1", &[user("u", " ")], &json!({}));
    let Err(RunRefused::Input(error)) = rig.run(blank) else { panic!() };
    assert_eq!(error.status(), 400);
    assert_eq!(rig.kinds("1"), [""; 0]);
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Begun), "its id is free");
}

#[test]
fn busy_thread_refuses_queues_or_supersedes() {
    let mut rig = Rig::connected(options());
    rig.say("1", "one").unwrap();
    assert_eq!(rig.say("2", "two"), Err(RunRefused::Busy));
    rig.open("s");
    rig.cancel("1");
    assert_eq!(rig.say("2", "two"), Ok(Acceptance::Queued), "behind a run that ends");
    assert_eq!(rig.say("3", "three"), Err(RunRefused::Busy));
    rig.session(crate::thread::ended("cancelled"));
    assert_eq!(rig.outcome("1").as_str(), CANCELLED);
    assert_eq!(&*rig.prompt(), &["two".to_owned()][..]);

    let mut queues = options();
    queues.when_busy = WhenBusy::Queue;
    queues.max_queued = 1;
    queues.queue_wait = Some(Duration::from_secs(30));
    let mut rig = Rig::connected(queues.clone());
    rig.say("1", "one").unwrap();
    assert_eq!(rig.say("2", "two"), Ok(Acceptance::Queued));
    assert_eq!(rig.say("2", "two"), Ok(Acceptance::Again("2".into())));
    assert_eq!(rig.say("3", "three"), Err(RunRefused::Busy));
    rig.open("s");
    rig.end();
    assert_eq!(rig.prompt(), ["two"]);
    assert_eq!(rig.say("4", "four"), Ok(Acceptance::Queued));
    assert_eq!(rig.thread.poll_timeout(), Some(Duration::from_secs(30)));
    rig.wait(Duration::from_secs(30));
    assert_eq!(rig.refused, [("4".to_owned(), RunRefused::Busy)]);
    assert_eq!(rig.say("4", "other"), Ok(Acceptance::Queued), "its id is free");

    queues.when_busy = WhenBusy::Supersede;
    let mut rig = Rig::connected(queues);
    for run in ["1", "2", "3"] {
        rig.say(run, run).unwrap();
    }
    assert_eq!(rig.outcome("1"), CANCELLED);
    rig.open("s");
    assert_eq!(rig.say("4", "4"), Ok(Acceptance::Queued));
    assert_eq!(rig.say("5", "5"), Ok(Acceptance::Queued));
    assert_eq!(rig.refused, [("4".to_owned(), RunRefused::Busy)]);
    rig.end();
    assert_eq!(rig.prompt(), ["5"]);
}

/// The timer of a program expires again for a run that begins with its time limit already reached.
#[test]
fn waiting_run_that_is_due_at_once_ends_with_its_own_deadline() {
    let mut queues = options();
    queues.when_busy = WhenBusy::Queue;
    queues.translator.times.idle = Some(Duration::ZERO);
    let mut rig = Rig::new(queues);
    rig.say("1", "one").unwrap();
    rig.say("2", "two").unwrap();
    rig.connect(AgentFeatures::default());
    for run in ["1", "2"] {
        assert_eq!(rig.thread.poll_timeout(), Some(rig.now), "{run}");
        assert!(matches!(rig.take_commands()[..], [Command::Open(..)]), "{run}");
        rig.wait(Duration::ZERO);
        assert_eq!(rig.outcome(run), "RUN_ERROR IDLE_TIMEOUT");
        assert!(matches!(rig.commands.remove(0), Command::Release(_)), "{run}");
    }
    assert_eq!(rig.thread.poll_timeout(), None);
    rig.disconnect();
    assert_eq!(rig.take_commands(), []);
}

#[test]
fn cancelled_queued_run_ends_in_its_turn() {
    let mut queues = options();
    queues.when_busy = WhenBusy::Queue;
    let mut rig = Rig::connected(queues);
    rig.say("1", "one").unwrap();
    rig.say("2", "two").unwrap();
    assert!(rig.cancel("2"));
    assert_eq!(rig.kinds("2"), [""; 0]);
    rig.open("s");
    rig.end();
    assert_eq!(rig.kinds("2"), ["RUN_STARTED", CANCELLED]);
    assert!(!rig.cancel("2"));
    // The agent does not have its message, and does not receive it with the next prompt.
    rig.run(input(
        "3",
        &[user("u-1", "one"), user("u-2", "two"), user("u-3", "three")],
        &json!({}),
    ))
    .unwrap();
    assert_eq!(rig.prompt(), ["three"]);
}

#[test]
fn cancelled_turn_has_a_grace_period() {
    let mut rig = Rig::begun(options(), "Hi");
    rig.take_commands();
    assert!(rig.cancel("1"));
    assert!(rig.cancel("1"), "and again");
    let [Command::Cancel { grace, .. }] = rig.commands[..] else { panic!("{:?}", rig.commands) };
    assert_eq!(grace, Duration::from_secs(10));
    assert!(rig.session(said("still here")).is_none());
    assert_eq!(rig.thread.poll_timeout(), Some(grace));
    rig.wait(grace);
    assert_eq!(rig.outcome("1"), CANCELLED);
    let session = rig.session.unwrap();
    assert_eq!(rig.commands.last(), Some(&Command::Release(session)));
    assert!(rig.notices.contains(&Notice::Diagnostic(ConversationDiagnostic::GraceOver)));
    let events = rig.events.len();
    assert!(rig.session(said("late")).is_none());
    assert_eq!(rig.events.len(), events, "the session was left");
    rig.say("2", "Hello?").unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::New);
}

#[test]
fn run_is_cancelled_while_its_session_is_opened() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    rig.cancel("1");
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", CANCELLED]);
    assert_eq!(rig.commands.last(), Some(&Command::Release(rig.session.unwrap())));
    rig.open("late");
    assert!(rig.thread.session_settings().is_none());
}

#[test]
fn runs_wait_for_the_agent() {
    let mut rig = Rig::new(options());
    assert_eq!(rig.say("1", "Hi"), Ok(Acceptance::Queued));
    assert_eq!(rig.events, []);
    rig.connect(AgentFeatures::default());
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);

    let mut rig = Rig::new(options());
    rig.say("1", "Hi").unwrap();
    rig.cancel("1");
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", CANCELLED]);

    let mut rig = Rig::new(options());
    rig.say("1", "Hi").unwrap();
    rig.disconnect();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", "RUN_ERROR AGENT_EXITED"]);
    rig.say("2", "Hi").unwrap();
    assert_eq!(rig.outcome("2"), "RUN_ERROR AGENT_EXITED");
    rig.thread.handle_connecting(rig.now);
    assert_eq!(rig.say("3", "Hi"), Ok(Acceptance::Queued));
}

#[test]
fn failed_turn_reports_its_reason() {
    let lost = json!({"code": -32002, "message": "gone", "data": {"sessionId": "s"}});
    let table = [
        (TurnError::Call(refused(&lost)), "RUN_ERROR ACP_SESSION_NOT_FOUND", true),
        (
            TurnError::Call(refused(&json!({"code": -32603, "message": "no"}))),
            "RUN_ERROR ACP_INTERNAL_ERROR",
            false,
        ),
        (TurnError::Call(CallError::Timeout), "RUN_ERROR TURN_TIMEOUT", true),
        (TurnError::Call(CallError::Malformed("?".into())), "RUN_ERROR ACP_INVALID_REQUEST", false),
        (TurnError::GraceOver, CANCELLED, true),
    ];
    for (error, outcome, leaves) in table {
        let mut rig = Rig::begun(options(), "Hi");
        assert!(rig.session(failed(error.clone())).is_none());
        assert_eq!(rig.outcome("1"), outcome, "{error:?}");
        let released = matches!(rig.commands.last(), Some(Command::Release(_)));
        assert_eq!(released, leaves, "{error:?}");
    }
}

#[test]
fn run_meta_is_sent_with_its_requests() {
    let mut rig = Rig::connected(options());
    let mut run = RunRequest::from(input("1", &[user("u", "Hi")], &json!({})));
    run.meta.insert("traceparent", raw(&json!("00-1-2-01")));
    rig.thread.handle_run(run, rig.now).unwrap();
    rig.wait(Duration::ZERO);
    let expected = r#"{"traceparent":"00-1-2-01"}"#;
    assert_eq!(rig.opening().meta.as_ref().unwrap().as_str(), expected);
    rig.open("s");
    let Some(Command::Prompt { meta, .. }) = rig.commands.last() else { panic!() };
    assert_eq!(meta.as_ref().unwrap().as_str(), expected);
}

#[test]
fn lost_updates_are_reported() {
    let mut rig = Rig::begun(options(), "Hi");
    assert!(rig.session(SessionEvent::Lagged { dropped: 3 }).is_none());
    rig.end();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", "CUSTOM acp.dropped", OK]);
}
