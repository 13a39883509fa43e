//! Dropped connections and cancelled calls, while a tool runs or asks.
use crate::world::{Events, World};
use mcp_bridge::elicitations;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, PluginContext, PluginHost, PluginTool, SuspendPolicy,
};
use mcp_bridge_http::{EndpointOptions, PluginService, since_1970};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct NoContext {}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Confirmation {
    is_sure: bool,
}

elicitations! {
    /// Questions of the tool.
    pub(crate) Asks handled by AsksHandlers {
        /// A confirmation.
        confirm: Confirm = "confirm" (NoContext => Confirmation),
    }
}

/// Reports when it is dropped.
struct DropReport(mpsc::UnboundedSender<&'static str>);

impl Drop for DropReport {
    fn drop(&mut self) {
        let _closed = self.0.send("dropped");
    }
}

struct SlowCall {
    world: World,
    service: Arc<PluginService>,
    may_end: Arc<Semaphore>,
    events: mpsc::UnboundedReceiver<&'static str>,
}

/// Starts a server with a tool that asks, and then works until it is released.
async fn slow(policy: SuspendPolicy) -> SlowCall {
    let may_end = Arc::new(Semaphore::new(0));
    let (sender, events) = mpsc::unbounded_channel();
    let semaphore = Arc::clone(&may_end);
    let tool = PluginTool::builder("slow", "1").elicits::<Asks>().execute(
        move |_: NoContext, ctx: PluginContext<Asks>| {
            let may_end = Arc::clone(&semaphore);
            let sender = sender.clone();
            async move {
                let sure = ctx.elicit::<Confirm>("Sure?", &NoContext {}).await?;
                let _running = DropReport(sender.clone());
                let _closed = sender.send("running");
                ctx.step("work", || async { may_end.acquire().await.expect("open").forget() })
                    .await?;
                Ok(matches!(sure, ElicitResponse::Accept(Confirmation { is_sure: true })))
            }
        },
    );
    let tools = [tool.expect("a form")];
    let store = Arc::new(MemoryStore::default());
    let host = PluginHost::new(tools, policy, store, "a", Arc::new(since_1970));
    let service = Arc::new(PluginService::new(host, Implementation::new("slow", "1")));
    let world = World::new(Arc::clone(&service) as Arc<_>, EndpointOptions::default()).await;
    SlowCall { world, service, may_end, events }
}

#[tokio::test]
async fn retry_after_a_dropped_connection_takes_over_at_once() {
    for policy in [SuspendPolicy::Replay, SuspendPolicy::ParkOrReplay, SuspendPolicy::Park] {
        let shown = format!("{policy:?}");
        let mut slow = slow(policy).await;
        let can = json!({ "elicitation": {} });
        let params = json!({ "name": "slow", "arguments": {} });
        let begun = slow.world.modern(1, "tools/call", params, &can).send().await.expect("one");
        let begun: Value = begun.json().await.expect("JSON");
        let answer = json!({ "action": "accept", "content": { "is_sure": true } });
        let params = json!({
            "name": "slow", "arguments": {}, "requestState": begun["result"]["requestState"],
            "inputResponses": { "confirm": answer },
        });
        let first = slow.world.modern(2, "tools/call", params.clone(), &can).send();
        let first = tokio::spawn(first);
        assert_eq!(slow.events.recv().await, Some("running"), "{shown}");
        first.abort();
        // A parking host keeps the tool. Other policies drop it with the connection.
        if shown == "Replay" {
            assert_eq!(slow.events.recv().await, Some("dropped"));
        }
        slow.may_end.add_permits(1);
        let mut retries = 3..10_000;
        let result = loop {
            let id = retries.next().expect("it is taken over");
            let again = slow.world.modern(id, "tools/call", params.clone(), &can).send().await;
            let again: Value = again.expect("an answer").json().await.expect("JSON");
            // The server may not have noticed the end of a connection yet, unless its tool was
            // dropped.
            if shown == "Replay" || again["result"]["isError"] != true {
                break again["result"].clone();
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(result["structuredContent"], true, "{shown}: {result}");
    }
}

#[tokio::test]
async fn cancelled_call_withdraws_its_form_and_frees_its_room() {
    let slow = slow(SuspendPolicy::Replay).await;
    let session = slow.world.session(&json!({ "elicitation": {} })).await;
    let params = json!({ "name": "slow", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let mut events = Events::of(session.post(&call).await);
    let question = events.message().await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(slow.service.host().active().await.expect("a store").len(), 1);
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(session.post(&cancel).await.status(), 202);
    let withdrawn = events.message().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert!(events.next().await.is_none(), "the stream ends");
    while !slow.service.host().active().await.expect("a store").is_empty() {
        tokio::task::yield_now().await;
    }
}
