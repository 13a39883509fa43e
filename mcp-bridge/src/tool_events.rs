//! Messages between a chat page and its server over a WebSocket, with the tools that run meanwhile.
//!
//! | type | to | says |
//! |---|---|---|
//! | `message` | server | the person wrote something |
//! | `token` | page | a part of the answer |
//! | `tool_start` | page | a tool begins |
//! | `tool_complete` | page | a tool is done |
//! | `complete` | page | the answer is whole |
//! | `error` | page | something went wrong |
//!
//! `source` came later to `tool_start` and `tool_complete`: it is optional, its absence means `local`, and pages that do not
//! know it pass over it.
//!
//! [`ToolEvents`] makes the two out of what is heard of a call, once each, whatever the order: from an agent (a tool call and
//! its updates) as from a tool that runs here.
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
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Presence, Raw};
use jsonrpc_core::{object, open_union};

open_union! {
    /// What a page sends.
    pub enum ClientMessage by "type" {
        /// The person wrote something.
        Message(ClientChatMessage) = "message",
    }
}

object! {
    /// The person wrote something.
    pub struct ClientChatMessage {
        /// In which conversation.
        conversation_id: String = "conversation_id",
        /// What.
        content: String = "content",
    }
}

open_union! {
    /// What a page is sent.
    pub enum ServerMessage by "type" {
        /// A part of the answer.
        Token(ServerTokenMessage) = "token",
        /// The answer is whole.
        Complete(ServerCompleteMessage) = "complete",
        /// A tool begins.
        ToolStart(ServerToolStartMessage) = "tool_start",
        /// A tool is done.
        ToolComplete(ServerToolCompleteMessage) = "tool_complete",
        /// Something went wrong.
        Error(ServerErrorMessage) = "error",
    }
}

object! {
    /// A part of the answer.
    pub struct ServerTokenMessage {
        /// The part.
        content: String = "content",
    }
}

object! {
    /// The answer is whole.
    pub struct ServerCompleteMessage {
        /// Names the answer.
        message_id: String = "message_id",
        /// In which conversation.
        conversation_id: String = "conversation_id",
    }
}

object! {
    /// A tool begins.
    pub struct ServerToolStartMessage {
        /// Which one.
        tool_name: String = "tool_name",
        /// Its arguments, as JSON text.
        tool_input: String = "tool_input",
        /// When, ISO 8601.
        timestamp: String = "timestamp",
    }
    optional {
        /// Where it is from; absent means `local`.
        source: ToolSourceName = "source",
    }
}

object! {
    /// A tool is done.
    pub struct ServerToolCompleteMessage {
        /// Which one.
        tool_name: String = "tool_name",
        /// What it gave, as text.
        tool_result: String = "tool_result",
        /// When, ISO 8601.
        timestamp: String = "timestamp",
    }
    optional {
        /// Where it is from; absent means `local`.
        source: ToolSourceName = "source",
    }
}

object! {
    /// Something went wrong.
    pub struct ServerErrorMessage {
        /// What, for people.
        message: String = "message",
    }
    optional {
        /// What, for programs.
        code: String = "code",
    }
}

/// What is heard of a tool call, from whoever runs it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallUpdate<'a> {
    /// Names the call.
    pub call_id: &'a str,
    /// By which name the model called the tool, if that is known: of an agent's call the tool's name, or else its title.
    pub name: Option<&'a str>,
    /// The arguments.
    pub input: Option<&'a Raw>,
    /// What it gave; of several, the last counts.
    pub output: Option<Cow<'a, str>>,
    /// How it stands.
    pub status: CallStatus,
}

impl<'a> CallUpdate<'a> {
    /// An update that says nothing yet.
    pub fn new(call_id: &'a str) -> Self {
        let (name, input, output) = (None, None, None);
        Self { call_id, name, input, output, status: CallStatus::Unchanged }
    }
}

/// How a tool call stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallStatus {
    /// As before, or it is not known.
    #[default]
    Unchanged,
    /// The model asks for it.
    Pending,
    /// It runs.
    InProgress,
    /// It is done.
    Completed,
    /// It failed.
    Failed,
}

impl From<&str> for CallStatus {
    /// Reads the status of an agent's tool call.
    ///
    /// Spec: [`ToolCallStatus`](https://agentclientprotocol.com/protocol/v1/schema#toolcallstatus) (ACP v1)
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

/// Turns updates of tool calls into `tool_start` and `tool_complete`.
///
/// Each call has one `tool_start`, and one `tool_complete` if it ends:
///
/// | update | messages |
/// |---|---|
/// | pending, without arguments | none |
/// | arguments, or in progress | `tool_start` |
/// | completed or failed | `tool_start`, unless it was sent, and `tool_complete` |
/// | any later one | none |
///
/// The name of the tool is the last one before `tool_start`, or else the id of the call. Its source is that of the name in the
/// registry. A call that a turn leaves open, because its tool asks the user, goes on in a later turn.
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
    /// The source that `tool_start` had.
    started: Option<ToolSource>,
    is_ended: bool,
    /// Whether an earlier turn left it open.
    is_carried: bool,
}

impl ToolEvents {
    /// Maximum number of calls of a turn. Further calls have no messages.
    pub const MAX_CALLS: usize = 4096;

    /// A tracker without calls.
    pub fn new(source_names: SourceNames) -> Self {
        Self { calls: BTreeMap::new(), source_names }
    }

    /// Handles an update of a call. Returns at most two messages, with the timestamp (ISO 8601).
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
            let mut start = ServerToolStartMessage::new(&*name, input, timestamp);
            start.source = Some(source_names.of(&source));
            call.started = Some(source);
            sent.push(ServerMessage::ToolStart(start));
        }
        if let (true, Some(source)) = (has_ended, &call.started) {
            let output = core::mem::take(&mut call.output);
            let mut complete = ServerToolCompleteMessage::new(name, output, timestamp);
            complete.source = Some(source_names.of(source));
            call.is_ended = true;
            call.input = None;
            sent.push(ServerMessage::ToolComplete(complete));
        }
        sent
    }

    /// Ends a turn. Calls that are over are forgotten, so that their ids may come again; open ones end in a later turn.
    pub fn end_turn(&mut self) {
        self.calls.retain(|_, call| call.started.is_some() && !call.is_ended);
        self.calls.values_mut().for_each(|call| call.is_carried = true);
    }

    /// Whether one more call can be tracked. A call of an earlier turn gives way.
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
    /// Whether an update is about another call with the same id.
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

/// What a tool gave, as text: its text blocks, a line each, and its other blocks as JSON; without any, its structured content
/// as JSON.
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
