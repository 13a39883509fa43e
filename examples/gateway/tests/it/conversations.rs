//! Conversations from pages: continued, changed, started elsewhere; and `forwardedProps`.
use crate::demo::answers;
use crate::gateway::{Gateway, input, script};
use crate::run::EndedRun;
use serde_json::{Value, json};

/// A gateway with these settings and an agent that records its requests.
async fn gateway(settings: &str) -> Gateway {
    let command = script("tells-prompts");
    Gateway::configured(&format!("[agents.own]\ncommand = {command:?}\n{settings}")).await
}

fn user(id: &str, text: &str) -> Value {
    json!({ "id": id, "role": "user", "content": text })
}

/// Runs these messages.
async fn run(gateway: &Gateway, run: &str, messages: &[Value]) -> EndedRun {
    let mut input = input("t", run, "");
    input["messages"] = json!(messages);
    let told = gateway.run(&input).await.rest().await;
    assert_eq!(told.end(), "success");
    told
}

/// The agent's next prompt: its session and texts.
async fn prompt(gateway: &mut Gateway) -> (String, Vec<String>) {
    let line = gateway.says("agent: prompt: ").await;
    let prompt: Value =
        serde_json::from_str(line.strip_prefix("agent: prompt: ").unwrap()).unwrap();
    let blocks = prompt["params"]["prompt"].as_array().unwrap();
    let text = |block: &Value| {
        let text = block["text"].as_str().or_else(|| block["resource"]["text"].as_str());
        text.unwrap_or_default().to_owned()
    };
    let session = prompt["params"]["sessionId"].as_str().unwrap().to_owned();
    (session, blocks.iter().map(text).collect())
}

#[tokio::test]
async fn only_new_messages_reach_agent() {
    let mut gateway = gateway("").await;
    let mut messages = vec![user("u1", "one")];
    messages.extend(answers(&run(&gateway, "1", &messages).await));
    assert_eq!(prompt(&mut gateway).await, ("s1".to_owned(), vec!["one".to_owned()]));
    messages.push(user("u2", "two"));
    run(&gateway, "2", &messages).await;
    assert_eq!(prompt(&mut gateway).await, ("s1".to_owned(), vec!["two".to_owned()]));
    // A client that sends only new messages.
    run(&gateway, "3", &[user("u3", "three")]).await;
    assert_eq!(prompt(&mut gateway).await, ("s1".to_owned(), vec!["three".to_owned()]));
}

/// The agent knows the message that is kept, and neither the edited one nor the first one as text.
#[tokio::test]
async fn edited_message_forks_the_session_at_a_cursor() {
    for version in ["1", "2"] {
        let gateway = Gateway::demo(&["--acp-version", version]).await;
        let mut messages = vec![user("u1", "hello")];
        messages.extend(answers(&run(&gateway, "1", &messages).await));
        messages.push(user("u2", "think"));
        let told = run(&gateway, "2", &messages).await;
        assert_eq!(told.customs("acp.cursor"), [Value::Null; 0]);
        for id in ["3", "4"] {
            *messages.last_mut().unwrap() = user("u2", "recall");
            let told = run(&gateway, id, &messages).await;
            assert_eq!(told.text(), "You have said:\n\n- hello\n", "version {version}");
            assert_eq!(told.customs("acp.notice"), [Value::Null; 0]);
        }
        // The fork goes on.
        messages.extend(answers(&run(&gateway, "5", &messages).await));
        messages.push(user("u3", "recall"));
        let told = run(&gateway, "6", &messages).await;
        assert_eq!(told.text(), "You have said:\n\n- hello\n- recall\n", "version {version}");
    }
}

/// Runs the first message of a branch, after these.
async fn branch(gateway: &Gateway, thread: &str, of: &str, messages: &[Value]) -> EndedRun {
    let mut input = input(thread, thread, "");
    input["messages"] = json!([messages, &[user("new", "recall")]].concat());
    input["forwardedProps"] = json!({ "acp": { "branchOf": of } });
    gateway.run(&input).await.rest().await
}

