//! Limits of sessions, subscriptions and bodies: one client does not keep others out.
use crate::endpoint::{Tools, call, world};
use crate::world::{Events, OLD, World};
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::HeaderMap;
use futures::stream;
use mcp_bridge_http::{Endpoint, EndpointOptions};
use reqwest::header::AUTHORIZATION;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

fn initialize() -> Value {
    let client = json!({ "name": "c", "version": "1" });
    let params = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list" })
}

/// Subscribes to changes of the tools.
async fn subscribe(world: &World) -> Events {
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let request = world.modern(1, "subscriptions/listen", params, &json!({}));
    let mut events = Events::of(request.send().await.expect("an answer"));
    let first = events.message().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    events
}

#[tokio::test]
async fn session_without_calls_ends_in_favour_of_a_new_one() {
    let mut options = EndpointOptions::default();
    options.max_connections = 2;
    let (world, _, mut begun) = world(options).await;
    let busy = world.session(&json!({})).await;
    let _call = busy.post(&call(1, "wait")).await;
    assert_eq!(begun.recv().await, Some("begun"));
    let unused = world.session(&json!({})).await;
    let new = world.session(&json!({})).await;
    assert_eq!(unused.post(&list()).await.status(), 404);
    assert_eq!(busy.post(&list()).await.status(), 200, "a session with a call goes on");
    let _call = new.post(&call(1, "wait")).await;
    assert_eq!(begun.recv().await, Some("begun"));
    let refused = world.post(&initialize()).send().await.expect("an answer");
    assert_eq!(refused.status(), 503, "every session has a call");
}

#[tokio::test]
async fn subscription_ends_in_favour_of_a_new_request() {
    let mut options = EndpointOptions::default();
    options.max_connections = 2;
    let (world, ..) = world(options).await;
    let mut first = subscribe(&world).await;
    let mut second = subscribe(&world).await;
    let listed = world.modern(2, "tools/list", json!({}), &json!({}));
    assert_eq!(listed.send().await.expect("an answer").status(), 200);
    // The oldest one has ended, with the response to its request.
    while first.next().await.is_some() {}
    world.endpoint().tools_changed();
    let tools_changed =
        async { while second.message().await["method"] != "notifications/tools/list_changed" {} };
    tools_changed.await;
}

#[tokio::test]
async fn principal_fills_its_share_only() {
    let mut options = EndpointOptions::default();
    options.max_connections_each = 2;
    options.authenticate = Some(Arc::new(|headers: &HeaderMap| {
        Some(headers.get(AUTHORIZATION)?.to_str().ok()?.to_owned())
    }));
    let (world, ..) = world(options).await;
    let begin = async |principal: &str| {
        let request = world.post(&initialize()).header(AUTHORIZATION, principal);
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        response.headers()["mcp-session-id"].to_str().expect("text").to_owned()
    };
    let status = async |principal: &str, session: &str| {
        let request = world.post(&list()).header(AUTHORIZATION, principal);
        let request = request.header("Mcp-Session-Id", session);
        request.send().await.expect("an answer").status().as_u16()
    };
    let own = begin("ada").await;
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(begin("ben").await);
    }
    assert_eq!(status("ada", &own).await, 200);
    let mut found = Vec::new();
    for session in &others {
        found.push(status("ben", session).await);
    }
    assert_eq!(found, [404, 404, 200, 200]);
}

/// Handles a request of a client at an address.
async fn handle(
    endpoint: &Endpoint,
    client: u8,
    body: Body,
    session: Option<&str>,
) -> (u16, String) {
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let mut request = request.body(body).expect("a request");
    let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, client)), 1);
    request.extensions_mut().insert(ConnectInfo(address));
    let response = endpoint.handle(request).await;
    let status = response.status().as_u16();
    let session = response.headers().get("mcp-session-id");
    let session = session.map(|id| id.to_str().expect("text").to_owned()).unwrap_or_default();
    let _read = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    (status, session)
}

#[tokio::test]
async fn thousand_sessions_of_one_address_do_not_end_those_of_others() {
    let endpoint = Endpoint::new(Tools::idle(), EndpointOptions::default());
    let body = || Body::from(initialize().to_string());
    let (_, own) = handle(&endpoint, 1, body(), None).await;
    for _ in 0..EndpointOptions::DEFAULT_MAX_CONNECTIONS + 6 {
        assert_eq!(handle(&endpoint, 2, body(), None).await.0, 200);
    }
    assert_eq!(endpoint.session_count(), EndpointOptions::DEFAULT_MAX_CONNECTIONS);
    let body = Body::from(list().to_string());
    assert_eq!(handle(&endpoint, 1, body, Some(&own)).await.0, 200);
    assert_eq!(handle(&endpoint, 3, Body::from(initialize().to_string()), None).await.0, 200);
}

#[tokio::test]
async fn body_has_a_time_limit() {
    let mut options = EndpointOptions::default();
    options.body_time = Duration::from_millis(50);
    let endpoint = Endpoint::new(Tools::idle(), options);
    let body = Body::from_stream(stream::pending::<Result<String, Infallible>>());
    assert_eq!(handle(&endpoint, 1, body, None).await.0, 408);
}
