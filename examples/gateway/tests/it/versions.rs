//! Versions of ACP: what an agent is offered, and what a page receives of version 2.
use crate::gateway::{Gateway, input, script, soon};
use crate::run::EndedRun;
use futures::future::join_all;
use serde_json::{Value, json};

/// Runs a word of the demo agent with these settings of the agent.
async fn said(settings: &str, word: &str) -> EndedRun {
    let settings = format!("permission = 'allow'\n[agents.demo]\n{settings}");
    let gateway = Gateway::configured(&settings).await;
    gateway.ask("t", "1", word).await.rest().await
}

#[tokio::test]
async fn setting_decides_which_versions_are_offered() {
    let root = tempfile::tempdir().unwrap();
    let with_root = format!("root = '{}'", root.path().display());
    let one = "A message of version 1 stays as it is. ";
    let two = "This is a draft. ";
    for (settings, text) in [
        ("", two),
        ("version = 'auto'", two),
        ("version = 2", two),
        ("version = 1", one),
        // Version 2 has no files and terminals of the client.
        (&with_root, one),
    ] {
        let told = said(settings, "rewrite").await;
        assert_eq!(told.end(), "success", "{settings}");
        assert!(told.text().starts_with(text), "{settings}: {}", told.text());
    }
}

#[tokio::test]
async fn agent_without_an_offered_version_is_run_error() {
    for (agent, version, message) in [
        ("version-2", "1", "the agent speaks version 2; the client offers 1; install"),
        ("early-update", "2", "the agent speaks version 1; the client offers 2; install"),
    ] {
        let command = script(agent);
        let settings = format!("[agents.a]\ncommand = {command:?}\nversion = {version}");
        let gateway = Gateway::configured(&settings).await;
        let told = gateway.ask("t", "1", "hello").await.rest().await;
        assert_eq!(told.end(), "ACP_VERSION", "{agent}");
        let said = &told.error().message;
        let step = if version == "1" { ", or offer version 2" } else { ", or offer version 1" };
        assert!(said.starts_with(message) && said.ends_with(step), "{said}");
    }
}

