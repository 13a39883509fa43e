//! The rules for what an input brings beside its messages.
use super::*;
use agui_bridge::input::{Repeat, SessionScope, UnsupportedContent};

fn system(text: &str) -> Value {
    json!({"id": "s", "role": "system", "content": text})
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
fn session_may_last_a_turn_or_be_chosen_by_the_page() {
    let mut rules = Rules::new();
    rules.session = SessionScope::Turn;
    let input = with(&history(), &[user("u3", "three")]);
    let plan = plan_by(&knowing(&history()), &input, &rules).unwrap();
    assert_eq!(plan.session.clone(), new());
    assert_eq!(plan.diverged.clone(), None);
    assert_eq!(texts(&plan).len(), 2);
    let mut rules = Rules::new();
    rules.forwarded.session_id = true;
    let mut named = input.clone();
    named.forwarded_props = Some(Raw::from_text(r#"{"acp":{"sessionId":"s-1"}}"#).unwrap());
    let plan = plan_by(&SessionMemory::new(), &named, &rules).unwrap();
    assert_eq!(plan.session.clone(), SessionStep::Attach);
    assert_eq!(texts(&plan), vec!["three".to_owned()]);
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
    rules.state = true;
    rules.context_first = true;
    rules.repeat = Repeat::WhenChanged;
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
    assert_eq!(error.status(), 413);
    assert_eq!(error.to_string().as_str(), "at /state: expected at most 65536 bytes");
}

#[test]
fn forwarded_properties_are_filtered() {
    let mut rules = Rules::new();
    let read =
        |rules: &Rules, props: Value| rules.forwarded.read(Some(&Raw::from_value(&props).unwrap()));
    let all = json!({"other": 1, "acp": {"mode": "plan", "sessionId": "s", "agent": "claude", "cwd": "/srv/a",
        "config": {"model": "m", "temperature": 1}, "meta": {"trace": 1, "x/y": 2}, "token": "secret"}});
    let nothing = read(&rules, all.clone()).unwrap();
    assert_eq!(nothing.mode, None);
    assert_eq!(nothing.cwd, None);
    assert_eq!(nothing.config, vec![]);
    assert_eq!(nothing.left_out.len(), 7);
    let allowed = &mut rules.forwarded;
    allowed.mode = true;
    allowed.session_id = true;
    allowed.config = vec!["model".into()];
    allowed.meta = vec!["trace".into()];
    allowed.agents = vec!["claude".into()];
    allowed.cwd_roots = vec!["/srv".into()];
    let taken = read(&rules, all).unwrap();
    assert_eq!(taken.mode.as_deref(), Some("plan"));
    assert_eq!(taken.agent.as_deref(), Some("claude"));
    assert_eq!(taken.cwd.as_deref(), Some("/srv/a"));
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
        assert_eq!(read.cwd, None, "{cwd}");
        assert_eq!(read.left_out.len(), 1, "{cwd}");
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
    rules.unsupported = UnsupportedContent::Placeholder;
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
