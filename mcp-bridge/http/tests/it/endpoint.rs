//! HTTP behavior of the endpoint.
use crate::world::{Events, NEW, OLD, World};
use async_trait::async_trait;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::logging::LoggingLevel;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{CallOutcome, ServerOptions, ToolCall};
use mcp_bridge_http::{CallContext, EndpointOptions, Service};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// A service with a tool for each effect on a stream.
pub(crate) struct Tools {
    /// Releases the tool `wait`.
    go_on: Semaphore,
    /// Notified when `wait` starts and when it is dropped.
    begun: mpsc::UnboundedSender<&'static str>,
    /// Number of additional tools.
    more: AtomicUsize,
}

/// Reports when it is dropped.
struct DropReport(mpsc::UnboundedSender<&'static str>);

impl Drop for DropReport {
    fn drop(&mut self) {
        let _nobody = self.0.send("ended");
    }
}

fn done(text: &str) -> CallOutcome {
    CallToolResult::new([ContentBlock::Text(TextContent::new(text))]).into()
}

#[async_trait]
impl Service for Tools {
    fn options(&self, principal: &str) -> ServerOptions {
        let names = ["quick", "wait", "tell", "leave", "panic"].map(ToOwned::to_owned).into_iter();
        let more = (0..self.more.load(Ordering::SeqCst)).map(|index| format!("more{index}"));
        let mine = (!principal.is_empty()).then(|| format!("of-{principal}"));
        let tools = names.chain(more).chain(mine).map(|name| {
            let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
            wire::decode::<Tool>(&tool.to_string()).expect("a tool")
        });
        ServerOptions::new(Implementation::new("tools", "1"), tools.collect::<Vec<_>>())
    }

    async fn call(&self, call: &ToolCall, context: &CallContext) -> CallOutcome {
        match &*call.name {
            "wait" => {
                let _told = DropReport(self.begun.clone());
                let _ = self.begun.send("begun");
                self.go_on.acquire().await.expect("open").forget();
                done("waited")
            }
            "tell" => {
                context.progress(1.0, Some(2.0), Some("half"));
                let data = Raw::from_value("told").expect("JSON");
                context.log(LoggingLevel::Info, Some("notes"), data);
                done("told")
            }
            "leave" => {
                context.end_stream();
                self.go_on.acquire().await.expect("open").forget();
                done("left")
            }
            "panic" => panic!("on purpose"),
            _ => done("quick"),
        }
    }
}

impl Tools {
    /// Creates tools that are listed only.
    pub(crate) fn idle() -> Arc<Self> {
        let (begun, _) = mpsc::unbounded_channel();
        Arc::new(Self { go_on: Semaphore::new(0), begun, more: AtomicUsize::new(0) })
    }
}

pub(crate) async fn world(
    options: EndpointOptions,
) -> (World, Arc<Tools>, mpsc::UnboundedReceiver<&'static str>) {
    let (begun, told) = mpsc::unbounded_channel();
    let tools = Arc::new(Tools { go_on: Semaphore::new(0), begun, more: AtomicUsize::new(0) });
    (World::new(Arc::clone(&tools) as Arc<_>, options).await, tools, told)
}

pub(crate) fn call(id: i64, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "p" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[tokio::test]
async fn session_starts_and_ends() {
    let (world, ..) = world(EndpointOptions::default()).await;
    let session = world.session(&json!({})).await;
    assert_eq!(session.id.len(), 32);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed: Value = session.post(&list).await.json().await.expect("JSON");
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(5));
    let mut stream = Events::of(session.get(None).await);
    assert_eq!(session.delete().await.status(), 204);
    assert!(stream.next().await.is_none_or(|event| event.message.is_null()));
    assert!(stream.next().await.is_none(), "the stream ends with the session");
    assert_eq!(session.post(&list).await.status(), 404);
    assert_eq!(session.get(None).await.status(), 404);
    assert_eq!(session.delete().await.status(), 404);
}

#[tokio::test]
async fn session_belongs_to_its_principal() {
    let mut options = EndpointOptions::default();
    options.authenticate = Some(Arc::new(|headers| {
        Some(headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")?.to_owned())
    }));
    let (world, ..) = world(options).await;
    let hello = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
    let nobody = world.post(&hello).send().await.expect("an answer");
    assert_eq!(nobody.status().as_u16(), 401);
    assert_eq!(nobody.headers()["www-authenticate"], "Bearer");
    let ada = world.post(&hello).bearer_auth("ada").send().await.expect("an answer");
    let session = ada.headers()["mcp-session-id"].clone();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let as_who =
        |who: &str| world.post(&list).bearer_auth(who).header("Mcp-Session-Id", session.clone());
    assert_eq!(as_who("eve").send().await.expect("an answer").status(), 404);
    let tools: Value = as_who("ada").send().await.expect("one").json().await.expect("JSON");
    let tools = tools["result"]["tools"].as_array().expect("tools");
    assert_eq!(tools.last().expect("a tool")["name"], "of-ada");
}

#[tokio::test]
async fn interrupted_stream_is_resumed() {
    let (world, tools, mut told) = world(EndpointOptions::default()).await;
    let session = world.session(&json!({})).await;
    let mut events = Events::of(session.post(&call(1, "wait")).await);
    let prime = events.next().await.expect("an event");
    assert!(prime.message.is_null(), "the first event has only an id");
    assert_eq!(told.recv().await, Some("begun"));
    drop(events);
    let mut again = Events::of(session.get(prime.id.as_deref()).await);
    tools.go_on.add_permits(1);
    assert_eq!(again.message().await["result"]["content"][0]["text"], "waited");
    assert!(again.next().await.is_none());
    // Read again from the beginning, after its end.
    let mut once_more = Events::of(session.get(prime.id.as_deref()).await);
    assert_eq!(once_more.message().await["id"], 1);
    for event in ["9-0", "x", "1", "1-x"] {
        assert_eq!(session.get(Some(event)).await.status(), 400, "{event}");
    }
}

#[tokio::test]
async fn tool_may_end_the_stream_before_its_result() {
    let (world, tools, _told) = world(EndpointOptions::default()).await;
    let session = world.session(&json!({})).await;
    let mut events = Events::of(session.post(&call(1, "leave")).await);
    let mut last = None;
    while let Some(event) = events.next().await {
        assert!(event.message.is_null());
        last = event.id;
    }
    tools.go_on.add_permits(1);
    let mut rest = Events::of(session.get(Some(last.as_deref().unwrap_or("1-0"))).await);
    assert_eq!(rest.message().await["result"]["content"][0]["text"], "left");
}

#[tokio::test]
async fn messages_precede_the_response_in_its_stream() {
    let (world, ..) = world(EndpointOptions::default()).await;
    let session = world.session(&json!({})).await;
    let mut events = Events::of(session.post(&call(1, "tell")).await);
    assert_eq!(events.message().await["params"]["progressToken"], "p");
    assert_eq!(
        events.message().await["params"],
        json!({ "level": "info", "logger": "notes", "data": "told" })
    );
    assert_eq!(events.message().await["id"], 1);

    let params = json!({ "name": "tell", "_meta": { "progressToken": 7 } });
    let newer = world.modern(5, "tools/call", params, &json!({})).send().await.expect("one");
    let mut events = Events::of(newer);
    let progress = events.message().await;
    assert_eq!(
        progress["params"],
        json!({ "progressToken": 7, "progress": 1.0, "total": 2.0, "message": "half" })
    );
    assert_eq!(events.message().await["id"], 5, "no log without a level");
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn disconnecting_cancels_a_modern_request() {
    let mut options = EndpointOptions::default();
    options.patience = Duration::ZERO;
    let (world, _tools, mut told) = world(options).await;
    let request = world.modern(1, "tools/call", json!({ "name": "wait" }), &json!({}));
    let stream = request.send().await.expect("an answer");
    assert_eq!(told.recv().await, Some("begun"));
    drop(stream);
    assert_eq!(told.recv().await, Some("ended"), "the tool is dropped");
}

#[tokio::test]
async fn legacy_client_cancels_with_a_message() {
    let (world, _tools, mut told) = world(EndpointOptions::default()).await;
    let session = world.session(&json!({})).await;
    let mut events = Events::of(session.post(&call(1, "wait")).await);
    assert_eq!(told.recv().await, Some("begun"));
    let duplicate = session.post(&call(1, "quick")).await;
    assert_eq!(duplicate.status(), 400, "the id is in use");
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(session.post(&cancel).await.status(), 202);
    assert_eq!(told.recv().await, Some("ended"));
    while let Some(event) = events.next().await {
        assert!(event.message.is_null(), "no further message");
    }
    let mut free = Events::of(session.post(&call(1, "quick")).await);
    assert_eq!(free.message().await["id"], 1, "the id can be reused");
}

#[tokio::test]
async fn panic_of_a_tool_fails_only_its_call() {
    let (world, ..) = world(EndpointOptions::default()).await;
    let session = world.session(&json!({})).await;
    let mut events = Events::of(session.post(&call(1, "panic")).await);
    assert_eq!(events.message().await["error"]["code"], -32603);
    let mut events = Events::of(session.post(&call(2, "quick")).await);
    assert_eq!(events.message().await["id"], 2);
}

#[tokio::test]
async fn clients_are_notified_of_changed_tools() {
    let (world, tools, _told) = world(EndpointOptions::default()).await;
    let session = world.session(&json!({})).await;
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let listen = world.modern(4, "subscriptions/listen", listen, &json!({})).send().await;
    let mut newer = Events::of(listen.expect("an answer"));
    assert_eq!(newer.message().await["method"], "notifications/subscriptions/acknowledged");
    tools.more.store(1, Ordering::SeqCst);
    world.endpoint().tools_changed();
    let told = newer.message().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 4);
    // The notification was sent without a reader and is not lost.
    let mut older = Events::of(session.get(None).await);
    assert_eq!(older.message().await["method"], "notifications/tools/list_changed");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let listed: Value = session.post(&list).await.json().await.expect("JSON");
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(6));
    world.endpoint().close();
    assert_eq!(newer.message().await["id"], 4, "the subscription ends with its response");
    assert!(newer.next().await.is_none());
}

/// Denied access, and invalid requests.
#[tokio::test]
async fn invalid_requests_are_rejected() {
    let mut options = EndpointOptions::default();
    options.max_body = 4096;
    options.hosts = vec!["tools.example".into()];
    options.origins = vec!["https://page.example".into()];
    let (world, ..) = world(options).await;
    let fine = || world.modern(1, "tools/list", json!({}), &json!({}));
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": NEW, "io.modelcontextprotocol/clientCapabilities": {} });
    let newer =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let table = [
        (fine(), 200),
        (fine().header("Host", "evil.example"), 403),
        (fine().header("Host", "tools.example"), 200),
        (fine().header("Host", "localhost").header("Host", "localhost"), 403),
        (fine().header("Origin", "http://evil.example"), 403),
        (fine().header("Origin", "null"), 403),
        (fine().header("Origin", "https://page.example"), 200),
        (fine().header("Origin", "http://localhost:3000"), 200),
        (fine().header("Origin", "http://localhost.evil.example"), 403),
        (world.http.post(&world.url).header("Accept", "application/json").body("{}"), 406),
        (world.http.post(&world.url).header("Accept", "*/*").body("{}"), 415),
        (world.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "x".repeat(5000) })), 413),
        (world.post(&json!({})), 400),
        (world.post(&json!([])), 400),
        (world.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })), 400),
        (world.post(&call(1, "quick")).header("Mcp-Session-Id", "none"), 404),
        (fine().header("Mcp-Method", "tools/list"), 400),
        (world.post(&newer).header("MCP-Protocol-Version", NEW), 400),
        (world.post(&call(1, "quick")).header("MCP-Protocol-Version", &b"\xff"[..]), 400),
        (world.post(&newer).header("MCP-Protocol-Version", OLD), 400),
        (world.modern(1, "tools/none", json!({}), &json!({})), 404),
        (world.modern(1, "ping", json!({}), &json!({})), 404),
        (world.modern(1, "tools/call", json!({ "name": "none" }), &json!({})), 200),
        (world.http.get(&world.url).header("MCP-Protocol-Version", NEW), 405),
        (world.http.get(&world.url), 405),
        (world.http.delete(&world.url), 405),
        (world.http.put(&world.url), 405),
    ];
    for (index, (request, status)) in table.into_iter().enumerate() {
        let response = request.send().await.expect("an answer");
        let got = response.status();
        let text = response.text().await.unwrap_or_default();
        assert_eq!(got.as_u16(), status, "row {index}: {text}");
        if status >= 400 {
            let body: Value = serde_json::from_str(&text).expect("an error is JSON");
            assert!(body["error"]["code"].is_i64(), "row {index}: {text}");
        }
    }
}
