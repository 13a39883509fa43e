use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many announced calls, and how many calls that may still be announced, are remembered at most.
const MAX_REMEMBERED: usize = 256;
/// How many bytes of arguments are compared at most.
const MAX_COMPARED_BYTES: usize = 16 << 10;

/// Which ACP tool calls and which requests to the binding are one, within a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Correlation {
    /// The agent's ids that stand for calls that were made.
    matched: BTreeMap<AgentId, ToolCallId>,
    /// Tool calls that the agent announced, of which no request came yet, oldest first.
    announced: VecDeque<Announced>,
    /// Calls that were made, whose tool call the agent has not announced, oldest first.
    unannounced: VecDeque<Unannounced>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Announced {
    id: AgentId,
    tool: String,
    arguments: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unannounced {
    call: ToolCallId,
    tool: String,
    arguments: Option<String>,
}

impl Correlation {
    /// Notes that the agent's id stands for a call that was made.
    pub(super) fn tie(&mut self, id: AgentId, call: ToolCallId) {
        self.announced.retain(|announced| announced.id != id);
        if self.matched.len() >= MAX_REMEMBERED {
            self.matched.pop_first();
        }
        self.matched.insert(id, call);
    }

    /// The announced tool call that a request is for, which had no id of the agent's.
    pub(super) fn announced_for(&mut self, tool: &str, arguments: &Raw) -> Option<AgentId> {
        let wanted = canonical(arguments);
        let same_tool = |announced: &&Announced| announced.tool == tool;
        let same = |announced: &&Announced| wanted.is_some() && announced.arguments == wanted;
        let exact = self.announced.iter().filter(same_tool).find(same);
        let found = exact.or_else(|| self.announced.iter().find(same_tool));
        found.map(|announced| announced.id.clone())
    }

    /// Remembers a call that was made, for the agent's announcement of it.
    pub(super) fn expect(&mut self, call: ToolCallId, tool: &str, arguments: &Raw) {
        let (tool, arguments) = (tool.into(), canonical(arguments));
        push(&mut self.unannounced, Unannounced { call, tool, arguments });
    }

    /// Whether the agent's id is that of a frontend call, made or announced.
    pub(super) fn knows(&self, id: &AgentId) -> bool {
        self.matched.contains_key(id) || self.announced.iter().any(|known| known.id == *id)
    }

    /// The tool of a call that is announced and was not made.
    pub(super) fn announced_tool(&self, id: &AgentId) -> Option<&str> {
        self.announced.iter().find(|known| known.id == *id).map(|known| &*known.tool)
    }

    /// Takes what the agent says of a tool call of a frontend tool.
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
                push(&mut self.announced, Announced { id: id.clone(), tool, arguments });
            }
        }
    }

    /// Forgets an announced call that will not be made.
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

/// One spelling for equal JSON; nothing for what is too long to compare.
fn canonical(arguments: &Raw) -> Option<String> {
    if arguments.as_str().len() > MAX_COMPARED_BYTES {
        return None;
    }
    arguments.decode::<Value>().ok().map(|value| value.to_string())
}
