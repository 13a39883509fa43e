//! WebSocket messages between a chat page and its server, including the progress of tool calls.
//!
//! | type | receiver | meaning |
//! |---|---|---|
//! | `message` | server | message of the user |
//! | `token` | page | part of the answer |
//! | `tool_start` | page | a tool call started |
//! | `tool_complete` | page | a tool call ended |
//! | `complete` | page | the answer is complete |
//! | `error` | page | an error occurred |
//!
//! `source` is a later addition to `tool_start` and `tool_complete`. It is optional, its absence
//! means `local`, and older pages ignore it.
//!
//! [`ToolEvents`] creates these two messages from updates of tool calls, once per call and in any
//! order of updates. The updates come from an agent or from a local tool.
//!
//! ```
//! use mcp_bridge::mcp::tools::Tool;
//! use mcp_bridge::registry::{CollisionPolicy, Registry, SourceNames, ToolSource};
//! use mcp_bridge::tool_events::{CallStatus, CallUpdate, ToolEvents};
//! use jsonrpc_core::wire::{self, Raw};
//!
//! let tool: Tool = wire::decode(r#"{"name":"weather","inputSchema":{}}"#)?;
//! let mut registry = Registry::new(CollisionPolicy::Rename);
//! registry.register(tool, ToolSource::mcp("sky"))?;
//! let mut events = ToolEvents::new(SourceNames::Open);
//!
//! let city = Raw::from_text(r#"{"city":"Oslo"}"#)?;
//! let mut update = CallUpdate::new("call-1");
//! (update.name, update.input, update.status) = (Some("weather"), Some(&city), CallStatus::InProgress);
//! let sent = events.handle(&update, &registry, "2026-07-28T10:00:00Z");
//! assert_eq!(
//!     serde_json::to_string(&sent)?,
//!     r#"[{"type":"tool_start","tool_name":"weather","tool_input":"{\"city\":\"Oslo\"}","timestamp":"2026-07-28T10:00:00Z","source":"mcp"}]"#,
//! );
//!
//! let mut update = CallUpdate::new("call-1");
//! (update.output, update.status) = (Some("4 °C".into()), CallStatus::Completed);
//! let sent = events.handle(&update, &registry, "2026-07-28T10:00:01Z");
//! assert_eq!(
//!     serde_json::to_string(&sent)?,
//!     r#"[{"type":"tool_complete","tool_name":"weather","tool_result":"4 °C","timestamp":"2026-07-28T10:00:01Z","source":"mcp"}]"#,
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::mcp::content::ContentBlock;
use crate::mcp::tools::CallToolResult;
use crate::registry::{Registry, SourceNames, ToolSource, ToolSourceName};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Presence, Raw};
use jsonrpc_core::{object, open_union};

open_union! {
    /// A message from a page.
    pub enum ClientMessage by "type" {
        /// Message of the user.
        Message(ClientChatMessage) = "message",
    }
}

object! {
    /// Message of the user.
    pub struct ClientChatMessage by name {
        /// Id of the conversation.
        conversation_id: String = "conversation_id",
        /// Text of the message.
        content: String = "content",
    }
}

open_union! {
    /// A message to a page.
    pub enum ServerMessage by "type" {
        /// Part of the answer.
        Token(ServerTokenMessage) = "token",
        /// The answer is complete.
        Complete(ServerCompleteMessage) = "complete",
        /// A tool call started.
        ToolStart(ServerToolStartMessage) = "tool_start",
        /// A tool call ended.
        ToolComplete(ServerToolCompleteMessage) = "tool_complete",
        /// An error occurred.
        Error(ServerErrorMessage) = "error",
    }
}

object! {
    /// Part of the answer.
    pub struct ServerTokenMessage {
        /// The text.
        content: String = "content",
    }
}

