//! Several programs behind one address, with sessions up to 2025-11-25.
use crate::endpoint::Tools;
use crate::world::{Events, OLD, Session, World, http};
use async_trait::async_trait;
use mcp_bridge::elicitations;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{ElicitResponse, PluginContext, PluginTool};
use mcp_bridge_http::{Directory, EndpointOptions, PluginService, Replicas, Service};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

/// Addresses by name. The name `broken` is an error.
#[derive(Clone, Default)]
struct Addresses(Arc<Mutex<BTreeMap<String, String>>>);

#[async_trait]
impl Directory for Addresses {
    async fn endpoint_of(&self, program: &str) -> io::Result<Option<String>> {
        match program {
            "broken" => Err(io::Error::other("no directory")),
            _ => Ok(self.0.lock().expect("addresses").get(program).cloned()),
        }
    }
}

impl Addresses {
    fn set(&self, program: &str, url: &str) {
        self.0.lock().expect("addresses").insert(program.to_owned(), url.to_owned());
    }

    /// Starts a program with this name.
    async fn start(&self, program: &str, service: Arc<dyn Service>) -> World {
        let mut options = EndpointOptions::default();
        let http = http().build().expect("a client");
        options.replicas = Some(Replicas::new(program, Arc::new(self.clone()), http));
        let world = World::new(service, options).await;
        self.set(program, &world.url);
        world
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct NoContext {}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Confirmation {
    is_sure: bool,
}

elicitations! {
    /// Questions of the tool.
    pub(crate) Sure handled by SureHandlers {
        /// A confirmation.
        confirm: Confirm = "confirm" (NoContext => Confirmation),
    }
}

fn asking() -> Arc<dyn Service> {
    let tool = PluginTool::builder("ask", "1").elicits::<Sure>().execute(
        |(), ctx: PluginContext<Sure>| async move {
            let sure = ctx.elicit::<Confirm>("Sure?", &NoContext {}).await?;
            Ok(matches!(sure, ElicitResponse::Accept(Confirmation { is_sure: true })))
        },
    );
    let me = Implementation::new("asker", "1");
    Arc::new(PluginService::in_memory([tool.expect("a form")], me).expect("randomness"))
}

fn message(id: i64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test]
async fn session_continues_at_any_program() {
    let addresses = Addresses::default();
    let first = addresses.start("a", asking()).await;
    let second = addresses.start("b", asking()).await;
    let begun = first.session(&json!({ "elicitation": {} })).await;
    assert!(begun.id.ends_with(".a"), "{}", begun.id);
    let moved = Session::at(&second, &begun.id);
    for session in [&moved, &begun] {
        let listed: Value =
            session.post(&message(1, "tools/list", &json!({}))).await.json().await.expect("JSON");
        assert_eq!(listed["result"]["tools"][0]["name"], "ask");
    }
    // The stream of the call is at one program, and the answer arrives at the other.
    for (caller, answerer) in [(&moved, &begun), (&begun, &moved), (&moved, &moved)] {
        let params = json!({ "name": "ask", "arguments": {} });
        let mut events = Events::of(caller.post(&message(2, "tools/call", &params)).await);
        let question = events.message().await;
        assert_eq!(question["method"], "elicitation/create");
        let result = json!({ "action": "accept", "content": { "is_sure": true } });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        assert_eq!(answerer.post(&answer).await.status(), 202);
        let ended = events.message().await;
        assert_eq!(&ended["id"], &json!(2));
        assert_eq!(&ended["result"]["content"][0]["text"], &json!("true"));
    }
    assert_eq!(first.endpoint().session_count(), 1);
    assert_eq!(second.endpoint().session_count(), 0);
    let mut messages = Events::of(moved.get(None).await);
    assert_eq!(moved.delete().await.status(), 204);
    assert!(messages.next().await.is_none_or(|event| event.message.is_null()));
    assert_eq!(begun.post(&message(3, "tools/list", &json!({}))).await.status(), 404);
}

#[tokio::test]
async fn session_of_a_missing_program_is_not_found() {
    let addresses = Addresses::default();
    let world = addresses.start("a", Tools::idle()).await;
    // A port without a listener.
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/mcp", free.local_addr().expect("an address"));
    drop(free);
    addresses.set("ended", &url);
    // The directory is wrong. The request is forwarded once.
    addresses.set("other", &world.url);
    for (session, status) in [
        ("9c41.a", 404),
        ("9c41", 404),
        ("9c41.unknown", 404),
        ("9c41.ended", 404),
        ("9c41.other", 404),
        ("9c41.broken", 502),
    ] {
        let session = Session::at(&world, session);
        let response = session.post(&message(1, "tools/list", &json!({}))).await;
        assert_eq!(response.status(), status, "{}", session.id);
    }
}

#[tokio::test]
async fn principals_are_checked_by_both_programs() {
    let addresses = Addresses::default();
    let mut worlds = Vec::new();
    for program in ["a", "b"] {
        let mut options = EndpointOptions::default();
        let http = http().build().expect("a client");
        options.replicas = Some(Replicas::new(program, Arc::new(addresses.clone()), http));
        options.authenticate = Some(Arc::new(|headers| {
            let token = headers.get("authorization")?.to_str().ok()?;
            token.strip_prefix("Bearer ").map(ToOwned::to_owned)
        }));
        let world = World::new(Tools::idle(), options).await;
        addresses.set(program, &world.url);
        worlds.push(world);
    }
    let hello = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let hello = worlds[0].post(&message(0, "initialize", &hello)).bearer_auth("ada").send().await;
    let id =
        hello.expect("an answer").headers()["mcp-session-id"].to_str().expect("text").to_owned();
    for (token, status) in [(Some("ada"), 200), (Some("eve"), 404), (None, 401)] {
        let list = worlds[1].post(&message(1, "tools/list", &json!({})));
        let mut list = list.header("Mcp-Session-Id", &id).header("MCP-Protocol-Version", OLD);
        if let Some(token) = token {
            list = list.bearer_auth(token);
        }
        assert_eq!(list.send().await.expect("an answer").status(), status, "{token:?}");
    }
}
