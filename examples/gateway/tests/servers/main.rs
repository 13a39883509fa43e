//! Servers as processes: ones that work, and ones that die, hang, are missing or change.
//!
//! This program starts itself as the server and as the guard of the server, so it has a `main` of
//! its own.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test, which has no `cfg(test)` without a harness"
)]
mod scripted;
mod users;

use acp_types::v1::session_setup::{McpServer, McpServerStdio};
use futures::FutureExt;
use futures::future::BoxFuture;
use gateway::tools::sources::{CallEvent, ServerCall, ServerOptions, ToolServer};
use host::process::Guard;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::{CallError, CallParams};
use mcp_bridge::mcp::content::ContentBlock;
use mcp_bridge::mcp::subscriptions::ServerChange;
use mcp_bridge::mcp::tools::CallToolResult;
use serde_json::{Value, json};
use std::env;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// First argument of this program when it is the server.
const SERVER: &str = "--server";

type Test = (&'static str, fn() -> BoxFuture<'static, ()>);

const TESTS: [Test; 15] = [
    ("tools_of_both_generations_are_called", || both_generations().boxed()),
    ("question_is_answered_in_both_generations", || question().boxed()),
    ("server_that_died_is_started_for_the_next_call", || died().boxed()),
    ("silent_server_is_unavailable", || silent().boxed()),
    ("missing_server_is_unavailable", || missing().boxed()),
    ("last_words_of_a_broken_server_are_in_the_error", || broken().boxed()),
    ("tool_that_hangs_fails_without_the_others", || hangs().boxed()),
    ("changed_list_is_retrieved", || changed().boxed()),
    ("large_result_is_complete", || large().boxed()),
    ("questions_and_answers_stay_with_their_user", || users::stay_apart().boxed()),
    ("question_without_a_call_is_refused_on_a_shared_connection", || users::share().boxed()),
    ("calls_of_one_user_delay_no_other_on_a_shared_connection", || users::take_turns().boxed()),
    ("connections_of_users_are_limited", || users::are_limited().boxed()),
    ("connection_of_a_user_makes_room_for_that_of_another", || users::make_room().boxed()),
    ("unused_connection_of_a_user_is_closed", || users::end_when_unused().boxed()),
];

