//! Matching of the agent's announced calls with its requests.
use super::Action;
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Largest number of remembered announcements, and of calls without one.
const MAX_REMEMBERED: usize = 256;
/// Largest size of the withheld reports of a thread, in bytes as JSON.
const MAX_WITHHELD_BYTES: usize = 256 << 10;
/// Largest size of compared arguments, in bytes.
const MAX_COMPARED_BYTES: usize = 16 << 10;

/// Matches ACP tool calls with requests to the binding, within a turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Correlation {
    /// The agent's ids of calls that were made, and are not in the stream.
    matched: BTreeMap<AgentId, ToolCallId>,
    /// Announced tool calls without a request, oldest first.
    announced: VecDeque<AnnouncedCall>,
    /// Calls that were made before their announcement, oldest first.
    unannounced: VecDeque<UnannouncedCall>,
    /// Size of the withheld reports, in bytes.
    withheld_bytes: usize,
}

/// A tool call of the agent that refers to a tool of the page, which no binding has received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AnnouncedCall {
    pub(super) id: AgentId,
    tool: String,
    arguments: Option<String>,
    /// The withheld reports, with their sizes in bytes. `None` if the call is in the stream as the
    /// agent's own.
    withheld: Option<Vec<(usize, Action)>>,
    /// Whether the call runs, according to the agent.
    pub(super) runs: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct UnannouncedCall {
    call: ToolCallId,
    tool: String,
    arguments: Option<String>,
}

impl Correlation {
    /// Records the agent's id of a call that was made. Its withheld reports are dropped, since the
    /// page shows the call.
    pub(super) fn tie(&mut self, id: AgentId, call: ToolCallId) {
        self.take(&id);
        if self.matched.len() >= MAX_REMEMBERED {
            self.matched.pop_first();
        }
        self.matched.insert(id, call);
    }

    /// Forgets that a call was made with this id. Returns whether it was.
    pub(super) fn untie(&mut self, id: &AgentId) -> bool {
        self.matched.remove(id).is_some()
    }

    /// Returns the announced tool call that a request without an agent's id belongs to.
    pub(super) fn announced_for(&self, tool: &str, arguments: &Raw) -> Option<AgentId> {
        let wanted = canonical(arguments);
        let same_tool = |announced: &&AnnouncedCall| announced.tool == tool;
        let same = |announced: &&AnnouncedCall| wanted.is_some() && announced.arguments == wanted;
        let exact = self.announced.iter().filter(same_tool).find(same);
        let found = exact.or_else(|| self.announced.iter().find(same_tool));
        found.map(|announced| announced.id.clone())
    }

    /// Remembers a call for a later announcement.
    pub(super) fn expect(&mut self, call: ToolCallId, tool: &str, arguments: &Raw) {
        if self.unannounced.len() >= MAX_REMEMBERED {
            self.unannounced.pop_front();
        }
        let tool = tool.into();
        let arguments = canonical(arguments);
        self.unannounced.push_back(UnannouncedCall { call, tool, arguments });
    }

    /// Returns whether a call with this id was made, and is not in the stream as the agent's own.
    pub(super) fn is_matched(&self, id: &AgentId) -> bool {
        self.matched.contains_key(id)
    }

    /// Returns whether reports of this call are withheld.
    pub(super) fn withholds(&self, id: &AgentId) -> bool {
        self.find(id).is_some_and(|announced| announced.withheld.is_some())
    }

    /// Returns whether an announced call is in the stream as the agent's own.
    pub(super) fn is_shown(&self, id: &AgentId) -> bool {
        self.find(id).is_some_and(|announced| announced.withheld.is_none())
    }

    /// Takes a call that was made before its announcement.
    pub(super) fn take_unannounced(
        &mut self,
        tool: &str,
        arguments: Option<&Raw>,
    ) -> Option<ToolCallId> {
        let arguments = arguments.and_then(canonical);
        let same_tool = |made: &UnannouncedCall| made.tool == tool;
        let same = |made: &UnannouncedCall| same_tool(made) && made.arguments == arguments;
        let exact = arguments.as_ref().and_then(|_| self.unannounced.iter().position(same));
        let found = exact.or_else(|| self.unannounced.iter().position(same_tool))?;
        self.unannounced.remove(found).map(|made| made.call)
    }

