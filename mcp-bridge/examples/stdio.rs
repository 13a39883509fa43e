//! Serves a tool over stdin and stdout: `cargo run -p mcp-bridge --features tokio --example stdio`.
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
use schemars::JsonSchema;
use serde::Deserialize;
use std::error::Error;

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
    mcp_bridge::stdio::serve(Implementation::new("adder", "1"), [add]).await?;
    Ok(())
}
