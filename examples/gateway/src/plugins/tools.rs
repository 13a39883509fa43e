//! Which tools there are that ask while they run.
use mcp_bridge::plugin::PluginTool;
use mcp_bridge::schema::Violation;
use mcp_http::book_flight;

pub(super) fn all() -> Result<Vec<PluginTool>, Violation> {
    Ok(vec![book_flight::tool()?])
}
