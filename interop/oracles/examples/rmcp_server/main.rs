//! Serves a tool of mcp-bridge over stdin and stdout with the official Rust SDK.
mod adapter;

use adapter::HostHandler;
use mcp_bridge::plugin::SuspendPolicy;
use mcp_bridge::plugin::{MemoryStore, NoElicitations, PluginContext, PluginHost, PluginTool};
use mcp_bridge_http::{random_id, since_1970};
use rmcp::ServiceExt;
use schemars::JsonSchema;
use serde::Deserialize;
use std::{error::Error, sync::Arc};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let add = PluginTool::builder("add", "1")
        .elicits::<NoElicitations>()
        .execute(|add: Add, _: PluginContext<NoElicitations>| async move { Ok(add.a + add.b) })?;
    let store = Arc::new(MemoryStore::default());
    let clock = Arc::new(since_1970);
    let host = PluginHost::new([add], SuspendPolicy::Park, store, random_id()?, clock);
    let handler = HostHandler(Arc::new(host));
    handler.serve((tokio::io::stdin(), tokio::io::stdout())).await?.waiting().await?;
    Ok(())
}
