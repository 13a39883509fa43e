//! The page's tools, as listed to an agent.
use super::report::{CarriedCall, MAX_CARRIED_BYTES, Report};
use super::{FrontendToolOptions, ToolMode};
use crate::contextual_tools::MAX_NAME_BYTES;
use crate::tool_name::{Clues, Source, tool_name};
use acp_types::v1::tool_calls::ToolKind;
use agui_types::tool::Tool;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// Largest number of a page's tools.
pub const MAX_TOOLS: usize = 128;
/// Largest size of a tool's schema, in bytes. A longer schema is listed as any object.
pub const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// Longest tool name for models, including the prefix that agents add.
const MODEL_NAME_BYTES: usize = 64;

/// Names of commands and paths in inputs, without `_` and `-`, in lower case.
const FOREIGN_MEMBERS: [&str; 12] = [
    "command",
    "commands",
    "commandline",
    "cmd",
    "script",
    "code",
    "path",
    "paths",
    "filepath",
    "file",
    "cwd",
    "workdir",
];

/// The tools that a page provides in a run, with their names for an agent.
///
/// | a tool | result |
/// |---|---|
/// | without a name, or with a name longer than 256 bytes | left out |
/// | with the name of an earlier tool | left out |
/// | with a name that is too long or has other characters than `A-Z a-z 0-9 _ -` | listed with `_` for these, truncated, and numbered if taken |
/// | without a schema, with one that is too long, or one that is not for an object | listed with `{"type":"object"}` |
/// | beyond [`MAX_TOOLS`] | left out |
///
/// ```
/// use agui_bridge::frontend_tool::{FrontendToolOptions, ToolSet};
/// use agui_types::tool::Tool;
///
/// let tools = [Tool::new("zeige Farbe", "d"), Tool::new("zeige_Farbe", "d"), Tool::new(" ", "d")];
/// let set = ToolSet::new(&tools, &FrontendToolOptions::new());
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
    /// The name for the agent.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The arguments: a JSON Schema of an object.
    pub input_schema: Raw,
}

