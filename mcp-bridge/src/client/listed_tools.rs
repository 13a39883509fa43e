//! The tool list of a server.
use crate::mcp::base::CacheScope;
use crate::mcp::tools::Tool;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;

/// The tool list of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListedTools {
    /// The tools that could be decoded, in order.
    pub tools: Vec<Tool>,
    /// The tools that were left out.
    pub bad: Vec<BadTool>,
    /// How long the list may be cached, in milliseconds: the minimum of all pages. Since
    /// 2026-07-28.
    pub ttl_ms: Option<u64>,
    /// The scope in which the list may be cached: `private` if any page says so. Since 2026-07-28.
    pub cache_scope: Option<CacheScope>,
}

/// A tool that was left out of a [`ListedTools`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BadTool {
    /// Index in the complete list.
    pub index: usize,
    /// Name of the tool, if it could be decoded.
    pub name: Option<String>,
    /// The reason.
    pub error: String,
    /// The tool as received.
    pub raw: Raw,
}

impl BadTool {
    /// Creates an entry for a tool that the caller leaves out, for example because its transport
    /// cannot carry calls of it.
    pub fn new(index: usize, name: Option<String>, error: impl Into<String>, raw: Raw) -> Self {
        Self { index, name, error: error.into(), raw }
    }
}