fn main() -> ExitCode {
    if let Some(guard) = Guard::requested(env::args_os()) {
        return guard.run("servers");
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [flag, mode] = &arguments[..]
        && flag == SERVER
    {
        return scripted::serve(mode);
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let chosen = TESTS.iter().filter(|(name, _)| filter.is_none_or(|it| name.contains(&**it)));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for (name, test) in chosen {
        runtime.block_on(test());
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

fn options() -> ServerOptions {
    ServerOptions::new("test", "1")
}

fn start_with(mode: &str, options: ServerOptions) -> ToolServer {
    let program = env::current_exe().expect("a path").to_str().expect("UTF-8").to_owned();
    let arguments = [SERVER.to_owned(), mode.to_owned()];
    let server = McpServerStdio::new("scripted", program, arguments, []);
    ToolServer::start(&McpServer::Stdio(server), options, None).expect("an address")
}

fn start(mode: &str) -> ToolServer {
    start_with(mode, options())
}

fn params(tool: &str, arguments: &Value) -> CallParams {
    CallParams::new(tool, Raw::from_value(arguments).expect("JSON"))
}

async fn open(server: &ToolServer, tool: &str, arguments: &Value) -> ServerCall {
    server.open("ada", params(tool, arguments)).await.expect("a server")
}

async fn ended(mut call: ServerCall) -> Result<Box<CallToolResult>, CallError> {
    match call.next().await {
        CallEvent::Ended(outcome) => outcome,
        other => panic!("unexpected event: {other:?}"),
    }
}

async fn text(call: ServerCall) -> String {
    let result = ended(call).await.expect("a result");
    match &result.content[..] {
        [ContentBlock::Text(text)] => text.text.clone(),
        other => panic!("unexpected content: {other:?}"),
    }
}

fn names(server: &ToolServer) -> Vec<String> {
    server.tools().iter().map(|tool| tool.name.clone()).collect()
}

async fn both_generations() {
    for (mode, version) in [("modern", "2026-07-28"), ("legacy", "2025-11-25")] {
        let server = start(mode);
        server.ready().await;
        assert_eq!(names(&server), ["echo", "large", "die", "hang", "ask", "add", "process"]);
        assert_eq!(server.description().expect("one").version.as_str(), version);
        let call = open(&server, "echo", &json!({ "text": "é\n" })).await;
        assert_eq!(text(call).await, "é\n");
    }
}

async fn question() {
    for mode in ["modern", "legacy"] {
        let server = start(mode);
        let mut call = open(&server, "ask", &json!({})).await;
        let CallEvent::Needs(needs) = call.next().await else { panic!("expected a question") };
        let (key, _) = needs.requests.first().expect("one").clone();
        let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
        call.answer(vec![(key, Ok(Raw::from_value(&answer).expect("JSON")))]).await;
        assert_eq!(text(call).await, r#""accept" "Ada""#, "{mode}");
    }
}

async fn died() {
    let server = start("modern");
    server.ready().await;
    for _ in 0..3 {
        let call = open(&server, "die", &json!({})).await;
        let outcome = ended(call).await;
        assert!(matches!(outcome, Err(CallError::Silent)), "{outcome:?}");
        assert_eq!(names(&server).len(), 7, "the tools are still listed");
        let call = open(&server, "echo", &json!({ "text": "back" })).await;
        assert_eq!(text(call).await, "back");
    }
}

async fn silent() {
    let mut options = options();
    options.start_time = Duration::from_millis(200);
    let server = start_with("silent", options);
    server.ready().await;
    assert!(names(&server).is_empty());
    let error =
        server.open("ada", params("echo", &json!({}))).await.expect_err("no server").to_string();
    assert_eq!(error, "the MCP server `scripted` is not available: no answer within 0.2 seconds");
}

async fn missing() {
    let server = McpServerStdio::new("gone", "/nonexistent/server", [], []);
    let server = ToolServer::start(&McpServer::Stdio(server), options(), None).expect("an address");
    server.ready().await;
    let error =
        server.open("ada", params("echo", &json!({}))).await.expect_err("no server").to_string();
    assert!(error.starts_with("the MCP server `gone` is not available: "), "{error}");
    assert!(error.contains("/nonexistent/server"), "{error}");
}

async fn broken() {
    let server = start("broken");
    let error =
        server.open("ada", params("echo", &json!({}))).await.expect_err("no server").to_string();
    assert!(error.contains("exit status: 3"), "{error}");
    assert!(error.contains("the licence has expired"), "{error}");
}

async fn hangs() {
    let mut options = options();
    options.call_time = Duration::from_millis(200);
    let server = start_with("modern", options);
    let began = Instant::now();
    let outcome = ended(open(&server, "hang", &json!({})).await).await;
    assert!(matches!(outcome, Err(CallError::Silent)), "{outcome:?}");
    assert!(began.elapsed() >= Duration::from_millis(200));
    let call = open(&server, "echo", &json!({ "text": "here" })).await;
    assert_eq!(text(call).await, "here");
}

async fn changed() {
    for mode in ["modern", "legacy"] {
        let server = start(mode);
        server.ready().await;
        let mut changes = server.subscribe("ada");
        let call = open(&server, "add", &json!({ "name": "later" })).await;
        assert_eq!(text(call).await, "added");
        let known = async {
            while !names(&server).contains(&"later".to_owned()) {
                assert_eq!(changes.recv().await, Ok(ServerChange::Tools));
            }
        };
        timeout(Duration::from_secs(60), known).await.expect("the new list");
        assert_eq!(text(open(&server, "later", &json!({})).await).await, "new", "{mode}");
    }
}

async fn large() {
    let server = start("modern");
    let bytes = 8 << 20;
    let call = open(&server, "large", &json!({ "bytes": bytes })).await;
    assert_eq!(text(call).await.len(), bytes);
    // A line beyond the limit of the connection fails its call, or ends the connection.
    let outcome = ended(open(&server, "large", &json!({ "bytes": 32 << 20 })).await).await;
    assert!(outcome.is_err());
    let call = open(&server, "echo", &json!({ "text": "here" })).await;
    assert_eq!(text(call).await, "here");
}
