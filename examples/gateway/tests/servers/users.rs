//! Two users of one server, which asks without naming a call.
use super::{options, params, start_with, text};
use futures::future::{Either, select};
use gateway::tools::sources::{CallEvent, ServerCall, ToolServer};
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::CallParams;
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::elicitation::ElicitRequestParams;
use serde_json::{Value, json};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const USERS: [&str; 2] = ["ada", "ben"];

/// Number of orders in which two calls are opened, asked about, and answered.
const INTERLEAVINGS: u32 = 1000;

async fn call(server: &ToolServer, user: &str, waits: bool) -> ServerCall {
    let arguments = json!({ "user": user, "waits": waits });
    let params = CallParams::new("ask", Raw::from_value(&arguments).expect("JSON"));
    server.open(user, params).await.expect("a server")
}

/// Waits for the question of a call, which is for `user`, and returns its key.
async fn question(call: &mut ServerCall, user: &str) -> String {
    let CallEvent::Needs(needs) = call.next().await else { panic!("expected a question") };
    let [(key, ServerRequest::Elicit(params))] = &needs.requests[..] else { panic!("{needs:?}") };
    let ElicitRequestParams::Form(form) = &**params else { panic!("{params:?}") };
    assert_eq!(form.message, user, "a question has reached another user");
    key.clone()
}

async fn answer(call: &ServerCall, key: String, user: &str) {
    let answer: Value = json!({ "action": "accept", "content": { "a": user } });
    call.answer(vec![(key, Ok(Raw::from_value(&answer).expect("JSON")))]).await;
}

/// Each bit of a number decides which user comes first in one step.
pub(super) async fn stay_apart() {
    let server = start_with("asking", options());
    for number in 0..INTERLEAVINGS {
        let order = |bit: u32| if number >> bit & 1 == 0 { [0, 1] } else { [1, 0] };
        let mut calls = [None, None];
        for index in order(0) {
            calls[index] = Some(call(&server, USERS[index], false).await);
        }
        let mut keys = [None, None];
        for index in order(1) {
            let call = calls[index].as_mut().expect("a call");
            keys[index] = Some(question(call, USERS[index]).await);
        }
        for index in order(2) {
            let key = keys[index].take().expect("a question");
            answer(calls[index].as_ref().expect("a call"), key, USERS[index]).await;
        }
        for index in order(3) {
            let user = USERS[index];
            let call = calls[index].take().expect("a call");
            assert_eq!(text(call).await, format!("{user}: {user}"));
        }
    }
}

/// The first call is asked about while the second one is open, so the question could belong to
/// either.
pub(super) async fn share() {
    let mut options = options();
    options.is_shared = true;
    let server = start_with("asking", options);
    for number in 0..INTERLEAVINGS {
        let [first, second] = if number % 2 == 0 { USERS } else { [USERS[1], USERS[0]] };
        let waiting = call(&server, first, true).await;
        let asking = call(&server, second, false).await;
        assert_eq!(text(waiting).await, format!("{first}: refused"));
        assert_eq!(text(asking).await, format!("{second}: refused"));
    }
    // Nor is a question of one open call certain to be of that call.
    assert_eq!(text(call(&server, "ada", false).await).await, "ada: refused");
}

/// A user has calls that do not end, and waits with a further one; the calls of another user pass.
pub(super) async fn take_turns() {
    let mut options = options();
    options.is_shared = true;
    options.max_shared_calls = 2;
    let server = start_with("", options);
    let open = |user, name, arguments: Value| {
        server.open(user, CallParams::new(name, Raw::from_value(&arguments).expect("JSON")))
    };
    let hang = || open("ada", "hang", json!({}));
    let first = hang().await.expect("a call");
    let second = hang().await.expect("a call");
    let mut third = pin!(hang());
    for _ in 0..3 {
        let echo = async {
            let call = open("ben", "echo", json!({ "text": "hi" })).await.expect("a call");
            assert_eq!(text(call).await, "hi");
        };
        let echo = pin!(echo);
        assert!(matches!(select(&mut third, echo).await, Either::Right(_)), "it has its turn");
    }
    drop(first);
    let third = third.await.expect("a call");
    drop((second, third));
}

pub(super) async fn are_limited() {
    let mut options = options();
    options.max_connections = 1;
    options.idle_time = Duration::from_millis(50);
    let server = start_with("asking", options);
    // The first user has the connection that lists the tools.
    let first = call(&server, "ada", true).await;
    let second = call(&server, "ben", true).await;
    let params = CallParams::new("ask", Raw::from_text(r#"{"user":"eve"}"#).expect("JSON"));
    let refused = server.open("eve", params).await.expect_err("no room").to_string();
    assert!(refused.contains("the connections of 1 users have open calls"), "{refused}");
    drop(second);
    let mut third = call(&server, "eve", false).await;
    let key = question(&mut third, "eve").await;
    answer(&third, key, "eve").await;
    assert_eq!(text(third).await, "eve: eve");
    // A connection that was closed is opened by the next call.
    let again = call(&server, "ben", true).await;
    drop(again);
    drop(first);
}

/// Returns the process of the server that a user has.
async fn process(server: &ToolServer, user: &str) -> String {
    text(server.open(user, params("process", &json!({}))).await.expect("a server")).await
}

pub(super) async fn make_room() {
    let mut options = options();
    options.max_connections = 1;
    let server = start_with("modern", options);
    let first = process(&server, "ada").await;
    let second = process(&server, "ben").await;
    assert_eq!(process(&server, "ben").await, second);
    assert_ne!(process(&server, "eve").await, second);
    assert_ne!(process(&server, "ben").await, second, "its connection was closed");
    assert_eq!(process(&server, "ada").await, first);
}

pub(super) async fn end_when_unused() {
    let mut options = options();
    options.idle_time = Duration::from_millis(50);
    let server = start_with("modern", options);
    let first = process(&server, "ada").await;
    let second = process(&server, "ben").await;
    let is_closed = async {
        while process(&server, "ben").await == second {
            sleep(Duration::from_millis(100)).await;
        }
    };
    timeout(Duration::from_secs(60), is_closed).await.expect("a new connection");
    assert_eq!(process(&server, "ada").await, first, "the one that lists the tools stays");
}
