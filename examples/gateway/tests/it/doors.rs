//! Routes other than runs: tools, capabilities, health, and the chat over a WebSocket.
use crate::gateway::{Gateway, refusal, soon};
use futures::{SinkExt, StreamExt};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::path::Path;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

async fn get(gateway: &Gateway, path: &str) -> (StatusCode, Value) {
    let response = soon(gateway.client.get(gateway.url(path)).send()).await.unwrap();
    (response.status(), soon(response.json()).await.unwrap())
}

#[tokio::test]
async fn tools_are_listed_with_their_source() {
    let gateway = Gateway::demo(&[]).await;
    let (status, listed) = get(&gateway, "/api/tools").await;
    assert_eq!(status, StatusCode::OK);
    let clock = &listed["tools"][0];
    assert_eq!(&clock["name"], &json!("clock"));
    assert_eq!(&clock["source"], &json!("local"));
    assert_eq!(clock["parameters"], json!([]));
}

#[tokio::test]
async fn markdown_is_rendered_block_by_block() {
    let gateway = Gateway::demo(&[]).await;
    let post = async |texts: Value| {
        let request = gateway.client.post(gateway.url("/api/ai/markdown")).json(&texts);
        let response = soon(request.send()).await.unwrap();
        (response.status(), soon(response.text()).await.unwrap())
    };
    let texts = json!([
        { "text": "# a\n\nb <script>c</script>", "isComplete": false },
        { "text": "[d](javascript:e)", "isComplete": true },
    ]);
    let (status, body) = post(texts).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let rendered: Value = serde_json::from_str(&body).unwrap();
    let blocks =
        json!([{ "end": 4, "html": "<h3>a</h3>\n" }, { "end": 25, "html": "<p>b </p>\n" }]);
    assert_eq!(rendered[0], json!({ "blocks": blocks, "finished": 0, "hasReferences": false }));
    assert!(!body.contains("javascript"), "{body}");

    let change = json!([{ "text": "b", "before": "a", "format": "diff", "isComplete": true }]);
    let (status, body) = post(change).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert!(body.contains("<del>a</del>") && body.contains("<ins>b</ins>"), "{body}");
    let (status, body) = post(json!([{ "text": "", "format": "other", "isComplete": true }])).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");

    let long = json!([{ "text": "a".repeat(1024 * 1024 + 1), "isComplete": true }]);
    let (status, body) = post(long).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{body}");
    let many = vec![json!({ "text": "a", "isComplete": true }); 65];
    let (status, body) = post(json!(many)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{body}");
    let (status, body) = post(json!([{ "text": 1 }])).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
}

#[tokio::test]
async fn agent_capabilities_are_listed() {
    let gateway = Gateway::demo(&[]).await;
    let (_, demo) = get(&gateway, "/api/ai/agents/demo/capabilities").await;
    assert_eq!(demo["identity"]["type"], "acp");
    assert!(demo["identity"]["version"].is_string(), "{demo}");
    assert_eq!(demo["transport"], json!({ "streaming": true, "resumable": true }));
    assert_eq!(demo["humanInTheLoop"]["interrupts"], true);
    let acp = &demo["custom"]["acp"];
    assert_eq!(acp["protocolVersion"], 2);
    assert_eq!(acp["capabilities"]["session"]["mcp"], json!({ "stdio": {} }));
    assert!(Path::new(acp["cwd"].as_str().unwrap()).is_absolute(), "{acp}");
    let (_, hybrid) = get(&gateway, "/api/ai/agents/hybrid/capabilities").await;
    assert_eq!(hybrid["tools"]["clientProvided"], true);
    assert_eq!(hybrid["tools"]["items"][0]["name"], "clock");
    let url = gateway.url("/api/ai/agents/nobody/capabilities");
    let (status, said) = refusal(soon(gateway.client.get(url).send()).await.unwrap()).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(&*said, "there is no agent `nobody`");

    let one = Gateway::demo(&["--acp-version", "1"]).await;
    let (_, demo) = get(&one, "/api/ai/agents/demo/capabilities").await;
    let acp = &demo["custom"]["acp"];
    assert_eq!(acp["protocolVersion"], 1);
    assert_eq!(acp["agentCapabilities"]["loadSession"], true);

    let quiet = Gateway::demo(&["--permission", "reject"]).await;
    let (_, demo) = get(&quiet, "/api/ai/agents/agent/capabilities").await;
    assert!(demo["error"].is_string());
    let (_, demo) = get(&quiet, "/api/ai/agents/demo/capabilities").await;
    assert_eq!(demo["humanInTheLoop"]["supported"], false);
}

#[tokio::test]
async fn readiness_lists_reachable_agents() {
    let gateway = Gateway::configured(
        "default-agent = 'a'\n[agents.a]\n[agents.b]\nurl = 'ws://127.0.0.1:1'",
    )
    .await;
    let (status, ready) = get(&gateway, "/readyz").await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let agents = json!({ "a": true, "b": false });
    let expected = json!({ "ready": false, "agents": agents, "needsLogin": [], "store": true });
    assert_eq!(ready, expected);
    let gateway = Gateway::demo(&[]).await;
    assert_eq!(get(&gateway, "/readyz").await.0, StatusCode::OK);
}

/// A chat over a WebSocket.
pub(crate) struct Chat(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Chat {
    pub(crate) async fn open(gateway: &Gateway, agent: &str) -> Self {
        let url = format!("ws://{}/api/ai/ws?agent={agent}", gateway.address);
        Self(soon(connect_async(url)).await.unwrap().0)
    }

    pub(crate) async fn say(&mut self, conversation: &str, text: &str) -> Vec<Value> {
        let message =
            json!({ "type": "message", "conversation_id": conversation, "content": text });
        self.send(&message.to_string()).await
    }

    /// The response, up to its end.
    async fn send(&mut self, text: &str) -> Vec<Value> {
        self.0.send(Message::text(text)).await.unwrap();
        let mut told = Vec::new();
        loop {
            let Message::Text(text) = soon(self.0.next()).await.unwrap().unwrap() else { continue };
            let message: Value = serde_json::from_str(&text).unwrap();
            let is_last = message["type"] == "complete" || message["type"] == "error";
            told.push(message);
            if is_last {
                return told;
            }
        }
    }
}

fn types(told: &[Value]) -> Vec<&str> {
    let mut types: Vec<_> = told.iter().map(|message| message["type"].as_str().unwrap()).collect();
    types.dedup();
    types
}

fn tokens(told: &[Value]) -> String {
    told.iter().filter_map(|message| message["content"].as_str()).collect()
}

#[tokio::test]
async fn websocket_chat_reports_tools_with_source() {
    let gateway = Gateway::demo(&["--permission", "ask"]).await;
    let mut chat = Chat::open(&gateway, "hybrid").await;
    let told = chat.say("c", "time").await;
    assert_eq!(types(&told), ["token", "tool_start", "tool_complete", "token", "complete"]);
    let find = |kind: &str| told.iter().find(|message| message["type"] == kind).unwrap();
    let (start, complete, end) = (find("tool_start"), find("tool_complete"), find("complete"));
    assert_eq!(start["tool_name"], "clock");
    assert_eq!(&start["tool_input"], &json!("{}"));
    assert_eq!(&start["source"], &json!("local"));
    assert!(start["timestamp"].as_str().unwrap().ends_with('Z'), "{start}");
    let result = complete["tool_result"].as_str().unwrap();
    assert!(tokens(&told).ends_with(&format!("It is {result}.")), "{}", tokens(&told));
    assert_eq!(end["conversation_id"], "c");
    assert_ne!(end["message_id"], "");

    let mut chat = Chat::open(&gateway, "demo").await;
    let told = chat.say("c", "hello").await;
    assert!(tokens(&told).contains("there is no model behind me"));
    let told = chat.say("c", "permission").await;
    assert_eq!(told.last().unwrap()["code"], "ASKED");
    assert!(types(&told).contains(&"tool_start"));
    let told = chat.say("c", "hello").await;
    let left = ["tool_complete", "token", "complete"];
    assert_eq!(types(&told), left, "the tool that asked ends without an answer");
}

#[tokio::test]
async fn new_socket_continues_after_question_of_another() {
    let gateway = Gateway::demo(&["--permission", "ask"]).await;
    let mut chat = Chat::open(&gateway, "demo").await;
    assert_eq!(chat.say("c", "permission").await.last().unwrap()["code"], "ASKED");
    drop(chat);
    let mut chat = Chat::open(&gateway, "demo").await;
    for _ in 0..2 {
        let told = chat.say("c", "hello").await;
        assert_eq!(types(&told), ["token", "complete"], "{told:?}");
        assert!(tokens(&told).contains("there is no model behind me"), "{}", tokens(&told));
    }
}

#[tokio::test]
async fn invalid_socket_messages_are_errors_and_keep_it_open() {
    let gateway = Gateway::demo(&[]).await;
    let mut chat = Chat::open(&gateway, "hybrid").await;
    for (text, code) in [
        ("Hello?", "INVALID_MESSAGE"),
        (r#"{"type":"message","content":"x"}"#, "INVALID_MESSAGE"),
        (r#"{"type":"shout"}"#, "UNKNOWN_TYPE"),
    ] {
        assert_eq!(chat.send(text).await[0]["code"], code, "{text}");
    }
    for number in 0..16 {
        assert_eq!(types(&chat.say(&number.to_string(), "help").await), ["token", "complete"]);
    }
    assert_eq!(chat.say("one more", "help").await[0]["code"], "TOO_MANY_CONVERSATIONS");
    let mut nobody = Chat::open(&gateway, "nobody").await;
    assert_eq!(nobody.say("c", "help").await[0]["code"], "REFUSED");
}

/// Waits for the close frame, and returns its code.
async fn closed(chat: &mut Chat) -> CloseCode {
    loop {
        if let Message::Close(frame) = soon(chat.0.next()).await.unwrap().unwrap() {
            return frame.expect("a code").code;
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn socket_is_read_during_answer() {
    let mut gateway = Gateway::script("cancellable", &["--disconnect-grace", "0"]).await;
    let mut chat = Chat::open(&gateway, "agent").await;
    let message = json!({ "type": "message", "conversation_id": "c", "content": "work" });
    chat.0.send(Message::text(message.to_string())).await.unwrap();
    let said = soon(chat.0.next()).await.unwrap().unwrap();
    assert!(said.to_string().contains("working"), "{said}");
    chat.0.send(Message::Ping("there?".into())).await.unwrap();
    while soon(chat.0.next()).await.unwrap().unwrap() != Message::Pong("there?".into()) {}
    drop(chat);
    gateway.says("agent: cancelled").await;
}

#[cfg(unix)]
#[tokio::test]
async fn sockets_end_with_gateway() {
    let gateway = Gateway::script("cancellable", &["--cancel-grace", "0"]).await;
    let mut idle = Chat::open(&gateway, "agent").await;
    let mut chat = Chat::open(&gateway, "agent").await;
    let message = json!({ "type": "message", "conversation_id": "c", "content": "work" });
    chat.0.send(Message::text(message.to_string())).await.unwrap();
    let said = soon(chat.0.next()).await.unwrap().unwrap();
    assert!(said.to_string().contains("working"), "{said}");
    gateway.signal(nix::sys::signal::Signal::SIGTERM);
    let last = soon(chat.0.next()).await.unwrap().unwrap();
    let last: Value = serde_json::from_str(last.to_text().unwrap()).unwrap();
    assert_eq!(last["type"], "error", "{last}");
    assert_eq!(closed(&mut chat).await, CloseCode::Restart);
    assert_eq!(closed(&mut idle).await, CloseCode::Restart);
    assert!(gateway.ended().await.success());
}

#[tokio::test]
async fn websocket_refuses_pages_of_other_sites() {
    let gateway = Gateway::demo(&[]).await;
    let url = format!("ws://{}/api/ai/ws", gateway.address);
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("origin", "https://evil.example".parse().unwrap());
    match soon(connect_async(request)).await {
        Err(Error::Http(response)) => assert_eq!(response.status().as_u16(), 403),
        other => panic!("{other:?}"),
    }
    let (status, _) = get(&gateway, "/api/ai/ws").await;
    assert_eq!(status, StatusCode::UPGRADE_REQUIRED);
}
