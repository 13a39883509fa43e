//! Which tools there are, where each is from, and by which name a model calls it.
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

/// Where a tool is from.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ToolSource {
    /// This program.
    Local,
    /// An MCP server.
    Mcp {
        /// The name that the host gave to the server. What a server says of itself may change, and two may say the same.
        server: String,
    },
    /// The page or editor that the person works with.
    Frontend,
    /// The agent itself.
    Agent,
    /// Nobody registered it.
    #[default]
    Unknown,
}

impl ToolSource {
    /// An MCP server of this name.
    pub fn mcp(server: impl Into<String>) -> Self {
        Self::Mcp { server: server.into() }
    }

    /// The name of the kind of source.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Mcp { .. } => "mcp",
            Self::Frontend => "frontend",
            Self::Agent => "agent",
            Self::Unknown => "unknown",
        }
    }

    /// The name of the server, if it is one.
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Mcp { server } => Some(server),
            _ => None,
        }
    }
}

open_enum! {
    /// Where a tool is from, on the wire.
    pub enum ToolSourceName {
        /// The program that the client talks to. What is meant when there is none.
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

/// Which names of sources a client knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceNames {
    /// Any.
    #[default]
    Open,
    /// `local` and `mcp`; everything else is `local` to it.
    LocalOrMcp,
}

impl SourceNames {
    /// The name to write.
    pub fn of(self, source: &ToolSource) -> ToolSourceName {
        match (self, source) {
            (Self::LocalOrMcp, ToolSource::Mcp { .. }) => ToolSourceName::Mcp,
            (Self::LocalOrMcp, _) => ToolSourceName::Local,
            (Self::Open, source) => source.into(),
        }
    }
}

/// What to do about a tool whose name is taken. Names that models do not take are [mangled](names::mangle) in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionPolicy {
    /// It gets another name: that of its server before its own.
    #[default]
    Rename,
    /// All tools of MCP servers have the server's name before their own, so that no name depends on the order.
    PrefixAll,
    /// It is left out, which the [report](Registry::collisions) says.
    KeepFirst,
    /// It is an error.
    Reject,
}

/// A tool that was registered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Registered {
    /// By which name a model calls it.
    pub name: String,
    /// The tool as its source has it, with the name that this one calls it by.
    pub tool: Tool,
    /// Where it is from.
    pub source: ToolSource,
    /// Whether it is offered.
    pub is_enabled: bool,
}

impl Registered {
    /// The tool as it is offered, under its name here.
    pub fn offered(&self) -> Tool {
        let mut tool = self.tool.clone();
        tool.name.clone_from(&self.name);
        tool
    }

    /// The arguments that the tool takes, by its schema.
    pub fn parameters(&self) -> Vec<ToolParameter> {
        parameters(&self.tool.input_schema)
    }
}

/// Two tools of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collision {
    /// The name that the later one was to have.
    pub name: String,
    /// Where the first is from.
    pub first: ToolSource,
    /// Where the later one is from.
    pub later: ToolSource,
    /// The name that the later one has now; nothing if it was left out.
    pub renamed: Option<String>,
}

/// A tool cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Its name is taken, and the policy is [`CollisionPolicy::Reject`], or its source has two of the name.
    #[error("a tool named `{0}` is there already")]
    Taken(String),
    /// As many tools are there as [`Registry::MAX_TOOLS`] allows.
    #[error("too many tools")]
    Full,
}

/// Which tools there are, where each is from, and by which name a model calls it.
///
/// Order is that of registration, and stays: a model that sees the same list again reads it from its cache.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: Vec<Registered>,
    by_name: BTreeMap<String, usize>,
    collisions: Vec<Collision>,
    policy: CollisionPolicy,
}

impl Registry {
    /// The most tools that it holds.
    pub const MAX_TOOLS: usize = 4096;

