//! MCP and other JSON-RPC connections.
use crate::lines::{error, notification, request, result};
use crate::spans::{Span, Spans};
use Direction::{Received, Sent};
use jsonrpc_core::peek;
use proptest::prelude::*;
use semconv_map::metric;
use semconv_map::rpc::{ConnectionEnd, Protocol};
use semconv_map::span::{Parent, SpanKind};
use semconv_map::{Direction, Limits, Policy, Profile, RpcTracker, keys, mcp};
use serde_json::{Value, json};
use std::time::Duration;

mod content;

pub(crate) struct RpcRun {
    pub(crate) tracker: RpcTracker,
    pub(crate) spans: Spans,
    now: Duration,
}

impl RpcRun {
    pub(crate) fn new(policy: Policy, protocol: Protocol) -> Self {
        Self::of(RpcTracker::new(policy, protocol))
    }

    fn of(tracker: RpcTracker) -> Self {
        Self { tracker, spans: Spans::default(), now: Duration::ZERO }
    }

    /// Passes a line one second after the last.
    pub(crate) fn line(&mut self, direction: Direction, line: &str) {
        self.now += Duration::from_secs(1);
        self.tracker.handle_line(direction, self.now, line.as_bytes());
        self.drain();
    }

    pub(crate) fn close(&mut self, how: ConnectionEnd) {
        self.now += Duration::from_secs(1);
        self.tracker.close(self.now, how);
        self.drain();
        assert!(self.spans.open.is_empty(), "open after close: {:?}", self.spans.open);
    }

    fn drain(&mut self) -> usize {
        let records: Vec<_> = std::iter::from_fn(|| self.tracker.poll()).collect();
        let count = records.len();
        records.into_iter().for_each(|record| self.spans.take(record));
        count
    }

    fn span(&self, name: &str) -> &Span {
        let mut named = self.spans.all.values().filter(|span| span.name() == name);
        let span = named.next().unwrap_or_else(|| panic!("no {name}: {:?}", self.spans.names()));
        assert!(named.next().is_none(), "two spans {name}");
        span
    }
}

fn mcp(change: impl FnOnce(&mut Policy)) -> RpcRun {
    let mut policy = Policy::default();
    change(&mut policy);
    RpcRun::new(policy, Protocol::McpClient)
}

fn call(id: i64, tool: &str) -> String {
    request(id, "tools/call", json!({ "name": tool, "arguments": { "city": "Paris" } }))
}

/// A complete MCP session, with metrics.
pub(crate) fn session(policy: Policy, protocol: Protocol) -> RpcRun {
    let (client, server) = match protocol {
        Protocol::McpServer => (Received, Sent),
        _ => (Sent, Received),
    };
    let mut run = RpcRun::new(policy, protocol);
    let version = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let told = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": { "name": "s", "version": "1" } });
    for (direction, line) in [
        (client, request(0, "initialize", version)),
        (server, result(0, told)),
        (client, notification("notifications/initialized", json!({}))),
        (client, request(1, "tools/list", json!({}))),
        (server, result(1, json!({ "tools": [] }))),
        (client, call(2, "weather")),
        (
            server,
            request(
                "ask",
                "elicitation/create",
                json!({ "message": "Which Paris?", "requestedSchema": { "type": "object", "properties": {} } }),
            ),
        ),
        (client, result("ask", json!({ "action": "decline" }))),
        (
            server,
            notification("notifications/progress", json!({ "progressToken": 2, "progress": 1 })),
        ),
        (server, result(2, json!({ "content": [{ "type": "text", "text": "rain" }] }))),
        (client, call(3, "broken")),
        (server, result(3, json!({ "content": [], "isError": true }))),
        (client, request(4, "prompts/get", json!({ "name": "greet", "arguments": {} }))),
        (server, error(4, -32602, "no such prompt")),
        (client, request(5, "resources/read", json!({ "uri": "file:///secret" }))),
        (server, result(5, json!({ "contents": [] }))),
        (client, request(6, "vendor/thing", json!({}))),
        (server, error(6, -32601, "Method not found")),
        (client, request(7, "ping", json!({}))),
    ] {
        run.line(direction, &line);
    }
    run.close(ConnectionEnd::Closed);
    run
}

