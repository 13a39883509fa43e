//! Matching of the agent's announced calls with its requests.
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Largest number of remembered announcements, and of calls without one.
const MAX_REMEMBERED: usize = 256;
/// Largest size of compared arguments, in bytes.
const MAX_COMPARED_BYTES: usize = 16 << 10;

/// Matches ACP tool calls with requests to the binding, within a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Correlation {
    /// The agent's ids of calls that were made.
    matched: BTreeMap<AgentId, ToolCallId>,
    /// Announced tool calls without a request, oldest first.
    announced: VecDeque<Announced>,
    /// Calls that were made before their announcement, oldest first.
    unannounced: VecDeque<Unannounced>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Announced {
    id: AgentId,
    tool: String,
    arguments: Option<String>,
    /// Whether its name or `_meta` is that of the tool; otherwise its title is.
    is_named: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unannounced {
    call: ToolCallId,
    tool: String,
    arguments: Option<String>,
}

impl Correlation {
    /// Records the agent's id of a call that was made.
    pub(super) fn tie(&mut self, id: AgentId, call: ToolCallId) {
        self.announced.retain(|announced| announced.id != id);
        if self.matched.len() >= MAX_REMEMBERED {
            self.matched.pop_first();
        }
        self.matched.insert(id, call);
    }

    /// Returns the announced tool call that a request without an agent's id belongs to.
    pub(super) fn announced_for(&mut self, tool: &str, arguments: &Raw) -> Option<AgentId> {
        let wanted = canonical(arguments);
        let same_tool = |announced: &&Announced| announced.tool == tool;
        let same = |announced: &&Announced| wanted.is_some() && announced.arguments == wanted;
        let exact = self.announced.iter().filter(same_tool).find(same);
        let found = exact.or_else(|| self.announced.iter().find(same_tool));
        found.map(|announced| announced.id.clone())
    }

    /// Remembers a call for a later announcement.
    pub(super) fn expect(&mut self, call: ToolCallId, tool: &str, arguments: &Raw) {
        let (tool, arguments) = (tool.into(), canonical(arguments));
        push(&mut self.unannounced, Unannounced { call, tool, arguments });
    }

    /// Returns whether the id belongs to a frontend call, made or announced.
    pub(super) fn knows(&self, id: &AgentId) -> bool {
        self.matched.contains_key(id) || self.announced.iter().any(|known| known.id == *id)
    }

    /// Records that an announced call has the name of its tool.
    pub(super) fn note_name(&mut self, id: &AgentId) {
        let call = self.announced.iter_mut().find(|known| known.id == *id);
        call.into_iter().for_each(|call| call.is_named = true);
    }

    /// Returns whether an announced call has the name of its tool.
    pub(super) fn is_named(&self, id: &AgentId) -> bool {
        self.announced.iter().any(|known| known.id == *id && known.is_named)
    }

    /// Returns the tool of a call that was announced but not made.
    pub(super) fn announced_tool(&self, id: &AgentId) -> Option<&str> {
        self.announced.iter().find(|known| known.id == *id).map(|known| &*known.tool)
    }

    /// Handles the agent's report of a frontend tool call.
    pub(super) fn announce(&mut self, id: &AgentId, tool: &str, arguments: Option<&Raw>) {
        if self.matched.contains_key(id) {
            return;
        }
        let arguments = arguments.and_then(canonical);
        if let Some(known) = self.announced.iter_mut().find(|known| known.id == *id) {
            known.arguments = arguments.or(known.arguments.take());
            return;
        }
        let same_tool = |made: &Unannounced| made.tool == tool;
        let same = |made: &Unannounced| same_tool(made) && made.arguments == arguments;
        let exact = arguments.as_ref().and_then(|_| self.unannounced.iter().position(same));
        match exact.or_else(|| self.unannounced.iter().position(same_tool)) {
            Some(at) => {
                if let Some(made) = self.unannounced.remove(at) {
                    self.tie(id.clone(), made.call);
                }
            }
            None => {
                let tool = tool.into();
                let announced = Announced { id: id.clone(), tool, arguments, is_named: false };
                push(&mut self.announced, announced);
            }
        }
    }

    /// Removes an announced call that will not be made.
    pub(super) fn forget(&mut self, id: &AgentId) {
        self.announced.retain(|announced| announced.id != *id);
    }
}

fn push<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() >= MAX_REMEMBERED {
        list.pop_front();
    }
    list.push_back(item);
}

/// Returns a canonical form of JSON, or `None` if it is too long to compare.
fn canonical(arguments: &Raw) -> Option<String> {
    if arguments.as_str().len() > MAX_COMPARED_BYTES {
        return None;
    }
    arguments.decode::<Value>().ok().map(|value| value.to_string())
}