impl ToolSet {
    /// Creates the set of `tools`.
    pub fn new(tools: &[Tool], options: &FrontendToolOptions) -> Self {
        let room = MODEL_NAME_BYTES.saturating_sub("mcp____".len() + options.server.len()).max(8);
        let mut seen = BTreeSet::new();
        let mut taken = BTreeSet::new();
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

    /// Returns the listed tools.
    pub fn list(&self) -> impl Iterator<Item = &ListedTool> {
        self.tools.iter().map(|tool| &tool.listed)
    }

    /// Returns the page's name of a tool, from its listed name or from the page's name itself.
    pub fn page_name(&self, name: &str) -> Option<&str> {
        self.find(name).map(|tool| &*tool.page_name)
    }

    /// Returns the way a tool of the page is run.
    pub fn mode(&self, page_name: &str) -> Option<ToolMode> {
        self.tools.iter().find(|tool| tool.page_name == page_name).map(|tool| tool.mode)
    }

    /// Returns the schema of a tool of the page.
    pub(super) fn schema(&self, page_name: &str) -> Option<&Raw> {
        let tool = self.tools.iter().find(|tool| tool.page_name == page_name);
        tool.map(|tool| &tool.listed.input_schema)
    }

    /// Returns the page's tool that a report of the agent refers to, with the arguments of the
    /// call: a tool of the bridge's MCP server, or one with the prefix of contextual tools in its
    /// name or title.
    ///
    /// All of that may be text of a model. A reference delays the report until a binding has
    /// received the call, and has no other effect.
    ///
    /// Agents name a tool `T` of a server `S` in different ways:
    ///
    /// | form | place |
    /// |---|---|
    /// | `mcp__S__T`, `mcp_S_T` | name, `_meta`, title |
    /// | `S/T`, `S_T`, `S__T`, `S-T`, `S.T`, `S:T` | name, title |
    /// | `Tool: S/T`, `T (S MCP Server)` | title |
    /// | one of the above as `tool_name`, with the arguments as `tool_input` | input, see [`CarriedCall`] |
    ///
    /// A form of the second or a later row counts only for a call without a kind, or of kind
    /// `other`: the title of a command is its text. A call that [has an effect](Report::has_effect)
    /// or a [foreign input](Self::has_foreign_input) is the agent's own.
    pub(super) fn reference(&self, report: &Report<'_>) -> Option<Reference> {
        if self.tools.is_empty() || report.has_effect() || self.has_foreign_input(report) {
            return None;
        }
        let carried = report.input.and_then(CarriedCall::of);
        let tool = self.referred(report, carried.as_ref())?.to_owned();
        let arguments = report.arguments();
        Some(Reference { tool, arguments })
    }

    /// Returns whether the input of a call has a command or a path that is no argument of the
    /// page's tool.
    pub(super) fn has_foreign_input(&self, report: &Report<'_>) -> bool {
        let Some(input) = report.input.filter(|input| input.as_str().len() <= MAX_CARRIED_BYTES)
        else {
            return report.input.is_some();
        };
        let Ok(members) = input.decode::<Extra>() else { return false };
        let mut foreign = members.iter().map(|(name, _)| name).filter(|name| is_foreign(name));
        let carried = CarriedCall::of(input);
        let tool = self.referred(report, carried.as_ref()).filter(|_| carried.is_none());
        let schema = tool.and_then(|tool| self.schema(tool)?.decode::<Extra>().ok());
        let declared = schema.and_then(|schema| schema.get("properties")?.decode::<Extra>().ok());
        foreign.any(|name| declared.as_ref().is_none_or(|declared| declared.get(name).is_none()))
    }

    fn referred(&self, report: &Report<'_>, carried: Option<&CarriedCall>) -> Option<&str> {
        let Report { name, meta, title, kind, .. } = *report;
        let clues = Clues { name, meta, kind: None, title };
        let of_carried = || {
            let name = Some(carried?.tool.as_str());
            self.of_call(Clues { name, meta: None, kind: None, title: None }, kind)
        };
        self.of_call(clues, kind).or_else(of_carried)
    }

    fn of_call(&self, clues: Clues<'_>, kind: Option<&str>) -> Option<&str> {
        let prefixed = |name: &str| self.page_name(name.strip_prefix(&*self.prefix)?);
        if !self.prefix.is_empty()
            && let Some(name) = clues.name.and_then(prefixed).or(clues.title.and_then(prefixed))
        {
            return Some(name);
        }
        match tool_name(clues) {
            (tool, Source::Mcp(server)) if server == self.server => self.page_name(&tool),
            _ if kind.is_some_and(|kind| kind != ToolKind::Other.as_str()) => None,
            _ => [clues.name, clues.title].into_iter().flatten().find_map(|it| self.qualified(it)),
        }
    }

    /// Returns the page's tool that is named together with the server.
    fn qualified(&self, name: &str) -> Option<&str> {
        let name = name.trim();
        let name = name.strip_prefix("Tool: ").unwrap_or(name);
        let described =
            name.strip_suffix(" MCP Server)").and_then(|it| it.strip_suffix(&*self.server));
        if let Some(tool) = described.and_then(|it| it.strip_suffix(" (")) {
            return self.page_name(tool);
        }
        let rest = name.strip_prefix(&*self.server).filter(|_| !self.server.is_empty())?;
        let tools = ["__", "/", "_", "-", ".", ":"].iter().filter_map(|it| rest.strip_prefix(it));
        tools.filter_map(|tool| self.page_name(tool)).next()
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        let listed = self.tools.iter().find(|tool| tool.listed.name == name);
        listed.or_else(|| self.tools.iter().find(|tool| tool.page_name == name))
    }
}

/// The tool of the page that a report of the agent refers to.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) tool: String,
    pub(super) arguments: Option<Raw>,
}

/// Returns whether a member of an input is a command or a path.
fn is_foreign(member: &str) -> bool {
    let letters = member.chars().filter(|c| !matches!(c, '_' | '-'));
    let name: String = letters.map(|c| c.to_ascii_lowercase()).collect();
    FOREIGN_MEMBERS.contains(&&*name)
}

fn mode(tool: &Tool, options: &FrontendToolOptions) -> ToolMode {
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

/// Returns `schema` if it describes an object, otherwise a schema of any object.
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
