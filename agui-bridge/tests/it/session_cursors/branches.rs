//! Threads that branch off from another one.
use super::{OK, agent, at, cursor, forks, message, turn, with_two_turns};
use crate::thread::{Rig, input, opened, options, refused, user};
use acp_types::client::{CallError, SessionEvent};
use agui_bridge::conversation::{
    AgentFeatures, Command, ConversationDiagnostic, Notice, RunRequest, SessionOrigin, Setting,
};
use agui_bridge::input::{SessionScope, branch_of};
use serde_json::{Value, json};
use std::time::Duration;

/// Two turns, with a cursor between them if the agent announces it.
fn source(has_cursor: bool) -> Rig {
    let hello = message("m1", "Hello.");
    if has_cursor {
        with_two_turns(&[hello, cursor("c1", "agent_message", "m1", "after")])
    } else {
        with_two_turns(&[hello])
    }
}

fn both_turns() -> Vec<Value> {
    let first = [user("u-1", "Hi"), agent("msg-1", "Hello.")];
    [first, [user("u-2", "And you?"), agent("msg-2", "Well.")]].concat()
}

/// The first run of a branch, with these messages and a new one.
fn request(source: &Rig, messages: &[Value], members: &Value) -> RunRequest {
    let messages = [messages, &[user("new", "And now?")]].concat();
    let mut request = RunRequest::from(input("b", &messages, members));
    request.branch_of = source.thread.remembered().cloned().map(Box::new);
    assert!(request.branch_of.is_some());
    request
}

/// A thread with the first run of a branch, for an agent with these features.
fn branch_for(features: AgentFeatures, source: &Rig, messages: &[Value]) -> Rig {
    let mut rig = Rig::new(options());
    rig.connect(features);
    rig.run(request(source, messages, &json!({}))).unwrap();
    rig
}

fn whole() -> SessionOrigin {
    SessionOrigin::Fork("s".into(), None)
}

/// Opens the session, and expects a prompt with the new message alone.
fn prompt_is_new_message(rig: &mut Rig) {
    rig.open("branch");
    assert_eq!(rig.prompt(), ["And now?"]);
    rig.end();
    assert_eq!(rig.kinds("b"), ["RUN_STARTED", OK]);
}

/// Expects a new session that receives the conversation as text.
fn is_new_with_text(rig: &mut Rig) {
    assert_eq!(rig.opening().origin, SessionOrigin::New);
    rig.open("n");
    let prompt = rig.prompt().concat();
    assert!(prompt.contains("Hello."), "{prompt}");
    assert!(prompt.ends_with("And now?"), "{prompt}");
}

#[test]
fn branch_at_the_end_is_a_fork_of_the_whole_session() {
    let mut of = source(false);
    let mut rig = branch_for(forks(), &of, &both_turns());
    assert_eq!(rig.opening().origin, whole());
    prompt_is_new_message(&mut rig);
    of.say("3", "Go on").unwrap();
    assert_eq!(of.prompt(), ["Go on"]);
    assert!(matches!(of.commands[..], [Command::Prompt { .. }]), "it keeps its session");
}

#[test]
fn branch_before_the_end_is_a_fork_at_the_cursor() {
    let of = source(true);
    let mut rig = branch_for(forks(), &of, &both_turns()[..2]);
    assert_eq!(rig.opening().origin, at("c1"));
    prompt_is_new_message(&mut rig);
    let mut rig = branch_for(forks(), &source(false), &both_turns()[..2]);
    is_new_with_text(&mut rig);
}

#[test]
fn branch_waits_for_the_connection_to_the_agent() {
    let mut rig = Rig::new(options());
    rig.run(request(&source(true), &both_turns()[..2], &json!({}))).unwrap();
    rig.connect(forks());
    assert_eq!(rig.opening().origin, at("c1"));
    prompt_is_new_message(&mut rig);
}

