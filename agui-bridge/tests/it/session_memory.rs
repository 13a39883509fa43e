//! The new part of an input, and the handling of changed conversations.
use crate::generated::{cases, number_runs, options, update};
use crate::script::{Step, events};
use acp_types::v1::initialization::PromptCapabilities;
use agui_bridge::Translator;
use agui_bridge::frontend_tool::{FrontendToolOptions, FrontendTools, NewCall};
use agui_bridge::input::{InputError, Plan, Rules, SessionMemory, SessionStep};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::reduce::Reducer;
use agui_types::tool::Tool;
use jsonrpc_core::wire::{Raw, decode};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

mod changed;
mod rules;

fn input(members: Value) -> RunAgentInput {
    let mut input = json!({"threadId": "t", "runId": "r", "messages": []});
    input.as_object_mut().unwrap().extend(members.as_object().cloned().unwrap());
    decode(&input.to_string()).unwrap()
}

fn said(messages: Value) -> RunAgentInput {
    input(json!({"messages": messages}))
}

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "content": text})
}

fn agent(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "assistant", "content": text})
}

fn call(id: &str) -> Value {
    json!({"id": format!("m-{id}"), "role": "assistant", "toolCalls": [
        {"id": id, "type": "function", "function": {"name": "pick", "arguments": "{}"}}]})
}

fn result(id: &str, text: &str) -> Value {
    json!({"id": format!("r-{id}"), "role": "tool", "toolCallId": id, "content": text})
}

fn plan_by(
    conversation: &SessionMemory,
    input: &RunAgentInput,
    rules: &Rules,
) -> Result<Plan, InputError> {
    conversation
        .plan(input, rules, &PromptCapabilities::new(), |id| id.as_str().starts_with("wait"))
}

fn plan(conversation: &SessionMemory, input: &RunAgentInput) -> Plan {
    plan_by(conversation, input, &Rules::new()).unwrap()
}

/// Returns the texts of the prompt's blocks.
fn texts(plan: &Plan) -> Vec<String> {
    let blocks = plan.prompt.as_ref().map(|prompt| serde_json::to_value(&prompt.blocks).unwrap());
    let blocks = blocks.unwrap_or_default().as_array().cloned().unwrap_or_default();
    blocks.iter().map(|block| block["text"].as_str().unwrap_or_default().to_owned()).collect()
}

fn new() -> SessionStep {
    SessionStep::New { system_prompt: None }
}

/// A thread with an agent that has these messages.
fn knowing(messages: &Value) -> SessionMemory {
    let mut conversation = SessionMemory::new();
    let input = said(messages.clone());
    let first = json!([user("first", "?")]);
    let plan = plan(&conversation, &said(first.clone()));
    conversation.accept(&said(first), &plan);
    conversation.accept(&input, &plan);
    conversation
}

fn history() -> Value {
    json!([user("u1", "one"), agent("a1", "first"), user("u2", "two"), agent("a2", "second")])
}

fn with(messages: &Value, more: &[Value]) -> RunAgentInput {
    said(messages.as_array().unwrap().iter().chain(more).cloned().collect())
}

#[test]
fn first_input_begins_a_session() {
    let plan = plan(&SessionMemory::new(), &said(json!([user("u", "Hi")])));
    assert_eq!(plan.session.clone(), new());
    assert_eq!(texts(&plan), vec!["Hi".to_owned()]);
    assert_eq!(plan.diverged, None);
    assert_eq!(plan.answers, vec![]);
}

