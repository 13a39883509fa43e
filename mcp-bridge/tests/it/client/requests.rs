//! Requests that are no tool calls, and subscriptions.
use super::*;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::logging::{LoggingLevel, LoggingMessageNotificationParams};
use mcp_bridge::mcp::subscriptions::SubscriptionFilter;

fn read(uri: &str) -> ClientRequest {
    let params =
        json!({ "uri": uri, "_meta": { "note": 1 }, "inputResponses": {}, "requestState": "s" });
    ClientRequest::decode("resources/read", Some(wire_raw(&params).as_ref())).expect("params")
}

fn filter(prompts: bool, uris: &[&str]) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.prompts_list_changed = prompts.then_some(true);
    filter.resource_subscriptions = Some(uris.iter().map(ToString::to_string).collect());
    filter
}

#[test]
fn request_is_written_for_the_version_of_the_server() {
    for era in [Era::Modern, Era::Legacy] {
        let mut server = Server::ready(era);
        let call = server.client.request(&read("file:///a")).expect("ready");
        let sent = server.take();
        assert_eq!(
            (&sent["method"], &sent["params"]["uri"]),
            (&json!("resources/read"), &json!("file:///a"))
        );
        assert_eq!(sent["params"]["_meta"]["note"], 1);
        let version = &sent["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        assert_eq!(version.is_string(), era == Era::Modern);
        assert!(sent["params"].get("requestState").is_none(), "{sent}");
        assert!(sent["params"].get("inputResponses").is_none(), "{sent}");
        let result = json!({ "contents": [{ "uri": "file:///a", "text": "x" }], "own": [1.0] });
        server.result(&sent, result.clone());
        match server.client.poll_event() {
            Some(ClientEvent::Answered { call: answered, result: got }) => {
                assert_eq!(answered, call);
                assert_eq!(got.as_str(), &*result.to_string());
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.client.open_calls(), 0);
    }
}

#[test]
fn method_of_the_other_generation_is_not_sent() {
    let params = wire_raw(&json!({ "uri": "file:///a" }));
    let subscribe =
        ClientRequest::decode("resources/subscribe", Some(params.as_ref())).expect("params");
    let mut modern = Server::ready(Era::Modern);
    assert_eq!(modern.client.request(&subscribe), Err(SendRequestError::Version));
    assert!(modern.client.poll_outgoing().is_none());
    let mut legacy = Server::ready(Era::Legacy);
    legacy.client.request(&subscribe).expect("ready");
    assert_eq!(legacy.take()["method"], "resources/subscribe");
    let own = ClientRequest::Other { method: "example/own".into(), params: None };
    modern.client.request(&own).expect("an extension of any version");
    assert_eq!(modern.take()["method"], "example/own");
}

#[test]
fn request_is_repeated_with_the_requested_input() {
    let mut server = Server::ready(Era::Modern);
    let call = server.client.request(&read("file:///a")).expect("ready");
    let first = server.take();
    let asked = json!({ "method": "elicitation/create", "params": { "message": "Which?", "requestedSchema": { "type": "object", "properties": {} } } });
    server.result(&first, json!({ "resultType": "input_required", "requestState": "2", "inputRequests": { "k": asked } }));
    let Some(ClientEvent::Needs { needs, .. }) = server.client.poll_event() else {
        panic!("needs")
    };
    assert_eq!(needs.requests.len(), 1);
    let answer = wire_raw(&json!({ "action": "accept", "content": {} }));
    server.client.answer(call, vec![("k".into(), Ok(answer))]).expect("open");
    let second = server.take();
    assert_eq!(&second["method"], &first["method"]);
    assert_eq!(&second["params"]["uri"], &first["params"]["uri"]);
    assert_eq!(second["params"]["requestState"], "2");
    assert_eq!(second["params"]["inputResponses"]["k"]["action"], "accept");
    server.result(&second, json!({ "resultType": "complete", "contents": [] }));
    assert!(matches!(server.client.poll_event(), Some(ClientEvent::Answered { .. })));
}

#[test]
fn request_fails_for_a_result_that_cannot_be_used() {
    for (result, expected) in
        [(json!({ "resultType": "task" }), "unexpected result type"), (json!(7), "invalid result")]
    {
        let mut server = Server::ready(Era::Modern);
        server.client.request(&read("file:///a")).expect("ready");
        let sent = server.take();
        server.result(&sent, result);
        let Some(ClientEvent::Failed { error, .. }) = server.client.poll_event() else {
            panic!("failed")
        };
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn subscription_is_replaced_without_a_gap() {
    let mut server = Server::ready(Era::Modern);
    server.client.subscribe(filter(true, &[])).expect("ready");
    let first = server.take();
    assert_eq!(first["params"]["notifications"], json!({ "promptsListChanged": true }));
    let acknowledged = |request: &Value| {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": request["id"] });
        json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": { "notifications": {}, "_meta": meta } })
    };
    server.line(&acknowledged(&first));
    assert!(matches!(server.client.poll_event(), Some(ClientEvent::Subscribed)));
    server.client.subscribe(filter(true, &[])).expect("ready");
    assert!(server.client.poll_outgoing().is_none(), "nothing has changed");
    server.client.subscribe(filter(true, &["file:///a"])).expect("ready");
    let second = server.take();
    assert_eq!(second["params"]["notifications"]["resourceSubscriptions"], json!(["file:///a"]));
    assert!(
        server.client.poll_outgoing().is_none(),
        "the first one is open until the second is acknowledged"
    );
    server.line(&acknowledged(&second));
    assert!(matches!(server.client.poll_event(), Some(ClientEvent::Subscribed)));
    let cancelled = server.take();
    assert_eq!(&cancelled["method"], &json!("notifications/cancelled"));
    assert_eq!(&cancelled["params"]["requestId"], &first["id"]);

    server.client.subscribe(filter(false, &[])).expect("ready");
    assert_eq!(server.take()["params"]["requestId"], second["id"], "nothing is wanted");
    assert!(server.client.poll_event().is_none());
}

#[test]
fn end_of_a_subscription_is_reported() {
    for is_open in [true, false] {
        let mut server = Server::ready(Era::Modern);
        server.client.subscribe(filter(true, &[])).expect("ready");
        let sent = server.take();
        if is_open {
            server.line(&json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": { "notifications": {} } }));
            assert!(matches!(server.client.poll_event(), Some(ClientEvent::Subscribed)));
        }
        server.line(&json!({ "jsonrpc": "2.0", "id": sent["id"], "error": { "code": -32603, "message": "gone" } }));
        match server.client.poll_event() {
            Some(ClientEvent::SubscriptionEnded { was_open, error: Some(error) }) => {
                assert_eq!(was_open, is_open);
                assert_eq!(&*error.message, "gone");
            }
            other => panic!("{other:?}"),
        }
        server.client.subscribe(filter(true, &[])).expect("ready");
        assert_eq!(server.take()["method"], "subscriptions/listen", "it can be opened again");
    }
}

#[test]
fn resources_of_an_older_server_are_subscribed_one_by_one() {
    let mut server = Server::ready(Era::Legacy);
    server.client.subscribe(filter(true, &["file:///a", "file:///b"])).expect("ready");
    for uri in ["file:///a", "file:///b"] {
        let sent = server.take();
        assert_eq!(&sent["method"], &json!("resources/subscribe"));
        assert_eq!(&sent["params"]["uri"], &json!(uri));
    }
    server.client.subscribe(filter(true, &["file:///b", "file:///c"])).expect("ready");
    let sent = [server.take(), server.take()];
    assert_eq!(
        (&sent[0]["method"], &sent[0]["params"]["uri"]),
        (&json!("resources/subscribe"), &json!("file:///c"))
    );
    assert_eq!(
        (&sent[1]["method"], &sent[1]["params"]["uri"]),
        (&json!("resources/unsubscribe"), &json!("file:///a"))
    );
    assert!(server.client.poll_outgoing().is_none());
}

#[test]
fn rejected_resource_of_an_older_server_can_be_subscribed_again() {
    let mut server = Server::ready(Era::Legacy);
    server.client.subscribe(filter(false, &["file:///a", "file:///b"])).expect("ready");
    let [_, rejected] = [server.take(), server.take()];
    server.line(&json!({ "jsonrpc": "2.0", "id": rejected["id"], "error": { "code": -32603, "message": "busy" } }));
    assert!(matches!(
        server.client.poll_event(),
        Some(ClientEvent::SubscriptionEnded { was_open: false, error: Some(_) })
    ));
    server.client.subscribe(filter(false, &["file:///a", "file:///b"])).expect("ready");
    let again = server.take();
    assert_eq!(
        (&again["method"], &again["params"]["uri"]),
        (&json!("resources/subscribe"), &json!("file:///b"))
    );
    assert!(server.client.poll_outgoing().is_none());
}

#[test]
fn each_change_is_reported() {
    let mut server = Server::ready(Era::Legacy);
    let table = [
        ("tools/list_changed", json!({}), ServerChange::Tools),
        ("prompts/list_changed", json!({}), ServerChange::Prompts),
        ("resources/list_changed", json!({}), ServerChange::Resources),
        ("resources/updated", json!({ "uri": "a" }), ServerChange::Resource("a".into())),
    ];
    for (method, params, expected) in table {
        let method = format!("notifications/{method}");
        server.line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        let Some(ClientEvent::Changed(change)) = server.client.poll_event() else {
            panic!("changed")
        };
        assert_eq!(change, expected);
    }
}

/// Returns the log messages of a server, with their calls.
fn logs(server: &mut Server) -> Vec<(Option<UpstreamCall>, Value)> {
    let events = std::iter::from_fn(|| server.client.poll_event());
    let logs = events.map(|event| match event {
        ClientEvent::Log { call, params } => (call, wire_value(&params)),
        other => panic!("{other:?}"),
    });
    logs.collect()
}

fn wire_value(params: &LoggingMessageNotificationParams) -> Value {
    serde_json::to_value(params).expect("JSON")
}

/// The level is part of each call from 2026-07-28, and a request of its own before.
#[test]
fn log_level_is_requested() {
    const LEVEL: &str = "io.modelcontextprotocol/logLevel";
    let mut modern = Server::ready(Era::Modern);
    assert_eq!(modern.call().1["params"]["_meta"].get(LEVEL), None);
    modern.client.set_log_level(LoggingLevel::Info).expect("ready");
    assert!(modern.client.poll_outgoing().is_none());
    assert_eq!(modern.call().1["params"]["_meta"][LEVEL], "info");
    let mut params = CallParams::new("t", wire_raw(&json!({})));
    params.meta = Some(wire_raw(&json!({ LEVEL: "error" })).into());
    modern.client.call(params).expect("ready");
    assert_eq!(modern.take()["params"]["_meta"][LEVEL], "error");

    let mut legacy = Server::ready(Era::Legacy);
    legacy.client.set_log_level(LoggingLevel::Warning).expect("ready");
    let sent = legacy.take();
    assert_eq!(&sent["method"], &json!("logging/setLevel"));
    assert_eq!(&sent["params"], &json!({ "level": "warning" }));
    let refused =
        json!({ "jsonrpc": "2.0", "id": sent["id"], "error": { "code": -32601, "message": "no" } });
    legacy.line(&refused);
    let Some(ClientEvent::LogLevelFailed(error)) = legacy.client.poll_event() else {
        panic!("no event")
    };
    assert_eq!(error.message, "no");
    assert_eq!(legacy.call().1["params"].get("_meta"), None);
    // The level of a call only lowers that of the connection.
    for (level, expected) in [("error", None), ("info", Some("info")), ("warning", None)] {
        let mut params = CallParams::new("t", wire_raw(&json!({})));
        params.meta = Some(wire_raw(&json!({ LEVEL: level })).into());
        legacy.client.call(params).expect("ready");
        let mut sent = legacy.take();
        if let Some(expected) = expected {
            assert_eq!(sent["params"], json!({ "level": expected }));
            sent = legacy.take();
        }
        assert_eq!(sent["method"], "tools/call", "{level}");
        assert_eq!(sent["params"].get("_meta"), None, "{level}");
    }
    assert_eq!(
        Server::new(None).client.set_log_level(LoggingLevel::Info),
        Err(SendRequestError::NotReady)
    );
}

/// A log message belongs to the call of its stream while it is open. Without a stream it belongs to
/// the only open call.
#[test]
fn log_message_belongs_to_a_call() {
    for era in [Era::Modern, Era::Legacy] {
        let mut server = Server::ready(era);
        let params = json!({ "level": "notice", "logger": "db", "data": { "rows": 2 }, "own": 1 });
        let line = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
        server.line(&line);
        assert_eq!(logs(&mut server), [(None, params.clone())]);
        let (one, sent) = server.call();
        server.line(&line);
        assert_eq!(logs(&mut server), [(Some(one), params.clone())]);
        let (two, _) = server.call();
        server.line(&line);
        server.client.handle_line(Ok(&line.to_string()), Some(two));
        assert_eq!(logs(&mut server), [(None, params.clone()), (Some(two), params.clone())]);
        server.result(&sent, json!({ "content": [] }));
        assert!(matches!(server.client.poll_event(), Some(ClientEvent::Done { .. })));
        server.client.handle_line(Ok(&line.to_string()), Some(one));
        assert_eq!(logs(&mut server), [(None, params.clone())]);
        server.line(&line);
        assert_eq!(logs(&mut server), [(Some(two), params)]);
    }
}
