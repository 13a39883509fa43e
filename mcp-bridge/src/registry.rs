//! Registry of tools: their sources, and the names under which models call them.
//!
//! ```
//! use jsonrpc_core::wire;
//! use mcp_bridge::mcp::tools::Tool;
//! use mcp_bridge::registry::{CollisionPolicy, Registry, ToolSource};
//!
//! let add: Tool = wire::decode(
//!     r#"{"name":"add","description":"Adds.","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}"#,
//! )?;
//! let mut registry = Registry::new(CollisionPolicy::Rename);
//! assert_eq!(registry.register(add.clone(), ToolSource::Local)?, "add");
//! assert_eq!(registry.register(add, ToolSource::mcp("calculator"))?, "calculator__add");
//!
//! let tool = registry.find("calculator__add").ok_or("no such tool")?;
//! assert_eq!((tool.tool.name.as_str(), tool.source.name()), ("add", "mcp"));
//! assert_eq!(registry.source("subtract"), &ToolSource::Unknown);
//! assert_eq!(
//!     serde_json::to_string(&registry.list())?,
//!     r#"{"tools":[{"name":"add","source":"local","description":"Adds.","parameters":[{"name":"a","type":"integer","required":true}]},{"name":"calculator__add","source":"mcp","description":"Adds.","server":"calculator","parameters":[{"name":"a","type":"integer","required":true}]}]}"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::mcp::tools::Tool;
use crate::names;
use crate::schema::keywords::{get, open};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{object, open_enum};

/// Source of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolSource {
    /// The program itself.
    Local,
    /// An MCP server.
    Mcp {
        /// The name that the host gave to the server. Self-reported names may change and need not
        /// be unique.
        server: String,
    },
    /// The page or editor of the user.
    Frontend,
    /// The agent.
    Agent,
    /// The tool is not registered.
    #[default]
    Unknown,
}

impl ToolSource {
    /// Creates the source of an MCP server with this name.
    pub fn mcp(server: impl Into<String>) -> Self {
        Self::Mcp { server: server.into() }
    }

    /// Returns the name of the kind of source.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Mcp { .. } => "mcp",
            Self::Frontend => "frontend",
            Self::Agent => "agent",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the name of the MCP server, if the source is one.
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Mcp { server } => Some(server),
            _ => None,
        }
    }
}

open_enum! {
    /// Kind of the source of a tool, on the wire.
    pub enum ToolSourceName {
        /// The program that the client is connected to. This is the default.
        Local = "local",
        /// An MCP server.
        Mcp = "mcp",
        /// The client.
        Frontend = "frontend",
        /// The agent.
        Agent = "agent",
    }
}

impl From<&ToolSource> for ToolSourceName {
    fn from(source: &ToolSource) -> Self {
        source.name().into()
    }
}

/// Treatment of a tool with a name that is taken. Names that models do not accept are always
/// [mangled](names::mangle).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CollisionPolicy {
    /// Prefixes the name with that of the server, or of the kind of source.
    #[default]
    Rename,
    /// Prefixes the names of all tools of MCP servers, so that no name depends on the order of
    /// registration.
    PrefixAll,
    /// Leaves the tool out and [reports](Registry::collisions) the collision.
    KeepFirst,
    /// Returns an error.
    Reject,
}

/// A registered tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RegisteredTool {
    /// Name under which models call the tool.
    pub name: String,
    /// The tool as defined by its source, including the original name.
    pub tool: Tool,
    /// Source of the tool.
    pub source: ToolSource,
}

impl RegisteredTool {
    /// Returns the tool as offered, under its registered name.
    pub fn offered(&self) -> Tool {
        let mut tool = self.tool.clone();
        tool.name.clone_from(&self.name);
        tool
    }

    /// Returns the parameters of the tool according to its schema.
    pub fn parameters(&self) -> Vec<ToolParameter> {
        parameters(&self.tool.input_schema)
    }
}