#[test]
fn new_messages_are_sent() {
    let conversation = knowing(&history());
    let table: [(&[Value], &[&str]); 5] = [
        (&[], &[]),
        (&[user("u3", "three")], &["three"]),
        (&[user("u3", "three"), user("u4", "four")], &["three", "four"]),
        (&[json!({"id": "r", "role": "reasoning", "content": "hm"}), call("c")], &[]),
        (&[call("wait"), result("wait", "red"), user("u3", "three")], &["three"]),
    ];
    for (more, expected) in table {
        let plan = plan(&conversation, &with(&history(), more));
        assert_eq!(plan.session.clone(), SessionStep::Keep, "{more:?}");
        assert_eq!(plan.diverged.clone(), None, "{more:?}");
        assert_eq!(texts(&plan), expected, "{more:?}");
        assert_eq!(plan.prompt.is_some(), !expected.is_empty());
        let answered: Vec<_> = plan.answers.iter().map(|tool| tool.tool_call_id.as_str()).collect();
        let waits = more.iter().any(|message| message["toolCallId"] == "wait");
        assert_eq!(answered, if waits { vec!["wait"] } else { vec![] });
    }
}

#[test]
fn results_without_a_waiting_call_are_sent_once() {
    let mut conversation = knowing(&history());
    let tools = [call("a"), result("a", "red"), call("b"), result("b", "blue")];
    let first = with(&history(), &tools);
    let quiet = plan(&conversation, &first);
    assert_eq!(quiet.prompt.clone(), None);
    assert_eq!(quiet.answers.len(), 0);
    let mut rules = Rules::new();
    rules.prompt_on_late_result = true;
    let late = ["Result of frontend tool pick (a): red", "Result of frontend tool pick (b): blue"];
    assert_eq!(texts(&plan_by(&conversation, &first, &rules).unwrap()), late);

    conversation.accept(&first, &quiet);
    let again = plan(&conversation, &first);
    assert_eq!(again.prompt, None);
    conversation.accept(&first, &again);
    let mut all: Vec<Value> =
        first.messages.iter().map(|it| serde_json::to_value(it).unwrap()).collect();
    all.push(user("u3", "three"));
    let asked = plan(&conversation, &said(json!(all)));
    assert_eq!(texts(&asked), [late[0], late[1], "three"]);
    conversation.accept(&said(json!(all)), &asked);
    all.push(user("u4", "four"));
    assert_eq!(texts(&plan(&conversation, &said(json!(all)))), ["four"]);
}

/// Changed conversations, the place of the first difference, and the number of unseen messages.
fn changed() -> Vec<(Value, &'static str, usize)> {
    let [u1, a1, u2, a2] =
        [user("u1", "one"), agent("a1", "first"), user("u2", "two"), agent("a2", "second")];
    vec![
        // An edited message, with everything after it removed.
        (json!([u1, a1, user("u2", "other")]), "/messages/2", 2),
        // The last question again, with an id of its own.
        (json!([u1, a1, user("u9", "two")]), "/messages", 2),
        // The same text of the other role.
        (json!([u1, user("x", "first"), u2, a2, user("u3", "three")]), "/messages/1", 4),
        (json!([user("u1", "other")]), "/messages/0", 0),
        // A message edited in its place.
        (json!([user("u1", "other"), a1, u2, a2, user("u3", "three")]), "/messages/0", 4),
        (json!([u1, agent("a1", "other"), u2, a2, user("u3", "three")]), "/messages/1", 4),
        // The last answer or an earlier one is to be repeated.
        (json!([u1, a1, u2]), "/messages", 2),
        (json!([u1]), "/messages", 0),
        // Removed or reordered messages.
        (json!([u1, u2, a2, user("u3", "three")]), "/messages/1", 3),
        (json!([u2, a2, u1, a1, user("u3", "three")]), "/messages/0", 4),
        // Messages that this agent did not produce.
        (json!([u1, a1, u2, a2, agent("x", "mine"), user("u3", "three")]), "/messages/4", 5),
        (json!([u1, a1, u2, agent("x", "mine"), user("u3", "three")]), "/messages/3", 4),
    ]
}