#[test]
fn mcp_session_becomes_spans() {
    for (protocol, kind, other) in [
        (Protocol::McpClient, SpanKind::Client, SpanKind::Server),
        (Protocol::McpServer, SpanKind::Server, SpanKind::Client),
    ] {
        let mut policy = Policy::default();
        policy.record_metrics = true;
        policy.network_transport = Some("pipe".into());
        let run = session(policy, protocol);
        let rows = [
            ("initialize", kind, None, Some("0")),
            ("tools/list", kind, None, Some("1")),
            ("tools/call weather", kind, None, Some("2")),
            ("elicitation/create", other, None, Some("ask")),
            ("tools/call broken", kind, Some("tool_error"), Some("3")),
            ("prompts/get greet", kind, Some("-32602"), Some("4")),
            ("resources/read", kind, None, Some("5")),
            ("mcp", kind, Some("-32601"), Some("6")),
            ("ping", kind, Some("connection_closed"), Some("7")),
        ];
        assert_eq!(run.spans.names(), rows.map(|row| row.0));
        for (name, kind, error, id) in rows {
            let span = run.span(name);
            assert_eq!(span.start.kind, kind, "{name}");
            assert_eq!(span.str("error.type"), error, "{name}");
            assert_eq!(span.str("jsonrpc.request.id"), id, "{name}");
            assert_eq!(span.str("mcp.protocol.version"), Some("2025-11-25"), "{name}");
            assert_eq!(span.str("network.transport"), Some("pipe"), "{name}");
            assert_eq!(span.get("jsonrpc.protocol.version"), None, "only if it is not 2.0");
        }
        let weather = run.span("tools/call weather");
        assert_eq!(weather.str("gen_ai.operation.name"), Some("execute_tool"));
        assert_eq!(weather.str("gen_ai.tool.name"), Some("weather"));
        let asked = run.span("elicitation/create");
        assert_eq!(asked.start.parent, Parent::Span(weather.start.span));
        assert_eq!(run.span("prompts/get greet").str("rpc.response.status_code"), Some("-32602"));
        assert_eq!(run.span("resources/read").get("mcp.resource.uri"), None);
        assert_eq!(run.span("mcp").str("mcp.method.name"), Some("_OTHER"));
        assert_eq!(run.span("mcp").str("rpc.method_original"), Some("vendor/thing"));

        let measured =
            |name: &str| run.spans.metrics.iter().filter(|it| it.metric.name == name).count();
        let (ours, theirs) = match kind {
            SpanKind::Client => ("mcp.client", "mcp.server"),
            _ => ("mcp.server", "mcp.client"),
        };
        assert_eq!(measured(&format!("{ours}.operation.duration")), 8);
        assert_eq!(measured(&format!("{theirs}.operation.duration")), 1);
        assert_eq!(measured(&format!("{ours}.session.duration")), 1);
        assert_eq!(run.spans.metrics.len(), 10);
        let lasted = run.spans.metrics.last().unwrap();
        assert_eq!(
            *lasted.metric,
            if kind == SpanKind::Client {
                metric::MCP_CLIENT_SESSION_DURATION
            } else {
                metric::MCP_SERVER_SESSION_DURATION
            }
        );
        assert_eq!(lasted.value, 19.0.into());
    }
}

