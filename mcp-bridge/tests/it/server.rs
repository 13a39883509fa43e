//! The server against clients of both generations.
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::content::{ContentBlock, TextContent};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::logging::{LoggingLevel, LoggingMessageNotificationParams};
use mcp_bridge::mcp::progress::ProgressNotificationParams;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::{CallId, Needs, Server, ServerEvent, ServerOptions, ToolCall};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

mod properties;
mod questions;
mod subscriptions;

pub(crate) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

pub(crate) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

pub(crate) fn tool(name: &str) -> Tool {
    let tool = json!({ "name": name, "inputSchema": { "type": "object" }, "outputSchema": true, "execution": {} });
    wire::decode(&tool.to_string()).expect("a tool")
}

fn server() -> Server {
    let tools = [tool("book_flight"), tool("add"), tool("echo")];
    Server::new(ServerOptions::new(Implementation::new("travel", "1"), tools))
}

/// A test client that records the messages it receives.
struct Client {
    server: Server,
    is_modern: bool,
    next_id: i64,
    sent: Vec<Value>,
}

impl Client {
    fn new(is_modern: bool, capabilities: &Value) -> Self {
        let mut client = Self { server: server(), is_modern, next_id: 0, sent: Vec::new() };
        if !is_modern {
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "c", "version": "1" } });
            client.send("initialize", params);
            client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
            assert_eq!(client.take()[0]["result"]["protocolVersion"], "2025-11-25");
        }
        client
    }

    fn line(&mut self, message: &Value) {
        self.server.handle_line(Ok(&message.to_string()));
    }

    fn send(&mut self, method: &str, mut params: Value) -> i64 {
        self.next_id += 1;
        if self.is_modern {
            let meta =
                params.as_object_mut().expect("an object").entry("_meta").or_insert(json!({}));
            let meta = meta.as_object_mut().expect("an object");
            meta.insert(VERSION.into(), "2026-07-28".into());
            meta.entry(CAPABILITIES).or_insert(ALL());
        }
        self.line(
            &json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }),
        );
        self.next_id
    }

    /// Takes the messages sent since the last call.
    fn take(&mut self) -> Vec<Value> {
        let mut taken = Vec::new();
        while let Some(outgoing) = self.server.poll_outgoing() {
            let mut line = Vec::new();
            outgoing.message.as_message().to_line(&mut line);
            taken.push(serde_json::from_slice(&line).expect("JSON"));
        }
        self.sent.extend(taken.clone());
        taken
    }

    fn call(&mut self) -> ToolCall {
        match self.server.poll_event() {
            Some(ServerEvent::Call(call)) => *call,
            other => panic!("no call: {other:?}"),
        }
    }
}

#[allow(non_snake_case, reason = "stands for a constant")]
pub(crate) fn ALL() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {} })
}

pub(crate) fn form(message: &str) -> ServerRequest {
    let params =
        json!({ "message": message, "requestedSchema": { "type": "object", "properties": {} } });
    ServerRequest::decode("elicitation/create", Some(wire_raw(&params).as_ref()))
        .expect("a question")
}

pub(crate) fn wire_raw(value: &Value) -> Raw {
    Raw::from_value(value).expect("JSON")
}

pub(crate) fn text(text: &str) -> CallToolResult {
    CallToolResult::new([ContentBlock::Text(TextContent::new(text))])
}

/// A tool with two questions, a request to the model and a confirmation, in one protocol for all
/// clients.
pub(crate) fn book_flight(server: &mut Server, call: &ToolCall) {
    let answers: BTreeMap<String, Value> = call
        .request_state
        .as_deref()
        .map_or_else(BTreeMap::new, |state| serde_json::from_str(state).expect("a state"));
    let heard = call.responses.iter().map(|(key, answer)| {
        let answer = match answer {
            Ok(answer) => answer.decode().expect("JSON"),
            Err(error) => json!({ "action": "cancel", "why": error.message }),
        };
        (key.clone(), answer)
    });
    let answers: BTreeMap<String, Value> = answers.into_iter().chain(heard).collect();
    let state = Some(serde_json::to_string(&answers).expect("JSON"));
    let ask = |server: &mut Server, key: &str, request| {
        let mut needs = Needs::new([(key, request)]);
        needs.request_state.clone_from(&state);
        server.ask(call.id, needs, Some(Duration::from_secs(60))).expect("supported by the client");
    };
    for key in ["flight", "seat"] {
        match answers.get(key).map(|answer| &answer["action"]) {
            None => return ask(server, key, form(key)),
            Some(action) if action == "accept" => {}
            Some(_) => return server.finish(call.id, text("not booked")).expect("open"),
        }
    }
    let Some(tip) = answers.get("tip") else {
        let params = json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "tip" } }], "maxTokens": 9 });
        let request =
            ServerRequest::decode("sampling/createMessage", Some(wire_raw(&params).as_ref()));
        return ask(server, "tip", request.expect("a request"));
    };
    let booked = format!(
        "{} {} {}",
        answers["flight"]["content"]["id"],
        answers["seat"]["content"]["row"],
        tip["content"]["text"]
    );
    server.finish(call.id, text(&booked)).expect("open");
}

