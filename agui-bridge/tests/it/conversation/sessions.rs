//! Sessions of a conversation: continued, replaced and refused.
use super::*;
use crate::thread::{opened, permission, update};
use agui_bridge::conversation::Conversation;
use agui_bridge::input::{Divergence, SessionScope};
use serde_json::Value;

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
    assert_eq!(rig.say("3", "Still there?"), Ok(Acceptance::Queued));
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
    let user = json!({"sessionUpdate": "user_message_chunk",
        "content": {"type": "text", "text": "Still there?"}});
    let SessionEvent::Update(answer) = said("Hello again.") else { panic!() };
    loaded.replay = vec![update(&user), answer];
    assert!(rig.session(SessionEvent::Opened(loaded)).is_none());
    assert_eq!(rig.prompt(), ["Here I am"]);
    // The replay lacks messages that the page has, and a snapshot would remove them.
    assert_eq!(rig.kinds("4"), ["RUN_STARTED"]);
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

/// A conversation at the end of its program, in a turn with this answer so far.
fn ended_in_a_turn(features: AgentFeatures, answer: &str) -> Rig {
    let mut queues = options();
    queues.when_busy = WhenBusy::Queue;
    let mut rig = Rig::new(queues);
    rig.connect(features);
    rig.turn("1", "Hi", "Hello.");
    rig.say("2", "Go on").unwrap();
    assert!(rig.session(said(answer)).is_none());
    rig.say("3", "And then?").unwrap();
    rig.take_commands();
    rig.shut_down();
    rig
}

#[test]
fn session_goes_on_after_the_end_of_the_program() {
    let mut rig = ended_in_a_turn(resumes(), "One, t");
    assert_eq!(rig.outcome("2"), "RUN_ERROR GATEWAY_SHUTDOWN");
    assert_eq!(rig.outcome("3"), CANCELLED, "the agent does not get its prompt");
    assert!(matches!(rig.take_commands()[..], [Command::Cancel { .. }]));
    assert!(!rig.notices.contains(&Notice::Forget));
    let remembered = rig.thread.remembered().cloned().unwrap();

    let mut rig = Rig::of(Conversation::new(options()).with_remembered(remembered));
    rig.connect(resumes());
    let all = [
        user("u-1", "Hi"),
        json!({"id": "msg-1", "role": "assistant", "content": "Hello."}),
        user("u-2", "Go on"),
        json!({"id": "msg-2", "role": "assistant", "content": "One, t"}),
        user("u-3", "And then?"),
        user("u-4", "Still there?"),
    ];
    rig.run(input("4", &all, &json!({}))).unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::Resume("s".into()));
    rig.open("s");
    assert!(rig.prompt().last().unwrap().ends_with("Still there?"));
    assert!(!rig.prompt()[0].contains("Hello."), "the agent knows it: {:?}", rig.prompt());
    rig.end();
    assert_eq!(rig.outcome("4"), OK);
}

#[test]
fn session_that_cannot_go_on_is_released_at_the_end_of_the_program() {
    let mut rig = ended_in_a_turn(AgentFeatures::default(), "One, t");
    assert_eq!(rig.outcome("2"), "RUN_ERROR GATEWAY_SHUTDOWN");
    let session = rig.session.unwrap();
    assert_eq!(rig.take_commands(), [Command::Release(session)]);
    assert!(rig.notices.contains(&Notice::Forget));
}

#[test]
fn program_that_ends_while_a_session_is_continued_does_not_forget_it() {
    let mut rig = Rig::new(options());
    rig.connect(resumes());
    rig.turn("1", "Hi", "Hello.");
    rig.disconnect();
    rig.connect(resumes());
    rig.say("2", "Still there?").unwrap();
    rig.shut_down();
    assert_eq!(rig.outcome("2"), CANCELLED);
    assert!(!rig.notices.contains(&Notice::Forget));
    assert!(rig.thread.remembered().is_some());
}

