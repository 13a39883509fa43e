//! Runs of a conversation: their beginning, waiting and end.
use crate::thread::{
    Rig, failed, input, opened, options, permission, raw, refused, request, said, user,
};
use acp_types::client::{CallError, RequestKey, SessionEvent, TurnError};
use agui_bridge::conversation::{
    Accepted, AgentFeatures, AgentReply, Command, Conversation, ConversationDiagnostic,
    ConversationOptions, Notice, RunRefused, RunRequest, SessionOrigin, UserAnswer, WhenBusy,
};
use agui_bridge::input::SessionScope;
use agui_bridge::{AnswerError, PermissionAnswer, PermissionMode, Unanswered};
use serde_json::{Value, json};
use std::time::Duration;

const OK: &str = "RUN_FINISHED success";
const CANCELLED: &str = "RUN_FINISHED cancelled";

fn resumes() -> AgentFeatures {
    let mut features = AgentFeatures::default();
    features.resume = true;
    features
}

fn resume(id: &str, payload: &Value) -> Value {
    json!({"resume": [{"interruptId": id, "status": "resolved", "payload": payload}]})
}

/// The responses to the agent, by request.
fn replies(rig: &Rig) -> Vec<(u64, Value)> {
    let reply = |command: &Command| match command {
        Command::Reply { request, reply: AgentReply::Answer(answer), .. } => {
            Some((request.get(), serde_json::to_value(answer).unwrap()))
        }
        _ => None,
    };
    rig.commands.iter().filter_map(reply).collect()
}

#[test]
fn thread_keeps_its_session() {
    let mut rig = Rig::connected(options());
    assert_eq!(rig.say("1", "Hi"), Ok(Accepted::Begun));
    assert_eq!((&*rig.opening().cwd, &rig.opening().origin), ("/work", &SessionOrigin::New));
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

#[test]
fn input_without_news_needs_no_agent() {
    let mut rig = Rig::connected(options());
    rig.turn("1", "Hi", "Hello.");
    rig.take_commands();
    let known =
        [user("u-1", "Hi"), json!({"id": "msg-1", "role": "assistant", "content": "Hello."})];
    assert_eq!(rig.run(input("2", &known, &json!({}))), Ok(Accepted::Begun));
    assert_eq!(rig.kinds("2"), ["RUN_STARTED", OK]);
    assert_eq!(rig.commands, []);
}

#[test]
fn repeated_input_does_not_run_again() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    assert_eq!(rig.say("1", "Hi"), Ok(Accepted::Again("1".into())));
    assert_eq!(rig.say("1", "Ho"), Err(RunRefused::OtherRun));
    rig.open("s");
    rig.end();
    assert_eq!(rig.say("1", "Hi"), Ok(Accepted::Again("1".into())));
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
    assert_eq!(rig.say("3", "3"), Ok(Accepted::Again("3".into())));
    assert_eq!(rig.say("1", "other"), Ok(Accepted::Begun), "the oldest is forgotten");
}

#[test]
fn input_without_a_prompt_is_refused() {
    let mut rig = Rig::connected(options());
    let blank = input("1", &[user("u", " ")], &json!({}));
    let Err(RunRefused::Input(error)) = rig.run(blank) else { panic!() };
    assert_eq!(error.status(), 400);
    assert_eq!(rig.kinds("1"), [""; 0]);
    assert_eq!(rig.say("1", "Hi"), Ok(Accepted::Begun), "its id is free");
}