/// The response of the user or the model.
pub(crate) fn answer(key: &str, action: &str) -> Value {
    match key {
        "flight" => json!({ "action": action, "content": { "id": "SH-142" } }),
        "seat" => json!({ "action": action, "content": { "row": 12 } }),
        _ => {
            json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "bus" } })
        }
    }
}

/// The error of each invalid request.
#[test]
fn invalid_requests_are_rejected_with_a_reason() {
    let meta = |version: &str| json!({ VERSION: version, CAPABILITIES: {} });
    let table = [
        ("tools/list", json!({}), -32602),
        ("server/discover", json!({ "_meta": { VERSION: "2026-07-28" } }), -32602),
        ("tools/list", json!({ "_meta": meta("2031-01-01") }), -32022),
        ("tools/list", json!({ "_meta": meta("2025-11-25") }), -32022),
        ("initialized", json!({ "_meta": meta("2026-07-28") }), -32601),
        ("ping", json!({ "_meta": meta("2026-07-28") }), -32601),
        ("initialize", json!({ "_meta": meta("2026-07-28") }), -32601),
        ("resources/subscribe", json!({ "_meta": meta("2026-07-28") }), -32601),
        ("logging/setLevel", json!({ "level": "info", "_meta": meta("2026-07-28") }), -32601),
        ("tools/call", json!({ "name": "none", "_meta": meta("2026-07-28") }), -32602),
        (
            "tools/call",
            json!({ "name": "add", "arguments": [1], "_meta": meta("2026-07-28") }),
            -32602,
        ),
        ("tools/call", json!({ "name": 7, "_meta": meta("2026-07-28") }), -32602),
        ("tools/list", json!({ "cursor": "x", "_meta": meta("2026-07-28") }), -32602),
    ];
    for (method, params, code) in table {
        let mut client =
            Client { server: server(), is_modern: false, next_id: 0, sent: Vec::new() };
        client.send(method, params.clone());
        let sent = client.take();
        assert_eq!(sent[0]["error"]["code"], code, "{method} {params}: {sent:?}");
        assert_eq!(sent.len(), 1);
        if code == -32022 {
            let data = &sent[0]["error"]["data"];
            assert_eq!(data["supported"][0], "2026-07-28");
            assert_eq!(data["requested"], params["_meta"][VERSION]);
        }
        assert!(client.server.poll_event().is_none(), "{method} {params}");
    }
    let mut client = Client::new(false, &json!({}));
    client.send("server/discover", json!({}));
    assert_eq!(client.take()[0]["error"]["code"], -32601);
}

/// A handshake results in the version of the client if the server supports it, otherwise in the
/// latest with a handshake.
#[test]
fn handshake_negotiates_a_version() {
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut client =
            Client { server: server(), is_modern: false, next_id: 0, sent: Vec::new() };
        client.send("initialize", json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } }));
        assert_eq!(client.take()[0]["result"]["protocolVersion"], given, "{asked}");
    }
}

/// The list contains what the version of the client supports, page by page.
#[test]
fn lists_are_adapted_to_the_version() {
    let mut modern = Client::new(true, &json!({}));
    modern.send("tools/list", json!({}));
    let list = modern.take().remove(0);
    assert_eq!(
        list["result"]["tools"][0],
        json!({ "name": "book_flight", "inputSchema": { "type": "object" }, "outputSchema": true })
    );
    assert_eq!(&list["result"]["resultType"], &json!("complete"));
    assert_eq!(&list["result"]["cacheScope"], &json!("private"));
    assert_eq!(list["result"]["ttlMs"], 300_000);
    let mut options =
        ServerOptions::new(Implementation::new("s", "1"), [tool("a"), tool("b"), tool("c")]);
    options.page_size = Some(2);
    let mut legacy = Client::new(false, &json!({}));
    let page = legacy.send("tools/list", json!({}));
    let list = legacy.take().remove(0);
    assert_eq!(list["id"].as_i64(), Some(page));
    assert_eq!(&list["result"]["resultType"], &Value::Null);
    assert_eq!(list["result"]["tools"][0].get("outputSchema"), None);
    modern.server = Server::new(options);
    let mut names = Vec::new();
    let mut cursor = json!({});
    for _ in 0..2 {
        modern.send("tools/list", cursor);
        let page = modern.take().remove(0)["result"].clone();
        names.extend(page["tools"].as_array().expect("tools").iter().map(|it| it["name"].clone()));
        cursor = json!({ "cursor": page["nextCursor"] });
    }
    assert_eq!(names, vec![json!("a"), json!("b"), json!("c")]);
    assert_eq!(cursor, json!({ "cursor": null }));
}