/// The agent knows the messages of the branch, and has not received them as text.
#[tokio::test]
async fn branch_forks_the_session_of_its_thread() {
    for version in ["1", "2"] {
        let gateway = Gateway::demo(&["--acp-version", version]).await;
        let mut messages = vec![user("u1", "hello")];
        messages.extend(answers(&run(&gateway, "1", &messages).await));
        let first_turn = messages.clone();
        messages.push(user("u2", "think"));
        messages.extend(answers(&run(&gateway, "2", &messages).await));
        let whole = branch(&gateway, "whole", "t", &messages).await;
        assert_eq!(whole.text(), "You have said:\n\n- hello\n- think\n", "version {version}");
        assert_eq!(whole.customs("acp.notice"), [Value::Null; 0]);
        let before = branch(&gateway, "cursor", "t", &first_turn).await;
        assert_eq!(before.text(), "You have said:\n\n- hello\n", "version {version}");
        assert_eq!(before.customs("acp.notice"), [Value::Null; 0]);
        messages.push(user("u3", "recall"));
        let source = run(&gateway, "3", &messages).await;
        assert_eq!(source.text(), "You have said:\n\n- hello\n- think\n", "the thread goes on");
        let text = branch(&gateway, "text", "unknown", &first_turn).await;
        let notices = text.customs("acp.notice");
        assert_eq!(notices[0]["title"], "The agent continues in a new session");
    }
}

#[tokio::test]
async fn changed_conversation_gets_new_session_with_history() {
    let mut gateway = gateway("").await;
    let mut messages = vec![user("u1", "one")];
    messages.extend(answers(&run(&gateway, "1", &messages).await));
    messages.push(user("u2", "two"));
    run(&gateway, "2", &messages).await;
    for _ in 0..2 {
        assert_eq!(prompt(&mut gateway).await.0, "s1");
    }
    // The second message is edited.
    *messages.last_mut().unwrap() = user("u2", "too");
    let told = run(&gateway, "3", &messages).await;
    assert_eq!(told.customs("acp.notice"), [Value::Null; 0]);
    let (session, texts) = prompt(&mut gateway).await;
    assert_eq!(session, "s2");
    let [before, new] = &texts[..] else { panic!("{texts:?}") };
    assert!(before.contains("one") && before.contains("answer"), "{before}");
    assert_eq!(new, "too");
    gateway.says("agent: closed").await;
    // The last answer is requested again.
    run(&gateway, "4", &messages).await;
    let (session, texts) = prompt(&mut gateway).await;
    assert_eq!(&*session, "s3");
    assert_eq!(texts.last().map(String::as_str), Some("too"));
}

#[tokio::test]
async fn session_lasts_one_turn_by_setting() {
    let mut gateway = gateway("sessions = \"turn\"").await;
    let mut messages = vec![user("u1", "one")];
    messages.extend(answers(&run(&gateway, "1", &messages).await));
    assert_eq!(prompt(&mut gateway).await.0, "s1");
    gateway.says("agent: closed").await;
    messages.push(user("u2", "two"));
    let told = run(&gateway, "2", &messages).await;
    assert_eq!(told.customs("acp.notice"), [Value::Null; 0]);
    let (session, texts) = prompt(&mut gateway).await;
    assert_eq!(&*session, "s2");
    assert_eq!(texts.len(), 2);
    assert!(texts[0].contains("one") && texts[0].contains("answer"), "{texts:?}");
    gateway.says("agent: closed").await;
}

#[tokio::test]
async fn allowed_forwarded_props_are_applied() {
    let forwarded = json!({
        "acp": { "mode": "plan", "config": { "model": "m", "secret": "no" }, "meta": { "tenant": 7, "other": 1 } },
    });
    let allowed = "[agents.own.forwarded]\nmode = true\nconfig = [\"model\"]\nmeta = [\"tenant\"]";
    for settings in [allowed, ""] {
        let mut gateway = gateway(settings).await;
        let mut asked = input("t", "1", "go");
        asked["forwardedProps"] = forwarded.clone();
        assert_eq!(gateway.run(&asked).await.rest().await.end(), "success");
        let mut had = Vec::new();
        let prompt = loop {
            let line = gateway.line().await.unwrap();
            if let Some(prompt) = line.strip_prefix("agent: prompt: ") {
                break serde_json::from_str::<Value>(prompt).unwrap();
            }
            had.extend(line.strip_prefix("agent: set: ").map(str::to_owned));
        };
        let had: Vec<Value> = had.iter().map(|it| serde_json::from_str(it).unwrap()).collect();
        let params: Vec<_> = had.iter().map(|it| it["params"].clone()).collect();
        let meta = &prompt["params"]["_meta"];
        if settings.is_empty() {
            assert!(params.is_empty(), "{params:?}");
            assert_eq!(meta, &Value::Null);
        } else {
            let mode = json!({ "sessionId": "s1", "modeId": "plan" });
            let config = json!({ "sessionId": "s1", "configId": "model", "value": "m" });
            assert_eq!(params, vec![mode, config]);
            assert_eq!(meta, &json!({ "tenant": 7 }));
        }
    }
}
