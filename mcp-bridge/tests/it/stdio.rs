//! Tools served on a connection, for clients of both generations.
use crate::plugin::{World, booking};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::mcp::capabilities::{Implementation, ListChangedCapability, ResourcesCapability};
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::plugin::SuspendPolicy;
use mcp_bridge::server::ServerOptions;
use mcp_bridge::stdio::{refuse, serve_on};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// A client of a served connection.
struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: JoinHandle<std::io::Result<()>>,
    world: World,
    can: Value,
}

impl Client {
    fn new(policy: SuspendPolicy, stalls: bool) -> Self {
        Self::with(policy, stalls, refuse)
    }

    /// Creates the client of a server that declares prompts and resources, and answers requests for
    /// them.
    fn with<A>(
        policy: SuspendPolicy,
        stalls: bool,
        answer: impl Fn(Arc<ClientRequest>) -> A + Send + 'static,
    ) -> Self
    where
        A: Future<Output = Result<Raw, ErrorObject>> + Send + 'static,
    {
        let world = World::new();
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let host = match stalls {
            true => world.host_that_stalls(policy, "a"),
            false => world.host(policy, "a"),
        };
        let tools: Vec<_> = host.tools().cloned().collect();
        let mut options = ServerOptions::new(Implementation::new("travel", "1"), tools);
        options.capabilities.prompts = Some(ListChangedCapability::new());
        options.capabilities.resources = Some(ResourcesCapability::new());
        let (reader, writer) = tokio::io::split(theirs);
        let served = tokio::spawn(serve_on(Arc::new(host), options, answer, reader, writer));
        let (reader, writer) = tokio::io::split(ours);
        let can = json!({ "elicitation": {}, "sampling": {} });
        Self { lines: BufReader::new(reader).lines(), writer, served, world, can }
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.expect("the server reads");
    }

    async fn request(&mut self, id: i64, method: &str, params: Value) {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(request).await;
    }