/// Two tools with the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// The name requested for the later tool.
    pub name: String,
    /// Source of the first tool.
    pub first: ToolSource,
    /// Source of the later tool.
    pub later: ToolSource,
    /// The registered name of the later tool. `None` if it was left out.
    pub renamed: Option<String>,
}

/// An error registering a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is taken and the policy is [`CollisionPolicy::Reject`], or the source has two tools
    /// with this name.
    #[error("duplicate tool name `{0}`")]
    Taken(String),
    /// The limit [`Registry::MAX_TOOLS`] is reached.
    #[error("too many tools")]
    Full,
}

/// A set of tools with their sources and the names under which models call them.
///
/// The order is that of registration and stays stable, so that prompt caches of models remain
/// valid.
///
/// The [module](self) has an example.
///
/// ```
/// use mcp_bridge::jsonrpc_core::wire;
/// use mcp_bridge::registry::{CollisionPolicy, Registry, ToolSource};
///
/// let tool = r#"{"name":"add","inputSchema":{"type":"object"}}"#;
/// let mut registry = Registry::new(CollisionPolicy::Rename);
/// registry.register(wire::decode(tool)?, ToolSource::mcp("calculator"))?;
/// assert!(registry.find("add").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: Vec<RegisteredTool>,
    by_name: BTreeMap<String, usize>,
    collisions: Vec<Collision>,
    policy: CollisionPolicy,
}

impl Registry {
    /// Maximum number of tools.
    pub const MAX_TOOLS: usize = 4096;

    /// Creates an empty registry.
    pub fn new(policy: CollisionPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Adds a tool and returns the name under which models call it.
    ///
    /// # Errors
    /// Returns an error if the name is taken and cannot be changed, or the registry is full. A tool
    /// that [`CollisionPolicy::KeepFirst`] leaves out is not an error: the name of the first tool
    /// is returned.
    pub fn register(&mut self, tool: Tool, source: ToolSource) -> Result<String, RegistryError> {
        if self.tools.len() >= Self::MAX_TOOLS {
            return Err(RegistryError::Full);
        }
        let prefix = source.server().filter(|_| self.policy == CollisionPolicy::PrefixAll);
        let wanted = match prefix {
            None if names::is_plain(&tool.name) => tool.name.clone(),
            prefix => names::mangle(prefix, &tool.name, 0),
        };
        if self.name_of(&source, &tool.name).is_some() {
            return Err(RegistryError::Taken(wanted));
        }
        let Some(first) = self.find(&wanted) else { return Ok(self.insert(wanted, tool, source)) };
        let first = first.source.clone();
        let renamed = match self.policy {
            CollisionPolicy::Reject => return Err(RegistryError::Taken(wanted)),
            CollisionPolicy::KeepFirst => None,
            CollisionPolicy::Rename | CollisionPolicy::PrefixAll => {
                let prefix = Some(source.server().unwrap_or_else(|| source.name()));
                // With more attempts than tools, one name is free.
                let mut names =
                    (0..=u32::MAX).map(|attempt| names::mangle(prefix, &tool.name, attempt));
                names.find(|name| !self.by_name.contains_key(name))
            }
        };
        let collision = Collision {
            name: wanted.clone(),
            first,
            later: source.clone(),
            renamed: renamed.clone(),
        };
        if self.collisions.len() < Self::MAX_TOOLS {
            self.collisions.push(collision);
        }
        Ok(match renamed {
            Some(name) => self.insert(name, tool, source),
            None => wanted,
        })
    }

    fn insert(&mut self, name: String, tool: Tool, source: ToolSource) -> String {
        self.by_name.insert(name.clone(), self.tools.len());
        self.tools.push(RegisteredTool { name: name.clone(), tool, source });
        name
    }

    /// Finds the tool with this registered name.
    pub fn find(&self, name: &str) -> Option<&RegisteredTool> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index))
    }

    /// Returns the source of the tool with this registered name.
    pub fn source(&self, name: &str) -> &ToolSource {
        self.find(name).map_or(&ToolSource::Unknown, |tool| &tool.source)
    }

    /// Returns the registered name of a tool of a source.
    pub fn name_of(&self, source: &ToolSource, tool: &str) -> Option<&str> {
        let found = self.tools.iter().find(|it| it.source == *source && it.tool.name == tool);
        found.map(|it| it.name.as_str())
    }

    /// Returns all tools in order.
    pub fn iter(&self) -> impl Iterator<Item = &RegisteredTool> {
        self.tools.iter()
    }

    /// Returns the collisions so far.
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// Removes all tools of a source and returns their number. The names of other tools are
    /// unchanged.
    pub fn remove_source(&mut self, source: &ToolSource) -> usize {
        let before = self.tools.len();
        self.tools.retain(|tool| tool.source != *source);
        self.collisions.retain(|it| it.first != *source && it.later != *source);
        let names = self.tools.iter().enumerate().map(|(index, tool)| (tool.name.clone(), index));
        self.by_name = names.collect();
        before - self.tools.len()
    }

    /// Returns the tools, as the response to `GET /api/tools`.
    pub fn list(&self) -> ToolList {
        ToolList::new(self.tools.iter().map(ToolMetadata::from).collect::<Vec<_>>())
    }
}