object! {
    /// End of an answer.
    pub struct ServerCompleteMessage by name {
        /// Id of the answer.
        message_id: String = "message_id",
        /// Id of the conversation.
        conversation_id: String = "conversation_id",
    }
}

object! {
    /// Start of a tool call.
    pub struct ServerToolStartMessage by name {
        /// Name of the tool.
        tool_name: String = "tool_name",
        /// The arguments as JSON text.
        tool_input: String = "tool_input",
        /// Time of the start, ISO 8601.
        timestamp: String = "timestamp",
    }
    optional {
        /// Source of the tool. Absent means `local`.
        source: ToolSourceName = "source",
    }
}

object! {
    /// End of a tool call.
    pub struct ServerToolCompleteMessage by name {
        /// Name of the tool.
        tool_name: String = "tool_name",
        /// The result as text.
        tool_result: String = "tool_result",
        /// Time of the end, ISO 8601.
        timestamp: String = "timestamp",
    }
    optional {
        /// Source of the tool. Absent means `local`.
        source: ToolSourceName = "source",
    }
}

object! {
    /// An error.
    pub struct ServerErrorMessage {
        /// Human-readable message.
        message: String = "message",
    }
    optional {
        /// Error code.
        code: String = "code",
    }
}

/// An update of a tool call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallUpdate<'a> {
    /// Id of the call.
    pub call_id: &'a str,
    /// Name under which the model called the tool, if known. For a call of an agent, the tool's
    /// name or else the title.
    pub name: Option<&'a str>,
    /// The arguments.
    pub input: Option<&'a Raw>,
    /// The result. If there are several updates, the last one counts.
    pub output: Option<Cow<'a, str>>,
    /// Status of the call.
    pub status: CallStatus,
}

impl<'a> CallUpdate<'a> {
    /// Creates an update without content.
    pub fn new(call_id: &'a str) -> Self {
        let name = None;
        let input = None;
        let output = None;
        Self { call_id, name, input, output, status: CallStatus::Unchanged }
    }
}

/// Status of a tool call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallStatus {
    /// Unchanged or unknown.
    #[default]
    Unchanged,
    /// Requested by the model.
    Pending,
    /// Running.
    InProgress,
    /// Ended with a result.
    Completed,
    /// Failed.
    Failed,
}

impl From<&str> for CallStatus {
    /// Converts the status of an agent's tool call.
    ///
    /// Spec: [`ToolCallStatus`](https://agentclientprotocol.com/protocol/v1/schema#toolcallstatus)
    /// (ACP v1)
    fn from(name: &str) -> Self {
        match name {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            _ => Self::Unchanged,
        }
    }
}

/// Converts updates of tool calls into `tool_start` and `tool_complete` messages.
///
/// Each call has one `tool_start`, and one `tool_complete` if it ends:
///
/// | update | messages |
/// |---|---|
/// | pending, without arguments | none |
/// | arguments, or in progress | `tool_start` |
/// | completed or failed | `tool_start` if it was not sent before, and `tool_complete` |
/// | any further update | none |
///
/// The name of the tool is the last name before `tool_start`, or else the id of the call. Its
/// source is looked up in the registry. A call that is still open at the end of a turn, because its
/// tool asks the user, continues in a later turn.
///
/// The [module](self) has an example.
#[derive(Clone, Debug, Default)]
pub struct ToolEvents {
    calls: BTreeMap<String, TrackedCall>,
    source_names: SourceNames,
}

#[derive(Clone, Debug, Default)]
struct TrackedCall {
    name: Option<String>,
    input: Option<Raw>,
    output: String,
    /// The source sent in `tool_start`.
    started: Option<ToolSource>,
    is_ended: bool,
    /// Whether the call was left open by an earlier turn.
    is_carried: bool,
}

impl ToolEvents {
    /// Maximum number of calls in a turn. Further calls have no messages.
    pub const MAX_CALLS: usize = 4096;