    async fn message(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("the server writes").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    /// Returns the next message that is not a notice.
    async fn answer(&mut self) -> Value {
        loop {
            let message = self.message().await;
            let method = message["method"].as_str().unwrap_or_default();
            if !matches!(method, "notifications/progress" | "notifications/message") {
                return message;
            }
        }
    }

    async fn initialize(&mut self) {
        let can = self.can.clone();
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": can, "clientInfo": { "name": "c", "version": "1" } });
        self.request(0, "initialize", hello).await;
        assert_eq!(self.message().await["result"]["serverInfo"]["name"], "travel");
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }
}

fn call() -> Value {
    let arguments = json!({ "from": "NYC", "destination": "LAX" });
    json!({ "name": "book_flight", "arguments": arguments, "_meta": { "progressToken": "p" } })
}

/// The response of the user or the model to a request.
fn answer_to(request: &Value) -> Value {
    let message = request["params"]["message"].as_str().unwrap_or_default();
    match request["method"].as_str() {
        Some("sampling/createMessage") => {
            let text = json!({ "type": "text", "text": "Take the train." });
            json!({ "role": "assistant", "content": text, "model": "m" })
        }
        _ if message.starts_with("Which seat") => {
            json!({ "action": "accept", "content": { "row": 12, "seat": "C" } })
        }
        _ => json!({ "action": "accept", "content": { "flightId": "CA-287" } }),
    }
}

#[tokio::test]
async fn flight_is_booked_by_an_older_client() {
    let mut client = Client::new(SuspendPolicy::Park, false);
    client.initialize().await;
    client.request(1, "tools/call", call()).await;
    let mut notices = 0;
    let booked = loop {
        let message = client.message().await;
        if message["id"] == 1 && message["method"].is_null() {
            break message;
        }
        match message["id"].is_null() {
            true => notices += 1,
            false => {
                let id = &message["id"];
                let result = answer_to(&message);
                client.send(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
            }
        }
    };
    assert_eq!(booked["result"]["structuredContent"], booking());
    assert_eq!(notices, 2);
    drop((client.writer, client.lines));
    client.served.await.expect("it ran").expect("the end of the input is no error");
}

#[tokio::test]
async fn flight_is_booked_by_a_newer_client() {
    let mut client = Client::new(SuspendPolicy::Park, false);
    let mut params = call();
    for id in 1..10 {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = client.can.clone();
        client.request(id, "tools/call", params.clone()).await;
        let result = client.answer().await["result"].clone();
        if result["resultType"] == "complete" {
            assert_eq!(id, 4);
            assert_eq!(&result["structuredContent"], &booking());
            return;
        }
        let requests = result["inputRequests"].as_object().expect("questions").iter();
        let answers = requests.map(|(key, request)| (key.clone(), answer_to(request))).collect();
        params["inputResponses"] = Value::Object(answers);
        params["requestState"] = result["requestState"].clone();
    }
    panic!("it was asked without end");
}

#[tokio::test]
async fn cancelled_call_withdraws_its_question_and_ends_its_session() {
    let mut client = Client::new(SuspendPolicy::Park, false);
    client.initialize().await;
    client.request(1, "tools/call", call()).await;
    let question = client.answer().await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    client.send(cancel).await;
    let withdrawn = client.answer().await;
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    let store = Arc::clone(&client.world.store);
    loop {
        let sessions = mcp_bridge::plugin::SessionStore::list(&*store).await.expect("a store");
        if sessions.iter().all(|session| session.status.is_over()) {
            break;
        }
        tokio::task::yield_now().await;
    }
    // The connection stays usable.
    client.request(2, "tools/list", json!({})).await;
    assert_eq!(client.answer().await["result"]["tools"][0]["name"], "book_flight");
}

#[tokio::test]
async fn other_requests_are_answered_while_a_tool_works() {
    let mut client = Client::new(SuspendPolicy::Replay, true);
    client.initialize().await;
    client.request(1, "tools/call", call()).await;
    for _ in 0..2 {
        let question = client.answer().await;
        let id = &question["id"];
        let result = answer_to(&question);
        client.send(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }
    client.request(2, "ping", json!({})).await;
    assert_eq!(client.answer().await["id"], 2);
    client.send(json!("no message")).await;
    assert_eq!(client.answer().await["error"]["code"], -32600);
    drop((client.writer, client.lines));
    client.served.await.expect("it ran").expect("a tool at work does not keep the server");
}

/// Answers requests for resources: two at a time, the second one first.
async fn resource(
    request: Arc<ClientRequest>,
    turn: Arc<tokio::sync::Notify>,
) -> Result<Raw, ErrorObject> {
    let ClientRequest::ReadResource(read) = &*request else { return refuse(request).await };
    match &*read.uri {
        "note:slow" => turn.notified().await,
        "note:quick" => turn.notify_one(),
        "note:bug" => panic!("a bug of the program"),
        _ => return Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, "no such note")),
    }
    let note = json!({ "uri": read.uri, "text": "x" });
    Ok(Raw::from_value(&json!({ "contents": [note], "ttlMs": 5 })).expect("JSON"))
}

#[tokio::test]
async fn other_requests_are_answered_by_the_program() {
    let turn = Arc::new(tokio::sync::Notify::new());
    let answer = move |request| resource(request, Arc::clone(&turn));
    let mut client = Client::with(SuspendPolicy::Park, false, answer);
    client.initialize().await;
    let modern = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for meta in [json!({}), modern] {
        let is_modern = meta != json!({});
        let read = |note: &str| json!({ "uri": format!("note:{note}"), "_meta": meta });
        client.request(1, "resources/read", read("slow")).await;
        client.request(2, "resources/read", read("quick")).await;
        for id in [2, 1] {
            let answer = client.answer().await;
            assert_eq!(&answer["id"], &json!(id));
            assert_eq!(&answer["result"]["contents"][0]["text"], &json!("x"));
            let expected = if is_modern { json!(5) } else { Value::Null };
            assert_eq!(answer["result"]["ttlMs"], expected, "{answer}");
        }
        client.request(3, "resources/read", read("bug")).await;
        assert_eq!(client.answer().await["error"]["code"], -32603);
        client.request(4, "resources/read", read("none")).await;
        assert_eq!(client.answer().await["error"]["message"], "no such note");
        client.request(5, "prompts/list", json!({ "_meta": meta })).await;
        assert_eq!(client.answer().await["error"]["code"], -32601);
    }
}
