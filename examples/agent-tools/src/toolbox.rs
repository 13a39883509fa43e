//! The tools of the server itself, for models and for agents.
use crate::questions::Questions;
use agui_bridge::hybrid_tools::BackendTool;
use jsonrpc_core::wire::Raw;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge::plugin::{Clock, SessionStore};
use mcp_bridge::registry::{CollisionPolicy, Registered, Registry, ToolList, ToolSource};
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

/// Name of the tool that returns the time.
const CLOCK: &str = "clock";

/// The server's tools, with their sources.
#[derive(Debug)]
pub struct Toolbox {
    registry: Registry,
    questions: Arc<Questions>,
}

impl Toolbox {
    /// Creates the tools. Suspended calls are kept in `sessions`, and expire by `clock`.
    ///
    /// # Errors
    /// The system has no randomness, or two tools have the same name.
    pub fn new(sessions: Arc<dyn SessionStore>, clock: Clock) -> io::Result<Self> {
        let questions = Arc::new(Questions::new(sessions, clock)?);
        let mut registry = Registry::new(CollisionPolicy::Rename);
        let mut clock =
            Tool::new(CLOCK, Raw::from_value(&json!({ "type": "object", "properties": {} }))?);
        clock.description = Some("The date and the time of day, in UTC.".to_owned());
        for tool in [clock].iter().chain(questions.tools()) {
            registry.register(tool.clone(), ToolSource::Local).map_err(io::Error::other)?;
        }
        Ok(Self { registry, questions })
    }

    /// Returns the tools that ask the user while they run.
    pub fn questions(&self) -> &Arc<Questions> {
        &self.questions
    }

    /// Returns all tools with their sources.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns all tools in the form for HTTP clients.
    pub fn list(&self) -> ToolList {
        self.registry.list()
    }

    /// Returns the enabled tools in the form for models.
    pub fn for_models(&self) -> Vec<BackendTool> {
        let enabled = self.registry.iter().filter(|tool| tool.is_enabled);
        let tools = enabled.map(|registered| {
            let description = registered.tool.description.clone().unwrap_or_default();
            let mut tool = BackendTool::new(&*registered.name, description);
            tool.parameters = Some(registered.tool.input_schema.clone());
            tool
        });
        tools.collect()
    }

    /// Returns the enabled tools in the form for MCP clients.
    pub fn for_agents(&self) -> impl Iterator<Item = Tool> {
        self.registry.iter().filter(|tool| tool.is_enabled).map(Registered::offered)
    }

    /// Runs a tool that does not ask.
    ///
    /// # Errors
    /// The tool does not exist; the text is for the model.
    pub async fn call(&self, name: &str) -> Result<String, String> {
        match name {
            CLOCK => Ok(humantime::format_rfc3339_seconds(SystemTime::now()).to_string()),
            other => Err(format!("the tool `{other}` does not exist")),
        }
    }
}
