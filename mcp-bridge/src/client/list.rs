//! The tool list of a server.
use super::{CallError, Client, ClientEvent, ConnectionState, NotSent, Pending};
use crate::mcp::base::{CacheScope, Era, PaginatedRequestParams};
use crate::mcp::tools::{ListToolsResult, Tool};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Extra, Raw};

/// The tool list of a server.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListedTools {
    /// The tools that could be decoded, in order.
    pub tools: Vec<Tool>,
    /// The tools that were left out.
    pub bad: Vec<BadTool>,
    /// How long the list may be cached, in milliseconds: the minimum of all pages. Since 2026-07-28.
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
    /// Creates an entry for a tool that the caller leaves out, for example because its transport cannot carry calls of
    /// it.
    pub fn new(index: usize, name: Option<String>, error: impl Into<String>, raw: Raw) -> Self {
        Self { index, name, error: error.into(), raw }
    }
}

/// A list that is being retrieved.
#[derive(Debug, Default)]
pub(super) struct List {
    tools: ListedTools,
    names: BTreeSet<String>,
    count: usize,
    pages: usize,
}

impl Client {
    /// Maximum number of pages that are retrieved.
    pub const MAX_PAGES: usize = 256;

    /// Maximum number of tools that are kept. Further tools are left out.
    pub const MAX_TOOLS: usize = 4096;

    /// Requests the tool list. [`ClientEvent::Tools`] or [`ClientEvent::ToolsFailed`] follows. A call while the list is
    /// being retrieved has no effect.
    ///
    /// # Errors
    /// Returns an error if the request cannot be sent.
    pub fn list_tools(&mut self) -> Result<(), NotSent> {
        if self.list.is_some() {
            return Ok(());
        }
        self.ask_page(None)?;
        self.list = Some(List::default());
        Ok(())
    }

    fn ask_page(&mut self, cursor: Option<String>) -> Result<(), NotSent> {
        let ConnectionState::Ready { era, version } = &self.state else {
            return Err(NotSent::NotReady);
        };
        let mut params = PaginatedRequestParams::new();
        params.cursor = cursor;
        if *era == Era::Modern {
            params.meta = Some(self.request_meta(version, None));
        }
        self.transmit(Pending::List, "tools/list", &params, None).map(|_| ())
    }

    pub(super) fn handle_list(&mut self, outcome: Result<Raw, ErrorObject>) {
        let Some(mut list) = self.list.take() else { return };
        let page = match outcome.map(|raw| (raw.decode::<ListToolsResult>(), raw)) {
            Ok((Ok(page), _)) => page,
            Ok((Err(error), raw)) => {
                let error = CallError::Decode { error, raw };
                return self.events.push_back(ClientEvent::ToolsFailed(error));
            }
            Err(error) => {
                return self.events.push_back(ClientEvent::ToolsFailed(CallError::Refused(error)));
            }
        };
        list.take(&page);
        let next = page.next_cursor.filter(|_| list.pages < Self::MAX_PAGES);
        if let Some(cursor) = next
            && self.ask_page(Some(cursor)).is_ok()
        {
            self.list = Some(list);
            return;
        }
        self.events.push_back(ClientEvent::Tools(Box::new(list.tools)));
    }
}

impl List {
    fn take(&mut self, page: &ListToolsResult) {
        self.pages += 1;
        let mut texts = page.raw_tools.texts().enumerate();
        for (place, tool) in page.tools() {
            let index = self.count;
            self.count += 1;
            let problem = match tool {
                Ok(_) if self.tools.tools.len() >= Client::MAX_TOOLS => "too many tools".into(),
                Ok(tool) if !self.names.insert(tool.name.clone()) => "duplicate tool name".into(),
                Ok(tool) => {
                    self.tools.tools.push(tool);
                    continue;
                }
                Err(error) => error.to_string(),
            };
            if self.tools.bad.len() < Client::MAX_TOOLS
                && let Some((_, text)) = texts.find(|(other, _)| *other == place)
                && let Ok(raw) = Raw::from_text(text)
            {
                self.tools.bad.push(BadTool::new(index, name(&raw), problem, raw));
            }
        }
        let ttl = page.ttl_ms.as_ref().and_then(serde_json::Number::as_u64);
        self.tools.ttl_ms = match (self.tools.ttl_ms, ttl) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if self.tools.cache_scope != Some(CacheScope::Private) && page.cache_scope.is_some() {
            self.tools.cache_scope.clone_from(&page.cache_scope);
        }
    }
}

fn name(tool: &Raw) -> Option<String> {
    let members: Extra = tool.decode().ok()?;
    members.get("name")?.decode().ok()
}
