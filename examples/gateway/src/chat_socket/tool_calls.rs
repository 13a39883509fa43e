//! Tool calls of a conversation, as `tool_start` and `tool_complete` messages.
use crate::chat_socket::messages::{
    ServerMessage, ServerToolCompleteMessage, ServerToolCompleteMessageMembers,
    ServerToolStartMessage, ServerToolStartMessageMembers,
};
use mcp_bridge::registry::{Registry, ToolSource, ToolSourceName};
use std::collections::BTreeMap;

/// The tool calls of a conversation. Each call has one `tool_start`, and one `tool_complete` if it
/// ends.
///
/// A call that is still open at the end of a run, because its tool asks the user, continues in a
/// later run.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls {
    calls: BTreeMap<String, ToolCall>,
}

#[derive(Debug)]
struct ToolCall {
    name: String,
    source: ToolSourceName,
    has_ended: bool,
    /// Whether an earlier run left the call open.
    is_carried: bool,
}

impl ToolCalls {
    /// Maximum number of calls of a run. Further calls have no messages.
    pub(crate) const MAX_CALLS: usize = 4096;

    /// Handles the start of a call with these arguments. Returns no message if the call has
    /// already started.
    pub(crate) fn start(
        &mut self,
        id: &str,
        name: &str,
        arguments: Option<&str>,
        registry: &Registry,
        timestamp: String,
    ) -> Option<ServerMessage> {
        let known = self.calls.get(id);
        let is_replaced = known.is_some_and(|call| call.is_carried && call.name != name);
        if known.is_some() && !is_replaced || known.is_none() && !self.has_room() {
            return None;
        }
        let source = source_name(registry.source(name));
        let mut start = ServerToolStartMessage::from(ServerToolStartMessageMembers {
            tool_name: name.to_owned(),
            tool_input: arguments.filter(|text| *text != "null").unwrap_or("{}").to_owned(),
            timestamp,
        });
        start.source = Some(source.clone());
        let name = name.to_owned();
        let call = ToolCall { name, source, has_ended: false, is_carried: false };
        self.calls.insert(id.to_owned(), call);
        Some(ServerMessage::ToolStart(start))
    }

    /// Handles the result of a call. Returns no message unless the call is open: another socket may
    /// have shown its start.
    pub(crate) fn complete(
        &mut self,
        id: &str,
        result: String,
        timestamp: String,
    ) -> Option<ServerMessage> {
        let call = self.calls.get_mut(id).filter(|call| !call.has_ended)?;
        call.has_ended = true;
        let mut complete = ServerToolCompleteMessage::from(ServerToolCompleteMessageMembers {
            tool_name: call.name.clone(),
            tool_result: result,
            timestamp,
        });
        complete.source = Some(call.source.clone());
        Some(ServerMessage::ToolComplete(complete))
    }

    /// Ends a run. Ended calls are forgotten, so that their ids may be reused; open calls may end
    /// in a later run.
    pub(crate) fn end_run(&mut self) {
        self.calls.retain(|_, call| !call.has_ended);
        self.calls.values_mut().for_each(|call| call.is_carried = true);
    }

    /// Returns whether another call can be tracked. A call of an earlier run is evicted if
    /// necessary.
    fn has_room(&mut self) -> bool {
        if self.calls.len() < Self::MAX_CALLS {
            return true;
        }
        let carried = self.calls.iter().find(|(_, call)| call.is_carried);
        let carried = carried.map(|(id, _)| id.clone());
        carried.is_some_and(|id| self.calls.remove(&id).is_some())
    }
}

/// Returns the name of a source for pages, which know `local` and `mcp`.
fn source_name(source: &ToolSource) -> ToolSourceName {
    match source {
        ToolSource::Mcp { .. } => ToolSourceName::Mcp,
        _ => ToolSourceName::Local,
    }
}

#[cfg(test)]
mod tests;
