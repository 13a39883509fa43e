//! The server's own tools that ask while they run: a new one is a line in `all`.
use demo_agent::book_flight;
use mcp_bridge::plugin::{DefinitionError, PluginTool};

pub(crate) fn all() -> Result<Vec<PluginTool>, DefinitionError> {
    Ok(vec![book_flight::tool()?])
}
