//! Names of tools, from what agents send of their calls.
use acp_types::v1::tool_calls::ToolKind;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use core::fmt;
use jsonrpc_core::wire::{Extra, Meta};
use serde::{Deserialize, Serialize};

/// Longest tool name, in bytes.
const NAME_BYTES: usize = 128;
/// Longest name made from a title, in bytes.
const SLUG_BYTES: usize = 64;
/// The name of a tool without any clue.
const NAMELESS: &str = "tool";

/// The runner of a tool, as in `metadata.acp.source` of its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Source {
    Agent,
    Mcp(String),
}

impl Source {
    /// Returns `name`, prefixed with the runner if the page provides a tool of this name.
    pub(crate) fn unlike(&self, mut name: String, offered: &BTreeSet<String>) -> String {
        while offered.contains(&name) {
            name = match self {
                Self::Agent => format!("agent__{name}"),
                Self::Mcp(server) => format!("mcp__{server}__{name}"),
            };
        }
        name
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent => f.write_str("agent"),
            Self::Mcp(server) => write!(f, "mcp:{server}"),
        }
    }
}

/// The members of a tool call that can name its tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clues<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) meta: Option<&'a Meta>,
    pub(crate) kind: Option<&'a ToolKind>,
    pub(crate) title: Option<&'a str>,
}

/// Returns the name and the source of a tool, from the first clue that is present.
///
/// | clue | name |
/// |---|---|
/// | `name` | unchanged, MCP-decoded |
/// | `_meta.claudeCode.toolName`, `_meta.toolName`, `_meta.tool_name` | unchanged, MCP-decoded |
/// | `title` that is an MCP name | MCP-decoded |
/// | `kind`, a known one except `other` | unchanged |
/// | `title` that begins with a name in ASCII letters, digits, `_`, `-` and `: ` | that name |
/// | `title` | in lower case, with each run of other characters than letters and digits as one `_`, at most 64 bytes |
/// | none | `tool` |
///
/// MCP-decoded: `mcp__server__tool`, and `mcp_server_tool` where the server's name has no `_`,
/// become `tool` of `mcp:server`. `server_tool` is not decoded, since it is ambiguous without a
/// list of servers.
pub(crate) fn tool_name(clues: Clues<'_>) -> (String, Source) {
    let given = clues.name.filter(|name| !name.trim().is_empty());
    if let Some(name) = given {
        return mcp_or_agent(name);
    }
    if let Some(name) = clues.meta.and_then(name_in_meta) {
        return mcp_or_agent(&name);
    }
    let title = clues.title.map(str::trim).filter(|title| !title.is_empty());
    if let Some((server, tool)) = title.and_then(mcp_name) {
        return (short(tool), Source::Mcp(short(server)));
    }
    let kind = clues.kind.filter(|kind| kind.is_known() && **kind != ToolKind::Other);
    let name = match kind {
        Some(kind) => kind.as_str().to_owned(),
        None => {
            let name = title.map(|title| titled(title).map_or_else(|| slug(title), short));
            name.filter(|name| !name.is_empty()).unwrap_or_else(|| NAMELESS.to_owned())
        }
    };
    (name, Source::Agent)
}

/// Returns whether the agent states the name of a tool, rather than other members that suggest one.
pub(crate) fn named(clues: Clues<'_>) -> bool {
    clues.name.is_some_and(|name| !name.trim().is_empty())
        || clues.meta.and_then(name_in_meta).is_some()
}

fn mcp_or_agent(name: &str) -> (String, Source) {
    match mcp_name(name) {
        Some((server, tool)) => (short(tool), Source::Mcp(short(server))),
        None => (short(name), Source::Agent),
    }
}

fn mcp_name(name: &str) -> Option<(&str, &str)> {
    let is_name = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    let parts = match name.strip_prefix("mcp__") {
        Some(rest) => rest.split_once("__"),
        None => name.strip_prefix("mcp_").and_then(|rest| rest.split_once('_')),
    };
    parts.filter(|(server, tool)| is_name(server) && is_name(tool))
}

fn name_in_meta(meta: &Meta) -> Option<String> {
    let claude = meta.get("claudeCode").and_then(|value| value.decode::<Extra>().ok());
    let claude = claude.as_ref().and_then(|members| members.get("toolName").cloned());
    [claude, meta.get("toolName"), meta.get("tool_name")]
        .into_iter()
        .flatten()
        .filter_map(|value| value.decode::<String>().ok())
        .find(|name| !name.trim().is_empty())
}

/// Returns the id of the call that a call was made for, from `_meta.claudeCode.parentToolUseId`.
pub(crate) fn parent_in_meta(meta: Option<&Meta>) -> Option<String> {
    let members: Extra = meta?.get("claudeCode")?.decode().ok()?;
    members.get("parentToolUseId")?.decode().ok()
}

/// Returns the name at the head of a title, as in `apply_patch: src/main.rs`.
fn titled(title: &str) -> Option<&str> {
    let (name, _) = title.split_once(": ")?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part))
        .then_some(name)
}

fn slug(title: &str) -> String {
    let mut slug = String::new();
    for character in title.chars() {
        if slug.len() == SLUG_BYTES {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('_') {
            slug.push('_');
        }
    }
    slug.truncate(slug.trim_end_matches('_').len());
    slug
}

fn short(name: &str) -> String {
    crate::json::head(name, NAME_BYTES).to_owned()
}