    /// Handles the agent's report of a call that was not made. Returns the calls that do not fit
    /// any more.
    pub(super) fn announce(
        &mut self,
        id: &AgentId,
        tool: &str,
        arguments: Option<&Raw>,
        is_shown: bool,
    ) -> Vec<AnnouncedCall> {
        if self.find(id).is_some() {
            self.set_arguments(id, arguments);
            return Vec::new();
        }
        let arguments = arguments.and_then(canonical);
        let withheld = (!is_shown).then(Vec::new);
        let tool = tool.into();
        let id = id.clone();
        self.announced.push_back(AnnouncedCall { id, tool, arguments, withheld, runs: false });
        let surplus = self.announced.len() > MAX_REMEMBERED;
        surplus.then(|| self.take_oldest()).flatten().into_iter().collect()
    }

    /// Sets the arguments of an announced call, if they are known.
    pub(super) fn set_arguments(&mut self, id: &AgentId, arguments: Option<&Raw>) {
        let known = self.announced.iter_mut().find(|known| known.id == *id);
        if let (Some(known), Some(arguments)) = (known, arguments.and_then(canonical)) {
            known.arguments = Some(arguments);
        }
    }

    /// Withholds a report. Returns the calls that do not fit any more.
    pub(super) fn withhold(
        &mut self,
        id: &AgentId,
        report: Action,
        runs: bool,
    ) -> Vec<AnnouncedCall> {
        let size = serde_json::to_vec(&report).map_or(0, |json| json.len());
        let Some(known) = self.announced.iter_mut().find(|known| known.id == *id) else {
            return Vec::new();
        };
        known.runs |= runs;
        known.withheld.get_or_insert_default().push((size, report));
        self.withheld_bytes = self.withheld_bytes.saturating_add(size);
        let mut surplus = Vec::new();
        while self.withheld_bytes > MAX_WITHHELD_BYTES
            && let Some(oldest) = self.take_oldest()
        {
            surplus.push(oldest);
        }
        surplus
    }

    /// Returns the withheld reports of a call, which is in the stream from now on, and whether it
    /// runs.
    pub(super) fn show(&mut self, id: &AgentId) -> Option<(Vec<Action>, bool)> {
        let known = self.announced.iter_mut().find(|known| known.id == *id)?;
        let withheld = known.withheld.take()?;
        let bytes = withheld.iter().map(|(size, _)| size).sum();
        self.withheld_bytes = self.withheld_bytes.saturating_sub(bytes);
        Some((withheld.into_iter().map(|(_, report)| report).collect(), known.runs))
    }

    /// Removes an announced call.
    pub(super) fn take(&mut self, id: &AgentId) -> Option<AnnouncedCall> {
        let place = self.announced.iter().position(|announced| announced.id == *id)?;
        self.take_at(place)
    }

    /// Removes the announced calls, in order.
    pub(super) fn take_all(&mut self) -> Vec<AnnouncedCall> {
        self.withheld_bytes = 0;
        self.announced.drain(..).collect()
    }

    fn take_oldest(&mut self) -> Option<AnnouncedCall> {
        self.take_at(0)
    }

    fn take_at(&mut self, place: usize) -> Option<AnnouncedCall> {
        let taken = self.announced.remove(place)?;
        let bytes = taken.withheld.iter().flatten().map(|(size, _)| size).sum();
        self.withheld_bytes = self.withheld_bytes.saturating_sub(bytes);
        Some(taken)
    }

    fn find(&self, id: &AgentId) -> Option<&AnnouncedCall> {
        self.announced.iter().find(|announced| announced.id == *id)
    }
}

impl AnnouncedCall {
    /// Returns the withheld reports, in order of arrival.
    pub(super) fn into_reports(self) -> impl Iterator<Item = Action> {
        self.withheld.into_iter().flatten().map(|(_, report)| report)
    }
}

/// Returns a canonical form of JSON, or `None` if it is too long to compare.
fn canonical(arguments: &Raw) -> Option<String> {
    if arguments.as_str().len() > MAX_COMPARED_BYTES {
        return None;
    }
    arguments.decode::<Value>().ok().map(|value| value.to_string())
}
