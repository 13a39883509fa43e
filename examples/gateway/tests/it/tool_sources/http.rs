//! Servers over Streamable HTTP in this process.
use acp_types::v1::session_setup::{HttpHeader, McpServer, McpServerHttp};
use async_trait::async_trait;
use axum::http::HeaderMap;
use gateway::tools::sources::{CallEvent, ServerOptions, ServerStatus, ToolServer};
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::client::CallParams;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{CallOutcome, ServerOptions as Offer, ToolCall};
use mcp_bridge_http::{CallContext, Endpoint, EndpointOptions, Service, router};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// A service with a list that changes.
#[derive(Default)]
struct ChangingService(Mutex<Vec<&'static str>>);

#[async_trait]
impl Service for ChangingService {
    fn options(&self, _principal: &str) -> Offer {
        let tools = self.0.lock().expect("alive").iter().map(|name| tool(name)).collect::<Vec<_>>();
        Offer::new(Implementation::new("changing", "1"), tools)
    }

    async fn call(&self, call: &ToolCall, _context: &CallContext) -> CallOutcome {
        let text = TextContent::new(format!("{} of {}", call.name, call.arguments.as_str()));
        CallToolResult::new([ContentBlock::Text(text)]).into()
    }
}

fn tool(name: &str) -> Tool {
    let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
    wire::decode(&tool.to_string()).expect("a tool")
}

/// Serves at an address, with a token.
async fn serve(
    listener: TcpListener,
    tools: &[&'static str],
) -> (Arc<ChangingService>, Arc<Endpoint>) {
    let service = Arc::new(ChangingService(Mutex::new(tools.to_vec())));
    let mut options = EndpointOptions::default();
    options.authenticate = Some(Arc::new(|headers: &HeaderMap| {
        (headers.get("authorization")? == "Bearer 7f3a").then(String::new)
    }));
    let endpoint = Endpoint::new(service.clone(), options);
    let app = router("/mcp", endpoint.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (service, endpoint)
}

fn start(url: &str, token: &str) -> ToolServer {
    let headers = [HttpHeader::new("Authorization", format!("Bearer {token}"))];
    let server = McpServer::Http(McpServerHttp::new("web", url, headers));
    ToolServer::start(&server, ServerOptions::new("test", "1"), None).expect("an address")
}

async fn text(server: &ToolServer, tool: &str) -> String {
    let arguments = Raw::from_text("{}").expect("JSON");
    let mut call = server.open("ada", CallParams::new(tool, arguments)).await.expect("a server");
    match call.next().await {
        CallEvent::Ended(Ok(result)) => match &result.content[..] {
            [ContentBlock::Text(text)] => text.text.clone(),
            other => panic!("unexpected content: {other:?}"),
        },
        other => panic!("unexpected event: {other:?}"),
    }
}

#[tokio::test]
async fn tools_change_and_are_called() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let (service, endpoint) = serve(listener, &["one"]).await;
    let server = start(&url, "7f3a");
    assert_eq!(text(&server, "one").await, "one of {}");
    let mut changes = server.subscribe("ada");
    let known = async {
        // The notification is lost unless the subscription is open, so the change is announced
        // until it is seen.
        while server.tools().len() < 2 {
            *service.0.lock().expect("alive") = vec!["one", "two"];
            endpoint.tools_changed();
            let _again = timeout(Duration::from_millis(100), changes.recv()).await;
        }
    };
    timeout(Duration::from_secs(60), known).await.expect("the new list");
    assert_eq!(text(&server, "two").await, "two of {}");
}

#[tokio::test]
async fn wrong_token_is_an_error_that_names_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let _served = serve(listener, &["one"]).await;
    let server = start(&url, "wrong");
    server.ready().await;
    assert!(server.tools().is_empty());
    let arguments = Raw::from_text("{}").expect("JSON");
    let error = server.open("ada", CallParams::new("one", arguments)).await.expect_err("no access");
    assert!(error.to_string().starts_with("the MCP server `web` is not available: "), "{error}");
    assert!(!error.to_string().contains("wrong"), "the token is secret: {error}");
}

#[tokio::test]
async fn server_that_comes_later_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let server = start(&format!("http://{address}/mcp"), "7f3a");
    assert_eq!(server.status(), ServerStatus::Connecting, "no attempt has ended");
    server.ready().await;
    assert!(server.tools().is_empty());
    let ServerStatus::Unavailable(reason) = server.status() else {
        panic!("{:?}", server.status())
    };
    assert!(reason.contains("refused"), "{reason}");
    let _served = serve(TcpListener::bind(address).await.expect("the port"), &["one"]).await;
    assert_eq!(text(&server, "one").await, "one of {}");
    assert_eq!(server.status(), ServerStatus::Ready);
}

#[test]
fn invalid_header_is_refused_without_its_value() {
    let headers = [HttpHeader::new("X-Key", "sec\nret")];
    let server = McpServer::Http(McpServerHttp::new("web", "http://127.0.0.1:1/", headers));
    let error =
        ToolServer::start(&server, ServerOptions::new("test", "1"), None).expect_err("invalid");
    assert_eq!(error.to_string(), "the header `X-Key`: expected a name and a value of a header");
}