#[test]
fn busy_thread_refuses_queues_or_supersedes() {
    let mut rig = Rig::connected(options());
    rig.say("1", "one").unwrap();
    assert_eq!(rig.say("2", "two"), Err(RunRefused::Busy));
    rig.open("s");
    rig.cancel("1");
    assert_eq!(rig.say("2", "two"), Ok(Accepted::Queued), "behind a run that ends");
    assert_eq!(rig.say("3", "three"), Err(RunRefused::Busy));
    rig.session(crate::thread::ended("cancelled"));
    assert_eq!((rig.outcome("1").as_str(), &*rig.prompt()), (CANCELLED, &["two".to_owned()][..]));

    let mut queues = options();
    (queues.when_busy, queues.max_queued) = (WhenBusy::Queue, 1);
    queues.queue_wait = Some(Duration::from_secs(30));
    let mut rig = Rig::connected(queues.clone());
    rig.say("1", "one").unwrap();
    assert_eq!(rig.say("2", "two"), Ok(Accepted::Queued));
    assert_eq!(rig.say("2", "two"), Ok(Accepted::Again("2".into())));
    assert_eq!(rig.say("3", "three"), Err(RunRefused::Busy));
    rig.open("s");
    rig.end();
    assert_eq!(rig.prompt(), ["two"]);
    assert_eq!(rig.say("4", "four"), Ok(Accepted::Queued));
    assert_eq!(rig.thread.poll_timeout(), Some(Duration::from_secs(30)));
    rig.wait(Duration::from_secs(30));
    assert_eq!(rig.refused, [("4".to_owned(), RunRefused::Busy)]);
    assert_eq!(rig.say("4", "other"), Ok(Accepted::Queued), "its id is free");

    queues.when_busy = WhenBusy::Supersede;
    let mut rig = Rig::connected(queues);
    for run in ["1", "2", "3"] {
        rig.say(run, run).unwrap();
    }
    assert_eq!(rig.outcome("1"), CANCELLED);
    rig.open("s");
    assert_eq!(rig.say("4", "4"), Ok(Accepted::Queued));
    assert_eq!(rig.say("5", "5"), Ok(Accepted::Queued));
    assert_eq!(rig.refused, [("4".to_owned(), RunRefused::Busy)]);
    rig.end();
    assert_eq!(rig.prompt(), ["5"]);
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
    // The agent does not have its message, so the next prompt has both.
    rig.run(input(
        "3",
        &[user("u-1", "one"), user("u-2", "two"), user("u-3", "three")],
        &json!({}),
    ))
    .unwrap();
    assert_eq!(rig.prompt(), ["two", "three"]);
}

#[test]
fn cancelled_turn_has_a_grace_period() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    rig.open("s");
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
    assert_eq!(rig.say("1", "Hi"), Ok(Accepted::Queued));
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
    assert_eq!(rig.say("3", "Hi"), Ok(Accepted::Queued));
}

#[test]
fn permission_request_interrupts_the_run() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Write").unwrap();
    rig.open("s");
    assert!(rig.session(permission(7)).is_none());
    rig.wait(Duration::from_millis(50));
    let interrupts = rig.interrupts("1");
    assert_eq!(interrupts.len(), 1);
    assert!(rig.thread.is_interrupted());
    let answers = resume(&interrupts[0], &json!({"optionId": "yes"}));
    let answer = input("2", &[user("u-1", "Write")], &answers);
    assert_eq!(rig.run(answer.clone()), Ok(Accepted::Resumed));
    assert_eq!(
        replies(&rig),
        [(7, json!({"outcome": {"outcome": "selected", "optionId": "yes"}}))]
    );
    let mut again = answer;
    again.run_id = "3".into();
    rig.end();
    assert_eq!(rig.outcome("2"), OK);
    assert_eq!(rig.run(again), Ok(Accepted::Again("2".into())));
}

#[test]
fn interrupted_run_is_resumed_under_its_own_id() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Write").unwrap();
    rig.open("s");
    assert!(rig.session(permission(7)).is_none());
    rig.wait(Duration::from_millis(50));
    let answers = resume(&rig.interrupts("1")[0], &json!({"approved": true}));
    assert_eq!(rig.run(input("1", &[user("u-1", "Write")], &answers)), Ok(Accepted::Resumed));
    rig.end();
    assert_eq!(rig.kinds("1").iter().filter(|kind| *kind == "RUN_STARTED").count(), 2);
}