/// In the development version, an error that the client caused leaves the status of the server's
/// span unset, without `error.type`. It is an error of the client's span.
///
/// Spec: [MCP server](https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md#server)
#[test]
fn client_errors_leave_mcp_server_spans_unset() {
    let rows = [
        ("-32700", true),
        ("-32600", true),
        ("-32601", true),
        ("-32602", true),
        ("-32002", true),
        ("-32603", false),
        ("-32000", false),
        ("-32042", false),
        ("1", false),
    ];
    let client_errors: Vec<_> = mcp::CLIENT_ERRORS.iter().map(|code| code.0.to_string()).collect();
    let expected: Vec<_> = rows.iter().filter(|(_, is_unset)| *is_unset).map(|row| row.0).collect();
    assert_eq!(client_errors, expected);
    for (code, is_unset) in rows {
        for (profile, protocol, asker, is_unset) in [
            (Profile::GENAI_DEV, Protocol::McpServer, Received, is_unset),
            (Profile::GENAI_DEV, Protocol::McpServer, Sent, false),
            (Profile::GENAI_DEV, Protocol::McpClient, Sent, false),
            (Profile::GENAI_DEV, Protocol::McpClient, Received, is_unset),
            (Profile::GENAI_DEV, Protocol::JsonRpc(&["ping"]), Received, false),
            (Profile::V1_41, Protocol::McpServer, Received, false),
            (Profile::V1_39, Protocol::McpServer, Received, false),
        ] {
            let mut policy = Policy::default();
            policy.profile = profile;
            policy.record_metrics = true;
            let mut run = RpcRun::new(policy, protocol);
            run.line(asker, &request(1, "ping", json!({})));
            run.line(asker.reversed(), &error(1, code.parse().unwrap(), "no"));
            let span = run.span("ping");
            let context = format!("{code}, {protocol:?}, {asker:?}, {}", profile.schema_url());
            assert_eq!(span.is_error(), !is_unset, "{context}");
            assert_eq!(span.str("error.type"), (!is_unset).then_some(code), "{context}");
            assert_eq!(span.str("rpc.response.status_code"), Some(code), "{context}");
            let measured = &run.spans.metrics[0];
            let has_type = measured.attributes.iter().any(|it| it.key == keys::ERROR_TYPE);
            assert_eq!(has_type, !is_unset, "{context}");
        }
    }
}

/// Each known method is the name of its span, followed by its target.
#[test]
fn mcp_methods_are_span_names() {
    for method in mcp::METHODS {
        let (params, name, key) = match *method {
            "tools/call" => (json!({ "name": "x" }), "tools/call x", Some("gen_ai.tool.name")),
            "prompts/get" => (json!({ "name": "x" }), "prompts/get x", Some("gen_ai.prompt.name")),
            "completion/complete" => (
                json!({ "ref": { "type": "ref/prompt", "name": "x" } }),
                "completion/complete x",
                Some("gen_ai.prompt.name"),
            ),
            other => (json!({ "name": "x", "uri": "file:///x" }), other, None),
        };
        let mut run = mcp(|_| {});
        run.line(Sent, &request(1, method, params));
        run.close(ConnectionEnd::ObserverStopped);
        let span = run.span(name);
        assert_eq!(span.str("mcp.method.name"), Some(*method));
        assert_eq!(span.str("jsonrpc.request.end"), Some("observer_stopped"));
        assert_eq!(key.map(|key| span.str(key)), key.map(|_| Some("x")), "{method}");
        let is_call = span.get("gen_ai.operation.name").is_some();
        assert_eq!(is_call, *method == "tools/call", "{method}");
    }
}

/// Invalid params omit the target and nothing else.
#[test]
fn invalid_params_still_become_spans() {
    for params in [
        json!({}),
        json!({ "name": 7 }),
        json!([]),
        json!({ "ref": { "type": "ref/resource", "uri": "x", "name": "y" } }),
    ] {
        for method in ["tools/call", "prompts/get", "completion/complete", "resources/read"] {
            let mut run = mcp(|_| {});
            run.line(Sent, &request(1, method, params.clone()));
            assert_eq!(run.spans.names(), [method], "{params}");
        }
    }
}

/// A version in a request is recorded, and so is the session id of the transport.
#[test]
fn stateless_request_records_its_version() {
    let mut run = mcp(|_| {});
    run.tracker.set_session_id(Some("session-7"));
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    run.line(Sent, &request(1, "server/discover", json!({ "_meta": meta })));
    let span = run.span("server/discover");
    assert_eq!(span.str("mcp.protocol.version"), Some("2026-07-28"));
    assert_eq!(span.str("mcp.session.id"), Some("session-7"));
}

