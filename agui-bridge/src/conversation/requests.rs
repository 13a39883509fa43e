//! Open requests to the user, from the agent and from tools of the program.
use super::QuestionKey;
use acp_types::client::RequestKey;
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::tool_calls::ToolCallId;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use serde::{Deserialize, Serialize};

/// Number of remembered tool calls of the agent, so that a question can refer to its call.
const MAX_ANNOUNCED: usize = 16;

/// Requests of the translator without an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenRequests {
    open: Vec<(RequestId, Requester)>,
    numbered: i64,
    /// Last tool calls of the agent: id, and name with title.
    announced: VecDeque<(ToolCallId, String)>,
}

/// Origin of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Requester {
    Agent(#[serde(with = "request_key")] RequestKey),
    Tool(QuestionKey),
}

impl OpenRequests {
    /// Adds a request, and returns its id for the translator.
    pub(super) fn insert(&mut self, requester: Requester) -> RequestId {
        self.numbered = self.numbered.wrapping_add(1);
        let id = RequestId::from(self.numbered);
        self.open.push((id.clone(), requester));
        id
    }

    /// Ends a request.
    pub(super) fn remove(&mut self, id: &RequestId) -> Option<Requester> {
        let index = self.open.iter().position(|(open, _)| open == id)?;
        Some(self.open.swap_remove(index).1)
    }

    pub(super) fn find(&self, requester: Requester) -> Option<RequestId> {
        self.open.iter().find(|(_, open)| *open == requester).map(|(id, _)| id.clone())
    }

    /// Ends all requests of a released session.
    pub(super) fn remove_agent(&mut self) {
        self.open.retain(|(_, requester)| matches!(requester, Requester::Tool(_)));
    }

    /// Returns the number of open questions of the program's tools.
    pub(super) fn questions(&self) -> usize {
        self.open.iter().filter(|(_, open)| matches!(open, Requester::Tool(_))).count()
    }

    pub(super) fn handle_update(&mut self, update: &SessionUpdate) {
        if let SessionUpdate::ToolCall(call) = update {
            if self.announced.len() >= MAX_ANNOUNCED {
                self.announced.pop_front();
            }
            let words = format!("{} {}", call.name.as_deref().unwrap_or_default(), call.title);
            self.announced.push_back((call.tool_call_id.clone(), words));
        }
    }

    /// Returns the last tool call with this tool in its name or title.
    pub(super) fn call_of(&self, tool: &str) -> Option<ToolCallId> {
        let of_tool = |(_, words): &&(ToolCallId, String)| words.contains(tool);
        self.announced.iter().rev().find(of_tool).map(|(id, _)| id.clone())
    }
}

/// Serializes a request key as its number.
pub(super) mod request_key {
    use acp_types::client::RequestKey;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        key: &RequestKey,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        key.get().serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<RequestKey, D::Error> {
        u64::deserialize(deserializer).map(RequestKey::new)
    }
}