/// What version 2 has is in the stream, for clients of 1.0 and for older ones.
#[tokio::test]
async fn updates_of_version_2_are_shown_in_both_profiles() {
    let settings = "permission = 'allow'\n[agents.demo]\nversion = 2";
    let gateway = Gateway::configured(settings).await;
    let table: [(&str, &str, &str); 8] = [
        // The word, and a part of the stream of a client of 1.0 and of an older one.
        ("run", r#""activityType":"acp.terminal""#, r#""content":"one\ntwo\nthree"#),
        ("edit", r#""type":"diff""#, r#""type":"TOOL_CALL_RESULT""#),
        ("pieces", "notes.txt", r#""type":"TOOL_CALL_RESULT""#),
        ("rewrite", r#""name":"acp.message.changed""#, r#""name":"acp.message.changed""#),
        ("plan", r#""activityType":"PLAN""#, r#""name":"acp.plan""#),
        ("compact", r#""activityType":"acp.compaction""#, r#""name":"acp.compaction""#),
        ("notice", r#""name":"acp.notice""#, r#""name":"acp.notice""#),
        ("delegate", r#""type":"SUBAGENT_STARTED""#, "Hello from the helper"),
    ];
    for (word, modern, legacy) in table {
        for (profile, part) in [("1.0", modern), ("0.0.59", legacy)] {
            let mut asked = input(&format!("{word}-{profile}"), word, word);
            asked["runId"] = json!(format!("{word}-{profile}-run"));
            if profile != "1.0" {
                asked.as_object_mut().unwrap().remove("protocolVersion");
            }
            let told = gateway.run(&asked).await.rest().await;
            let stream: Vec<Value> =
                told.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
            let stream = serde_json::to_string(&stream).unwrap();
            assert!(stream.contains(part), "{word} for {profile}: {part} in {stream}");
            assert!(["success", "finished"].contains(&told.end()), "{word}: {stream}");
        }
    }
}

/// A client that waits for the agent receives the turn once, in a run of its own, for clients of
/// 1.0 and older ones.
#[tokio::test]
async fn turn_without_a_prompt_is_shown_to_a_client_that_waits() {
    let rows = [(1, "1.0"), (2, "1.0"), (1, "0.0.59"), (2, "0.0.59")];
    join_all(rows.map(|(version, profile)| wait_for_a_turn(version, profile))).await;
}

async fn wait_for_a_turn(version: u8, profile: &str) {
    let gateway = Gateway::configured(&format!("[agents.demo]\nversion = {version}")).await;
    let mut asked = input("t", "0", "later");
    if profile != "1.0" {
        asked.as_object_mut().unwrap().remove("protocolVersion");
    }
    let first = gateway.run(&asked).await.rest().await;
    assert!(!first.text().contains("I have come back"), "{}", first.text());
    let url = gateway.url("/api/ai/agents/demo/threads/t/activity");
    let activity = soon(gateway.client.get(&url).send()).await.unwrap();
    assert_eq!(activity.status(), 200, "version {version}");
    asked["forwardedProps"] = json!({ "acp": { "follow": true } });
    let mut follow = async |run: &str| {
        asked["runId"] = json!(run);
        gateway.run(&asked).await.rest().await
    };
    let turn = follow("1").await;
    assert_eq!(turn.text(), "I have come back without a prompt. ", "version {version}");
    assert!(["success", "finished"].contains(&turn.end()), "version {version}");
    let repeated = follow("2").await;
    assert_eq!(repeated.text(), "", "version {version}");
    let message = json!({ "id": "u", "role": "user", "content": "hello" });
    asked["messages"].as_array_mut().unwrap().push(message);
    asked.as_object_mut().unwrap().remove("forwardedProps");
    asked["runId"] = json!("3");
    let answer = gateway.run(&asked).await.rest().await;
    assert!(answer.text().starts_with("Hello! I am a scripted agent"), "{}", answer.text());
}

#[tokio::test]
async fn turn_without_a_prompt_is_shown_in_a_later_run() {
    let gateway = Gateway::configured("[agents.demo]\nversion = 2").await;
    let mut asked = input("t", "0", "later");
    let mut told = gateway.run(&asked).await.rest().await;
    let mut runs = 0;
    while !told.text().contains("I have come back without a prompt. ") {
        assert_eq!(told.end(), "success");
        runs += 1;
        assert!(runs < 1000, "the turn is not shown");
        let said = json!({ "id": format!("u{runs}"), "role": "user", "content": "hello" });
        asked["messages"].as_array_mut().unwrap().push(said);
        asked["runId"] = json!(runs.to_string());
        told = gateway.run(&asked).await.rest().await;
    }
    assert!(told.text().contains("Hello! I am a scripted agent"), "{}", told.text());
}

/// The mode of version 2 is a config option, which pages set as any other.
#[tokio::test]
async fn commands_and_options_of_version_2_reach_the_page() {
    let gateway = Gateway::configured("[agents.demo]\nversion = 2").await;
    let told = gateway.ask("t", "1", "hello").await.rest().await;
    let commands = told.customs("acp.commands");
    assert_eq!(commands[0]["availableCommands"][0]["name"], "help");
    let url = gateway.url("/api/ai/agents/demo/threads/t/settings");
    let get = async || soon(gateway.client.get(&url).send()).await.unwrap();
    let set = async |body: Value| soon(gateway.client.post(&url).json(&body).send()).await.unwrap();
    let settings: Value = get().await.json().await.unwrap();
    assert_eq!(settings["configOptions"][0]["id"], "mode", "{settings}");
    assert_eq!(settings["configOptions"][0]["currentValue"], "ask", "{settings}");
    // As a mode of version 1, and as an option.
    for (change, value) in [
        (json!({ "modeId": "auto" }), "auto"),
        (json!({ "configId": "mode", "value": "ask" }), "ask"),
        (json!({ "configId": "mode", "value": "auto" }), "auto"),
    ] {
        let settings: Value = set(change).await.json().await.unwrap();
        assert_eq!(settings["configOptions"][0]["currentValue"], value, "{settings}");
    }
    assert_eq!(set(json!({ "modeId": "none" })).await.status(), 400);
    let edited = gateway.ask("t", "2", "edit").await.rest().await;
    assert_eq!(edited.end(), "success", "it does not ask");
}
