//! Turns of the built-in demo agent.
use crate::gateway::{Gateway, input, soon};
use crate::run::EndedRun;
use agui_types::event::Event;
use agui_types::id::MessageId;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Each word: the outcome of its run, its text, and its number of tool calls.
const WORDS: &[(&str, &str, &str, usize)] = &[
    ("help", "success", "I know these words", 0),
    ("hello", "success", "there is no model behind me", 0),
    ("think", "success", "I have thought about it", 0),
    ("format", "success", "Two ways to keep a counter", 0),
    ("plan", "success", "All tasks of my plan are done", 0),
    ("read", "success", "I have read greeting.txt", 1),
    ("edit", "success", "I have edited greeting.txt", 1),
    ("run", "success", "", 1),
    ("permission", "success", "I will not make use of it", 1),
    ("form", "success", "You show no forms", 0),
    ("ask", "success", "I was given no tools of a page", 0),
    ("dark", "success", "I was given no tools of a page", 0),
    ("title", "success", "I was given no tools of a page", 0),
    ("book", "success", "I was given no tools of a page", 0),
    ("recall", "success", "You have said", 0),
    ("usage", "success", "This is what I cost", 0),
    ("pieces", "success", "These are the files", 1),
    ("rewrite", "success", "And this is the end of it", 0),
    ("later", "success", "I will come back to this", 0),
    ("compact", "success", "I have summarized the conversation", 0),
    ("notice", "success", "You have been warned", 0),
    ("suggest", "success", "You could go on with one of these", 0),
    ("delegate", "success", "My helper has finished", 0),
    ("image", "success", "A red pixel", 0),
    ("link", "success", "notes.txt", 0),
    ("slow", "success", "50 of 50", 0),
    ("error", "ACP_INTERNAL_ERROR", "Something will go wrong", 0),
    ("refuse", "ACP_REFUSAL", "I would rather not", 0),
    ("max", "success", "in the middle of a", 0),
    ("noise", "success", "I made some noise", 0),
    ("odd", "success", "I told you about the weather", 0),
    ("crash", "AGENT_EXITED", "Goodbye, cruel", 0),
    ("tour", "success", "This is what I cost", 3),
];

/// The words that do something else in version 1, and their text there.
const WORDS_OF_V1: [(&str, &str); 4] = [
    ("rewrite", "stays as it is"),
    ("compact", "You show no compactions"),
    ("notice", "You show no notices"),
    ("delegate", "You show no subagents"),
];

#[tokio::test]
async fn each_word_has_its_outcome() {
    let gateway = Gateway::demo(&["--permission", "allow"]).await;
    let help = gateway.ask("help", "help", "help").await.rest().await.text();
    let offered: BTreeSet<_> = help.lines().filter_map(|line| line.split('`').nth(1)).collect();
    assert_eq!(offered, WORDS.iter().map(|row| row.0).collect());
    for (word, end, said, tools) in WORDS {
        let run = format!("run-{word}");
        let told = gateway.ask(&format!("thread-{word}"), &run, word).await.rest().await;
        assert_eq!(told.end(), *end, "{word}");
        assert!(told.text().contains(said), "{word}: {}", told.text());
        assert_eq!(told.results().len(), *tools, "{word}");
    }
}

#[tokio::test]
async fn each_word_has_its_outcome_in_version_1() {
    let gateway = Gateway::demo(&["--permission", "allow", "--acp-version", "1"]).await;
    for (word, end, said, tools) in WORDS.iter().filter(|row| row.0 != "slow") {
        let run = format!("run-{word}");
        let told = gateway.ask(&format!("thread-{word}"), &run, word).await.rest().await;
        let other = WORDS_OF_V1.iter().find(|(other, _)| other == word);
        let said = other.map_or(*said, |(_, said)| said);
        assert_eq!(told.end(), *end, "{word}");
        assert_eq!(told.results().len(), *tools, "{word}");
        assert!(told.text().contains(said), "{word}: {}", told.text());
    }
}

