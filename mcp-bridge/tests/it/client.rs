//! The client against servers of both generations.
use crate::server::{ALL, answer, form, wire_raw};
use jsonrpc_core::wire;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{
    CallError, CallParams, Client, ClientEvent, ClientOptions, SendRequestError, UpstreamCall,
};
use mcp_bridge::mcp::base::{CacheScope, Era};
use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
use mcp_bridge::mcp::subscriptions::ServerChange;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

mod attribution;
mod negotiation;
mod requests;

/// A test server that records the messages it receives.
struct Server {
    client: Client,
}

impl Server {
    fn new(era: Option<Era>) -> Self {
        Self::with(era, |_| {})
    }

    fn with(era: Option<Era>, set: impl FnOnce(&mut ClientOptions)) -> Self {
        let capabilities: ClientCapabilities = wire::decode(&ALL().to_string()).expect("JSON");
        let mut options = ClientOptions::new(Implementation::new("c", "1"), capabilities);
        options.era = era;
        set(&mut options);
        Self { client: Client::new(options) }
    }

    /// Creates a server of a known generation.
    fn ready(era: Era) -> Self {
        Self::ready_with(era, |_| {})
    }

    fn ready_with(era: Era, set: impl FnOnce(&mut ClientOptions)) -> Self {
        let mut server = Self::with(Some(era), set);
        server.client.start(Duration::ZERO);
        let begun = server.take();
        let result = match era {
            Era::Modern => json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} }),
            Era::Legacy => {
                json!({ "protocolVersion": "2025-06-18", "capabilities": { "logging": {} }, "serverInfo": { "name": "s", "version": "1" } })
            }
            other => panic!("no server of {other:?}"),
        };
        server.result(&begun, result);
        assert!(matches!(server.client.poll_event(), Some(ClientEvent::Ready(_))));
        if era == Era::Legacy {
            assert_eq!(server.take()["method"], "notifications/initialized");
        }
        server
    }

    /// Takes the only message that was sent.
    fn take(&mut self) -> Value {
        let message = self.client.poll_outgoing().expect("a message");
        let mut line = Vec::new();
        message.as_message().to_line(&mut line);
        serde_json::from_slice(&line).expect("JSON")
    }

    fn line(&mut self, message: &Value) {
        self.client.handle_line(Ok(&message.to_string()), None);
    }

    fn result(&mut self, request: &Value, result: Value) {
        self.line(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
    }

    fn call(&mut self) -> (UpstreamCall, Value) {
        let call = self.client.call(CallParams::new("t", wire_raw(&json!({})))).expect("ready");
        (call, self.take())
    }
}