#[test]
fn failed_run_is_repeated() {
    let mut conversation = knowing(&history());
    let input = with(&history(), &[user("u3", "three")]);
    let first = plan(&conversation, &input);
    conversation.accept(&input, &first);
    assert_eq!(plan(&conversation, &input).prompt, None);
    let events = [
        json!({"type": "TEXT_MESSAGE_START", "messageId": "a3"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a3", "delta": "thi"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "a3"}),
        json!({"type": "RUN_ERROR", "message": "gone"}),
    ];
    for event in events {
        conversation.handle_event(&decode::<Event>(&event.to_string()).unwrap());
    }
    let again = plan(&conversation, &input);
    assert_eq!(again.session.clone(), SessionStep::Keep);
    assert_eq!(texts(&again), vec!["three".to_owned()]);
    conversation.accept(&input, &again);
    assert_eq!(plan(&conversation, &input).prompt, None);
}

#[test]
fn unknown_thread_receives_its_history() {
    let input = with(&history(), &[call("c"), result("c", "red"), user("u3", "three")]);
    let whole = plan(&SessionMemory::new(), &input);
    assert_eq!(whole.session, new());
    assert_eq!(whole.diverged, None);
    let head = "The conversation so far, which this session has not seen:\n\n";
    let entries = "User: one\n\nAssistant: first\n\nUser: two\n\nAssistant: second\n\nAssistant called pick({})\n\nTool result: red";
    assert_eq!(texts(&whole), [format!("{head}{entries}"), "three".to_owned()]);
    let mut rules = Rules::new();
    rules.transcript_bytes = 60;
    let short = plan_by(&SessionMemory::new(), &input, &rules).unwrap();
    let latest =
        "[4 earlier entries are left out]\n\nAssistant called pick({})\n\nTool result: red";
    assert_eq!(texts(&short)[0], format!("{head}{latest}"));
    rules.transcript_bytes = 0;
    assert_eq!(texts(&plan_by(&SessionMemory::new(), &input, &rules).unwrap()), ["three"]);
    let embedding: PromptCapabilities = decode(r#"{"embeddedContext":true}"#).unwrap();
    let plan = SessionMemory::new().plan(&input, &Rules::new(), &embedding, |_| false).unwrap();
    let blocks = serde_json::to_value(&plan.prompt.unwrap().blocks).unwrap();
    assert_eq!(blocks[0]["resource"]["uri"], "agui-transcript://thread");
}

#[test]
fn invalid_inputs_have_no_effect() {
    let conversation = knowing(&history());
    assert_eq!(
        plan_by(&conversation, &said(json!([])), &Rules::new()).unwrap_err(),
        InputError::NoMessages
    );
    let many: Vec<_> = (0..20_001).map(|number| user(&number.to_string(), "x")).collect();
    let error = plan_by(&conversation, &said(json!(many)), &Rules::new()).unwrap_err();
    assert_eq!(error.status(), 413);
    assert_eq!(error.to_string().as_str(), "at /messages: expected at most 20000 messages");
    let error =
        plan_by(&conversation, &with(&history(), &[user("u3", " ")]), &Rules::new()).unwrap_err();
    assert_eq!(error, InputError::Blank { pointer: "/messages/4/content".into() });
}

#[test]
fn frontend_calls_report_whether_they_wait() {
    let tools = [Tool::new("pick", "d")];
    let mut frontend = FrontendTools::new(FrontendToolOptions::new());
    frontend.begin_turn(&tools, Duration::ZERO);
    let args = Raw::from_text("{}").unwrap();
    let id = frontend.handle_call(NewCall::new("pick", args), Duration::ZERO).unwrap();
    let input = with(&history(), &[call(id.as_str()), result(id.as_str(), "red")]);
    let ask = |frontend: &FrontendTools| {
        let waits = |id: &_| frontend.awaits(id);
        knowing(&history()).plan(&input, &Rules::new(), &PromptCapabilities::new(), waits).unwrap()
    };
    let plan = ask(&frontend);
    assert_eq!(plan.answers.len(), 1);
    let _ = frontend.complete(&id, (&plan.answers[0]).into(), Duration::ZERO);
    assert_eq!(ask(&frontend).answers.len(), 0);
}

/// The turns of a thread: the user's text, and the agent's updates.
fn turns() -> impl Strategy<Value = Vec<(String, Vec<Value>, bool)>> {
    let turn = ("[a-c]{1,4}", proptest::collection::vec(update(), 0..12), any::<bool>());
    proptest::collection::vec(turn, 1..5)
}

proptest! {
    #![proptest_config(cases())]

    /// A conversation that the page repeats unchanged is never treated as different, and only the
    /// user's new text is sent; also when the memory is serialized and restored. Changes of the
    /// page are detected.
    #[test]
    fn only_changes_are_a_different_conversation(options in options(), turns in turns(), drops_thoughts in any::<bool>(),
        at in any::<prop::sample::Index>(), change in 0..4u8) {
        let mut translator = Translator::new(options);
        let mut conversation = SessionMemory::new();
        let mut sent: Vec<Value> = Vec::new();
        for (number, (words, updates, fails)) in turns.iter().enumerate() {
            let mut messages: Vec<Value> = sent.clone();
            messages.push(user(&format!("user {number}"), words));
            let asked = said(json!(messages));
            let plan = plan(&conversation, &asked);
            prop_assert_eq!(&plan.diverged, &None);
            prop_assert_eq!(plan.session == SessionStep::Keep, number > 0);
            let expected = [words.as_str()];
            prop_assert_eq!(texts(&plan), expected);
            conversation.accept(&asked, &plan);
            conversation = serde_json::from_str(&serde_json::to_string(&conversation)?)?;
            let mut script = vec![json!({"run": "", "messages": messages})];
            script.extend(updates.iter().map(|update| json!({"update": update})));
            script.push(if *fails { json!({"exit": ""}) } else { json!({"result": {"stopReason": "end_turn"}}) });
            number_runs(&mut script);
            script[0]["run"] = json!(format!("run {number}"));
            let mut reducer = Reducer::for_input(&asked).unwrap();
            for step in script.iter().map(Step::read) {
                let _ = step.apply(&mut translator);
                for event in events(&mut translator) {
                    conversation.handle_event(&event);
                    let _ = reducer.handle(&event);
                }
            }
            let is_kept = |message: &&Value| !(drops_thoughts && ["reasoning", "activity"].contains(&message["role"].as_str().unwrap_or_default()));
            let all = serde_json::to_value(reducer.messages())?;
            sent = all.as_array().unwrap().iter().filter(is_kept).cloned().collect();
        }
        // Changes a message, keeping the later ones. A user message from the agent could be new
        // text of the user if the page has lost the answer.
        let is_spoken = |message: &Value| match message["role"].as_str() {
            Some("user") => message["id"].as_str().is_some_and(|id| id.starts_with("user ")),
            Some("assistant") => message["content"].as_str().is_some_and(|text| !text.is_empty()),
            _ => false,
        };
        let spoken: Vec<usize> = (0..sent.len()).filter(|index| is_spoken(&sent[*index])).collect();
        let place = spoken[at.index(spoken.len())];
        let mut messages = sent.clone();
        match change {
            // A shorter text could be a truncated copy of the last answer.
            0 => messages[place]["content"] = json!("changed".repeat(100)),
            1 => messages.insert(place, agent("nobody", "said this")),
            2 => messages[place]["id"] = json!("another"),
            _ => { messages.insert(place, user("inserted", "this")); }
        }
        let plan = plan(&conversation, &with(&json!(messages), &[user("more", "more")]));
        // Clients may make new ids.
        let is_same = change == 2;
        prop_assert_eq!(plan.session == SessionStep::Keep, is_same);
        prop_assert_eq!(plan.diverged.is_none(), is_same);
    }
}