#[tokio::test]
async fn words_produce_their_events() {
    let gateway = Gateway::demo(&["--permission", "allow"]).await;
    let thought = gateway.ask("think", "1", "think").await.rest().await;
    assert!(thought.tags().contains(&"REASONING_MESSAGE_CONTENT"));

    let plan = gateway.ask("plan", "2", "plan").await.rest().await;
    let last = plan.events.iter().rev().find_map(|event| match event {
        Event::ActivitySnapshot(plan) if plan.activity_type == "PLAN" => Some(plan),
        _ => None,
    });
    let content = serde_json::to_value(&last.unwrap().content).unwrap();
    let done = |entry: &Value| entry["status"] == "completed";
    assert!(content["entries"].as_array().unwrap().iter().all(done), "{content}");

    let read = gateway.ask("read", "3", "read").await.rest().await;
    assert_eq!(read.results(), ["Hello\nworld\n"]);

    let edit = gateway.ask("edit", "4", "edit").await.rest().await;
    assert!(edit.results()[0].contains("+dear"), "{:?}", edit.results());

    let usage = gateway.ask("usage", "5", "usage").await.rest().await;
    assert_eq!(usage.customs("acp.usage")[0]["used"], 12_345);
    assert_eq!(serde_json::to_value(&usage.finished().usage).unwrap()[0]["inputTokens"], 1_200);

    let odd = gateway.ask("odd", "6", "odd").await.rest().await;
    assert_eq!(odd.customs("acp.unknown")[0]["sky"], "clear");

    let max = gateway.ask("max", "7", "max").await.rest().await;
    assert_eq!(max.finished().result.as_ref().unwrap().as_str(), r#"{"stopReason":"max_tokens"}"#);
    assert_eq!(max.customs("acp.notice").len(), 1);

    let refuse = gateway.ask("refuse", "8", "refuse").await.rest().await;
    assert_eq!(refuse.error().message, "The agent refuses to go on.");
}

#[tokio::test]
async fn crashed_agent_is_restarted_for_next_run() {
    let gateway = Gateway::demo(&[]).await;
    let crash = gateway.ask("t", "1", "crash").await.rest().await;
    assert!(crash.error().message.contains("exit status: 3"), "{}", crash.error().message);
    let next = json!({
        "protocolVersion": "1.0", "threadId": "t", "runId": "2",
        "messages": [
            { "id": "1-user", "role": "user", "content": "crash" },
            { "id": "1-agent", "role": "assistant", "content": "Goodbye, cruel" },
            { "id": "2-user", "role": "user", "content": "hello" },
        ],
    });
    let next = gateway.run(&next).await.rest().await;
    assert_eq!(next.end(), "success");
    // The agent has lost the first message, and a notice reports that.
    let [notice] = &next.customs("acp.notice")[..] else { panic!("{:?}", next.tags()) };
    assert!(notice["title"].as_str().unwrap().contains("new session"), "{notice}");
}

#[tokio::test]
async fn two_threads_run_concurrently() {
    let gateway = Gateway::demo(&[]).await;
    let mut slow = gateway.ask("one", "1", "slow").await;
    slow.until("1 of 50").await;
    let hello = gateway.ask("two", "2", "hello").await.rest().await;
    assert_eq!(hello.end(), "success");
    assert!(!hello.text().contains("of 50"));
    let slow = slow.rest().await;
    assert_eq!(slow.end(), "success");
    assert!(!slow.text().contains("Hello"));
}

/// The agent's messages, as a page has them.
pub(crate) fn answers(told: &EndedRun) -> Vec<Value> {
    let mut answers: Vec<(MessageId, String)> = Vec::new();
    for event in &told.events {
        if let Event::TextMessageContent(content) = event {
            match answers.last_mut().filter(|(id, _)| *id == content.message_id) {
                Some((_, text)) => text.push_str(&content.delta),
                None => answers.push((content.message_id.clone(), content.delta.clone())),
            }
        }
    }
    let message = |(id, text)| json!({ "id": id, "role": "assistant", "content": text });
    answers.into_iter().map(message).collect()
}

#[tokio::test]
async fn thread_continues_in_its_session() {
    let gateway = Gateway::asking_in_stream().await;
    let mut first = gateway.ask("t", "1", "edit").await;
    let asked = first.until_asked().await;
    gateway.post(&format!("interrupts/{asked}"), &json!({ "optionId": "allow-always" })).await;
    let first = first.rest().await;
    // The agent may not ask again in this session, and only the new message reaches it.
    let mut second = input("t", "2", "edit again");
    let mut messages = vec![json!({ "id": "1-user", "role": "user", "content": "edit" })];
    messages.extend(answers(&first));
    messages.append(second["messages"].as_array_mut().unwrap());
    second["messages"] = json!(messages);
    let second = gateway.run(&second).await.rest().await;
    assert_eq!(second.end(), "success");
    assert_eq!(second.customs("acp.permission.requested"), Vec::<Value>::new());
    let id = |told: &EndedRun| {
        told.events.iter().find_map(|event| match event {
            Event::ToolCallStart(start) => Some(start.tool_call_id.to_string()),
            _ => None,
        })
    };
    assert_ne!(id(&first), id(&second), "ids are unique in a thread");
}

#[tokio::test]
async fn run_without_new_messages_ends_at_once() {
    let gateway = Gateway::demo(&[]).await;
    let first = gateway.ask("t", "1", "hello").await.rest().await;
    let mut again = input("t", "2", "hello");
    again["messages"][0]["id"] = json!("1-user");
    again["messages"].as_array_mut().unwrap().extend(answers(&first));
    let again = gateway.run(&again).await.rest().await;
    assert_eq!(again.tags(), vec!["RUN_STARTED", "RUN_FINISHED"]);
    assert_eq!(again.end(), "success");
}

/// Input of clients before 1.0. [`Run`](crate::run::Run) checks each event against the known
/// failures of these clients.
#[tokio::test]
async fn clients_of_0_x_get_what_they_understand() {
    let gateway = Gateway::demo(&["--permission", "allow"]).await;
    for (word, end, ..) in WORDS.iter().filter(|row| row.0 != "slow") {
        let old = json!({
            "threadId": format!("old-{word}"), "runId": format!("old-{word}"), "state": null, "tools": [],
            "context": [], "forwardedProps": {},
            "messages": [{ "id": "u", "role": "user", "content": word }],
        });
        let told = gateway.run(&old).await.rest().await;
        let expected = if *end == "success" { "finished" } else { end };
        assert_eq!(told.end(), expected, "{word}");
    }
}

#[tokio::test]
async fn sessions_use_configured_directory() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let gateway = Gateway::demo(&["--cwd", folder]).await;
    let mut run = gateway.ask("t", "1", "read").await;
    let Event::ToolCallArgs(args) = run.until("TOOL_CALL_ARGS").await else {
        panic!("no arguments")
    };
    assert_eq!(args.delta, format!(r#"{{"path":"{folder}/greeting.txt"}}"#));
}

#[tokio::test]
async fn configured_method_authenticates() {
    for (method, end) in [("none", "success"), ("magic", "ACP_INVALID_PARAMS")] {
        // In version 2 it has no methods.
        let gateway = Gateway::demo(&["--authenticate", method, "--acp-version", "1"]).await;
        assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), end, "{method}");
    }
}

#[tokio::test]
async fn page_and_its_files_are_served() {
    let gateway = Gateway::demo(&[]).await;
    let get = async |path: &str| soon(gateway.client.get(gateway.url(path)).send()).await.unwrap();
    let page = get("/").await;
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    assert!(page.headers()["content-security-policy"].to_str().unwrap().contains("'self'"));
    assert!(page.text().await.unwrap().starts_with("<!doctype html>"));
    let module = get("/assets/main.js").await;
    assert_eq!(module.headers()["content-type"], "text/javascript; charset=utf-8");
    assert_eq!(get("/assets/nothing.js").await.status(), 404);
    assert_eq!(get("/assets/..%2fCargo.toml").await.status(), 404);
    assert_eq!(get("/healthz").await.text().await.unwrap(), "ok");
}
