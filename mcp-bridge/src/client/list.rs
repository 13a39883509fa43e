//! Retrieval of the tool list of a server.
use super::{
    BadTool, CallError, Client, ClientEvent, ConnectionState, ListedTools, RequestPurpose,
    SendRequestError,
};
use crate::mcp::base::{CacheScope, Era, PaginatedRequestParams};
use crate::mcp::tools::ListToolsResult;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Extra, Raw};

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

    /// Requests the tool list. [`ClientEvent::Tools`] or [`ClientEvent::ToolsFailed`] follows. A
    /// call while the list is being retrieved has no effect.
    ///
    /// # Errors
    /// Returns an error if the request cannot be sent.
    pub fn list_tools(&mut self) -> Result<(), SendRequestError> {
        if self.list.is_some() {
            return Ok(());
        }
        self.ask_page(None)?;
        self.list = Some(List::default());
        Ok(())
    }

    fn ask_page(&mut self, cursor: Option<String>) -> Result<(), SendRequestError> {
        let ConnectionState::Ready { era, version } = &self.state else {
            return Err(SendRequestError::NotReady);
        };
        let mut params = PaginatedRequestParams::new();
        params.cursor = cursor;
        if *era == Era::Modern {
            params.meta = Some(self.request_meta(version, None));
        }
        self.transmit(RequestPurpose::List, "tools/list", &params, None).map(|_| ())
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
