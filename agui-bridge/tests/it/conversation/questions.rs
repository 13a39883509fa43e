//! Questions of the agent in a conversation, and their answers.
use super::*;
use crate::thread::{permission, request};
use acp_types::client::RequestKey;
use agui_bridge::conversation::{AgentReply, Conversation, ConversationOptions, UserAnswer};
use agui_bridge::{AnswerError, PermissionAnswer, PermissionMode, UnansweredPolicy};
use serde_json::Value;

fn resume(id: &str, payload: &Value) -> Value {
    json!({"resume": [{"interruptId": id, "status": "resolved", "payload": payload}]})
}

fn elicitation(key: u64) -> SessionEvent {
    let params = json!({"sessionId": "s", "mode": "form", "message": "Name?",
        "requestedSchema": {"type": "object", "properties": {}}});
    request(key, "elicitation/create", &params)
}

fn file(key: u64) -> SessionEvent {
    request(key, "fs/read_text_file", &json!({"sessionId": "s", "path": "/f"}))
}

/// A thread with a permission request that has ended its first run.
fn interrupted(options: ConversationOptions) -> Rig {
    let mut rig = Rig::begun(options, "Write");
    assert!(rig.session(permission(7)).is_none());
    rig.wait(Duration::from_millis(50));
    rig
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
fn permission_request_interrupts_the_run() {
    let mut rig = interrupted(options());
    let interrupts = rig.interrupts("1");
    assert_eq!(interrupts.len(), 1);
    assert!(rig.thread.is_interrupted());
    let answers = resume(&interrupts[0], &json!({"optionId": "yes"}));
    let answer = input("2", &[user("u-1", "Write")], &answers);
    assert_eq!(rig.run(answer.clone()), Ok(Acceptance::Resumed));
    assert_eq!(
        replies(&rig),
        [(7, json!({"outcome": {"outcome": "selected", "optionId": "yes"}}))]
    );
    let mut again = answer;
    again.run_id = "3".into();
    rig.end();
    assert_eq!(rig.outcome("2"), OK);
    assert_eq!(rig.run(again), Ok(Acceptance::Again("2".into())));
}

/// The same answers, sent again while the run that they resume is open.
#[test]
fn waiting_run_with_the_same_answers_is_the_earlier_one() {
    let mut queues = options();
    queues.when_busy = WhenBusy::Queue;
    let mut rig = interrupted(queues);
    let interrupts = rig.interrupts("1");
    let answers = resume(&interrupts[0], &json!({"optionId": "yes"}));
    let answer = input("2", &[user("u-1", "Write")], &answers);
    assert_eq!(rig.run(answer.clone()), Ok(Acceptance::Resumed));
    let mut repeated = answer;
    repeated.run_id = "3".into();
    assert_eq!(rig.run(repeated), Ok(Acceptance::Queued));
    rig.end();
    assert_eq!(rig.outcome("2"), OK);
    assert_eq!(rig.again, [("3".to_owned(), "2".into())]);
    assert_eq!(rig.refused, []);
    assert_eq!(replies(&rig).len(), 1);
}

/// The agent of the question is gone, with the program or alone. An answer does not begin its turn
/// again.
#[test]
fn answer_after_the_loss_of_the_agent_sends_no_prompt() {
    for has_text in [false, true] {
        for is_restarted in [false, true] {
            for features in [AgentFeatures::default(), resumes()] {
                let mut rig = Rig::begun(options(), "Write");
                if has_text {
                    rig.session(said("I will."));
                }
                rig.session(permission(7));
                rig.wait(Duration::from_millis(50));
                let interrupts = rig.interrupts("1");
                let mut later = if is_restarted {
                    let remembered = rig.thread.remembered().cloned().unwrap();
                    Rig::of(Conversation::new(options()).with_remembered(remembered))
                } else {
                    rig.disconnect();
                    rig
                };
                later.connect(features);
                later.take_commands();
                let answers = resume(&interrupts[0], &json!({"optionId": "no"}));
                later.run(input("2", &[user("u-1", "Write")], &answers)).unwrap();
                if later.commands.iter().any(|it| matches!(it, Command::Open(..))) {
                    later.open("s");
                }
                assert!(!later.outcome("2").is_empty());
                let is_prompt = |command: &Command| matches!(command, Command::Prompt { .. });
                assert!(!later.commands.iter().any(is_prompt), "{has_text} {is_restarted}");
            }
        }
    }
}

#[test]
fn interrupted_run_is_resumed_under_its_own_id() {
    let mut rig = interrupted(options());
    let answers = resume(&rig.interrupts("1")[0], &json!({"approved": true}));
    assert_eq!(rig.run(input("1", &[user("u-1", "Write")], &answers)), Ok(Acceptance::Resumed));
    rig.end();
    assert_eq!(rig.kinds("1").iter().filter(|kind| *kind == "RUN_STARTED").count(), 2);
}

#[test]
fn question_is_answered_outside_of_runs() {
    let mut rig = interrupted(options());
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
    let begin = || {
        let mut abandons = options();
        abandons.translator.unanswered = UnansweredPolicy::Abandon;
        let mut rig = interrupted(abandons);
        rig.take_commands();
        rig.say("2", "No, wait").unwrap();
        let [Command::Cancel { .. }, Command::Reply { request, .. }] = &rig.commands[..] else {
            panic!("{:?}", rig.commands)
        };
        assert_eq!(*request, RequestKey::new(7));
        rig
    };
    let mut rig = begin();
    let cancelled = crate::thread::ended("cancelled");
    assert!(rig.session(cancelled).is_none());
    assert_eq!(rig.prompt(), ["No, wait"]);
    rig.end();
    assert_eq!(rig.outcome("2"), OK);

    // The turn does not end: the prompt is sent in a new session.
    let mut rig = begin();
    rig.wait(Duration::from_secs(10));
    let old = rig.session.unwrap();
    assert!(rig.commands.iter().any(|command| matches!(command, Command::Open(..))));
    rig.open("s2");
    assert_eq!(rig.prompt(), ["No, wait"]);
    rig.end();
    assert_eq!(rig.outcome("2").as_str(), OK);
    assert!(rig.session == Some(old));
    assert!(rig.kinds("2").contains(&"CUSTOM acp.notice".to_owned()), "{:?}", rig.kinds("2"));
}

#[test]
fn requests_of_a_released_session_are_not_answered() {
    let mut rig = Rig::begun(options(), "Hi");
    assert!(rig.session(permission(1)).is_none());
    rig.thread.handle_failure(agui_bridge::Failure::GatewayShutdown, "The end.", rig.now);
    rig.wait(Duration::ZERO);
    assert_eq!(rig.outcome("1").as_str(), "RUN_ERROR GATEWAY_SHUTDOWN");
    assert_eq!(replies(&rig).len(), 0);
    assert!(matches!(rig.commands.last(), Some(Command::Release(_))));
}

#[test]
fn file_requests_are_returned_to_the_program() {
    let mut rig = Rig::begun(options(), "Hi");
    assert_eq!(rig.session(file(3)), Some(file(3)));
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
    assert_eq!(rig.run(input("1", &[user("u-1", "Hi")], &named)), Ok(Acceptance::Begun));
    assert_eq!(rig.opening().origin, SessionOrigin::Load("s".into()));
    rig
}

#[test]
fn questions_before_the_session_is_open_do_not_cost_the_prompt() {
    let mut rig = loading(options());
    assert!(rig.session(permission(7)).is_none());
    assert!(rig.session(elicitation(8)).is_none());
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
    assert_eq!(rig.session(file(3)), Some(file(3)));
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
        assert_eq!(rig.say("2", "Go on"), Ok(Acceptance::Queued));
        assert_eq!(rig.opening().origin, SessionOrigin::Load("s".into()));
        assert!(rig.session(permission(7)).is_none());
        assert!(rig.session(elicitation(8)).is_none());
        assert_eq!(rig.session(file(9)), Some(file(9)));
        rig.wait(Duration::from_secs(1));
        assert_eq!(replies(&rig).len(), 2, "{:?}", replies(&rig));
        rig.open("s");
        assert_eq!(rig.prompt(), ["Go on"]);
        rig.end();
        assert_eq!(rig.outcome("2"), OK);
    }
}
