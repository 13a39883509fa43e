//! The proxy between the client and the agent, and with agents and collectors that misbehave.
use crate::programs::{AGENT, CLIENT, PATIENCE, PROXY, printed, run, stderr, stdout};
use axum::Router;
use axum::extract::State;
use axum::routing::post;
use serde_json::Value;
use std::fs;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Returns the spans of OTLP/JSON documents, in order.
fn spans(documents: &[Value]) -> Vec<Value> {
    let scopes = documents.iter().map(|document| &document["resourceSpans"][0]["scopeSpans"][0]);
    scopes.flat_map(|scope| scope["spans"].as_array().expect("spans").clone()).collect()
}

/// Asserts that these are the spans of a turn with a permitted tool call.
fn check(spans: &[Value]) {
    let find = |name: &str| {
        let named = spans.iter().find(|span| span["name"].as_str().expect("a name").contains(name));
        named.unwrap_or_else(|| panic!("no {name}: {spans:?}"))
    };
    let turn = find("invoke_agent");
    let tool = find("execute_tool");
    let permission = find("session/request_permission");
    assert_eq!(turn["name"], "invoke_agent mini-agent");
    assert_eq!(turn["kind"], 3);
    assert_eq!(tool["parentSpanId"], turn["spanId"]);
    assert_eq!(permission["parentSpanId"], tool["spanId"]);
    for span in [turn, tool, permission] {
        assert_eq!(span["traceId"], turn["traceId"]);
        assert_eq!(span["traceId"].as_str().expect("an id").len(), 32);
        assert_eq!(span["spanId"].as_str().expect("an id").len(), 16);
        let time = |name: &str| span[name].as_str().expect("a time").parse::<u64>().expect("ns");
        assert!(time("startTimeUnixNano") > 0);
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        assert_eq!(span["status"], serde_json::json!({}));
    }
    let attributes = turn["attributes"].as_array().expect("attributes");
    let reasons = attributes.iter().find(|it| it["key"] == "gen_ai.response.finish_reasons");
    let reasons = reasons.expect("a reason");
    assert_eq!(reasons["value"]["arrayValue"]["values"][0]["stringValue"], "stop");
    assert!(find("initialize").get("parentSpanId").is_none());
}

#[tokio::test]
async fn spans_of_a_session_are_appended_to_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("spans.jsonl");
    let path = file.to_str().expect("UTF-8");
    let words = ["remember", "the", "milk", "--", PROXY, "--file", path, "--", AGENT];
    for sessions in 1..=2 {
        let turn = run(CLIENT, &words, b"1\n").await;
        assert_eq!(printed(&turn), "I keep 1 of your notes.\n");
        let written = fs::read_to_string(&file).expect("a file");
        assert!(!written.contains("milk"), "texts are not recorded");
        let documents = written.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        let spans = spans(&documents.collect::<Vec<_>>());
        check(&spans);
        let turns = spans.iter().filter(|span| span["name"] == "invoke_agent mini-agent");
        assert_eq!(turns.count(), sessions);
    }
}

#[tokio::test]
async fn spans_are_written_to_standard_error_by_default() {
    // The agent responds to all requests before it exits.
    let requests = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"session-00000001","prompt":[]}}
"#;
    let session = run(PROXY, &[AGENT], requests.as_bytes()).await;
    assert!(printed(&session).contains(r#""stopReason":"end_turn""#));
    let errors = stderr(&session);
    let documents = errors.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let spans = spans(&documents.collect::<Vec<_>>());
    let names: Vec<_> = spans.iter().map(|span| span["name"].as_str().expect("a name")).collect();
    // The prompt precedes the response with the name of the agent.
    assert_eq!(names, ["initialize", "session/new", "invoke_agent"]);
}

#[tokio::test]
async fn spans_are_posted_to_a_collector() {
    let (received, mut documents) = mpsc::unbounded_channel();
    let accept = |State(received): State<mpsc::UnboundedSender<Value>>, document: axum::Json<_>| {
        let sent = received.send(document.0);
        async move { sent.expect("the test waits") }
    };
    let app = Router::new().route("/v1/traces", post(accept)).with_state(received);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let server = tokio::spawn(async move { axum::serve(listener, app).await });

    let words = ["remember", "the", "milk", "--", PROXY, "--otlp", &url, "--", AGENT];
    let turn = run(CLIENT, &words, b"1\n").await;
    assert_eq!(printed(&turn), "I keep 1 of your notes.\n");
    server.abort();
    let mut all = Vec::new();
    while let Ok(Some(document)) = timeout(PATIENCE, documents.recv()).await {
        all.push(document);
    }
    check(&spans(&all));
}

#[tokio::test]
async fn failing_collector_does_not_affect_the_session() {
    // The first address refuses connections, the second accepts them without a response.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let silent_url = format!("http://{}", silent.local_addr().expect("an address"));
    for url in ["http://127.0.0.1:1", &silent_url] {
        let words = ["Hello", "--", PROXY, "--otlp", url, "--", AGENT];
        let turn = run(CLIENT, &words, b"").await;
        assert_eq!(printed(&turn), "You wrote: Hello\n");
        let is_reported = stderr(&turn).contains("mini-proxy: ");
        assert!(is_reported, "{url}: {}", stderr(&turn));
    }
}

#[tokio::test]
async fn bytes_pass_unchanged() {
    let mut bytes: Vec<u8> = (0..=255).cycle().take(1_000_000).collect();
    bytes.extend(br#"{"jsonrpc":"2.0","id":1,"method":"session/prompt"}"#);
    let copy = run(PROXY, &["--", "cat"], &bytes).await;
    assert!(copy.status.success());
    assert!(copy.stdout == bytes, "{} bytes of {}", copy.stdout.len(), bytes.len());
}

#[cfg(unix)]
#[tokio::test]
async fn exit_status_of_the_agent_is_returned() {
    for (script, code) in [("exit 7", 7), ("kill -9 $$", 137), ("echo; exec >&-; exit 3", 3)] {
        let agent = run(PROXY, &["--", "sh", "-c", script], b"").await;
        assert_eq!(agent.status.code(), Some(code), "{script}");
    }
}

#[tokio::test]
async fn missing_agent_and_unusable_file_are_reported() {
    let missing = run(PROXY, &["--", "/no/such/agent"], b"").await;
    assert_eq!(missing.status.code(), Some(1));
    assert!(stderr(&missing).starts_with("mini-proxy: /no/such/agent: "));

    let unusable = run(PROXY, &["--file", "/no/such/file", "--", "cat"], b"text").await;
    assert_eq!(unusable.status.code(), Some(1));
    assert!(stderr(&unusable).starts_with("mini-proxy: /no/such/file: "));
    assert_eq!(stdout(&unusable), "");
}