/// An invalid or duplicate tool is left out with a reason. The others are kept.
#[test]
fn invalid_tool_is_left_out_of_the_list() {
    let mut server = Server::ready(Era::Modern);
    server.client.list_tools().expect("ready");
    let page = server.take();
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    server.result(&page, json!({
        "tools": [tool("a"), { "name": "bad", "inputSchema": {}, "annotations": 7 }, 7], "nextCursor": "2",
        "ttlMs": 50, "cacheScope": "private", "resultType": "complete",
    }));
    let page = server.take();
    assert_eq!(page["params"]["cursor"], "2");
    server.result(
        &page,
        json!({ "tools": [tool("a"), tool("b")], "ttlMs": 10, "cacheScope": "public" }),
    );
    let Some(ClientEvent::Tools(list)) = server.client.poll_event() else { panic!("no list") };
    assert_eq!(list.tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    let bad: Vec<_> =
        list.bad.iter().map(|it| (it.index, it.name.as_deref(), it.error.as_str())).collect();
    let expected = [
        (1, Some("bad"), "at /annotations: expected an object (ToolAnnotations), got number"),
        (2, None, "expected an object (Tool), got number"),
        (3, Some("a"), "duplicate tool name"),
    ];
    assert_eq!(bad, expected);
    assert_eq!(list.ttl_ms, Some(10));
    assert_eq!(&list.cache_scope, &Some(CacheScope::Private));
}

/// Interpretation of each response to a call.
#[test]
fn responses_to_a_call_are_decoded() {
    let table: &[(Value, &str, &str)] = &[
        (json!({ "content": [] }), "done", "done"),
        (json!({ "content": [], "resultType": "complete" }), "done", "done"),
        (
            json!({ "content": [{ "type": "hologram" }], "tools": [], "messages": [] }),
            "done",
            "done",
        ),
        (json!({ "content": [], "resultType": "partial" }), "type", "done"),
        (
            json!({ "content": [], "resultType": "task", "taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "" }),
            "type",
            "done",
        ),
        (json!({ "resultType": "input_required", "requestState": "s" }), "needs", "decode"),
        (
            json!({ "resultType": "input_required", "inputRequests": { "k": { "method": "elicitation/create", "params": {} } } }),
            "decode",
            "decode",
        ),
        // Some servers leave out `content`.
        (json!({}), "done", "done"),
        (json!({ "structuredContent": { "sum": 3 }, "content": null }), "done", "done"),
        (
            json!({ "resultType": "complete", "structuredContent": 7, "isError": true }),
            "done",
            "done",
        ),
        (json!({ "resultType": "complete", "isError": "yes" }), "decode", "decode"),
        (json!({ "content": "3" }), "decode", "decode"),
        (json!({ "isError": "yes", "content": [] }), "decode", "decode"),
        (json!(7), "decode", "decode"),
    ];
    for (result, modern, legacy) in table {
        for (era, expected) in [(Era::Modern, modern), (Era::Legacy, legacy)] {
            let mut server = Server::ready(era);
            let (_, request) = server.call();
            server.result(&request, result.clone());
            let got = match server.client.poll_event() {
                Some(ClientEvent::Done { .. }) => "done",
                Some(ClientEvent::Needs { .. }) => "needs",
                Some(ClientEvent::Failed { error: CallError::ResultType(_), .. }) => "type",
                Some(ClientEvent::Failed { error: CallError::Decode { .. }, .. }) => "decode",
                other => panic!("{other:?}"),
            };
            assert_eq!(got, *expected, "{era:?} {result}");
            assert_eq!(server.client.open_calls(), usize::from(got == "needs"));
        }
    }
}

/// Since 2026-07-28 a call is repeated under a new id with the exact state, the answers, and
/// otherwise unchanged params. An error is sent as `cancel` or left out.
#[test]
fn call_is_repeated_with_answers() {
    let mut server = Server::ready(Era::Modern);
    let mut params = CallParams::new("t", wire_raw(&json!({ "a": 1 })));
    params.meta = Some(wire_raw(&json!({ "traceparent": "00-1", "x": 1, "io.modelcontextprotocol/protocolVersion": "2025-11-25" })).into());
    let call = server.client.call(params).expect("ready");
    let first = server.take();
    assert_eq!(first["params"]["_meta"]["traceparent"], "00-1");
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let asked = form("m").to_params().expect("JSON").expect("params");
    let asked: Value = asked.decode().expect("JSON");
    let state = "a\u{0}\"\\ü";
    server.result(&first, json!({ "resultType": "input_required", "requestState": state, "inputRequests": {
        "q": { "method": "elicitation/create", "params": asked }, "r": { "method": "roots/list" }, "s": { "method": "elicitation/create", "params": asked },
    } }));
    let Some(ClientEvent::Needs { call: needing, needs }) = server.client.poll_event() else {
        panic!("no needs")
    };
    assert_eq!(needing, call);
    assert_eq!(needs.request_state.as_deref(), Some(state));
    assert_eq!(needs.requests.len(), 3);
    let error = || Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no"));
    let responses = vec![
        ("q".to_owned(), Ok(wire_raw(&answer("seat", "accept")))),
        ("r".to_owned(), error()),
        ("s".to_owned(), error()),
    ];
    server.client.answer(call, responses).expect("open");
    let mut again = server.take();
    assert_ne!(again["id"], first["id"]);
    let params = again["params"].as_object_mut().expect("params");
    assert_eq!(params.remove("requestState"), Some(json!(state)));
    assert_eq!(
        params.remove("inputResponses"),
        Some(json!({ "q": answer("seat", "accept"), "s": { "action": "cancel" } }))
    );
    assert_eq!(again["params"], first["params"]);
    // Without a state none is returned.
    server.result(&again, json!({ "resultType": "input_required", "inputRequests": { "r": { "method": "roots/list" } } }));
    assert!(matches!(server.client.poll_event(), Some(ClientEvent::Needs { .. })));
    server
        .client
        .answer(call, vec![("r".to_owned(), Ok(wire_raw(&json!({ "roots": [] }))))])
        .expect("open");
    assert_eq!(server.take()["params"].get("requestState"), None);
}

/// Up to 2025-11-25 the server sends requests while the call is open. Each is answered once or
/// cancelled.
#[test]
fn legacy_server_requests_input_during_a_call() {
    let mut server = Server::ready(Era::Legacy);
    let asked = form("m").to_params().expect("JSON").expect("params");
    let asked: Value = asked.decode().expect("JSON");
    let ask = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": asked });
    server.line(&ask("early"));
    assert_eq!(server.take()["error"]["code"], -32600);
    assert!(matches!(
        server.client.poll_event(),
        Some(ClientEvent::Unassigned { open_calls: 0, .. })
    ));
    server.line(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
    assert_eq!(server.take()["result"], json!({}));
    server.line(&json!({ "jsonrpc": "2.0", "id": "u", "method": "sampling/unknown" }));
    assert_eq!(server.take()["error"]["code"], -32601);
    let (call, request) = server.call();
    assert_eq!(request["params"], json!({ "name": "t", "arguments": {} }));
    server.line(&ask("one"));
    server.line(&ask("two"));
    server.line(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "two" } }));
    let mut keys = Vec::new();
    for _ in 0..2 {
        let Some(ClientEvent::Needs { call: needing, needs }) = server.client.poll_event() else {
            panic!("no needs")
        };
        assert_eq!(needing, call);
        keys.extend(needs.requests.into_iter().map(|(key, _)| key));
    }
    let Some(ClientEvent::Withdrawn { key, .. }) = server.client.poll_event() else {
        panic!("not withdrawn")
    };
    assert_eq!(key, keys[1]);
    let responses =
        keys.iter().map(|key| (key.clone(), Ok(wire_raw(&json!({ "action": "accept" })))));
    server.client.answer(call, responses.collect()).expect("open");
    let sent = server.take();
    assert_eq!(&sent["id"], &json!("one"));
    assert_eq!(&sent["result"]["action"], &json!("accept"));
    assert!(server.client.poll_outgoing().is_none());
    server.line(&ask("three"));
    server.client.poll_event();
    server.client.cancel(call).expect("open");
    let told = [server.take(), server.take()];
    let told = [&told[1], &told[0]];
    assert_eq!(&told[0]["id"], &json!("three"));
    assert_eq!(&told[0]["error"]["code"], &json!(-32800));
    assert_eq!(&told[1]["method"], &json!("notifications/cancelled"));
    assert_eq!(&told[1]["params"]["requestId"], &request["id"]);
    server.result(&request, json!({ "content": [] }));
    assert!(server.client.poll_event().is_none());
}

/// A server that keeps requesting input is stopped, in both generations.
#[test]
fn rounds_of_a_call_are_limited() {
    for era in [Era::Modern, Era::Legacy] {
        let mut server = Server::ready(era);
        let (call, mut request) = server.call();
        let asked = form("m").to_params().expect("JSON").expect("params");
        let asked: Value = asked.decode().expect("JSON");
        for round in 0..=ClientOptions::DEFAULT_MAX_ROUNDS {
            if era == Era::Modern {
                server.result(
                    &request,
                    json!({ "resultType": "input_required", "requestState": "s" }),
                );
            } else {
                server.line(&json!({ "jsonrpc": "2.0", "id": format!("q{round}"), "method": "elicitation/create", "params": asked }));
            }
            match server.client.poll_event() {
                Some(ClientEvent::Needs { needs, .. }) => {
                    assert!(round < ClientOptions::DEFAULT_MAX_ROUNDS);
                    let responses = needs
                        .requests
                        .into_iter()
                        .map(|(key, _)| (key, Ok(wire_raw(&json!({ "action": "decline" })))));
                    server.client.answer(call, responses.collect()).expect("open");
                    request = server.take();
                }
                Some(ClientEvent::Failed { error: CallError::TooManyRounds, .. }) => {
                    assert_eq!(round, ClientOptions::DEFAULT_MAX_ROUNDS);
                }
                other => panic!("{era:?} {round}: {other:?}"),
            }
        }
        assert_eq!(server.client.open_calls(), 0);
    }
}

/// Progress is assigned to its call. A deadline and the end of the connection end calls.
#[test]
fn calls_report_progress_and_end() {
    let mut server = Server::ready(Era::Legacy);
    let mut params = CallParams::new("t", wire_raw(&json!({})));
    params.wants_progress = true;
    params.deadline = Some(Duration::from_secs(9));
    let call = server.client.call(params).expect("ready");
    let token = server.take()["params"]["_meta"]["progressToken"].clone();
    let progress = |token: &Value| json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": 0.5 } });
    server.line(&progress(&token));
    server.line(&progress(&json!("other")));
    assert!(
        matches!(server.client.poll_event(), Some(ClientEvent::Progress { call: found, .. }) if found == call)
    );
    assert!(server.client.poll_event().is_none());
    server.client.handle_timeout(Duration::from_secs(9));
    assert!(matches!(
        server.client.poll_event(),
        Some(ClientEvent::Failed { error: CallError::Silent, .. })
    ));
    server.call();
    server.client.handle_close();
    assert!(matches!(
        server.client.poll_event(),
        Some(ClientEvent::Failed { error: CallError::Silent, .. })
    ));
    assert!(server.client.poll_event().is_none());
    server.line(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    assert!(matches!(server.client.poll_event(), Some(ClientEvent::Changed(ServerChange::Tools))));
}

proptest! {
    /// No line makes the client panic.
    #[test]
    fn any_line_is_handled(
        is_modern: bool,
        lines in prop::collection::vec("\\PC{0,40}|\\{\"jsonrpc\":\"2.0\",\"id\":[0-4],\"(result|error|method)\":(\\{\\}|\"ping\"|\"roots/list\"|\\{\"content\":\\[\\]\\}|\\{\"resultType\":\"input_required\"\\})\\}", 0..8),
    ) {
        let mut server = Server::ready(if is_modern { Era::Modern } else { Era::Legacy });
        server.call();
        for line in lines {
            server.client.handle_line(Ok(&line), None);
            while server.client.poll_event().is_some() {}
        }
    }
}
