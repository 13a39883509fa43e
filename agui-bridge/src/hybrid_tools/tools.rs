use super::parameters::{AgentParameters, parameter};
use crate::json;
use crate::tool_name::Source;
use agui_types::tool::Tool;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

/// A tool that runs here.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BackendTool {
    /// What calls name.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// What arguments it takes, as a JSON Schema.
    pub parameters: Option<Raw>,
}

impl BackendTool {
    /// A tool without a schema.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), parameters: None }
    }
}

/// Who runs a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolOwner {
    /// We do.
    Backend,
    /// The page does.
    Frontend,
}

/// A tool, as the model is told of it. It does not learn who runs it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelTool {
    /// What calls name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What arguments it takes, as a JSON Schema.
    pub parameters: Option<Raw>,
    /// Who runs it.
    pub owner: ToolOwner,
}

/// One set of tools for a model: ours and the page's.
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
    /// The set of both. A name stands for the first tool that has it, ours before the page's; the page's tools without a
    /// name are left out.
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

    /// All tools, ours first.
    pub fn list(&self) -> &[ModelTool] {
        &self.tools
    }

    /// Who runs the tool of this name; nothing for a name that the model made up.
    pub fn owner(&self, name: &str) -> Option<ToolOwner> {
        self.tools.iter().find(|tool| tool.name == name).map(|tool| tool.owner)
    }

    /// Names of the page's tools that stand for another one.
    pub fn shadowed(&self) -> &[String] {
        &self.shadowed
    }

    /// The name under which a page sees a call: the tool's, or for one of ours that has the name of one of the page's another,
    /// because the page would run it.
    pub fn shown_name(&self, name: &str) -> String {
        if self.owner(name) == Some(ToolOwner::Frontend) {
            return name.into();
        }
        let mut offered: BTreeSet<String> = self.shadowed.iter().cloned().collect();
        let frontend = self.tools.iter().filter(|tool| tool.owner == ToolOwner::Frontend);
        offered.extend(frontend.map(|tool| tool.name.clone()));
        Source::Agent.unlike(name.into(), &offered)
    }

    /// The tool whose calls a page sees under `shown`.
    pub(super) fn called_name<'a>(&'a self, shown: &'a str) -> &'a str {
        let shadowed = self.shadowed.iter().find(|name| self.shown_name(name) == shown);
        shadowed.map_or(shown, |name| name)
    }

    /// Adds the names of both kinds to an agent's parameters: `backend_tool_names` and `agui_tool_names`.
    pub fn describe(&self, agent: &mut AgentParameters) {
        let names = |owner| -> Vec<&str> {
            let owned = self.tools.iter().filter(|tool| tool.owner == owner);
            owned.map(|tool| &*tool.name).collect()
        };
        let (backend, frontend) = (names(ToolOwner::Backend), names(ToolOwner::Frontend));
        agent.set(parameter::BACKEND_TOOL_NAMES, json::raw(&backend).as_str());
        agent.set(parameter::TOOL_NAMES, json::raw(&frontend).as_str());
    }
}

/// What a tool of the page's gives where something tries to run it here.
///
/// ```
/// let error = agui_bridge::hybrid_tools::frontend_tool_error("highlight");
/// assert_eq!(error, "Error: Tool 'highlight' is a frontend tool and should be run in the frontend.");
/// ```
pub fn frontend_tool_error(name: &str) -> String {
    format!("Error: Tool '{name}' is a frontend tool and should be run in the frontend.")
}