#[test]
fn branch_replaces_the_session_that_was_opened_before_it() {
    let mut rig = Rig::new(options());
    rig.connect(forks());
    rig.thread.handle_preparation(&[], rig.now);
    rig.wait(Duration::ZERO);
    rig.open("early");
    rig.take_commands();
    rig.run(request(&source(false), &both_turns(), &json!({}))).unwrap();
    assert!(matches!(rig.commands[..], [Command::Release(_), Command::Open(..)]));
    assert_eq!(rig.opening().origin, whole());
    prompt_is_new_message(&mut rig);
}

#[test]
fn branch_goes_on_after_its_first_turn() {
    let source = source(false);
    let mut rig = branch_for(forks(), &source, &both_turns());
    rig.open("branch");
    rig.end();
    run_again(&mut rig, &source);
    assert_eq!(rig.prompt(), ["More?"]);
    assert!(matches!(rig.commands[..], [Command::Prompt { .. }]), "it has a session");
}

#[test]
fn branch_is_text_if_the_session_cannot_be_forked() {
    let mut cannot = forks();
    cannot.fork = false;
    let mut rig = branch_for(cannot, &source(true), &both_turns());
    is_new_with_text(&mut rig);

    let other = [user("u-1", "Hi"), agent("msg-1", "Hello."), user("u-x", "Not of it")];
    let mut rig = branch_for(forks(), &source(false), &other);
    is_new_with_text(&mut rig);

    let mut of_turns = options();
    of_turns.rules.session = SessionScope::Turn;
    let mut rig = Rig::new(of_turns);
    rig.connect(forks());
    rig.run(request(&source(true), &both_turns(), &json!({}))).unwrap();
    is_new_with_text(&mut rig);
}

#[test]
fn session_that_the_input_names_counts_before_a_branch() {
    let mut named = options();
    named.rules.forwarded.session_id = true;
    let mut rig = Rig::new(named);
    rig.connect(forks());
    let members = json!({"forwardedProps": {"acp": {"sessionId": "named"}}});
    rig.run(request(&source(true), &both_turns(), &members)).unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::Resume("named".into()));
}

#[test]
fn refused_fork_of_a_branch_is_a_new_session_with_the_text() {
    let mut rig = branch_for(forks(), &source(false), &both_turns());
    let error = refused(&json!({"code": -32602, "message": "unknown session"}));
    assert!(rig.session(SessionEvent::Refused(error)).is_none());
    is_new_with_text(&mut rig);
    let is_refusal = |notice: &Notice| {
        matches!(notice, Notice::Diagnostic(ConversationDiagnostic::ForkRefused(why))
            if why.contains("unknown session"))
    };
    assert!(rig.notices.iter().any(is_refusal));
}

#[test]
fn cancelled_message_of_the_other_thread_is_not_sent() {
    let mut of = source(false);
    of.disconnect();
    of.thread.handle_connecting(of.now);
    of.say("3", "Delete it").unwrap();
    assert!(of.cancel("3"));
    let messages = [both_turns(), vec![user("u-3", "Delete it")]].concat();
    let mut rig = branch_for(forks(), &of, &messages);
    rig.open("branch");
    assert_eq!(rig.prompt(), ["And now?"]);
}

/// The next run of a branch, after the messages of its first one.
fn run_again(rig: &mut Rig, source: &Rig) {
    let messages = [both_turns(), vec![user("new", "And now?"), user("more", "More?")]].concat();
    let mut request = request(source, &[], &json!({}));
    request.input = input("b2", &messages, &json!({}));
    rig.take_commands();
    rig.run(request).unwrap();
}

#[test]
fn instruction_that_was_given_up_is_not_in_a_later_fork() {
    let source = source(false);
    let mut rig = branch_for(forks(), &source, &both_turns());
    rig.open("branch");
    assert!(rig.cancel("b"));
    rig.wait(options().cancel_grace + Duration::from_secs(1));
    run_again(&mut rig, &source);
    assert_eq!(rig.opening().origin, SessionOrigin::New);
    rig.open("n");
    let prompt = rig.prompt();
    assert!(prompt[0].contains("And now?"), "a part of the history: {prompt:?}");
    assert_eq!(prompt[1..], ["More?"]);
}

