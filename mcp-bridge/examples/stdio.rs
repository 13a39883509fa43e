//! A tool that asks before it deletes, served over stdin and stdout: `cargo run -p mcp-bridge --features tokio --example stdio`.
use mcp_bridge::elicitations;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{Elicited, PluginContext, PluginError, PluginTool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::error::Error;

#[derive(Deserialize, Serialize, JsonSchema)]
struct Target {
    /// Name of the file.
    file: String,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Confirmation {
    /// Whether the file may go.
    delete: bool,
}

elicitations! {
    /// Questions of the tool.
    Questions handled by QuestionHandlers {
        /// May the file go?
        confirm: Confirm = "confirm" (Target => Confirmation),
    }
}

async fn delete(target: Target, ctx: PluginContext<Questions>) -> Result<String, PluginError> {
    let message = format!("Delete {}?", target.file);
    match ctx.elicit::<Confirm>(&message, &target).await? {
        Elicited::Accept(Confirmation { delete: true }) => Ok(format!("{} is gone", target.file)),
        _ => Ok(format!("{} stays", target.file)),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let tool = PluginTool::builder("delete", "1")
        .description("Deletes a file, after the user has agreed")
        .elicits::<Questions>()
        .execute(delete)?;
    mcp_bridge::stdio::serve(Implementation::new("files", "1"), [tool]).await?;
    Ok(())
}