/// Structured content that is not an object reaches newer clients only. Older clients receive it as
/// text.
#[test]
fn structured_content_is_adapted_to_the_version() {
    let result = |structured: &str| -> CallToolResult {
        wire::decode(&format!(r#"{{"content":[],"structuredContent":{structured}}}"#))
            .expect("a result")
    };
    for (structured, legacy) in [
        ("[1]", json!({ "content": [{ "type": "text", "text": "[1]" }] })),
        ("null", json!({ "content": [] })),
        ("{\"a\":1}", json!({ "content": [], "structuredContent": { "a": 1 } })),
    ] {
        let expected: Value = serde_json::from_str(structured).expect("JSON");
        let modern =
            json!({ "content": [], "structuredContent": expected, "resultType": "complete" });
        for (is_modern, expected) in [(true, modern), (false, legacy)] {
            let mut client = Client::new(is_modern, &json!({}));
            client.send("tools/call", json!({ "name": "add" }));
            let call = client.call();
            client.server.finish(call.id, result(structured)).expect("open");
            assert_eq!(client.take()[0]["result"], expected);
            assert!(client.server.finish(call.id, text("again")).is_err());
        }
    }
}

/// Progress and log messages are sent to clients that requested them.
#[test]
fn progress_and_logs_are_sent_on_request() {
    let news = |client: &mut Client, meta: Value| -> Vec<String> {
        client.send("tools/call", json!({ "name": "add", "_meta": meta }));
        let call = client.call();
        client
            .server
            .progress(call.id, |token| ProgressNotificationParams::new(token, 1))
            .expect("open");
        for level in [LoggingLevel::Info, LoggingLevel::Error] {
            let params = LoggingMessageNotificationParams::new(level, wire_raw(&json!("x")));
            client.server.log(call.id, &params).expect("open");
        }
        let told = client.take().into_iter();
        told.map(|it| it["params"]["level"].as_str().unwrap_or("progress").to_owned()).collect()
    };
    let mut modern = Client::new(true, &json!({}));
    assert_eq!(news(&mut modern, json!({})), [""; 0]);
    assert_eq!(news(&mut modern, json!({ "progressToken": "p" })), ["progress"]);
    assert_eq!(
        news(&mut modern, json!({ "io.modelcontextprotocol/logLevel": "error" })),
        ["error"]
    );
    let mut legacy = Client::new(false, &json!({}));
    assert_eq!(news(&mut legacy, json!({ "progressToken": 1 })), ["progress", "info", "error"]);
    legacy.send("logging/setLevel", json!({ "level": "warning" }));
    legacy.take();
    assert_eq!(news(&mut legacy, json!({})), ["error"]);
}

/// Subscribers are notified of changed tools, as their version requires.
#[test]
fn subscribers_are_notified_of_changed_tools() {
    let mut modern = Client::new(true, &json!({}));
    let id = modern.send(
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true, "promptsListChanged": true } }),
    );
    let told = modern.take();
    assert_eq!(told[0]["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(told[0]["params"]["notifications"], json!({ "toolsListChanged": true }));
    modern.server.set_tools([tool("other")]);
    let told = modern.take();
    assert_eq!(told[0]["method"], "notifications/tools/list_changed");
    assert_eq!(told[0]["params"]["_meta"], json!({ "io.modelcontextprotocol/subscriptionId": id }));
    modern.server.end_subscriptions();
    assert_eq!(modern.take()[0]["result"]["resultType"], "complete");
    modern.server.set_tools([tool("third")]);
    assert!(modern.take().is_empty());
    let mut legacy = Client::new(false, &json!({}));
    legacy.server.set_tools([tool("other")]);
    assert_eq!(legacy.take()[0]["method"], "notifications/tools/list_changed");
}

/// State and answers in a request of the older generation are ignored.
#[test]
fn members_of_the_newer_generation_are_ignored_in_the_older() {
    for is_modern in [true, false] {
        let mut client = Client::new(is_modern, &json!({}));
        client.send(
            "tools/call",
            json!({ "name": "add", "requestState": "s", "inputResponses": { "k": {} } }),
        );
        let call = client.call();
        assert_eq!(call.request_state.is_some(), is_modern);
        assert_eq!(call.response("k").is_some(), is_modern);
    }
}

/// An error created by the host reaches the client unchanged.
#[test]
fn failed_call_returns_its_error() {
    let mut client = Client::new(true, &json!({}));
    client.send("tools/call", json!({ "name": "add" }));
    let call = client.call();
    client.server.fail(call.id, ErrorObject::new(-32000, "broken")).expect("open");
    assert_eq!(client.take()[0]["error"]["message"], "broken");
}
