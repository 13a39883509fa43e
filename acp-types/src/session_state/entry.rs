//! Entries of a session, tool calls and terminals.
#[cfg(doc)]
use super::SessionState;
use crate::v1;
use crate::v2::compaction::CompactionId;
use crate::v2::content::ContentBlock;
use crate::v2::prompt_lifecycle::MessageId;
use crate::v2::subagents::SessionMessage;
use crate::v2::terminals::TerminalUpdate;
use crate::v2::tool_calls::{
    ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Meta;

/// An entry of a session's history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Entry {
    /// A message or reasoning.
    Message(Message),
    /// A new tool call: see [`SessionState::tool_call`].
    ToolCall(ToolCallId),
    /// A compaction of the context: see [`SessionState::compaction`].
    Compaction(CompactionId),
    /// A message from one session to another.
    SessionMessage(SessionMessage),
}

/// A message of the user or the agent, or reasoning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Kind of the message.
    pub kind: MessageKind,
    /// Identifier of the message, if the agent assigns one.
    pub message_id: Option<MessageId>,
    /// The content; text chunks are joined.
    pub content: Vec<ContentBlock>,
    /// Extension metadata.
    pub meta: Option<Meta>,
}

impl Message {
    /// Returns whether this is the message of a kind with an identifier.
    pub(super) fn is(&self, kind: MessageKind, id: &MessageId) -> bool {
        self.kind == kind && self.message_id.as_ref() == Some(id)
    }

    /// Returns the text of the message.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MessageKind {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// The agent's reasoning.
    Thought,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCallState {
    /// The current state as a single update that would create it, without its content.
    pub update: ToolCallUpdate,
    /// The content.
    pub content: Vec<ProducedContent>,
}

impl ToolCallState {
    /// Returns the human-readable title.
    pub fn title(&self) -> Option<&str> {
        self.update.title.value().map(String::as_str)
    }

    /// Returns the kind of the tool, with `other` for an absent or unknown one.
    pub fn kind_or_other(&self) -> &ToolKind {
        self.update.kind_or_other().unwrap_or(&ToolKind::Other)
    }

    /// Returns the status, with `pending` for an absent and `in_progress` for an unknown one.
    pub fn status(&self) -> &ToolCallStatus {
        self.update.status_or_in_progress().unwrap_or(&ToolCallStatus::Pending)
    }

    /// Returns whether the call has ended.
    pub fn is_over(&self) -> bool {
        use ToolCallStatus::{Cancelled, Completed, Failed};
        matches!(self.status(), Completed | Failed | Cancelled)
    }
}

/// Content of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProducedContent {
    /// Content of version 2.
    Content(ToolCallContent),
    /// A change to a file in the form of version 1: both texts.
    Texts(v1::tool_calls::Diff),
}

/// A terminal of the agent or, in version 1, of the client.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TerminalState {
    /// The current state as a single update that would create it, without its output.
    pub update: TerminalUpdate,
    /// The end of its output.
    pub output: Vec<u8>,
    /// Whether earlier output was dropped.
    pub is_truncated: bool,
}