#[test]
fn branch_is_a_fork_once() {
    let source = source(false);
    let mut rig = branch_for(forks(), &source, &both_turns());
    assert!(rig.session(SessionEvent::Refused(CallError::Timeout)).is_none());
    run_again(&mut rig, &source);
    assert_eq!(rig.opening().origin, SessionOrigin::New);
}

#[test]
fn session_is_not_forked_within_its_turn() {
    let hello = [message("m1", "Hello."), cursor("c1", "agent_message", "m1", "after")];
    let mut source = with_two_turns(&hello);
    source.say("3", "Go on").unwrap();
    let during = [both_turns(), vec![user("u-3", "Go on"), agent("x", "Going")]].concat();
    let mut rig = branch_for(forks(), &source, &during);
    is_new_with_text(&mut rig);
    let mut rig = branch_for(forks(), &source, &both_turns()[..2]);
    assert_eq!(rig.opening().origin, at("c1"));
    prompt_is_new_message(&mut rig);
}

#[test]
fn messages_of_a_branch_are_compared_with_those_of_its_source() {
    let mut rig = Rig::new(options());
    rig.connect(forks());
    rig.run(request(&source(false), &[], &json!({}))).unwrap();
    assert_eq!(rig.opening().origin, SessionOrigin::New, "an edited first message");
}

#[test]
fn session_that_was_opened_early_gets_the_settings() {
    let mut of = with_chosen_mode();
    turn(&mut of, "2", "More", &[message("m2", "Well.")]);
    let mut rig = Rig::new(options());
    rig.connect(forks());
    rig.thread.handle_preparation(&[], rig.now);
    rig.wait(Duration::ZERO);
    assert!(rig.session(opened("early", &modes())).is_none());
    rig.take_commands();
    rig.run(request(&of, &[user("u-1", "Hi")], &json!({}))).unwrap();
    let [Command::Set { setting, .. }, Command::Prompt { .. }] = &rig.commands[..] else {
        panic!("{:?}", rig.commands)
    };
    assert_eq!(*setting, Setting::Mode("code".into()));
}

fn modes() -> Value {
    json!({"modes": {"currentModeId": "ask", "availableModes": [
        {"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}})
}

/// A thread with one turn. The user has chosen a mode in its session.
fn with_chosen_mode() -> Rig {
    let mut rig = Rig::new(options());
    rig.connect(forks());
    rig.say("1", "Hi").unwrap();
    assert!(rig.session(opened("s", &modes())).is_none());
    rig.end();
    let key = rig.thread.handle_setting(Setting::Mode("code".into()), rig.now).unwrap();
    rig.thread.handle_setting_ended(key, Ok(None), rig.now);
    rig.wait(Duration::ZERO);
    rig
}

#[test]
fn branch_has_the_settings_that_were_chosen() {
    let of = with_chosen_mode();
    let mut rig = branch_for(forks(), &of, &[user("u-1", "Hi")]);
    rig.take_commands();
    assert!(rig.session(opened("branch", &modes())).is_none());
    let sets = |command: &Command| {
        matches!(command, Command::Set { setting, .. }
        if *setting == Setting::Mode("code".into()))
    };
    assert!(rig.commands.iter().any(sets), "{:?}", rig.commands);
}

#[test]
fn input_names_the_thread_that_it_branches_off_from() {
    let of = |props: &Value| {
        branch_of(&input("1", &[], &json!({ "forwardedProps": props })))
            .map(|thread| thread.to_string())
    };
    assert_eq!(of(&json!({"acp": {"branchOf": "other"}})).as_deref(), Some("other"));
    assert_eq!(of(&json!({"acp": {"branchOf": 1}})), None);
    assert_eq!(of(&json!({"branchOf": "other"})), None);
    assert_eq!(of(&json!({})), None);
}
