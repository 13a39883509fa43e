//! One set of tools for a model: the program's own and the page's.
use super::parameters::{AgentParameters, parameter};
use crate::json;
use crate::tool_name::Source;
use agui_types::tool::Tool;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

/// A tool that runs in the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BackendTool {
    /// Name of the tool, used in calls.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The arguments, as a JSON Schema.
    pub parameters: Option<Raw>,
}

impl BackendTool {
    /// Creates a tool without a schema.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), parameters: None }
    }
}

/// The runner of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a tool runs on one of the two sides")]
pub enum ToolOwner {
    /// The program.
    Backend,
    /// The page.
    Frontend,
}

/// A tool, as given to the model. The model does not see its runner.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelTool {
    /// Name of the tool, used in calls.
    pub name: String,
    /// The description.
    pub description: String,
    /// The arguments, as a JSON Schema.
    pub parameters: Option<Raw>,
    /// The runner of the tool.
    pub owner: ToolOwner,
}

/// One set of tools for a model: the program's and the page's.
///
/// ```
/// use agui_bridge::hybrid_tools::{BackendTool, HybridTools, ToolOwner};
/// use agui_types::tool::Tool;
///
/// let page = [Tool::new("search", "In the page."), Tool::new("highlight", "Marks something.")];
/// let tools = HybridTools::new(&[BackendTool::new("search", "In the index.")], &page);
/// let listed: Vec<_> = tools.list().iter().map(|tool| (tool.name.as_str(), tool.description.as_str())).collect();
/// assert_eq!(listed, [("search", "In the index."), ("highlight", "Marks something.")]);
/// assert_eq!(tools.owner("search"), Some(ToolOwner::Backend));
/// assert_eq!(tools.owner("highlight"), Some(ToolOwner::Frontend));
/// assert_eq!(tools.owner("guessed"), None);
/// assert_eq!(tools.shadowed(), ["search"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HybridTools {
    tools: Vec<ModelTool>,
    shadowed: Vec<String>,
}

impl HybridTools {
    /// Creates the set of both. Of tools with the same name the first counts, the program's before
    /// the page's. Page tools without a name are left out.
    pub fn new(backend: &[BackendTool], frontend: &[Tool]) -> Self {
        let mut names = BTreeSet::new();
        let mut tools = Vec::new();
        for tool in backend.iter().filter(|tool| names.insert(tool.name.as_str())) {
            tools.push(ModelTool {
                name: tool.name.clone(),
                description: tool.description.clone(),
                parameters: tool.parameters.clone(),
                owner: ToolOwner::Backend,
            });
        }
        let mut shadowed = Vec::new();
        for tool in frontend.iter().filter(|tool| !tool.name.trim().is_empty()) {
            if !names.insert(tool.name.as_str()) {
                shadowed.push(tool.name.clone());
                continue;
            }
            tools.push(ModelTool {
                name: tool.name.clone(),
                description: tool.description.clone(),
                parameters: tool.parameters.clone(),
                owner: ToolOwner::Frontend,
            });
        }
        Self { tools, shadowed }
    }

    /// Returns all tools, the program's first.
    pub fn list(&self) -> &[ModelTool] {
        &self.tools
    }

    /// Returns the runner of the tool with this name; `None` for an unknown name.
    pub fn owner(&self, name: &str) -> Option<ToolOwner> {
        self.tools.iter().find(|tool| tool.name == name).map(|tool| tool.owner)
    }

    /// Returns the names of page tools that another tool shadows.
    pub fn shadowed(&self) -> &[String] {
        &self.shadowed
    }

    /// Returns the name of a call for the page: the tool's name, or a different one for a program's
    /// tool that shares its name with a page's tool, since the page would run it.
    pub fn shown_name(&self, name: &str) -> String {
        if self.owner(name) == Some(ToolOwner::Frontend) {
            return name.into();
        }
        let mut offered: BTreeSet<String> = self.shadowed.iter().cloned().collect();
        let frontend = self.tools.iter().filter(|tool| tool.owner == ToolOwner::Frontend);
        offered.extend(frontend.map(|tool| tool.name.clone()));
        Source::Agent.unlike(name.into(), &offered)
    }

    /// Returns the tool with the name `shown` for the page.
    pub(super) fn called_name<'a>(&'a self, shown: &'a str) -> &'a str {
        let shadowed = self.shadowed.iter().find(|name| self.shown_name(name) == shown);
        shadowed.map_or(shown, |name| name)
    }

    /// Adds the tool names of both kinds to an agent's parameters: `backend_tool_names` and
    /// `agui_tool_names`.
    pub fn describe(&self, agent: &mut AgentParameters) {
        let names = |owner| -> Vec<&str> {
            let owned = self.tools.iter().filter(|tool| tool.owner == owner);
            owned.map(|tool| &*tool.name).collect()
        };
        let backend = names(ToolOwner::Backend);
        let frontend = names(ToolOwner::Frontend);
        agent.set(parameter::BACKEND_TOOL_NAMES, json::raw(&backend).as_str());
        agent.set(parameter::TOOL_NAMES, json::raw(&frontend).as_str());
    }
}

/// Returns the result of a page's tool that something tries to run in the program.
///
/// ```
/// let error = agui_bridge::hybrid_tools::frontend_tool_error("highlight");
/// assert_eq!(error, "Error: Tool 'highlight' is a frontend tool and should be run in the frontend.");
/// ```
pub fn frontend_tool_error(name: &str) -> String {
    format!("Error: Tool '{name}' is a frontend tool and should be run in the frontend.")
}
