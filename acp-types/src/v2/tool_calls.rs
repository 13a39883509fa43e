//! Tool calls, their content and status.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v2/tool-calls)
use super::content::ContentBlock;
use super::diffs::Diff;
use super::session_setup::AbsolutePath;
use crate::shared::session_setup::SessionId;
pub use crate::shared::tool_calls::{SessionReference, Terminal, ToolCallId, ToolKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Presence, Raw};
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// A tool call begins or changes. In each member, absence keeps the value, `null` clears it,
    /// and a value replaces it.
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
        /// Identifier of the tool call. The first update with an id begins it.
        tool_call_id: ToolCallId = "toolCallId",
    }
    patch {
        /// Programmatic name of the tool.
        name: String = "name" [default_on_error],
        /// Human-readable description of the activity.
        title: String = "title" [default_on_error],
        /// Kind of the tool; initially `other`.
        kind: ToolKind = "kind" [default_on_error],
        /// Status; initially `pending`.
        status: ToolCallStatus = "status" [default_on_error],
        /// Produced content, which replaces the earlier content.
        content: Vec<ToolCallContent> = "content" [default_on_error, skip_invalid_items],
        /// Concerned files, which replace the earlier ones.
        locations: Vec<ToolCallLocation> = "locations" [default_on_error, skip_invalid_items],
        /// Input of the tool, as sent by the model.
        raw_input: Raw = "rawInput" [default_on_error],
        /// Output of the tool.
        raw_output: Raw = "rawOutput" [default_on_error],
        /// Operations that the client may perform at present.
        capabilities: ToolCallCapabilities = "capabilities" [default_on_error],
        /// `_meta`: a patch by key, in which `null` removes a key.
        meta: Meta = "_meta",
    }
}

impl ToolCallUpdate {
    /// Returns the new kind, with `other` for `null` and unknown kinds, or `None` if it is
    /// unchanged.
    pub fn kind_or_other(&self) -> Option<&ToolKind> {
        match &self.kind {
            Presence::Absent => None,
            Presence::Null => Some(&ToolKind::Other),
            Presence::Value(kind) => Some(kind.or_other()),
        }
    }

    /// Returns the new status, with `pending` for `null` and `in_progress` for an unknown status,
    /// or `None` if it is unchanged.
    pub fn status_or_in_progress(&self) -> Option<&ToolCallStatus> {
        match &self.status {
            Presence::Absent => None,
            Presence::Null => Some(&ToolCallStatus::Pending),
            Presence::Value(status) => Some(status.or_in_progress()),
        }
    }
}

object! {
    /// Content to append to a tool call.
    ///
    /// Spec: [`ToolCallContentChunk`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcontentchunk)
    pub struct ToolCallContentChunk {
        /// Identifier of the tool call. The first update with an id begins it.
        tool_call_id: ToolCallId = "toolCallId",
        /// The appended content.
        content: ToolCallContent = "content",
    }
    and "_meta"
}

object! {
    /// Operations that a client may perform on a tool call.
    ///
    /// Spec: [`ToolCallCapabilities`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcapabilities)
    pub struct ToolCallCapabilities {}
    optional {
        /// Present if the client may send `tool_call/cancel`.
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
    /// A request to cancel a tool call, without other effects.
    ///
    /// Method `tool_call/cancel`.
    /// Spec: [`CancelToolCallRequest`](https://agentclientprotocol.com/protocol/v2/schema#canceltoolcallrequest)
    #[doc(alias = "tool_call/cancel")]
    pub struct CancelToolCallRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Identifier of the tool call.
        tool_call_id: ToolCallId = "toolCallId",
    }
    and "_meta"
}

object! {
    /// The request was accepted. Updates of the tool call report the outcome.
    ///
    /// Method `tool_call/cancel`.
    /// Spec: [`CancelToolCallResponse`](https://agentclientprotocol.com/protocol/v2/schema#canceltoolcallresponse)
    pub struct CancelToolCallResponse {}
    and "_meta"
}

open_enum! {
    /// Status of a tool call. An unknown status means that the call has not ended.
    ///
    /// Spec: [`ToolCallStatus`](https://agentclientprotocol.com/protocol/v2/schema#toolcallstatus)
    pub enum ToolCallStatus {
        /// Not begun: the input is incomplete, or the user has not agreed.
        Pending = "pending",
        /// Running.
        InProgress = "in_progress",
        /// Paused.
        Paused = "paused",
        /// Completed successfully.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Cancelled.
        Cancelled = "cancelled",
    }
}

impl ToolCallStatus {
    /// Returns the status, with `in_progress` for an unknown one.
    pub fn or_in_progress(&self) -> &Self {
        if self.is_known() { self } else { &Self::InProgress }
    }
}

open_union! {
    /// Content produced by a tool call.
    ///
    /// Spec: [`ToolCallContent`](https://agentclientprotocol.com/protocol/v2/schema#toolcallcontent)
    pub enum ToolCallContent by "type" {
        /// A block of content.
        Content(Box<Content>) = "content",
        /// A change to files.
        Diff(Box<Diff>) = "diff",
        /// A terminal, shown while it runs.
        Terminal(Terminal) = "terminal",
        /// A reference to another session.
        Session(SessionReference) = "session",
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
    /// A place in a file that a tool call concerns.
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
