//! The agent's sessions and the connections of clients, from their beginning to their end.
use crate::gateway::{Gateway, script, soon};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[tokio::test]
async fn a_session_that_was_left_is_closed() {
    let mut gateway = Gateway::script("serves-close", &["--cancel-grace", "0"]).await;
    let mut run = gateway.ask("t", "1", "work").await;
    run.until("working").await;
    gateway.post("runs/1/cancel", &serde_json::Value::Null).await;
    assert_eq!(run.rest().await.end(), "cancelled");
    let said = gateway.says("agent: closed").await;
    assert!(said.contains(r#""params":{"sessionId":"s"}"#), "{said}");
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_left() {
    let settings = format!(
        "[times]\nwrite = 0.2\ndisconnect-grace = 0\n[limits]\nlog-bytes = 100000000\n[agents.a]\ncommand = {:?}",
        script("says-much")
    );
    let mut gateway = Gateway::configured(&settings).await;
    let body = crate::gateway::input("t", "1", "go").to_string();
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
async fn the_mode_of_a_session_can_be_seen_and_set() {
    let gateway = Gateway::demo(&[]).await;
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