object! {
    /// The registered tools: the response to `GET /api/tools`.
    pub struct ToolList {
        /// The tools.
        tools: Vec<ToolMetadata> = "tools",
    }
}

object! {
    /// A tool as displayed by a page.
    pub struct ToolMetadata {
        /// Name under which models call the tool.
        name: String = "name",
        /// Source of the tool.
        source: ToolSourceName = "source",
    }
    optional {
        /// Description of the tool.
        description: String = "description",
        /// Name of the MCP server, if the source is one.
        server: String = "server",
        /// Parameters. Empty if the tool has none.
        parameters: Vec<ToolParameter> = "parameters",
    }
}

impl From<&RegisteredTool> for ToolMetadata {
    fn from(tool: &RegisteredTool) -> Self {
        let mut metadata = Self::new(&*tool.name, &tool.source);
        metadata.description.clone_from(&tool.tool.description);
        metadata.server = tool.source.server().map(Into::into);
        metadata.parameters = Some(tool.parameters());
        metadata
    }
}

object! {
    /// A parameter of a tool.
    pub struct ToolParameter {
        /// Name of the parameter.
        name: String = "name",
        /// JSON Schema type. Several types are separated by `|`, and `any` permits all.
        r#type: String = "type",
    }
    optional {
        /// Description of the parameter.
        description: String = "description",
        /// Whether the parameter is required. If absent, it is.
        required: bool = "required",
    }
}

/// Returns the parameters according to a schema, in schema order. A parameter that cannot be
/// decoded has the type `any`.
fn parameters(schema: &Raw) -> Vec<ToolParameter> {
    let root: Extra = schema.decode().unwrap_or_default();
    let mut budget = MAX_REFERENCES;
    let members = open(&root, schema, "", &mut budget).unwrap_or_default();
    let properties: Extra = get(&members, "properties").unwrap_or_default();
    let required: Vec<String> = get(&members, "required").unwrap_or_default();
    let parameters = properties.iter().map(|(name, property)| {
        let property = open(&root, property, "", &mut budget).unwrap_or_default();
        let mut parameter = ToolParameter::new(name, type_name(&property));
        parameter.description = get(&property, "description");
        parameter.required = Some(required.iter().any(|required| required == name));
        parameter
    });
    parameters.collect()
}

/// Maximum number of references that are resolved in a schema.
const MAX_REFERENCES: usize = 256;

fn type_name(schema: &Extra) -> String {
    if let Some(name) = get::<String>(schema, "type") {
        return name;
    }
    if let Some(names) = get::<Vec<String>>(schema, "type").filter(|names| !names.is_empty()) {
        return names.join("|");
    }
    let texts =
        get::<Vec<String>>(schema, "enum").is_some() || get::<String>(schema, "const").is_some();
    if texts { "string" } else { "any" }.into()
}
