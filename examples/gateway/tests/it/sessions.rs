//! Lifetimes of agents' sessions and of clients' connections.
use crate::gateway::{Gateway, input, script, soon};
use crate::run::EndedRun;
use agui_types::event::Event;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[tokio::test]
async fn abandoned_session_is_closed() {
    let mut gateway = Gateway::script("serves-close", &["--cancel-grace", "0"]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    gateway.post("runs/1/cancel", &serde_json::Value::Null).await;
    assert_eq!(run.rest().await.end(), "cancelled");
    let said = gateway.says("agent: closed").await;
    assert!(said.contains(r#""params":{"sessionId":"s"}"#), "{said}");
}

#[tokio::test]
async fn stalled_client_is_disconnected() {
    let settings = format!(
        "[times]\nwrite = 0.2\ndisconnect-grace = 0\n[limits]\nlog-bytes = 100000000\n[agents.a]\ncommand = {:?}",
        script("says-much")
    );
    let mut gateway = Gateway::configured(&settings).await;
    let body = input("t", "1", "go").to_string();
    let mut client = TcpStream::connect(&gateway.address).await.unwrap();
    let head = format!(
        "POST /api/ai/chat HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        gateway.address,
        body.len()
    );
    client.write_all(head.as_bytes()).await.unwrap();
    gateway.says("agent: cancelled").await;
    drop(client);
}

#[tokio::test]
async fn mode_is_chosen_before_the_first_message() {
    let gateway = Gateway::configured("[agents.demo]\nversion = 1").await;
    let session = gateway.url("/api/ai/agents/demo/threads/t/session");
    let settings = gateway.url("/api/ai/agents/demo/threads/t/settings");
    let post = async |url: &str, body: Value| {
        let posted = soon(gateway.client.post(url).json(&body).send()).await.unwrap();
        let status = posted.status().as_u16();
        (status, posted.json::<Value>().await.unwrap())
    };
    let tools = json!([{ "name": "pick", "description": "", "parameters": { "type": "object" } }]);
    let (status, offered) = post(&session, json!({ "tools": tools })).await;
    assert_eq!(status, 200, "{offered}");
    assert_eq!(offered["modes"]["currentModeId"], "ask");
    let again = post(&session, json!({})).await;
    assert_eq!(again, (200, offered), "the session is open");
    let (status, chosen) = post(&settings, json!({ "modeId": "auto" })).await;
    assert_eq!(status, 200);
    assert_eq!(chosen["modes"]["currentModeId"], "auto");
    let threads = soon(gateway.client.get(gateway.url("/api/ai/threads")).send()).await.unwrap();
    let threads: Value = threads.json().await.unwrap();
    assert_eq!(threads["threads"], json!([]), "nothing was said");
    let edited = gateway.ask("t", "1", "edit").await.rest().await;
    assert_eq!(edited.end(), "success", "it does not ask");
    let unknown = gateway.url("/api/ai/agents/none/threads/t/session");
    assert_eq!(post(&unknown, json!({})).await.0, 404);
}

#[tokio::test]
async fn message_goes_to_the_session_that_was_opened_before_it() {
    let mut gateway = Gateway::script("tells-prompts", &[]).await;
    let session = gateway.url("/api/ai/agents/agent/threads/t/session");
    let opened = soon(gateway.client.post(&session).json(&json!({})).send()).await.unwrap();
    assert_eq!(opened.status(), 200);
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), "success");
    let said = gateway.says("agent: prompt").await;
    assert!(said.contains(r#""sessionId":"s1""#), "{said}");
    assert!(said.contains("hello"), "{said}");
}

#[tokio::test]
async fn instructions_of_the_settings_begin_a_session() {
    let settings = format!(
        "[agents.a]\ncommand = {:?}\nsystem-prompt = \"Answer in verse.\"",
        script("tells-prompts")
    );
    let mut gateway = Gateway::configured(&settings).await;
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), "success");
    let said = gateway.says("agent: prompt").await;
    let place = said.find("Answer in verse.");
    assert!(place.is_some_and(|place| place < said.find("hello").unwrap()), "{said}");
    assert_eq!(gateway.ask("t", "2", "go on").await.rest().await.end(), "success");
    let said = gateway.says("agent: prompt").await;
    assert!(!said.contains("verse"), "the agent has them: {said}");
}

#[tokio::test]
async fn mode_of_session_is_read_and_set() {
    let gateway = Gateway::configured("[agents.demo]\nversion = 1").await;
    let url = gateway.url("/api/ai/agents/demo/threads/t/settings");
    let get = async || soon(gateway.client.get(&url).send()).await.unwrap();
    let set = async |body: Value| soon(gateway.client.post(&url).json(&body).send()).await.unwrap();
    let settings: Value = get().await.json().await.unwrap();
    assert_eq!(settings, json!({ "configOptions": [] }), "there is no session yet");
    assert_eq!(set(json!({ "modeId": "auto" })).await.status(), 404);
    assert_eq!(gateway.ask("t", "1", "hello").await.rest().await.end(), "success");
    let settings: Value = get().await.json().await.unwrap();
    assert_eq!(settings["modes"]["currentModeId"], "ask");
    assert_eq!(settings["modes"]["availableModes"].as_array().unwrap().len(), 2);
    let settings: Value = set(json!({ "modeId": "auto" })).await.json().await.unwrap();
    assert_eq!(settings["modes"]["currentModeId"], "auto");
    let edited = gateway.ask("t", "2", "edit").await.rest().await;
    assert_eq!(edited.end(), "success", "it does not ask");
    for wrong in [json!({ "modeId": "none" }), json!({}), json!({ "configId": "x", "value": 1 })] {
        assert_eq!(set(wrong.clone()).await.status(), 400, "{wrong}");
    }
    let settings: Value = get().await.json().await.unwrap();
    assert_eq!(settings["modes"]["currentModeId"], "auto");
}

/// Three runs with a crash in the second; returns the third, and the request for its session.
async fn after_a_death(agent: &str) -> (EndedRun, String, String) {
    let mut gateway = Gateway::script(agent, &[]).await;
    let mut asked = input("t", "1", "one");
    assert_eq!(gateway.run(&asked).await.rest().await.end(), "success");
    for (run, text, end) in [("2", "two", "AGENT_EXITED"), ("3", "three", "success")] {
        asked["runId"] = json!(run);
        let message = json!({ "id": format!("{run}-user"), "role": "user", "content": text });
        asked["messages"].as_array_mut().unwrap().push(message);
        let told = gateway.run(&asked).await.rest().await;
        assert_eq!(told.end(), end);
        if run == "3" {
            return (told, gateway.says("agent: asked").await, gateway.says("agent: asked").await);
        }
    }
    panic!("there are three runs");
}

#[tokio::test]
async fn session_is_loaded_after_agent_restart() {
    let (told, loading, prompt) = after_a_death("loads-session").await;
    assert!(loading.contains(r#""method":"session/load""#), "{loading}");
    assert!(loading.contains(r#""sessionId":"s""#), "{loading}");
    assert!(!prompt.contains("one") && prompt.contains("three"), "what it knows: {prompt}");
    assert_eq!(told.text(), "and on", "what was told again is not told as new");
    // The replay lacks an answer that the page has, and a snapshot would remove it.
    assert!(!told.tags().contains(&"MESSAGES_SNAPSHOT"), "{:?}", told.tags());
    assert_eq!(told.customs("acp.notice"), [Value::Null; 0], "it is no new session");
}

#[tokio::test]
async fn session_is_resumed_if_supported() {
    let (told, resuming, prompt) = after_a_death("resumes-session").await;
    assert!(resuming.contains(r#""method":"session/resume""#), "{resuming}");
    assert!(!prompt.contains("one") && prompt.contains("three"), "what it knows: {prompt}");
    assert!(!told.tags().contains(&"MESSAGES_SNAPSHOT"), "{:?}", told.tags());
    assert_eq!(told.customs("acp.notice"), [Value::Null; 0], "it is no new session");
}

#[tokio::test]
async fn missing_session_is_replaced() {
    let (_, loading, prompt) = after_a_death("lost-session").await;
    assert!(loading.contains(r#""method":"session/load""#), "{loading}");
    assert!(prompt.contains(r#""sessionId":"t""#), "{prompt}");
    assert!(prompt.contains("one") && prompt.contains("three"), "it knows nothing: {prompt}");
}

#[tokio::test]
async fn agent_name_selects_dialect() {
    for (name, pieces) in [("someone", 1), ("claude-agent", 2)] {
        let agent = script("grows-arguments");
        let gateway = Gateway::start(&["--agent", &agent], &[("NAME", name)]).await;
        let told = gateway.ask("t", "1", "go").await.rest().await;
        let arguments = told.events.iter().filter_map(|event| match event {
            Event::ToolCallArgs(arguments) => Some(arguments.delta.as_str()),
            _ => None,
        });
        let arguments: Vec<_> = arguments.collect();
        assert_eq!(arguments.len(), pieces, "{name}: {arguments:?}");
        assert_eq!(arguments.concat(), r#"{"path":"x","line":1}"#);
    }
}
