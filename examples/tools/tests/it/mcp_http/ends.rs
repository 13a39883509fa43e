//! Bookings that end without a ticket, by clients of both generations.
use crate::mcp_http::book_flight::{book, go_on, next_but_progress, program, result, token, trip};
use crate::mcp_http::world::{Events, Session, World};
use demo_agent::book_flight;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{MemoryStore, PluginHost, SuspendPolicy};
use mcp_bridge_http::{EndpointOptions, PluginService};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn can() -> Value {
    json!({ "elicitation": {}, "sampling": {} })
}

/// Calls the tool in a session.
async fn call(session: &Session<'_>) -> Events {
    let params = json!({ "name": "book_flight", "arguments": trip() });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    Events::of(session.post(&call).await)
}

/// Books like [`book`], in a session up to 2025-11-25.
async fn book_in_session(world: &World, answer: impl Fn(&Value) -> Value) -> Value {
    let session = world.session(&can()).await;
    let mut events = call(&session).await;
    loop {
        let message = next_but_progress(&mut events, &mut Vec::new()).await;
        if message["method"].is_null() {
            return message["result"].clone();
        }
        respond(&session, &message, answer(&message)).await;
    }
}

async fn respond(session: &Session<'_>, question: &Value, result: Value) {
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(session.post(&answer).await.status(), 202);
}

#[tokio::test]
async fn user_may_decline_or_cancel() {
    for (action, status) in [("decline", "declined"), ("cancel", "cancelled")] {
        for question in ["Which flight", "Which seat"] {
            let answer = |request: &Value| {
                let message = request["params"]["message"].as_str().unwrap_or_default();
                match message.starts_with(question) {
                    true => json!({ "action": action }),
                    false => result(request),
                }
            };
            for policy in [SuspendPolicy::Park, SuspendPolicy::Replay, token()] {
                let program = program(policy, &Arc::default(), "a", false).await;
                let (ended, _) = book(&[&program], &can(), answer).await;
                assert_eq!(ended["structuredContent"], json!({ "status": status }), "{question}");
                let ended = book_in_session(&program, answer).await;
                assert_eq!(ended["structuredContent"], json!({ "status": status }), "{question}");
            }
        }
    }
}

/// Returns the error message of a failed tool.
fn failure(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().expect("a text")
}

/// A server with a clock that the test advances.
struct ClockedServer {
    service: Arc<PluginService>,
    world: World,
    seconds: Arc<AtomicU64>,
}

impl ClockedServer {
    async fn new(policy: SuspendPolicy, question_time: Option<Duration>) -> Self {
        let seconds = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&seconds);
        let clock = Arc::new(move || Duration::from_secs(clock.load(Ordering::SeqCst)));
        let tool = book_flight::tool().expect("forms");
        let store = Arc::new(MemoryStore::default());
        let host = PluginHost::new([tool], policy, store, "a", clock);
        let service = Arc::new(PluginService::new(host, Implementation::new("travel", "1")));
        let mut options = EndpointOptions::default();
        options.question_time = question_time;
        let world = World::new(Arc::clone(&service) as Arc<_>, options).await;
        Self { service, world, seconds }
    }

    /// Aborts the only waiting session.
    async fn abort(&self) {
        let active = self.service.host().active().await.expect("a store");
        assert_eq!(active.len(), 1);
        self.service.host().abort(&active[0].id, "", "enough").await.expect("it waits");
        assert!(self.service.host().active().await.expect("a store").is_empty());
    }

    /// Exceeds the time limit of a session.
    fn wait(&self) {
        self.seconds.fetch_add(2 * 60 * 60, Ordering::SeqCst);
    }

    async fn end(&self, is_aborted: bool) -> &'static str {
        if is_aborted {
            self.abort().await;
            return "the session was aborted";
        }
        self.wait();
        "the session has expired"
    }
}

#[tokio::test]
async fn call_can_be_aborted_and_expires() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::ParkOrReplay, SuspendPolicy::Replay] {
        for is_aborted in [true, false] {
            let timed = ClockedServer::new(policy.clone(), None).await;
            let params = json!({ "name": "book_flight", "arguments": trip() });
            let begun = timed.world.modern(1, "tools/call", params, &can()).send().await;
            let begun: Value = begun.expect("an answer").json().await.expect("JSON");
            let expected = timed.end(is_aborted).await;
            let (ended, _) = go_on(&[&timed.world], &can(), result, &begun).await;
            assert_eq!(failure(&ended), expected);

            // An older client with an open call.
            let session = timed.world.session(&can()).await;
            let mut events = call(&session).await;
            let question = next_but_progress(&mut events, &mut Vec::new()).await;
            assert_eq!(question["method"], "elicitation/create");
            let expected = timed.end(is_aborted).await;
            respond(&session, &question, result(&question)).await;
            let ended = next_but_progress(&mut events, &mut Vec::new()).await;
            assert_eq!(failure(&ended["result"]), expected);
        }
    }
}

#[tokio::test]
async fn unanswered_question_of_a_legacy_client_expires() {
    let timed = ClockedServer::new(SuspendPolicy::Replay, Some(Duration::from_millis(1))).await;
    let session = timed.world.session(&can()).await;
    let mut events = call(&session).await;
    let question = events.message().await;
    assert_eq!(question["method"], "elicitation/create");
    let withdrawn = events.message().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    let ended = events.message().await;
    assert!(failure(&ended["result"]).ends_with("no answer in time"), "{ended}");
}

#[tokio::test]
async fn token_expires() {
    let timed = ClockedServer::new(token(), None).await;
    let params = json!({ "name": "book_flight", "arguments": trip() });
    let begun = timed.world.modern(1, "tools/call", params, &can()).send().await;
    let begun: Value = begun.expect("an answer").json().await.expect("JSON");
    timed.wait();
    let (ended, _) = go_on(&[&timed.world], &can(), result, &begun).await;
    assert_eq!(failure(&ended), "the session has expired");
}
