//! Tasks over HTTP and the notifications of their subscribers.
use crate::mcp_http::book_flight::{result, trip};
use crate::mcp_http::world::{Events, World};
use axum::http::header::AUTHORIZATION;
use demo_agent::book_flight;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{MemoryStore, PluginHost, SuspendPolicy};
use mcp_bridge_http::{EndpointOptions, PluginService, since_1970};
use serde_json::{Value, json};
use std::sync::Arc;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn can() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "extensions": { EXTENSION: {} } })
}

/// Starts a server that uses the token as the principal.
async fn world() -> World {
    let tool = book_flight::tool().expect("forms");
    let store = Arc::new(MemoryStore::default());
    let clock = Arc::new(since_1970);
    let host = PluginHost::new([tool], SuspendPolicy::Park, store, "a", clock);
    let service = Arc::new(PluginService::new(host, Implementation::new("travel", "1")));
    let mut options = EndpointOptions::default();
    options.authenticate =
        Some(Arc::new(|headers| headers.get(AUTHORIZATION)?.to_str().ok().map(ToOwned::to_owned)));
    let world = World::new(Arc::clone(&service) as Arc<_>, options).await;
    service.serve_at(world.endpoint());
    world
}

/// Sends a request about a task and returns the response.
async fn ask(world: &World, who: &str, method: &str, params: Value) -> Value {
    let name = params["taskId"].as_str().map(ToOwned::to_owned);
    let mut request = world.modern(1, method, params, &can()).header(AUTHORIZATION, who);
    if let Some(name) = name {
        request = request.header("Mcp-Name", name);
    }
    request.send().await.expect("an answer").json().await.expect("JSON")
}

async fn listen(world: &World, who: &str, task: &str) -> Events {
    let params = json!({ "notifications": { "taskIds": [task] } });
    let request = world.modern(7, "subscriptions/listen", params, &can());
    let mut events = Events::of(request.header(AUTHORIZATION, who).send().await.expect("a stream"));
    let told = events.message().await;
    assert_eq!(told["params"]["notifications"], json!({ "taskIds": [task] }));
    events
}

/// Returns the questions of a task, once it asks.
async fn questions(world: &World, id: &Value) -> Value {
    for _ in 0..10_000 {
        let stands = ask(world, "ada", "tasks/get", id.clone()).await["result"].clone();
        if stands["status"] == "input_required" {
            return stands["inputRequests"].clone();
        }
        assert_eq!(stands["status"], "working");
    }
    panic!("it works for ever");
}

#[tokio::test]
async fn subscribers_are_notified_of_their_tasks() {
    let world = world().await;
    let call = json!({ "name": "book_flight", "arguments": trip() });
    let made = ask(&world, "ada", "tools/call", call).await;
    let task = made["result"]["taskId"].as_str().expect("a task").to_owned();
    let id = json!({ "taskId": task });

    let mut hers = listen(&world, "ada", &task).await;
    let mut his = listen(&world, "eve", &task).await;
    for next in ["pickSeat", "pickSeat#2"] {
        let needs = questions(&world, &id).await;
        let answers = needs.as_object().expect("questions").iter();
        let answers: Value = answers.map(|(key, asked)| (key.clone(), result(asked))).collect();
        let update = json!({ "taskId": task, "inputResponses": answers });
        let refused = ask(&world, "eve", "tasks/update", update.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "it is not his");
        assert_eq!(
            ask(&world, "ada", "tasks/update", update).await["result"]["resultType"],
            "complete"
        );
        // Earlier statuses may have been sent before the subscription.
        loop {
            let told = hers.message().await;
            assert_eq!(told["method"], "notifications/tasks");
            assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
            if told["params"]["inputRequests"][next].is_object() {
                break;
            }
        }
    }
    let done = ask(&world, "ada", "tasks/cancel", id.clone()).await;
    assert_eq!(done["result"], json!({ "resultType": "complete" }));
    assert_eq!(hers.message().await["params"]["status"], "cancelled");
    assert_eq!(ask(&world, "ada", "tasks/get", id).await["result"]["status"], "cancelled");
    world.endpoint().close();
    assert_eq!(his.message().await["id"], 7, "no notification before the end");
}