    /// Creates a converter without calls.
    pub fn new(source_names: SourceNames) -> Self {
        Self { calls: BTreeMap::new(), source_names }
    }

    /// Handles an update of a call. Returns at most two messages, with the given timestamp (ISO
    /// 8601).
    pub fn handle(
        &mut self,
        update: &CallUpdate<'_>,
        registry: &Registry,
        timestamp: &str,
    ) -> Vec<ServerMessage> {
        let mut sent = Vec::new();
        if !self.calls.contains_key(update.call_id) && !self.has_room() {
            return sent;
        }
        let source_names = self.source_names;
        let call = self.calls.entry(update.call_id.into()).or_default();
        if call.is_carried && call.is_replaced_by(update) {
            *call = TrackedCall::default();
        }
        if call.is_ended {
            return sent;
        }
        call.apply(update);
        let has_ended = matches!(update.status, CallStatus::Completed | CallStatus::Failed);
        let is_running = update.status == CallStatus::InProgress || call.input.is_some();
        let name = call.name.clone().unwrap_or_else(|| update.call_id.into());
        if call.started.is_none() && (is_running || has_ended) {
            let source = registry.source(&name).clone();
            let input = call.input.as_ref().map_or("{}", Raw::as_str);
            let mut start = ServerToolStartMessage::from(ServerToolStartMessageMembers {
                tool_name: name.to_string(),
                tool_input: input.into(),
                timestamp: timestamp.into(),
            });
            start.source = Some(source_names.of(&source));
            call.started = Some(source);
            sent.push(ServerMessage::ToolStart(start));
        }
        if let (true, Some(source)) = (has_ended, &call.started) {
            let output = core::mem::take(&mut call.output);
            let mut complete = ServerToolCompleteMessage::from(ServerToolCompleteMessageMembers {
                tool_name: name.to_string(),
                tool_result: output,
                timestamp: timestamp.into(),
            });
            complete.source = Some(source_names.of(source));
            call.is_ended = true;
            call.input = None;
            sent.push(ServerMessage::ToolComplete(complete));
        }
        sent
    }

    /// Returns whether a call has started and not ended, in this turn or in an earlier one.
    pub fn is_open(&self, call_id: &str) -> bool {
        self.calls.get(call_id).is_some_and(|call| call.started.is_some() && !call.is_ended)
    }

    /// Ends a turn. Ended calls are forgotten, so that their ids may be reused; open calls may end
    /// in a later turn.
    pub fn end_turn(&mut self) {
        self.calls.retain(|_, call| call.started.is_some() && !call.is_ended);
        self.calls.values_mut().for_each(|call| call.is_carried = true);
    }

    /// Returns whether another call can be tracked. A call of an earlier turn is evicted if
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

impl TrackedCall {
    /// Returns whether an update belongs to another call with the same id.
    fn is_replaced_by(&self, update: &CallUpdate<'_>) -> bool {
        let is_other = |name| self.name.as_deref().is_some_and(|known| known != name);
        update.status == CallStatus::Pending || update.name.is_some_and(is_other)
    }

    fn apply(&mut self, update: &CallUpdate<'_>) {
        if self.started.is_none() {
            if let Some(name) = update.name {
                self.name = Some(name.into());
            }
            let input = update.input.filter(|input| !matches!(input.as_str(), "null" | "{}"));
            if let Some(input) = input {
                self.input = Some(input.clone());
            }
        }
        if let Some(output) = &update.output {
            self.output = output.clone().into_owned();
        }
    }
}

/// Returns the result of a tool as text: its text blocks, one per line, and other blocks as JSON. A
/// result without content is represented by its structured content as JSON.
pub fn result_text(result: &CallToolResult) -> String {
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    };
    match (&result.content[..], &result.structured_content) {
        ([], Presence::Value(value)) => value.as_str().into(),
        (blocks, _) => blocks.iter().map(block).collect::<Vec<_>>().join("\n"),
    }
}
