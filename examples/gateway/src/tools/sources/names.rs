//! Names under which models call the tools of several servers.
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::registry::{CollisionPolicy, Registry, ToolSource};

/// Combines a program's own tools with those of MCP servers.
///
/// A tool of a server is named `SERVER__TOOL`, so that its name depends neither on other servers
/// nor on the order in which they connect. The program's own tools keep their names. If names
/// collide nevertheless, a number is appended to the later one. Tools beyond
/// [`Registry::MAX_TOOLS`] are left out.
pub fn merge<'a>(
    own: impl IntoIterator<Item = &'a Tool>,
    servers: impl IntoIterator<Item = (&'a str, &'a [Tool])>,
) -> Registry {
    let mut registry = Registry::new(CollisionPolicy::PrefixAll);
    for tool in own {
        register(&mut registry, tool, ToolSource::Local);
    }
    for (server, tools) in servers {
        for tool in tools {
            register(&mut registry, tool, ToolSource::mcp(server));
        }
    }
    registry
}

fn register(registry: &mut Registry, tool: &Tool, source: ToolSource) {
    if let Err(error) = registry.register(tool.clone(), source) {
        tracing::warn!(tool = tool.name, %error, "left out a tool");
    }
}