#[test]
fn question_is_answered_outside_of_runs() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Write").unwrap();
    rig.open("s");
    assert!(rig.session(permission(7)).is_none());
    rig.wait(Duration::from_millis(50));
    let id = rig.interrupts("1").remove(0);
    let answer = |rig: &mut Rig, answer| {
        let answered = rig.thread.handle_answer(&id, answer, rig.now);
        rig.wait(Duration::ZERO);
        answered
    };
    let other = UserAnswer::Permission(PermissionAnswer::Selected("maybe".into()));
    assert_eq!(answer(&mut rig, other), Err(AnswerError::Option));
    assert_eq!(answer(&mut rig, UserAnswer::Cancelled), Ok(()));
    assert_eq!(answer(&mut rig, UserAnswer::Cancelled), Err(AnswerError::Answered));
    assert_eq!(replies(&rig), [(7, json!({"outcome": {"outcome": "cancelled"}}))]);
}

#[test]
fn new_prompt_follows_the_abandoned_turn() {
    let mut abandons = options();
    abandons.translator.unanswered = Unanswered::Abandon;
    let mut rig = Rig::connected(abandons);
    let begin = |rig: &mut Rig| {
        rig.say("1", "Write").unwrap();
        rig.open("s");
        assert!(rig.session(permission(7)).is_none());
        rig.wait(Duration::from_millis(50));
        rig.take_commands();
        rig.say("2", "No, wait").unwrap();
        let [Command::Cancel { .. }, Command::Reply { request, .. }] = &rig.commands[..] else {
            panic!("{:?}", rig.commands)
        };
        assert_eq!(*request, RequestKey::new(7));
    };
    begin(&mut rig);
    let cancelled = crate::thread::ended("cancelled");
    assert!(rig.session(cancelled).is_none());
    assert_eq!(rig.prompt(), ["No, wait"]);
    rig.end();
    assert_eq!(rig.outcome("2"), OK);

    // The turn does not end: the prompt is sent in a new session.
    let mut abandons = options();
    abandons.translator.unanswered = Unanswered::Abandon;
    let mut rig = Rig::connected(abandons);
    begin(&mut rig);
    rig.wait(Duration::from_secs(10));
    let old = rig.session.unwrap();
    assert!(rig.commands.iter().any(|command| matches!(command, Command::Open(..))));
    rig.open("s2");
    assert_eq!(rig.prompt(), ["No, wait"]);
    rig.end();
    assert_eq!((rig.outcome("2").as_str(), rig.session == Some(old)), (OK, true));
    assert!(rig.kinds("2").contains(&"CUSTOM acp.notice".to_owned()), "{:?}", rig.kinds("2"));
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
        let mut rig = Rig::connected(options());
        rig.say("1", "Hi").unwrap();
        rig.open("s");
        assert!(rig.session(failed(error.clone())).is_none());
        assert_eq!(rig.outcome("1"), outcome, "{error:?}");
        let released = matches!(rig.commands.last(), Some(Command::Release(_)));
        assert_eq!(released, leaves, "{error:?}");
    }
}

#[test]
fn requests_of_a_released_session_are_not_answered() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    assert!(rig.session(permission(1)).is_none());
    rig.thread.handle_failure(agui_bridge::Failure::GatewayShutdown, "The end.", rig.now);
    rig.wait(Duration::ZERO);
    assert_eq!((rig.outcome("1").as_str(), replies(&rig).len()), ("RUN_ERROR GATEWAY_SHUTDOWN", 0));
    assert!(matches!(rig.commands.last(), Some(Command::Release(_))));
}

#[test]
fn file_requests_are_returned_to_the_program() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    let params = json!({"sessionId": "s", "path": "/f"});
    let event = request(3, "fs/read_text_file", &params);
    assert_eq!(rig.session(event.clone()), Some(event));
    let withdrawn = SessionEvent::Withdrawn(RequestKey::new(3));
    assert_eq!(rig.session(withdrawn.clone()), Some(withdrawn));
    assert!(rig.session(permission(4)).is_none());
    assert!(rig.session(SessionEvent::Withdrawn(RequestKey::new(4))).is_none());
    rig.end();
    assert_eq!(replies(&rig), [], "the connection has answered it");
}

