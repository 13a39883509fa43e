//! A local server and a client for it.
#![allow(dead_code, reason = "the tests of two packages use parts of it")]
use futures::StreamExt;
use mcp_bridge_http::{Endpoint, EndpointOptions, Service, router};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, ClientBuilder, RequestBuilder, Response};
use rustls::crypto::ring::default_provider;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) const OLD: &str = "2025-11-25";
pub(crate) const NEW: &str = "2026-07-28";

/// A server and a client for it.
pub(crate) struct World {
    /// The endpoint, if it is in this process.
    endpoint: Option<Arc<Endpoint>>,
    pub(crate) url: String,
    pub(crate) http: Client,
}

/// Returns a builder of HTTP clients, which panic without a default provider if another package of
/// the build enables TLS.
pub(crate) fn http() -> ClientBuilder {
    let _ = default_provider().install_default();
    Client::builder()
}

impl World {
    pub(crate) async fn new(service: Arc<dyn Service>, options: EndpointOptions) -> Self {
        let endpoint = Endpoint::new(service, options);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let app = router("/mcp", Arc::clone(&endpoint));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { endpoint: Some(endpoint), url, http: http().build().expect("a client") }
    }

    /// A server in another process.
    pub(crate) fn at(url: &str) -> Self {
        Self { endpoint: None, url: url.to_owned(), http: http().build().expect("a client") }
    }

    pub(crate) fn endpoint(&self) -> &Arc<Endpoint> {
        self.endpoint.as_ref().expect("an endpoint in this process")
    }

    /// A POST request with the headers that every client sends.
    pub(crate) fn post(&self, message: &Value) -> RequestBuilder {
        self.http
            .post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(message.to_string())
    }

    /// A request since 2026-07-28, with its headers.
    pub(crate) fn modern(
        &self,
        id: i64,
        method: &str,
        mut params: Value,
        can: &Value,
    ) -> RequestBuilder {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = NEW.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can.clone();
        let name = params["name"].as_str().map(ToOwned::to_owned);
        let request = self
            .post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .header("MCP-Protocol-Version", NEW)
            .header("Mcp-Method", method);
        match name {
            Some(name) => request.header("Mcp-Name", name),
            None => request,
        }
    }

    /// Starts a session up to 2025-11-25.
    pub(crate) async fn session(&self, can: &Value) -> Session<'_> {
        let hello = json!({ "protocolVersion": OLD, "capabilities": can, "clientInfo": { "name": "c", "version": "1" } });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello });
        let response = self.post(&hello).send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        let id = response.headers()["mcp-session-id"].to_str().expect("text").to_owned();
        let body: Value = response.json().await.expect("JSON");
        assert_eq!(body["result"]["protocolVersion"], OLD);
        let session = Session { world: self, id };
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&told).await.status(), 202);
        session
    }
}

/// A session up to 2025-11-25.
pub(crate) struct Session<'a> {
    world: &'a World,
    pub(crate) id: String,
}

impl<'a> Session<'a> {
    /// A session that was started elsewhere.
    pub(crate) fn at(world: &'a World, id: &str) -> Self {
        Self { world, id: id.to_owned() }
    }

    pub(crate) async fn post(&self, message: &Value) -> Response {
        let request = self.with_session(self.world.post(message));
        request.send().await.expect("an answer")
    }

    pub(crate) async fn get(&self, last_event: Option<&str>) -> Response {
        let request = self.world.http.get(&self.world.url).header(ACCEPT, "text/event-stream");
        let mut request = self.with_session(request);
        if let Some(event) = last_event {
            request = request.header("Last-Event-ID", event);
        }
        request.send().await.expect("an answer")
    }

    pub(crate) async fn delete(&self) -> Response {
        let request = self.world.http.delete(&self.world.url);
        self.with_session(request).send().await.expect("an answer")
    }

    fn with_session(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("Mcp-Session-Id", &self.id).header("MCP-Protocol-Version", OLD)
    }
}

/// The events of a stream.
pub(crate) struct Events {
    response: std::pin::Pin<Box<dyn futures::Stream<Item = Vec<u8>> + Send>>,
    text: String,
}

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    /// `Null` if there is no data.
    pub(crate) message: Value,
}

impl Events {
    pub(crate) fn of(response: Response) -> Self {
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()[CONTENT_TYPE], "text/event-stream");
        let chunks = response.bytes_stream();
        let chunks = chunks.take_while(|chunk| futures::future::ready(chunk.is_ok()));
        let response = Box::pin(chunks.map(|chunk| chunk.expect("taken").to_vec()));
        Self { response, text: String::new() }
    }

    /// Returns the next event, or `None` at the end. Comments are skipped.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = event.to_owned();
                let rest = rest.to_owned();
                self.text = rest;
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                let Some(data) = field("data: ") else { continue };
                let id = field("id: ").map(ToOwned::to_owned);
                let message = serde_json::from_str(data).unwrap_or_default();
                return Some(Event { id, message });
            }
            let chunk = self.response.next().await?;
            self.text.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }

    /// Returns the next message.
    pub(crate) async fn message(&mut self) -> Value {
        loop {
            let event = self.next().await.expect("a message");
            if !event.message.is_null() {
                return event.message;
            }
        }
    }
}
