//! A tool server over stdin and stdout. Its tool asks the user before it deletes a file.
//!
//! ```text
//! cargo run -p mcp-bridge --features tokio --example ask
//! ```
use mcp_bridge::elicitations;
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::plugin::{ElicitResponse, PluginContext, PluginError, PluginTool};
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
    /// Whether to delete the file.
    delete: bool,
}

elicitations! {
    /// Questions of the tool `delete`.
    Questions handled by QuestionHandlers {
        /// Confirmation of the deletion.
        confirm: Confirm = "confirm" (Target => Confirmation),
    }
}

async fn delete(target: Target, ctx: PluginContext<Questions>) -> Result<String, PluginError> {
    let message = format!("Delete {}?", target.file);
    match ctx.elicit::<Confirm>(&message, &target).await? {
        ElicitResponse::Accept(Confirmation { delete: true }) => {
            Ok(format!("Deleted {}", target.file))
        }
        _ => Ok(format!("Kept {}", target.file)),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let tool = PluginTool::builder("delete", "1")
        .description("Deletes a file after confirmation by the user")
        .elicits::<Questions>()
        .execute(delete)?;
    mcp_bridge::stdio::serve(Implementation::new("files", "1"), [tool]).await?;
    Ok(())
}
