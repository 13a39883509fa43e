//! What a tool knows of its call, and its questions by URL and for roots.
use crate::plugin_serve::exchange;
use crate::server::{CAPABILITIES, VERSION};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, NoElicitations, PluginContext, PluginHost, PluginTool,
    SuspendPolicy,
};
use mcp_bridge::server::{Server, ServerOptions};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A tool that asks for roots and by URL, and returns what it knows.
fn tool() -> PluginTool {
    let tool = PluginTool::builder("pay", "1").elicits::<NoElicitations>();
    let tool = tool.execute(|(), ctx: PluginContext<NoElicitations>| async move {
        let roots = ctx.roots().await?;
        let paid = ctx.elicit_url("pay", "Pay first", "https://pay.example/1").await?;
        let meta = ctx.meta().map(|meta| serde_json::to_value(meta).expect("JSON"));
        Ok(json!({
            "principal": ctx.principal(), "call": ctx.call_id(), "meta": meta,
            "root": roots[0].uri, "paid": paid == ElicitResponse::Accept(()),
        }))
    });
    tool.expect("a tool")
}

fn host(policy: SuspendPolicy, store: &Arc<MemoryStore>, owner: &str) -> PluginHost {
    PluginHost::new(
        [tool()],
        policy,
        Arc::clone(store) as Arc<_>,
        owner,
        Arc::new(|| Duration::ZERO),
    )
}

fn server() -> Server {
    let listed = tool().tool().clone();
    Server::new(ServerOptions::new(Implementation::new("shop", "1"), [listed]))
}

fn answer(request: &Value) -> Value {
    match request["method"].as_str() {
        Some("roots/list") => json!({ "roots": [{ "uri": "file:///home/ada" }] }),
        Some("elicitation/create") => {
            assert_eq!(request["params"]["mode"], "url");
            assert_eq!(request["params"]["url"], "https://pay.example/1");
            json!({ "action": "accept" })
        }
        other => panic!("asked for {other:?}"),
    }
}

const CLIENT: &str = r#"{"elicitation":{"url":{}},"roots":{}}"#;

fn check(result: &Value, meta: &Value) {
    let expected = json!({
        "principal": "ada", "call": "9c41", "meta": meta, "root": "file:///home/ada", "paid": true,
    });
    assert_eq!(result["structuredContent"], expected, "{result}");
}

#[test]
fn modern_call_keeps_its_caller_and_meta_in_other_programs() {
    let capabilities: Value = serde_json::from_str(CLIENT).expect("JSON");
    for policy in [SuspendPolicy::Replay, crate::plugin::World::new().token(false)] {
        let store = Arc::default();
        let meta = |trace: &str| {
            json!({
                VERSION: "2026-07-28", CAPABILITIES: capabilities, "progressToken": 7,
                "traceparent": trace, "example.com/tenant": { "b": 1, "a": 2 },
            })
        };
        let mut params = json!({ "name": "pay", "arguments": {}, "_meta": meta("00-1") });
        for owner in ["a", "b"] {
            let line =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
            let sent = exchange(&mut server(), &host(policy.clone(), &store, owner), &line);
            let asked = &sent[0]["result"];
            let requests = asked["inputRequests"].as_object().expect("requests").iter();
            let answers = requests.map(|(key, request)| (key.clone(), answer(request)));
            params["inputResponses"] = Value::Object(answers.collect());
            params["requestState"] = asked["requestState"].clone();
            // The tool was called with the first request.
            params["_meta"] = meta("00-2");
        }
        let line = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        let sent = exchange(&mut server(), &host(policy, &store, "c"), &line);
        let expected = json!({ "traceparent": "00-1", "example.com/tenant": { "b": 1, "a": 2 } });
        check(&sent[0]["result"], &expected);
    }
}

#[test]
fn legacy_client_receives_url_questions_with_an_id() {
    let mut server = server();
    let host = host(SuspendPolicy::Park, &Arc::default(), "a");
    let capabilities: Value = serde_json::from_str(CLIENT).expect("JSON");
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": { "name": "c", "version": "1" },
    });
    exchange(
        &mut server,
        &host,
        &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }),
    );
    let params = json!({ "name": "pay", "arguments": {}, "_meta": { "progressToken": 7 } });
    let mut line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    for method in ["roots/list", "elicitation/create"] {
        let sent = exchange(&mut server, &host, &line);
        let [request] = &sent[..] else { panic!("one request: {sent:?}") };
        assert_eq!(request["method"], method);
        assert_eq!(request["params"]["elicitationId"].is_string(), method == "elicitation/create");
        line = json!({ "jsonrpc": "2.0", "id": request["id"], "result": answer(request) });
    }
    check(&exchange(&mut server, &host, &line)[0]["result"], &Value::Null);
}

#[test]
fn undeclared_url_mode_is_named_in_the_error() {
    let capabilities = json!({ "elicitation": {}, "roots": {} });
    let host = host(SuspendPolicy::Replay, &Arc::default(), "a");
    let meta = json!({ VERSION: "2026-07-28", CAPABILITIES: capabilities });
    let mut params = json!({ "name": "pay", "arguments": {}, "_meta": meta });
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let asked = exchange(&mut server(), &host, &line)[0]["result"].clone();
    params["inputResponses"] = json!({ "roots": { "roots": [{ "uri": "file:///home/ada" }] } });
    params["requestState"] = asked["requestState"].clone();
    let line = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let sent = exchange(&mut server(), &host, &line);
    assert_eq!(sent[0]["error"]["code"], -32021, "{sent:?}");
    assert_eq!(sent[0]["error"]["message"], "the client did not declare `elicitation.url`");
}
