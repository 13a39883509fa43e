//! The client with this server, and with faulty servers.
use crate::endpoint::world;
use crate::world::http;
use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use jsonrpc_core::wire::{self, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{CallError, CallParams, ClientOptions, ConnectError};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge_http::{CallEvent, EndpointOptions, Handler, McpClient, SignIn};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::{Semaphore, mpsc};

/// Answers no request.
struct SilentHandler;

#[async_trait]
impl Handler for SilentHandler {
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject> {
        Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, request.method()))
    }
}

pub(crate) async fn connect(url: &str, era: Option<Era>) -> Result<McpClient, ConnectError> {
    connect_with(http().build().expect("a client"), url, era, r#"{"elicitation":{},"sampling":{}}"#)
        .await
}

async fn connect_with(
    http: reqwest::Client,
    url: &str,
    era: Option<Era>,
    can: &str,
) -> Result<McpClient, ConnectError> {
    let can: ClientCapabilities = wire::decode(can).expect("JSON");
    let mut options = ClientOptions::new(Implementation::new("c", "1"), can);
    options.era = era;
    McpClient::connect(http, url, options, Arc::new(SilentHandler), None).await
}

/// Connects to a server of a known generation that requires a sign-in.
pub(crate) async fn connect_with_sign_in(
    url: &str,
    era: Era,
    sign_in: &Arc<SignIn>,
) -> Result<McpClient, ConnectError> {
    let mut options = ClientOptions::new(Implementation::new("c", "1"), ClientCapabilities::new());
    options.era = Some(era);
    let http = http().build().expect("a client");
    let sign_in = Some(Arc::clone(sign_in));
    McpClient::connect(http, url, options, Arc::new(SilentHandler), sign_in).await
}

fn params(tool: &str, arguments: &Value) -> CallParams {
    CallParams::new(tool, Raw::from_value(arguments).expect("JSON"))
}

#[tokio::test]
async fn bearer_token_identifies_the_caller() {
    let mut options = EndpointOptions::default();
    options.authenticate = Some(Arc::new(|headers| {
        let is_ada = headers.get(AUTHORIZATION).is_some_and(|token| token == "Bearer 7f3a");
        is_ada.then(|| "ada".to_owned())
    }));
    let (server, _tools, _told) = world(options).await;
    for era in [Era::Modern, Era::Legacy] {
        let refused = connect(&server.url, Some(era)).await;
        assert!(matches!(refused, Err(ConnectError::Refused(_))), "{refused:?}");
        let token = HeaderValue::from_static("Bearer 7f3a");
        let headers = HeaderMap::from_iter([(AUTHORIZATION, token)]);
        let http = http().default_headers(headers).build().expect("a client");
        let client = connect_with(http, &server.url, Some(era), "{}").await.expect("a server");
        client.tools().await.expect("a list");
    }
}

#[tokio::test]
async fn dropped_caller_cancels_the_call() {
    for era in [Era::Modern, Era::Legacy] {
        let (server, _tools, mut told) = world(EndpointOptions::default()).await;
        let client = connect(&server.url, Some(era)).await.expect("a server");
        let call = client.call(params("wait", &json!({})));
        tokio::select! {
            outcome = call => panic!("unexpected outcome: {outcome:?}"),
            begun = told.recv() => assert_eq!(begun, Some("begun")),
        }
        assert_eq!(told.recv().await, Some("ended"), "{era:?}");
    }
}

#[tokio::test]
async fn dropped_client_ends_its_session() {
    let (server, ..) = world(EndpointOptions::default()).await;
    let client = connect(&server.url, Some(Era::Legacy)).await.expect("a server");
    client.tools().await.expect("a list");
    assert_eq!(server.endpoint().session_count(), 1);
    drop(client);
    while server.endpoint().session_count() > 0 {
        tokio::task::yield_now().await;
    }
}

/// A server that answers the first requests with these responses, and further ones with nothing.
async fn scripted(answers: Vec<Response>) -> (String, Arc<Mutex<Vec<HeaderMap>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let answers = Arc::new(Mutex::new(answers.into_iter()));
    type Script = (Arc<Mutex<std::vec::IntoIter<Response>>>, Arc<Mutex<Vec<HeaderMap>>>);
    let handle = |State((answers, seen)): State<Script>, headers: HeaderMap| async move {
        seen.lock().expect("alive").push(headers);
        let next = answers.lock().expect("alive").next();
        next.unwrap_or_else(|| StatusCode::INTERNAL_SERVER_ERROR.into_response())
    };
    let app = Router::new().route("/", any(handle)).with_state((answers, Arc::clone(&seen)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, seen)
}

fn discovered() -> Response {
    let result = json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } });
    axum::Json(json!({ "jsonrpc": "2.0", "id": 1, "result": result })).into_response()
}

fn stream(text: &'static str) -> Response {
    ([("content-type", "text/event-stream")], text).into_response()
}

