//! The tools that the gateway itself has, for models and for whoever asks which there are.
use crate::plugins::Plugins;
use agui_bridge::hybrid_tools::BackendTool;
use jsonrpc_core::wire::Raw;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::plugin::{Clock, SessionStore};
use mcp_bridge::registry::{CollisionPolicy, Registered, Registry, ToolList, ToolSource};
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

/// The name of the tool that tells the time.
const CLOCK: &str = "clock";

/// Tools, and where each is from.
#[derive(Debug)]
pub(crate) struct Toolbox {
    registry: Registry,
    plugins: Arc<Plugins>,
}

impl Toolbox {
    /// The tools; calls of those that ask are kept in `sessions`, and wait by `clock`.
    pub(crate) fn new(sessions: Arc<dyn SessionStore>, clock: Clock) -> io::Result<Self> {
        let plugins = Arc::new(Plugins::new(sessions, clock)?);
        let mut registry = Registry::new(CollisionPolicy::Rename);
        let mut clock =
            Tool::new(CLOCK, Raw::from_value(&json!({ "type": "object", "properties": {} }))?);
        clock.description = Some("The date and the time of day, in UTC.".to_owned());
        for tool in [clock].iter().chain(plugins.tools()) {
            registry.register(tool.clone(), ToolSource::Local).map_err(io::Error::other)?;
        }
        Ok(Self { registry, plugins })
    }

    /// Those that ask while they run.
    pub(crate) fn plugins(&self) -> &Arc<Plugins> {
        &self.plugins
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// As `GET /api/tools` answers.
    pub(crate) fn list(&self) -> ToolList {
        self.registry.list()
    }

    /// The tools as a model is told of them.
    pub(crate) fn for_models(&self) -> Vec<BackendTool> {
        let enabled = self.registry.iter().filter(|tool| tool.is_enabled);
        let tools = enabled.map(|registered| {
            let description = registered.tool.description.clone().unwrap_or_default();
            let mut tool = BackendTool::new(&*registered.name, description);
            tool.parameters = Some(registered.tool.input_schema.clone());
            tool
        });
        tools.collect()
    }

    /// The tools as MCP clients are told of them.
    pub(crate) fn for_agents(&self) -> impl Iterator<Item = Tool> {
        self.registry.iter().filter(|tool| tool.is_enabled).map(Registered::offered)
    }

    /// Runs a tool that asks nothing; the error is for the model.
    pub(crate) async fn call(&self, name: &str) -> Result<String, String> {
        match name {
            CLOCK => Ok(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
            other => Err(format!("there is no tool `{other}`")),
        }
    }
}