    /// Without tools.
    pub fn new(policy: CollisionPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Adds a tool, and gives the name by which models call it.
    ///
    /// # Errors
    /// The name is taken and may not be changed, or there are too many tools. A tool that is left out by
    /// [`CollisionPolicy::KeepFirst`] is no error: the name is that of the first.
    pub fn register(&mut self, tool: Tool, source: ToolSource) -> Result<String, RegisterError> {
        if self.tools.len() >= Self::MAX_TOOLS {
            return Err(RegisterError::Full);
        }
        let prefix = source.server().filter(|_| self.policy == CollisionPolicy::PrefixAll);
        let wanted = match prefix {
            None if names::is_plain(&tool.name) => tool.name.clone(),
            prefix => names::mangle(prefix, &tool.name, 0),
        };
        if self.name_of(&source, &tool.name).is_some() {
            return Err(RegisterError::Taken(wanted));
        }
        let Some(first) = self.find(&wanted) else { return Ok(self.insert(wanted, tool, source)) };
        let first = first.source.clone();
        let renamed = match self.policy {
            CollisionPolicy::Reject => return Err(RegisterError::Taken(wanted)),
            CollisionPolicy::KeepFirst => None,
            CollisionPolicy::Rename | CollisionPolicy::PrefixAll => {
                let prefix = Some(source.server().unwrap_or_else(|| source.name()));
                // Of more attempts than there are tools, one is free.
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
        self.tools.push(Registered { name: name.clone(), tool, source, is_enabled: true });
        name
    }

    /// The tool that a model calls by this name, whether it is offered or not.
    pub fn find(&self, name: &str) -> Option<&Registered> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index))
    }

    /// Where the tool that a model calls by this name is from.
    pub fn source(&self, name: &str) -> &ToolSource {
        self.find(name).map_or(&ToolSource::Unknown, |tool| &tool.source)
    }

    /// The name by which models call a tool of a source.
    pub fn name_of(&self, source: &ToolSource, tool: &str) -> Option<&str> {
        let found = self.tools.iter().find(|it| it.source == *source && it.tool.name == tool);
        found.map(|it| it.name.as_str())
    }

    /// All tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Registered> {
        self.tools.iter()
    }

    /// What had the name of another.
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// Offers a tool, or does not any more. Gives whether that changed anything, so that clients have to be told.
    pub fn set_enabled(&mut self, name: &str, is_enabled: bool) -> bool {
        let tool = self.by_name.get(name).and_then(|index| self.tools.get_mut(*index));
        tool.is_some_and(|tool| core::mem::replace(&mut tool.is_enabled, is_enabled) != is_enabled)
    }

    /// Removes all tools of a source, and gives how many there were. The names of the others stay.
    pub fn remove_source(&mut self, source: &ToolSource) -> usize {
        let before = self.tools.len();
        self.tools.retain(|tool| tool.source != *source);
        self.collisions.retain(|it| it.first != *source && it.later != *source);
        let names = self.tools.iter().enumerate().map(|(index, tool)| (tool.name.clone(), index));
        self.by_name = names.collect();
        before - self.tools.len()
    }

    /// The tools that are offered, as `GET /api/tools` answers.
    pub fn list(&self) -> ToolList {
        let offered = self.tools.iter().filter(|tool| tool.is_enabled);
        ToolList::new(offered.map(ToolMetadata::from).collect::<Vec<_>>())
    }
}

object! {
    /// The tools that are offered: the JSON of `GET /api/tools`.
    pub struct ToolList {
        /// Each of them.
        tools: Vec<ToolMetadata> = "tools",
    }
}

object! {
    /// A tool, as a page shows it.
    pub struct ToolMetadata {
        /// By which name a model calls it.
        name: String = "name",
        /// Where it is from.
        source: ToolSourceName = "source",
    }
    optional {
        /// What it does.
        description: String = "description",
        /// The name of its server, if it is from one.
        server: String = "server",
        /// What it takes; absent means nothing.
        parameters: Vec<ToolParameter> = "parameters",
    }
}

impl From<&Registered> for ToolMetadata {
    fn from(tool: &Registered) -> Self {
        let mut metadata = Self::new(&*tool.name, &tool.source);
        metadata.description.clone_from(&tool.tool.description);
        metadata.server = tool.source.server().map(Into::into);
        metadata.parameters = Some(tool.parameters());
        metadata
    }
}

object! {
    /// Something that a tool takes.
    pub struct ToolParameter {
        /// Its name.
        name: String = "name",
        /// Its type in JSON Schema; several with `|` between them, `any` for anything.
        r#type: String = "type",
    }
    optional {
        /// What it is.
        description: String = "description",
        /// Whether it has to be there; absent means that it has.
        required: bool = "required",
    }
}

/// What a tool takes, by its schema, in the schema's order. What cannot be read is `any`.
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

/// How many references of a schema are looked up.
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
