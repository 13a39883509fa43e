//! A tool without a declaration of its questions.
use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};

fn main() {
    let _tool = PluginTool::builder("wait", "1").execute(|(), _| async move { Ok(()) });
    let _tool = PluginTool::builder("wait", "1")
        .execute(|(), _: PluginContext<NoElicitations>| async move { Ok(()) });
}
