use super::{Options, ToolMode};
use crate::contextual_tools::MAX_NAME_BYTES;
use crate::tool_name::{Clues, Source, tool_name};
use agui_types::tool::Tool;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// How many tools of a page are taken at most.
pub const MAX_TOOLS: usize = 128;
/// How many bytes a tool's schema has at most; a longer one is listed as any object.
pub const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// How long a tool's name may be for models, with what agents put in front of it.
const MODEL_NAME_BYTES: usize = 64;

/// The tools that a page offers in a run, as an agent may know them.
///
/// | a tool | is |
/// |---|---|
/// | without a name, or with one of more than 256 bytes | left out |
/// | of the same name as one before it | left out |
/// | of a name with other characters than `A-Z a-z 0-9 _ -`, or too long | listed with `_` for these, cut, and a number where that is taken |
/// | without a schema, with one that is too long, or none for an object | listed with `{"type":"object"}` |
/// | beyond [`MAX_TOOLS`] | left out |
///
/// ```
/// use agui_bridge::frontend_tool::{Options, ToolSet};
/// use agui_types::tool::Tool;
///
/// let tools = [Tool::new("zeige Farbe", "d"), Tool::new("zeige_Farbe", "d"), Tool::new(" ", "d")];
/// let set = ToolSet::new(&tools, &Options::new());
/// let listed: Vec<_> = set.list().map(|tool| tool.name.as_str()).collect();
/// assert_eq!(listed, ["zeige_Farbe", "zeige_Farbe_2"]);
/// assert_eq!(set.page_name("zeige_Farbe_2"), Some("zeige_Farbe"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolSet {
    tools: Vec<Entry>,
    server: String,
    prefix: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    page_name: String,
    mode: ToolMode,
    listed: ListedTool,
}

/// A tool as a binding lists it, for example for MCP's `tools/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedTool {
    /// Its name for the agent.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// Its arguments: a JSON Schema for an object.
    pub input_schema: Raw,
}

impl ToolSet {
    /// The set of `tools`.
    pub fn new(tools: &[Tool], options: &Options) -> Self {
        let room = MODEL_NAME_BYTES.saturating_sub("mcp____".len() + options.server.len()).max(8);
        let (mut seen, mut taken) = (BTreeSet::new(), BTreeSet::new());
        let named =
            |tool: &&Tool| !tool.name.trim().is_empty() && tool.name.len() <= MAX_NAME_BYTES;
        let tools = tools
            .iter()
            .filter(named)
            .filter(|tool| seen.insert(tool.name.as_str()))
            .take(MAX_TOOLS)
            .map(|tool| Entry {
                page_name: tool.name.clone(),
                mode: mode(tool, options),
                listed: ListedTool {
                    name: listed_name(&tool.name, room, &mut taken),
                    description: tool.description.clone(),
                    input_schema: schema(tool.parameters.as_ref()),
                },
            })
            .collect();
        Self { tools, server: options.server.clone(), prefix: options.prefix.clone() }
    }

    /// The tools as the agent is to see them.
    pub fn list(&self) -> impl Iterator<Item = &ListedTool> {
        self.tools.iter().map(|tool| &tool.listed)
    }

    /// The page's name of a tool that was listed under `name`, or that the page calls so itself.
    pub fn page_name(&self, name: &str) -> Option<&str> {
        self.find(name).map(|tool| &*tool.page_name)
    }

    /// How a tool of the page is run.
    pub fn mode(&self, page_name: &str) -> Option<ToolMode> {
        self.tools.iter().find(|tool| tool.page_name == page_name).map(|tool| tool.mode)
    }

    /// What a tool of the page takes.
    pub(super) fn schema(&self, page_name: &str) -> Option<&Raw> {
        let tool = self.tools.iter().find(|tool| tool.page_name == page_name);
        tool.map(|tool| &tool.listed.input_schema)
    }

    /// The tool of the page that an ACP tool call says it calls: one of our MCP server, or one with the prefix of
    /// contextual tools in its name or title.
    pub(super) fn of_call(&self, clues: Clues<'_>) -> Option<&str> {
        let prefixed = |name: &str| self.page_name(name.strip_prefix(&*self.prefix)?);
        if !self.prefix.is_empty()
            && let Some(name) = clues.name.and_then(prefixed).or(clues.title.and_then(prefixed))
        {
            return Some(name);
        }
        match tool_name(clues) {
            (tool, Source::Mcp(server)) if server == self.server => self.page_name(&tool),
            _ => None,
        }
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        let listed = self.tools.iter().find(|tool| tool.listed.name == name);
        listed.or_else(|| self.tools.iter().find(|tool| tool.page_name == name))
    }
}

fn mode(tool: &Tool, options: &Options) -> ToolMode {
    let own = tool.metadata.as_ref().and_then(|metadata| metadata.get("execution"));
    let own = own.and_then(|execution| execution.decode::<String>().ok());
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => tool.name.starts_with(start),
        None => tool.name == pattern,
    };
    let by_name = || options.modes.iter().find(|(pattern, _)| fits(pattern)).map(|(_, mode)| *mode);
    own.as_deref().and_then(ToolMode::from_name).or_else(by_name).unwrap_or(options.mode)
}

fn listed_name(name: &str, room: usize, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = name.chars().take(room).map(plain).collect();
    let mut listed = name.clone();
    for number in 2_u32.. {
        if taken.insert(listed.clone()) {
            break;
        }
        let end = format!("_{number}");
        let start = name.get(..room.saturating_sub(end.len())).unwrap_or(&name);
        listed = format!("{start}{end}");
    }
    listed
}

/// `schema` where it is one for an object, else one for any object.
fn schema(schema: Option<&Raw>) -> Raw {
    let is_object = |schema: &&Raw| {
        let members = schema.decode::<Extra>().unwrap_or_default();
        let kind = members.get("type").and_then(|kind| kind.decode::<String>().ok());
        kind.as_deref() == Some("object")
    };
    let fits = |schema: &&Raw| schema.as_str().len() <= MAX_SCHEMA_BYTES;
    match schema.filter(fits).filter(is_object) {
        Some(schema) => schema.clone(),
        None => crate::json::Members::new().with("type", "object").into_raw(),
    }
}