/// A run that names its session, which the agent is still loading.
fn loading(mut options: ConversationOptions) -> Rig {
    options.rules.forwarded.session_id = true;
    let mut rig = Rig::new(options);
    let mut features = AgentFeatures::default();
    features.load = true;
    rig.connect(features);
    let named = json!({"forwardedProps": {"acp": {"sessionId": "s"}}});
    assert_eq!(rig.run(input("1", &[user("u-1", "Hi")], &named)), Ok(Accepted::Begun));
    assert_eq!(rig.opening().origin, SessionOrigin::Load("s".into()));
    rig
}

#[test]
fn questions_before_the_session_is_open_do_not_cost_the_prompt() {
    let elicitation = json!({"sessionId": "s", "mode": "form", "message": "Name?",
        "requestedSchema": {"type": "object", "properties": {}}});
    let mut rig = loading(options());
    assert!(rig.session(permission(7)).is_none());
    assert!(rig.session(request(8, "elicitation/create", &elicitation)).is_none());
    rig.wait(Duration::from_secs(1));
    assert_eq!(
        replies(&rig),
        [
            (7, json!({"outcome": {"outcome": "selected", "optionId": "no"}})),
            (8, json!({"action": "cancel"}))
        ]
    );
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);
    assert!(rig.session(permission(9)).is_none());
    rig.wait(Duration::from_secs(1));
    assert_eq!(rig.interrupts("1").len(), 1, "the turn has begun");

    let mut rig = loading(options());
    let params = json!({"sessionId": "s", "path": "/f"});
    let event = request(3, "fs/read_text_file", &params);
    assert_eq!(rig.session(event.clone()), Some(event));
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);

    // The stream can show a question without an end of the run.
    let mut in_stream = options();
    in_stream.translator.permission = PermissionMode::InStream;
    let mut rig = loading(in_stream);
    assert!(rig.session(permission(7)).is_none());
    assert_eq!(replies(&rig), []);
    assert!(rig.kinds("1").contains(&"CUSTOM acp.permission.requested".to_owned()));
    rig.open("s");
    assert_eq!(rig.prompt(), ["Hi"]);
}

/// The same for a run that waits until the session of an earlier process is loaded.
#[test]
fn requests_of_a_session_that_is_continued_do_not_cost_the_prompt() {
    let elicitation = json!({"sessionId": "s", "mode": "form", "message": "Name?",
        "requestedSchema": {"type": "object", "properties": {}}});
    for permission_mode in [PermissionMode::Interrupt, PermissionMode::InStream] {
        let mut options = options();
        options.translator.permission = permission_mode;
        let mut rig = Rig::new(options);
        let mut features = AgentFeatures::default();
        features.load = true;
        rig.connect(features.clone());
        rig.turn("1", "Hi", "Hello.");
        rig.disconnect();
        rig.connect(features);
        rig.take_commands();
        assert_eq!(rig.say("2", "Go on"), Ok(Accepted::Queued));
        assert_eq!(rig.opening().origin, SessionOrigin::Load("s".into()));
        assert!(rig.session(permission(7)).is_none());
        assert!(rig.session(request(8, "elicitation/create", &elicitation)).is_none());
        let file = request(9, "fs/read_text_file", &json!({"sessionId": "s", "path": "/f"}));
        assert_eq!(rig.session(file.clone()), Some(file));
        rig.wait(Duration::from_secs(1));
        assert_eq!(replies(&rig).len(), 2, "{:?}", replies(&rig));
        rig.open("s");
        assert_eq!(rig.prompt(), ["Go on"]);
        rig.end();
        assert_eq!(rig.outcome("2"), OK);
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
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    assert!(rig.session(SessionEvent::Lagged { dropped: 3 }).is_none());
    rig.end();
    assert_eq!(rig.kinds("1"), ["RUN_STARTED", "CUSTOM acp.dropped", OK]);
}
