//! The agent's sessions and the connections of clients, from their beginning to their end.
use crate::gateway::{Gateway, script};
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