#[test]
fn trace_context_of_an_mcp_request_is_its_parent() {
    let mut run = mcp(|_| {});
    let meta = json!({ "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "baggage": "k=v" });
    run.line(Sent, &call(1, "outer"));
    run.line(Received, &request(1, "roots/list", json!({ "_meta": meta })));
    let span = run.span("roots/list");
    let Parent::Remote(context) = &span.start.parent else { panic!("{:?}", span.start.parent) };
    assert!(context.is_sampled());
    assert_eq!(span.start.baggage.as_ref().map(|baggage| baggage.as_str()), Some("k=v"));
}

/// A cancellation ends the span. A later response is unmatched.
#[test]
fn cancelled_request_ends() {
    let mut run = mcp(|_| {});
    run.line(Sent, &call(1, "slow"));
    run.line(Received, &notification("notifications/cancelled", json!({ "requestId": 1 })));
    assert!(run.span("tools/call slow").end.is_none(), "only the sender may cancel");
    run.line(Sent, &notification("notifications/cancelled", json!({ "requestId": "1" })));
    assert!(run.span("tools/call slow").end.is_none(), "another id");
    run.line(
        Sent,
        &notification("notifications/cancelled", json!({ "requestId": 1, "reason": "enough" })),
    );
    run.line(Received, &result(1, json!({ "content": [] })));
    let span = run.span("tools/call slow");
    assert_eq!(span.str("jsonrpc.request.end"), Some("cancelled"));
    assert!(!span.is_error());
    assert_eq!(span.event_names(), ["mcp.cancelled"]);
    assert_eq!(run.tracker.counters().unmatched_responses, 1);
}

/// Each sender has its own ids, `1` differs from `"1"`, and a reused id ends the previous request.
#[test]
fn ids_differ_by_sender_and_type() {
    let mut run = mcp(|_| {});
    run.line(Sent, &call(1, "a"));
    run.line(Received, &request(1, "ping", json!({})));
    run.line(Sent, &request("1", "prompts/list", json!({})));
    run.line(Sent, &result(1, json!({})));
    assert!(run.span("ping").end.is_some() && run.span("tools/call a").end.is_none());
    run.line(Sent, &call(1, "b"));
    assert_eq!(run.span("tools/call a").str("jsonrpc.request.end"), Some("id_reused"));
    run.line(Received, &result("1", json!({})));
    assert!(run.span("prompts/list").end.is_some() && run.span("tools/call b").end.is_none());
}

#[test]
fn notifications_are_spans_on_request() {
    for (wanted, expected) in [(false, vec![]), (true, vec!["notifications/progress"])] {
        let mut run = mcp(|policy| policy.record_notifications = wanted);
        run.line(
            Received,
            &notification("notifications/progress", json!({ "progressToken": 1, "progress": 2 })),
        );
        assert_eq!(run.spans.names(), expected);
        for span in run.spans.all.values() {
            assert_eq!(span.start.kind, SpanKind::Server);
            assert_eq!(span.get("jsonrpc.request.id"), None);
        }
    }
}

/// Each message of a batch is handled.
#[test]
fn batches_are_split() {
    let mut run = mcp(|_| {});
    run.line(Sent, &format!(" [{}, 7, {}]\n", request(1, "ping", json!({})), call(2, "a")));
    run.line(Received, &format!("[{}]", result(2, json!({}))));
    run.line(Received, "[]");
    assert_eq!(run.spans.names(), ["ping", "tools/call a"]);
    assert!(run.span("tools/call a").end.is_some());
    assert_eq!(run.tracker.counters().invalid_lines, 2);
}

/// Any JSON-RPC protocol, with the language server protocol as an example.
#[test]
fn json_rpc_requests_are_spans() {
    let mut policy = Policy::default();
    policy.record_metrics = true;
    let mut run = RpcRun::new(policy, Protocol::JsonRpc(&["initialize", "textDocument/hover"]));
    run.line(Sent, &request(1, "textDocument/hover", json!({})));
    run.line(Received, &request(1, "window/showMessageRequest", json!({ "message": "x" })));
    run.line(Sent, &result(1, Value::Null));
    run.line(Received, &error(1, -32800, "cancelled"));
    run.close(ConnectionEnd::Closed);
    let hover = run.span("textDocument/hover");
    for (key, value) in [
        (keys::RPC_SYSTEM_NAME, "jsonrpc"),
        (keys::RPC_METHOD, "textDocument/hover"),
        (keys::JSONRPC_PROTOCOL_VERSION, "2.0"),
        (keys::JSONRPC_REQUEST_ID, "1"),
        (keys::ERROR_TYPE, "-32800"),
    ] {
        assert_eq!(hover.str(key), Some(value), "{key}");
    }
    let asked = run.span("jsonrpc");
    assert_eq!(asked.start.kind, SpanKind::Server);
    assert_eq!(asked.str(keys::RPC_METHOD), Some("_OTHER"));
    assert_eq!(asked.str(keys::RPC_METHOD_ORIGINAL), Some("window/showMessageRequest"));
    assert_eq!(asked.start.parent, Parent::Root, "specific to MCP");
    let metrics: Vec<_> = run.spans.metrics.iter().map(|it| it.metric.name).collect();
    assert_eq!(metrics, ["rpc.server.call.duration", "rpc.client.call.duration"]);
}

fn lines() -> impl Strategy<Value = (Direction, String)> {
    let id = 0..4_i64;
    let method = prop::sample::select(vec![
        "initialize",
        "tools/call",
        "ping",
        "roots/list",
        "resources/read",
        "x/y",
    ]);
    let meta = prop::sample::select(vec![
        json!({}),
        json!({ "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }),
        json!({ "baggage": "k=canary-31d" }),
    ]);
    let said = prop_oneof![
        (id.clone(), method.clone(), meta).prop_map(|(id, method, meta)| {
            request(id, method, json!({ "_meta": meta, "name": "t", "uri": "canary-31d", "arguments": { "x": "canary-31d" } }))
        }),
        id.clone().prop_map(|id| result(id, json!({ "isError": true, "content": "canary-31d", "protocolVersion": "2025-11-25" }))),
        id.clone().prop_map(|id| result(id, json!(null))),
        id.clone().prop_map(|id| error(id, -32000, "canary-31d")),
        (id, method).prop_map(|(id, method)| format!("[{}, {}]", request(id, method, json!({})), result(id, json!(1)))),
        (0..4_i64).prop_map(|id| notification("notifications/cancelled", json!({ "requestId": id, "reason": "canary-31d" }))),
        "\\PC{0,20}",
    ];
    (prop::sample::select(vec![Sent, Received]), said)
}

proptest! {
    /// For any sequence of events, each span ends once, within its parent; limits hold; no content
    /// is recorded.
    #[test]
    fn every_rpc_span_ends_once(
        lines in prop::collection::vec(lines(), 0..60),
        protocol in prop::sample::select(vec![Protocol::McpClient, Protocol::McpServer, Protocol::JsonRpc(&["ping"])]),
        sizes in prop_oneof![Just((1024, 8192, 128)), (1..5_usize, 2..12_usize, 0..3_usize)],
        record_notifications: bool,
        how in prop::sample::select(vec![ConnectionEnd::Closed, ConnectionEnd::ObserverStopped]),
    ) {
        let mut limits = Limits::default();
        (limits.open_spans, limits.records, limits.events_per_span) = sizes;
        let mut policy = Policy::default();
        policy.record_notifications = record_notifications;
        policy.record_metrics = true;
        let mut run = RpcRun::of(RpcTracker::with_limits(policy, protocol, limits));
        for (direction, line) in lines {
            run.tracker.handle_line(direction, Duration::ZERO, line.as_bytes());
            prop_assert!(run.drain() <= limits.records);
        }
        run.close(how);
        for span in run.spans.all.values() {
            let attributes: Vec<_> = span.attributes().collect();
            let shown = format!("{} {attributes:?} {:?} {:?}", span.start.name, span.events, span.end);
            prop_assert!(!shown.contains("canary"), "{}", shown);
        }
    }

    /// A line that was peeked has the records of the line.
    #[test]
    fn peeked_rpc_line_equals_line(lines in prop::collection::vec(lines(), 0..20)) {
        let records = |is_peeked| {
            let mut tracker = RpcTracker::new(Policy::default(), Protocol::McpServer);
            for (direction, line) in &lines {
                match peek(line.as_bytes()) {
                    Ok(message) if is_peeked => tracker.handle_peeked(*direction, Duration::ZERO, &message),
                    _ => tracker.handle_line(*direction, Duration::ZERO, line.as_bytes()),
                }
            }
            tracker.close(Duration::ZERO, ConnectionEnd::Closed);
            let records: Vec<_> = std::iter::from_fn(|| tracker.poll()).collect();
            (records, tracker.counters())
        };
        prop_assert_eq!(records(true), records(false));
    }
}
