//! The MCP server with the MCP client, over pipes and over HTTP.
use crate::agui::http;
use crate::programs::{MCP_CLIENT, MCP_SERVER, Server, printed, run, stderr, stdout};
use reqwest::StatusCode;

/// Runs the client over pipes and over HTTP, and asserts that both have the same result.
async fn call(words: &[&str], input: &str) -> (Option<i32>, String) {
    let server = Server::start(MCP_SERVER, &[]).await;
    let piped = run(MCP_CLIENT, &[words, &["--", MCP_SERVER]].concat(), input.as_bytes()).await;
    let url = ["--url", &server.url];
    let posted = run(MCP_CLIENT, &[&url, words].concat(), input.as_bytes()).await;
    assert_eq!(stdout(&piped), stdout(&posted), "{}\n{}", stderr(&piped), stderr(&posted));
    assert_eq!(piped.status, posted.status);
    (piped.status.code(), stdout(&piped))
}

#[tokio::test]
async fn tools_are_listed() {
    let (status, list) = call(&[], "").await;
    assert_eq!(status, Some(0));
    let expected = "add: Adds two integers\norder_tea: Orders tea that the user selects\n";
    assert_eq!(list, expected);
}

#[tokio::test]
async fn plain_tool_is_called() {
    let (status, sum) = call(&["--call", "add", "--arguments", r#"{"a":1,"b":2}"#], "").await;
    assert_eq!(status, Some(0));
    assert_eq!(sum, "3\n");
}

#[tokio::test]
async fn failed_call_is_reported() {
    let arguments = format!(r#"{{"a":{},"b":1}}"#, i64::MAX);
    let (status, error) = call(&["--call", "add", "--arguments", &arguments], "").await;
    assert_eq!(status, Some(1));
    assert_eq!(error, "the sum is too large\n");
}

#[tokio::test]
async fn question_of_a_tool_is_answered() {
    let words = ["--call", "order_tea", "--arguments", r#"{"cups":2}"#];
    let (status, order) = call(&words, "green\ntrue\n").await;
    assert_eq!(status, Some(0));
    assert_eq!(order, "Ordered 2 × green with milk\n");
    let (_, order) = call(&words, "green\n\n").await;
    assert_eq!(order, "Ordered 2 × green without milk\n");
}

#[tokio::test]
async fn unanswered_question_is_a_cancellation() {
    let (status, order) = call(&["--call", "order_tea"], "").await;
    assert_eq!(status, Some(0));
    assert_eq!(order, "Ordered nothing\n");
}

#[tokio::test]
async fn wrong_calls_are_reported() {
    let arguments = run(MCP_CLIENT, &["--call", "add", "--arguments", "3", "--", "x"], b"").await;
    assert_eq!(arguments.status.code(), Some(2));
    assert!(stderr(&arguments).contains("expected an object"));
    let unknown = run(MCP_CLIENT, &["--call", "subtract", "--", MCP_SERVER], b"").await;
    assert_eq!(unknown.status.code(), Some(1));
    let missing = run(MCP_CLIENT, &["--", "/no/such/server"], b"").await;
    assert!(stderr(&missing).starts_with("mini-mcp-client: /no/such/server: "));
    let silent = run(MCP_CLIENT, &["--", "true"], b"").await;
    assert_eq!(silent.status.code(), Some(1));
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let server = Server::start(MCP_SERVER, &[]).await;
    let foreign = [("host", "example.com"), ("origin", "https://example.com")];
    for (name, value) in foreign {
        let request = http().post(&server.url).header("content-type", "application/json");
        let request = request.header(name, value).body("{}");
        let response = request.send().await.expect("a response");
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{name}");
    }
    printed(&run(MCP_CLIENT, &["--url", &server.url], b"").await);
}
