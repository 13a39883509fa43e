//! Serves a tool over HTTP: `cargo run -p mcp-http --example http`.
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{
    MemoryStore, NoElicitations, PluginContext, PluginHost, PluginTool, SuspendPolicy,
};
use mcp_http::{Endpoint, EndpointOptions, PluginService, random_id, router, since_1970};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;
use std::sync::Arc;

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let add = PluginTool::builder("add", "1")
        .description("Adds two numbers")
        .elicits::<NoElicitations>()
        .execute(|add: Add, _: PluginContext<NoElicitations>| async move { Ok(add.a + add.b) })?;
    let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(since_1970));
    let host = PluginHost::new([add], SuspendPolicy::Replay, store, random_id()?, clock);
    let service = PluginService::new(host, Implementation::new("adder", "1"));
    let endpoint = Endpoint::new(Arc::new(service), EndpointOptions::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8970").await?;
    axum::serve(listener, router("/mcp", endpoint)).await?;
    Ok(())
}