/// A killed process has stored the prompt of its last turn, and the page a part of the answer.
#[test]
fn session_goes_on_after_a_turn_that_was_cut_off() {
    let mut rig = Rig::connected(options());
    rig.say("1", "Hi").unwrap();
    rig.open("s");
    let remembered = rig.thread.remembered().cloned().unwrap();
    let mut rig = Rig::of(Conversation::new(options()).with_remembered(remembered));
    rig.connect(resumes());
    let answer = json!({"id": "msg-1", "role": "assistant", "content": "Hel"});
    let all = [user("u-1", "Hi"), answer, user("u-2", "Still there?")];
    rig.run(input("2", &all, &json!({}))).unwrap();
    rig.open("s");
    assert_eq!(rig.opening().origin, SessionOrigin::Resume("s".into()));
    assert_eq!(rig.prompt(), ["Still there?"]);
}

#[test]
fn whole_conversation_after_new_messages_alone_is_no_edit() {
    let mut rig = Rig::connected(options());
    rig.turn("1", "Hi", "Hello.");
    rig.turn("2", "Go on", "Well.");
    rig.take_commands();
    let all = [
        user("u-1", "Hi"),
        json!({"id": "msg-1", "role": "assistant", "content": "Hello."}),
        user("u-2", "Go on"),
        json!({"id": "msg-2", "role": "assistant", "content": "Well."}),
        user("u-3", "Bye"),
    ];
    rig.run(input("3", &all, &json!({}))).unwrap();
    assert_eq!(rig.prompt(), ["Bye"]);
    assert_eq!(rig.commands.len(), 1, "the session goes on: {:?}", rig.commands);
}

/// A tool call of the agent that has ended.
fn call(id: &str) -> SessionEvent {
    SessionEvent::Update(update(&json!({"sessionUpdate": "tool_call", "toolCallId": id,
        "title": "Edit", "kind": "edit", "status": "completed"})))
}

/// Adds a turn of the user's message that has a call and no text, until its end.
fn call_alone(rig: &mut Rig, run: &str, messages: &[serde_json::Value]) {
    rig.run(input(run, messages, &json!({}))).unwrap();
    if matches!(rig.commands.last(), Some(Command::Open(..))) {
        rig.open("s");
    }
    assert!(rig.session(call("t1")).is_none());
}

/// The page removes the call, and sends the message again.
#[test]
fn answer_without_text_is_repeated() {
    let asked = [user("u-1", "Edit it")];
    for ends in ["end_turn", "cancelled"] {
        let mut rig = Rig::connected(options());
        call_alone(&mut rig, "1", &asked);
        assert!(rig.session(crate::thread::ended(ends)).is_none());
        rig.take_commands();
        rig.run(input("2", &asked, &json!({}))).unwrap();
        assert!(matches!(rig.commands[..], [Command::Release(_), Command::Open(..)]), "{ends}");
        rig.open("s2");
        assert_eq!(rig.prompt(), ["Edit it"]);
        assert!(rig.session(said("Done.")).is_none());
        rig.end();
        assert_eq!(rig.outcome("2"), OK);
    }
}

#[test]
fn answer_without_text_is_repeated_in_another_process() {
    let earlier = [
        user("u-1", "Hi"),
        json!({"id": "msg-1", "role": "assistant", "content": "Hello."}),
        user("u-2", "Edit it"),
    ];
    let mut rig = Rig::connected(options());
    rig.turn("1", "Hi", "Hello.");
    call_alone(&mut rig, "2", &earlier);
    rig.end();
    let text = serde_json::to_string(rig.thread.remembered().unwrap()).unwrap();
    let remembered = serde_json::from_str(&text).unwrap();
    let mut rig = Rig::of(Conversation::new(options()).with_remembered(remembered));
    rig.connect(resumes());
    rig.run(input("3", &earlier, &json!({}))).unwrap();
    rig.open("s");
    rig.open("s2");
    assert_eq!(rig.prompt().last().unwrap(), "Edit it");
}

