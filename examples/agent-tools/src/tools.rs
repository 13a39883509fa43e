//! The server's own tools that ask while they run: a new one is a line in `all`.
use mcp_bridge::plugin::{DefinitionError, PluginTool};
use mcp_http::book_flight;

pub(crate) fn all() -> Result<Vec<PluginTool>, DefinitionError> {
    Ok(vec![book_flight::tool()?])
}
