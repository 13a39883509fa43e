//! Requests that are no tool calls, and subscriptions, of clients of both generations.
use crate::client::connect;
use crate::world::World;
use async_trait::async_trait;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::CallError;
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::capabilities::{Implementation, ListChangedCapability, ResourcesCapability};
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::subscriptions::{ServerChange, SubscriptionFilter};
use mcp_bridge::server::{CallOutcome, ServerOptions, ToolCall, adapt_outcome};
use mcp_bridge_http::{CallContext, EndpointOptions, RequestContext, Service};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// A server of resources. Its state is the set of resources with a subscription.
#[derive(Default)]
struct Files(watch::Sender<BTreeSet<String>>);

#[async_trait]
impl Service for Files {
    fn options(&self, _principal: &str) -> ServerOptions {
        let mut options = ServerOptions::new(Implementation::new("files", "1"), []);
        let prompts = ListChangedCapability::new().with_list_changed(true);
        let resources = ResourcesCapability::new().with_list_changed(true).with_subscribe(true);
        options.capabilities = options.capabilities.with_prompts(prompts).with_resources(resources);
        options
    }

    async fn call(&self, _call: &ToolCall, _context: &CallContext) -> CallOutcome {
        CallOutcome::failed("there are no tools")
    }

    fn subscribed(&self, uri: &str) {
        self.0.send_modify(|all| assert!(all.insert(uri.to_owned())));
    }

    fn unsubscribed(&self, uri: &str) {
        self.0.send_modify(|all| assert!(all.remove(uri)));
    }

    async fn request(
        &self,
        request: &ClientRequest,
        context: &RequestContext,
    ) -> Result<Raw, ErrorObject> {
        let outcome = match request {
            ClientRequest::ReadResource(params) if params.uri == "file:///a" => {
                Ok(Raw::from_value(&json!({ "contents": [] })).expect("JSON"))
            }
            other => Err(ErrorObject::new(ErrorCode(-32002), other.method())),
        };
        adapt_outcome(request, outcome, context.era)
    }
}

impl Files {
    /// Waits until these resources have a subscription.
    async fn wait_for(&self, uris: &[&str]) {
        let expected = uris.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
        let mut all = self.0.subscribe();
        let reached = all.wait_for(|all| *all == expected);
        timeout(Duration::from_secs(60), reached).await.expect("in time").expect("a service");
    }
}

fn read(uri: &str) -> ClientRequest {
    let params = Raw::from_value(&json!({ "uri": uri })).expect("JSON");
    ClientRequest::decode("resources/read", Some(params.as_ref())).expect("params")
}

fn filter(uris: &[&str]) -> SubscriptionFilter {
    let uris: Vec<_> = uris.iter().map(ToString::to_string).collect();
    SubscriptionFilter::new().with_prompts_list_changed(true).with_resource_subscriptions(uris)
}

async fn next(changes: &mut tokio::sync::broadcast::Receiver<ServerChange>) -> ServerChange {
    timeout(Duration::from_secs(60), changes.recv()).await.expect("in time").expect("a change")
}

#[tokio::test]
async fn request_has_a_result_or_an_error() {
    for era in [Era::Legacy, Era::Modern] {
        let world = World::new(Arc::<Files>::default(), EndpointOptions::default()).await;
        let client = connect(&world.url, Some(era)).await.expect("a connection");
        let result = client.request(read("file:///a")).await.expect("a result");
        let result = result.decode::<Value>().expect("JSON");
        assert_eq!(result["contents"], json!([]));
        assert_eq!(result.get("resultType").is_some(), era == Era::Modern);
        let Err(CallError::Refused(error)) = client.request(read("file:///b")).await else {
            panic!("expected an error")
        };
        let expected = if era == Era::Modern { -32602 } else { -32002 };
        assert_eq!(error.code.0, expected);
        assert_eq!(&*error.message, "resources/read");
    }
    let world = World::new(Arc::<Files>::default(), EndpointOptions::default()).await;
    let client = connect(&world.url, Some(Era::Modern)).await.expect("a connection");
    let old = ClientRequest::decode("ping", None).expect("params");
    let Err(CallError::Refused(error)) = client.request(old).await else { panic!("an error") };
    assert_eq!(error.code, ErrorCode::METHOD_NOT_FOUND);
}

#[tokio::test]
async fn changes_reach_the_client() {
    for era in [Era::Legacy, Era::Modern] {
        let files = Arc::<Files>::default();
        let world = World::new(files.clone(), EndpointOptions::default()).await;
        let client = connect(&world.url, Some(era)).await.expect("a connection");
        let mut changes = client.subscribe(filter(&["file:///a"])).await.expect("open");
        files.wait_for(&["file:///a"]).await;
        world.endpoint().notify_changed(&ServerChange::Resource("file:///b".into()));
        world.endpoint().notify_changed(&ServerChange::Prompts);
        assert_eq!(next(&mut changes).await, ServerChange::Prompts);
        world.endpoint().notify_changed(&ServerChange::Resource("file:///a".into()));
        assert_eq!(next(&mut changes).await, ServerChange::Resource("file:///a".into()));

        let _same = client.subscribe(filter(&["file:///b"])).await.expect("open");
        files.wait_for(&["file:///b"]).await;
        world.endpoint().notify_changed(&ServerChange::Resource("file:///b".into()));
        assert_eq!(next(&mut changes).await, ServerChange::Resource("file:///b".into()));
        drop(client);
        files.wait_for(&[]).await;
    }
}

#[tokio::test]
async fn subscription_that_the_server_ended_is_opened_again() {
    let files = Arc::<Files>::default();
    // The first attempt to open the subscription again fails.
    let refusals = Arc::new(watch::Sender::new(0));
    let mut options = EndpointOptions::default();
    let left = refusals.clone();
    options.authenticate = Some(Arc::new(move |_| {
        let is_refused = left.send_if_modified(|left| {
            let is_refused = *left > 0;
            *left -= u32::from(is_refused);
            is_refused
        });
        (!is_refused).then(String::new)
    }));
    let world = World::new(files.clone(), options).await;
    let client = connect(&world.url, Some(Era::Modern)).await.expect("a connection");
    let mut changes = client.subscribe(filter(&["file:///a"])).await.expect("open");
    files.wait_for(&["file:///a"]).await;
    // The acknowledgement and this change come in one stream, so the subscription is open on both
    // sides.
    world.endpoint().notify_changed(&ServerChange::Prompts);
    assert_eq!(next(&mut changes).await, ServerChange::Prompts);
    refusals.send_replace(1);
    world.endpoint().close();
    assert!(files.0.borrow().is_empty());
    // What the client may have missed is reported as changed.
    assert_eq!(next(&mut changes).await, ServerChange::Prompts);
    assert_eq!(*refusals.borrow(), 0);
    assert_eq!(next(&mut changes).await, ServerChange::Resource("file:///a".into()));
    files.wait_for(&["file:///a"]).await;
    world.endpoint().notify_changed(&ServerChange::Resource("file:///a/b".into()));
    assert_eq!(next(&mut changes).await, ServerChange::Resource("file:///a/b".into()));
}