/// An input that has the call repeats nothing, nor does one that answers questions.
#[test]
fn answer_without_text_is_not_repeated_by_other_inputs() {
    let asked = [user("u-1", "Edit it")];
    let mut strict = options();
    strict.rules.divergence = Divergence::Reject;
    let mut rig = Rig::connected(strict);
    call_alone(&mut rig, "1", &asked);
    rig.end();
    rig.take_commands();
    let function = json!({"name": "Edit", "arguments": "{}"});
    let calls = json!([{"id": "t1", "type": "function", "function": function}]);
    let with_call = [
        asked[0].clone(),
        json!({"id": "msg-1", "role": "assistant", "toolCalls": calls}),
        json!({"id": "res-t1", "role": "tool", "toolCallId": "t1", "content": ""}),
    ];
    rig.run(input("2", &with_call, &json!({}))).unwrap();
    assert_eq!(rig.kinds("2"), ["RUN_STARTED", OK]);
    let with_plan = [asked[0].clone(), json!({"id": "r", "role": "reasoning", "content": "hm"})];
    rig.run(input("3", &with_plan, &json!({}))).unwrap();
    assert_eq!(rig.kinds("3"), ["RUN_STARTED", OK]);
    let answers = json!({"resume": [{"interruptId": "int-1", "status": "cancelled"}]});
    rig.run(input("4", &asked, &answers)).unwrap();
    assert_eq!(rig.commands, []);
    assert!(rig.run(input("0", &asked, &json!({}))).is_err(), "a repetition is refused");
    // The thread is still that of the agent.
    rig.run(input("5", &[asked[0].clone(), user("u-2", "Go on")], &json!({}))).unwrap();
    assert_eq!(rig.prompt(), ["Go on"]);
    assert_eq!(rig.commands.len(), 1, "{:?}", rig.commands);
}

/// Returns a run of a client that sends its new message alone. The store has the earlier ones.
fn new_alone(run: &str, earlier: &[Value], new: &Value) -> RunRequest {
    let mut request = RunRequest::from(input(run, core::slice::from_ref(new), &json!({})));
    let history = [earlier, core::slice::from_ref(new)].concat();
    request.history = input(run, &history, &json!({})).messages;
    request
}

#[test]
fn message_that_was_refused_is_sent_with_the_next_one() {
    let mut rig = Rig::begun(options(), "Hi");
    rig.session(permission(1));
    rig.wait(Duration::from_millis(50));
    let interrupts = rig.interrupts("1");
    rig.say("2", "Wait").unwrap();
    assert_eq!(rig.outcome("2"), "RUN_ERROR INTERRUPTS_OPEN");
    let answer = json!({"resume": [{"interruptId": interrupts[0], "status": "cancelled"}]});
    rig.run(input("3", &[user("u-1", "Hi")], &answer)).unwrap();
    rig.end();
    let earlier = [user("u-1", "Hi"), user("u-2", "Wait")];
    rig.run(new_alone("4", &earlier, &user("u-4", "Go on"))).unwrap();
    assert_eq!(rig.prompt(), ["Wait", "Go on"]);
}

#[test]
fn message_that_waited_in_an_earlier_process_is_sent_with_the_next_one() {
    let mut options = options();
    options.when_busy = WhenBusy::Queue;
    let mut rig = Rig::begun(options.clone(), "Hi");
    rig.session(said("Hello."));
    rig.say("2", "Wait").unwrap();
    let answered = json!({"id": "a-1", "role": "assistant", "content": "Hello."});
    let earlier = [user("u-1", "Hi"), answered, user("u-2", "Wait")];
    let remembered = rig.thread.remembered().cloned().unwrap();
    let mut later = Rig::of(Conversation::new(options).with_remembered(remembered));
    later.connect(resumes());
    later.run(new_alone("3", &earlier, &user("u-3", "Go on"))).unwrap();
    later.open("s");
    assert_eq!(later.prompt(), ["Wait", "Go on"]);
    later.end();
    let earlier = [&earlier[..], &[user("u-3", "Go on")]].concat();
    later.run(new_alone("4", &earlier, &user("u-4", "More"))).unwrap();
    assert_eq!(later.prompt(), ["More"], "the agent has the others");
}
