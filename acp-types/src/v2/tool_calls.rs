//! Tools that the model asked for, and what became of them.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::content::ContentBlock;
use super::diffs::Diff;
use super::session_setup::AbsolutePath;
use crate::shared::session_setup::SessionId;
pub use crate::shared::tool_calls::{Terminal, ToolCallId, ToolKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Presence, Raw};
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// A tool call begins or changes. Absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`ToolCallUpdate`](https://agentclientprotocol.com/protocol/v2/schema#toolcallupdate)
    ///
    /// ```
    /// use acp_types::v2::tool_calls::{ToolCallStatus, ToolCallUpdate};
    /// use jsonrpc_core::wire::Presence;
    ///
    /// let mut update = ToolCallUpdate::new("call-1");
    /// update.status = ToolCallStatus::Completed.into();
    /// update.content = Presence::Null;
    /// assert_eq!(
    /// serde_json::to_string(&update)?,
    /// r#"{"toolCallId":"call-1","status":"completed","content":null}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct ToolCallUpdate {
        /// Which one; the first update of an id begins it.
        tool_call_id: ToolCallId = "toolCallId",
    }
    patch {
        /// The tool's name, for programs.
        name: String = "name" [default_on_error],
        /// What it is doing, for people to read.
        title: String = "title" [default_on_error],
        /// What kind of tool it is; it begins as `other`.
        kind: ToolKind = "kind" [default_on_error],
        /// How it stands; it begins as `pending`.
        status: ToolCallStatus = "status" [default_on_error],
        /// All that it has produced, instead of what was.
        content: Vec<ToolCallContent> = "content" [default_on_error, skip_invalid_items],
        /// All files that it works on, instead of what was.
        locations: Vec<ToolCallLocation> = "locations" [default_on_error, skip_invalid_items],
        /// What the model gave the tool.
        raw_input: Raw = "rawInput" [default_on_error],
        /// What the tool gave back.
        raw_output: Raw = "rawOutput" [default_on_error],
        /// What the client may do to it now.
        capabilities: ToolCallCapabilities = "capabilities" [default_on_error],
        /// `_meta`: a patch by key; a key that is `null` goes away.
        meta: Meta = "_meta",
    }
}

impl ToolCallUpdate {
    /// The kind to show from now on: `null` and one that is unknown are `other`; nothing where it stays as it was.
    pub fn kind_or_other(&self) -> Option<&ToolKind> {
        match &self.kind {
            Presence::Absent => None,
            Presence::Null => Some(&ToolKind::Other),
            Presence::Value(kind) => Some(kind.or_other()),
        }
    }

    /// The status to show from now on: `null` is `pending`, one that is unknown is `in_progress`; nothing where it
    /// stays as it was.
    pub fn status_or_in_progress(&self) -> Option<&ToolCallStatus> {
        match &self.status {
            Presence::Absent => None,
            Presence::Null => Some(&ToolCallStatus::Pending),
            Presence::Value(status) => Some(status.or_in_progress()),
        }
    }
}

object! {
    /// A piece of what a tool call produces, to be added at the end.
    ///
    /// Spec: [`ToolCallContentChunk`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcontentchunk)
    pub struct ToolCallContentChunk {
        /// Which one; the first update of an id begins it.
        tool_call_id: ToolCallId = "toolCallId",
        /// The piece.
        content: ToolCallContent = "content",
    }
    and "_meta"
}

object! {
    /// What the client may do to a tool call.
    ///
    /// Spec: [`ToolCallCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcapabilities)
    pub struct ToolCallCapabilities {}
    optional {
        /// Present when it may send `tool_call/cancel`.
        cancel: ToolCallCancelCapabilities = "cancel" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The client may cancel a tool call.
    ///
    /// Spec: [`ToolCallCancelCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcancelcapabilities)
    pub struct ToolCallCancelCapabilities {}
    and "_meta"
}

object! {
    /// The client cancels a tool call, and nothing else.
    ///
    /// Method `tool_call/cancel`. Spec: [`CancelToolCallRequest`](https://agentclientprotocol.com/protocol/v2/schema#canceltoolcallrequest)
    #[doc(alias = "tool_call/cancel")]
    pub struct CancelToolCallRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Which one.
        tool_call_id: ToolCallId = "toolCallId",
    }
    and "_meta"
}

object! {
    /// The agent is told; what becomes of the tool call, its updates tell.
    ///
    /// Method `tool_call/cancel`. Spec: [`CancelToolCallResponse`](https://agentclientprotocol.com/protocol/v2/schema#canceltoolcallresponse)
    pub struct CancelToolCallResponse {}
    and "_meta"
}

open_enum! {
    /// How a tool call stands. One that is unknown means that it is not over.
    ///
    /// Spec: [`ToolCallStatus`](https://agentclientprotocol.com/protocol/v2/schema#toolcallstatus)
    pub enum ToolCallStatus {
        /// It has not begun: its input is still coming, or the user has not agreed.
        Pending = "pending",
        /// It runs.
        InProgress = "in_progress",
        /// It waits for something.
        Paused = "paused",
        /// It ended well.
        Completed = "completed",
        /// It ended with an error.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl ToolCallStatus {
    /// The status to show: one that is unknown is `in_progress`, for it is not the end.
    pub fn or_in_progress(&self) -> &Self {
        if self.is_known() { self } else { &Self::InProgress }
    }
}

open_union! {
    /// What a tool call has produced.
    ///
    /// Spec: [`ToolCallContent`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcontent)
    pub enum ToolCallContent by "type" {
        /// A block of content.
        Content(Box<Content>) = "content",
        /// A change to files.
        Diff(Box<Diff>) = "diff",
        /// A terminal, to be shown as it runs.
        Terminal(Terminal) = "terminal",
    }
}

object! {
    /// A block of content.
    ///
    /// Spec: [`Content`](https://agentclientprotocol.com/protocol/v2/schema#content)
    pub struct Content {
        /// The block.
        content: ContentBlock = "content",
    }
    and "_meta"
}

object! {
    /// A place in a file that a tool call works on.
    ///
    /// Spec: [`ToolCallLocation`](https://agentclientprotocol.com/protocol/v2/schema#toolcalllocation)
    pub struct ToolCallLocation {
        /// The file.
        path: AbsolutePath = "path",
    }
    optional {
        /// The line, counted from 1.
        line: u32 = "line" [default_on_error],
    }
    and "_meta"
}