#[tokio::test]
async fn faulty_server_fails_the_call() {
    for broken in [
        StatusCode::BAD_GATEWAY.into_response(),
        "<html>".into_response(),
        stream(
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n",
        ),
        axum::Json(json!({ "jsonrpc": "2.0", "id": 9, "result": {} })).into_response(),
    ] {
        let (url, _) = scripted(vec![discovered(), broken]).await;
        let client = connect(&url, None).await.expect("a server");
        let outcome = client.call(params("t", &json!({}))).await;
        assert!(matches!(outcome, Err(CallError::Refused(_))), "{outcome:?}");
    }
    let (url, _) = scripted(Vec::new()).await;
    assert!(connect(&url, None).await.is_err());
    assert!(connect("http://127.0.0.1:9/", None).await.is_err());
}

#[tokio::test]
async fn stream_of_a_legacy_server_is_resumed() {
    let begun = json!({ "jsonrpc": "2.0", "id": 1, "result": { "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } } });
    let begun = ([("mcp-session-id", "s-1")], axum::Json(begun)).into_response();
    let (url, seen) = scripted(vec![
        begun,
        StatusCode::ACCEPTED.into_response(),
        StatusCode::METHOD_NOT_ALLOWED.into_response(),
        stream("id: a\nretry: 1\ndata: \n\n"),
        stream("id: b\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n\n"),
        StatusCode::BAD_GATEWAY.into_response(),
        stream("id: c\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[]}}\n\n"),
    ])
    .await;
    let client = connect(&url, Some(Era::Legacy)).await.expect("a server");
    client.call(params("t", &json!({}))).await.expect("a result");
    let seen = seen.lock().expect("alive");
    let last = |headers: &HeaderMap| {
        headers.get("last-event-id").map(|id| id.to_str().expect("text").to_owned())
    };
    let last: Vec<_> = seen.iter().map(last).collect();
    let id = |id: &str| Some(id.to_owned());
    assert_eq!(last, [None, None, None, None, id("a"), id("b"), id("b")]);
    assert!(seen.iter().skip(1).all(|headers| headers["mcp-session-id"] == "s-1"));
    assert!(seen.iter().skip(1).all(|headers| headers["mcp-protocol-version"] == "2025-11-25"));
}

/// A server up to 2025-11-25 that reports each method or tool that it receives. It answers the tool
/// `slow` and changes of the level of log messages by permits.
#[derive(Clone)]
struct GatedServer {
    received: mpsc::UnboundedSender<String>,
    slow: Arc<Semaphore>,
    level: Arc<Semaphore>,
}

impl GatedServer {
    async fn answer(State(this): State<Self>, body: String) -> Response {
        let Ok(message) = serde_json::from_str::<Value>(&body) else {
            return StatusCode::METHOD_NOT_ALLOWED.into_response();
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let method = text(&message["method"]);
        let name = if method == "tools/call" { text(&message["params"]["name"]) } else { method };
        let result = match &*name {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "serverInfo": { "name": "s", "version": "1" },
                "capabilities": { "logging": {}, "tools": {} },
            }),
            "logging/setLevel" => json!({}),
            _ => json!({ "content": [] }),
        };
        let gate = match &*name {
            "slow" => Some(this.slow.clone()),
            "logging/setLevel" => Some(this.level.clone()),
            _ => None,
        };
        this.received.send(name).expect("a receiver");
        if let Some(gate) = gate {
            gate.acquire().await.expect("open").forget();
        }
        match message.get("id") {
            Some(id) => {
                axum::Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
            }
            None => StatusCode::ACCEPTED.into_response(),
        }
    }
}

/// A server that does not answer `logging/setLevel` holds up the calls that depend on the level,
/// and no others.
#[tokio::test]
async fn calls_wait_for_their_log_level_only() {
    let (told, mut received) = mpsc::unbounded_channel();
    let gate = || Arc::new(Semaphore::new(0));
    let server = GatedServer { received: told, slow: gate(), level: gate() };
    let app = Router::new().route("/", any(GatedServer::answer)).with_state(server.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let client = connect(&url, Some(Era::Legacy)).await.expect("a server");
    let logging = |name: &str, level: &str| {
        let mut params = params(name, &json!({}));
        let meta = json!({ "io.modelcontextprotocol/logLevel": level });
        params.meta = Some(Raw::from_value(&meta).expect("JSON").into());
        params
    };
    let mut next = async || received.recv().await.expect("a server");
    assert_eq!([next().await, next().await], ["initialize", "notifications/initialized"]);
    let mut slow = client.open(params("slow", &json!({}))).await.expect("a call");
    assert_eq!(next().await, "slow");
    let mut quick = client.open(logging("quick", "info")).await.expect("a call");
    assert_eq!(next().await, "logging/setLevel");
    server.slow.add_permits(1);
    assert!(matches!(slow.next().await, CallEvent::Ended(Ok(_))));
    server.level.add_permits(1);
    assert_eq!(next().await, "quick");
    assert!(matches!(quick.next().await, CallEvent::Ended(Ok(_))));
    // A call that is cancelled while it waits is not sent.
    let lost = client.open(logging("lost", "debug")).await.expect("a call");
    assert_eq!(next().await, "logging/setLevel");
    drop(lost);
    assert_eq!(next().await, "notifications/cancelled");
    server.level.add_permits(1);
    client.call(params("last", &json!({}))).await.expect("a result");
    assert_eq!(next().await, "last");
}
