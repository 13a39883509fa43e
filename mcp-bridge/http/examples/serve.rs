//! Serves a tool over HTTP: `cargo run -p mcp-bridge-http --example serve 127.0.0.1:8970`.
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
use mcp_bridge_http::{Endpoint, EndpointOptions, PluginService, router};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{env, error::Error, sync::Arc};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let add = PluginTool::builder("add", "1")
        .description("Adds two integers")
        .elicits::<NoElicitations>()
        .execute(|add: Add, _: PluginContext<NoElicitations>| async move { Ok(add.a + add.b) })?;
    let service = PluginService::in_memory([add], Implementation::new("adder", "1"))?;
    let endpoint = Endpoint::new(Arc::new(service), EndpointOptions::default());
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, router("/mcp", endpoint)).await?;
    Ok(())
}
