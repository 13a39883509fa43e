//! The new part of an input, and the handling of changed conversations.
use crate::generated::{cases, number_runs, options, update};
use crate::script::{Step, events};
use acp_types::v1::initialization::PromptCapabilities;
use agui_bridge::Translator;
use agui_bridge::frontend_tool::{FrontendToolOptions, FrontendTools, NewCall};
use agui_bridge::input::{
    Divergence, InputError, Plan, Repeat, Rules, SessionMemory, SessionScope, SessionStep,
    Unsupported,
};
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::reduce::Reducer;
use agui_types::tool::Tool;
use jsonrpc_core::wire::{Raw, decode};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

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

fn system(text: &str) -> Value {
    json!({"id": "s", "role": "system", "content": text})
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
    assert_eq!((plan.session.clone(), texts(&plan)), (new(), vec!["Hi".to_owned()]));
    assert_eq!((plan.diverged, plan.answers), (None, vec![]));
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
        assert_eq!(
            (plan.session.clone(), plan.diverged.clone()),
            (SessionStep::Keep, None),
            "{more:?}"
        );
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
    assert_eq!((quiet.prompt.clone(), quiet.answers.len()), (None, 0));
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

#[test]
fn client_with_new_ids_keeps_its_session() {
    let conversation = knowing(&history());
    let texts_of = history();
    let texts_of: Vec<_> = texts_of.as_array().unwrap().iter().collect();
    let renamed = |round: &str| {
        let renamed = texts_of.iter().enumerate().map(|(index, message)| {
            let mut message = (*message).clone();
            message["id"] = json!(format!("{round}-{index}"));
            message
        });
        Value::Array(renamed.collect())
    };
    let mut after = conversation;
    let mut known = renamed("a");
    for round in ["b", "c"] {
        let question = user(round, round);
        known.as_array_mut().unwrap().push(question);
        let input = said(known.clone());
        let next = plan(&after, &input);
        assert_eq!((next.session.clone(), next.diverged.clone()), (SessionStep::Keep, None));
        assert_eq!(texts(&next), [round]);
        after.accept(&input, &next);
        // Each input has other ids.
        for (index, message) in known.as_array_mut().unwrap().iter_mut().enumerate() {
            message["id"] = json!(format!("{round}-{index}"));
        }
    }
    // An edit is seen under a known id and under a new one.
    for id in ["b-0", "new"] {
        let mut edited = known.clone();
        edited[0] = user(id, "edited");
        assert_eq!(plan(&after, &said(edited)).diverged.as_deref(), Some("/messages/0"), "{id}");
    }
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
fn changed_conversation_begins_a_session_with_its_text() {
    let conversation = knowing(&history());
    for (messages, pointer, unseen) in changed() {
        let input = said(messages.clone());
        let plan = plan(&conversation, &input);
        assert_eq!(
            (plan.session.clone(), plan.diverged.as_deref()),
            (new(), Some(pointer)),
            "{messages}"
        );
        let mut told = texts(&plan);
        let last =
            messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        assert_eq!(told.pop(), Some(last));
        assert_eq!(plan.prompt.as_ref().unwrap().unseen, unseen);
        let transcript = told.pop().unwrap_or_default();
        for message in &messages.as_array().unwrap()[..unseen] {
            assert!(transcript.contains(message["content"].as_str().unwrap()), "{transcript}");
        }
        let mut after = conversation.clone();
        after.accept(&input, &plan);
        let more = with(&messages, &[user("next", "more")]);
        let next = self::plan(&after, &more);
        assert_eq!(
            (next.session.clone(), next.diverged.clone()),
            (SessionStep::Keep, None),
            "{messages}"
        );
        assert_eq!(texts(&next), ["more"]);
    }
}

#[test]
fn changed_conversation_follows_the_other_rules() {
    let conversation = knowing(&history());
    let mut rules = Rules::new();
    for (messages, pointer, unseen) in changed() {
        let input = said(messages.clone());
        rules.divergence = Divergence::Reject;
        let error = plan_by(&conversation, &input, &rules).unwrap_err();
        assert_eq!(
            (&error, error.status()),
            (&InputError::Diverged { pointer: pointer.into() }, 409)
        );
        rules.divergence = Divergence::Ignore;
        let ignored = plan_by(&conversation, &input, &rules).unwrap();
        assert_eq!((ignored.session.clone(), texts(&ignored).len()), (SessionStep::Keep, 1));
        rules.divergence = Divergence::Fork;
        let forked = plan_by(&conversation, &input, &rules).unwrap();
        assert_eq!((forked.session.clone(), texts(&forked).len()), (SessionStep::Fork, 2));
        let last = unseen
            .checked_sub(1)
            .map_or("said before.", |last| messages[last]["content"].as_str().unwrap());
        assert!(texts(&forked)[0].ends_with(last), "{:?}", texts(&forked));
    }
}

#[test]
fn truncated_answer_is_accepted_if_the_user_continues() {
    let conversation = knowing(&history());
    let [u1, a1, u2] = [user("u1", "one"), agent("a1", "first"), user("u2", "two")];
    for messages in [
        json!([u1, a1, u2, user("u3", "three")]),
        json!([u1, a1, u2, agent("a2", "sec"), user("u3", "three")]),
    ] {
        let plan = plan(&conversation, &said(messages));
        assert_eq!((plan.session.clone(), plan.diverged.clone()), (SessionStep::Keep, None));
        assert_eq!(texts(&plan), ["three"]);
    }
}

/// User messages from the agent are part of the user's messages: the page may omit them, but not change or move them.
#[test]
fn user_messages_of_the_agent_are_not_repeated() {
    let mut conversation = knowing(&json!([user("u1", "one")]));
    for event in [
        json!({"type": "TEXT_MESSAGE_START", "messageId": "told", "role": "user"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "told", "delta": "as you said"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "told"}),
    ] {
        conversation.handle_event(&decode::<Event>(&event.to_string()).unwrap());
    }
    let [u1, told, u2] = [user("u1", "one"), user("told", "as you said"), user("u2", "two")];
    let table = [
        (json!([u1, told, u2]), None, vec!["two"]),
        (json!([u1, u2]), None, vec!["two"]),
        (json!([u1, u2, told]), Some("/messages/1"), vec!["one", "two", "as you said"]),
        (
            json!([u1, user("told", "as you never said"), u2]),
            Some("/messages/1"),
            vec!["one", "as you never said", "two"],
        ),
    ];
    for (messages, diverged, expected) in table {
        let plan = plan(&conversation, &said(messages.clone()));
        assert_eq!(plan.diverged.as_deref(), diverged, "{messages}");
        assert_eq!(texts(&plan), expected, "{messages}");
    }
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
    assert_eq!(
        (again.session.clone(), texts(&again)),
        (SessionStep::Keep, vec!["three".to_owned()])
    );
    conversation.accept(&input, &again);
    assert_eq!(plan(&conversation, &input).prompt, None);
}

#[test]
fn changed_instructions_are_sent() {
    let mut conversation = SessionMemory::new();
    let mut rules = Rules::new();
    let ask = |conversation: &mut SessionMemory, messages: Value, rules: &Rules| {
        let plan = plan_by(conversation, &said(messages.clone()), rules).unwrap();
        conversation.accept(&said(messages), &plan);
        (plan.session.clone(), texts(&plan))
    };
    let told = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let first = ask(&mut conversation, json!([system("Be kind."), user("u1", "one")]), &rules);
    assert_eq!(first, (new(), told(&["Be kind.", "one"])));
    let same = json!([system("Be kind."), user("u1", "one"), user("u2", "two")]);
    assert_eq!(ask(&mut conversation, same, &rules), (SessionStep::Keep, told(&["two"])));
    let other =
        json!([system("Be brief."), user("u1", "one"), user("u2", "two"), user("u3", "three")]);
    assert_eq!(
        ask(&mut conversation, other, &rules),
        (SessionStep::Keep, told(&["Be brief.", "three"]))
    );
    rules.system_prompt = true;
    let fresh =
        ask(&mut SessionMemory::new(), json!([system("Be kind."), user("u1", "one")]), &rules);
    let session = SessionStep::New { system_prompt: Some("Be kind.".into()) };
    assert_eq!(fresh, (session, told(&["one"])));
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
fn session_may_last_a_turn_or_be_chosen_by_the_page() {
    let mut rules = Rules::new();
    rules.session = SessionScope::Turn;
    let input = with(&history(), &[user("u3", "three")]);
    let plan = plan_by(&knowing(&history()), &input, &rules).unwrap();
    assert_eq!((plan.session.clone(), plan.diverged.clone(), texts(&plan).len()), (new(), None, 2));
    let mut rules = Rules::new();
    rules.forwarded.session_id = true;
    let mut named = input.clone();
    named.forwarded_props = Some(Raw::from_text(r#"{"acp":{"sessionId":"s-1"}}"#).unwrap());
    let plan = plan_by(&SessionMemory::new(), &named, &rules).unwrap();
    assert_eq!(
        (plan.session.clone(), texts(&plan)),
        (SessionStep::Attach, vec!["three".to_owned()])
    );
    assert_eq!(plan.forwarded.session_id.as_ref().map(|id| id.as_str()), Some("s-1"));
    let plan = plan_by(&knowing(&history()), &named, &rules).unwrap();
    assert_eq!(plan.session, SessionStep::Keep, "the thread has its session");
}

#[test]
fn context_and_state_follow_the_rules() {
    let ask = |state: Value, extra: &[Value]| {
        let messages = with(&json!([user("u1", "one")]), extra).messages;
        let messages = serde_json::to_value(messages).unwrap();
        input(json!({"messages": messages, "state": state,
            "context": [{"description": "page", "value": "home"}]}))
    };
    let state = json!({"acp": {"mode": "ask"}, "secret": {"key": 1, "open": 2}, "n": 1});
    let mut rules = Rules::new();
    (rules.state, rules.context_first, rules.repeat) = (true, true, Repeat::WhenChanged);
    rules.state_without = vec!["/secret/key".into(), "/none/of/it".into()];
    let mut conversation = SessionMemory::new();
    let first = ask(state.clone(), &[]);
    let plan = plan_by(&conversation, &first, &rules).unwrap();
    assert_eq!(texts(&plan), ["page:\nhome", r#"{"n":1,"secret":{"open":2}}"#, "one"]);
    conversation.accept(&first, &plan);
    let same = plan_by(&conversation, &ask(state.clone(), &[user("u2", "two")]), &rules).unwrap();
    assert_eq!(texts(&same), ["two"]);
    let other =
        plan_by(&conversation, &ask(json!({"n": 2}), &[user("u2", "two")]), &rules).unwrap();
    assert_eq!(texts(&other), ["page:\nhome", r#"{"n":2}"#, "two"]);
    rules.repeat = Repeat::Always;
    rules.context_first = false;
    let always =
        plan_by(&conversation, &ask(json!({"acp": {}}), &[user("u2", "two")]), &rules).unwrap();
    assert_eq!(texts(&always), ["two", "page:\nhome"]);
    let large = ask(json!({"text": "x".repeat(70_000)}), &[user("u2", "two")]);
    let error = plan_by(&conversation, &large, &rules).unwrap_err();
    assert_eq!(
        (error.status(), error.to_string().as_str()),
        (413, "at /state: expected at most 65536 bytes")
    );
}

#[test]
fn forwarded_properties_are_filtered() {
    let mut rules = Rules::new();
    let read =
        |rules: &Rules, props: Value| rules.forwarded.read(Some(&Raw::from_value(&props).unwrap()));
    let all = json!({"other": 1, "acp": {"mode": "plan", "sessionId": "s", "agent": "claude", "cwd": "/srv/a",
        "config": {"model": "m", "temperature": 1}, "meta": {"trace": 1, "x/y": 2}, "token": "secret"}});
    let nothing = read(&rules, all.clone()).unwrap();
    assert_eq!((nothing.mode, nothing.cwd, nothing.config), (None, None, vec![]));
    assert_eq!(nothing.left_out.len(), 7);
    let allowed = &mut rules.forwarded;
    (allowed.mode, allowed.session_id) = (true, true);
    (allowed.config, allowed.meta) = (vec!["model".into()], vec!["trace".into()]);
    (allowed.agents, allowed.cwd_roots) = (vec!["claude".into()], vec!["/srv".into()]);
    let taken = read(&rules, all).unwrap();
    assert_eq!(
        (taken.mode.as_deref(), taken.agent.as_deref(), taken.cwd.as_deref()),
        (Some("plan"), Some("claude"), Some("/srv/a"))
    );
    assert_eq!(taken.config, [("model".to_owned(), Raw::from_text("\"m\"").unwrap())]);
    assert_eq!(serde_json::to_string(&taken.meta).unwrap(), r#"{"trace":1}"#);
    assert_eq!(
        taken.left_out,
        [
            "/forwardedProps/acp/config/temperature",
            "/forwardedProps/acp/meta/x~1y",
            "/forwardedProps/acp/token"
        ]
    );
    for cwd in ["/", "/srvx", "/srv/../etc", "srv/a", "/srv/a/../../b", ""] {
        let read = read(&rules, json!({"acp": {"cwd": cwd}})).unwrap();
        assert_eq!((read.cwd, read.left_out.len()), (None, 1), "{cwd}");
    }
    for cwd in ["/srv", "/srv/", "/srv/./a//b"] {
        assert_eq!(read(&rules, json!({"acp": {"cwd": cwd}})).unwrap().cwd.as_deref(), Some(cwd));
    }
    assert_eq!(read(&rules, json!({"acp": {"agent": "other"}})).unwrap().agent, None);
    for (props, message) in [
        (json!({"acp": {"mode": 1}}), "at /forwardedProps/acp/mode: expected a string"),
        (json!({"acp": []}), "at /forwardedProps/acp: expected an object"),
        (json!({"acp": {"config": 1}}), "at /forwardedProps/acp/config: expected an object"),
    ] {
        assert_eq!(read(&rules, props).unwrap_err().to_string(), message);
    }
    assert_eq!(read(&rules, json!("anything")).unwrap(), Default::default());
}

#[test]
fn unsupported_content_may_become_a_placeholder() {
    let image = json!({"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}});
    let content = json!([{"type": "text", "text": "What is this?"}, image]);
    let input = said(json!([{"id": "u", "role": "user", "content": content}]));
    let mut rules = Rules::new();
    assert_eq!(plan_by(&SessionMemory::new(), &input, &rules).unwrap_err().status(), 415);
    rules.unsupported = Unsupported::Placeholder;
    let plan = plan_by(&SessionMemory::new(), &input, &rules).unwrap();
    assert_eq!(texts(&plan), ["What is this?", "[left out: the agent does not support images]"]);
}

#[test]
fn new_messages_may_be_sent_alone() {
    let conversation = knowing(&history());
    let mut rules = Rules::new();
    rules.new_alone = true;
    let table: [(&[Value], bool); 4] = [
        (&[user("u3", "three")], true),
        (&[user("u3", "three"), user("u4", "four")], true),
        (&[user("u1", "another")], false),
        (&[agent("a9", "nobody said this"), user("u3", "three")], false),
    ];
    for (messages, is_new) in table {
        let input = said(json!(messages));
        let plan = plan_by(&conversation, &input, &rules).unwrap();
        assert_eq!(plan.session == SessionStep::Keep, is_new, "{messages:?}");
        assert_eq!(plan.diverged.is_none(), is_new, "{messages:?}");
        let plan = plan_by(&conversation, &input, &Rules::new()).unwrap();
        assert_eq!(plan.session, new(), "{messages:?}");
    }
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
    assert_eq!(
        (error.status(), error.to_string().as_str()),
        (413, "at /messages: expected at most 20000 messages")
    );
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

    /// A conversation that the page repeats unchanged is never treated as different, and only the user's new text is
    /// sent; also when the memory is serialized and restored. Changes of the page are detected.
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
        // Changes a message, keeping the later ones. A user message from the agent could be new text of the user if the
        // page has lost the answer.
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
