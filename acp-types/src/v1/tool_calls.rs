//! Tools that the model asked for, what became of them, and the user's permission.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls)
use super::content::ContentBlock;
pub use crate::shared::permissions::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, SelectedPermissionOutcome,
};
use crate::shared::session_setup::SessionId;
pub use crate::shared::tool_calls::{Terminal, ToolCallId, ToolKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// A tool that the model asked for, as the agent announces it.
    ///
    /// Spec: [`ToolCall`](https://agentclientprotocol.com/protocol/v1/schema#toolcall)
    ///
    /// ```
    /// use acp_types::v1::tool_calls::{ToolCall, ToolCallStatus, ToolKind};
    ///
    /// let mut call = ToolCall::new("call-1", "Read main.rs");
    /// call.kind = Some(ToolKind::Read);
    /// call.status = Some(ToolCallStatus::InProgress);
    /// assert_eq!(
    ///     serde_json::to_string(&call)?,
    ///     r#"{"toolCallId":"call-1","title":"Read main.rs","kind":"read","status":"in_progress"}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct ToolCall {
        /// Names it.
        tool_call_id: ToolCallId = "toolCallId",
        /// What it is doing, for people to read.
        title: String = "title",
    }
    optional {
        /// The tool's name, for programs.
        name: String = "name" [default_on_error],
        /// What kind of tool it is; absent means `other`.
        kind: ToolKind = "kind" [default_on_error],
        /// How it stands; absent means `pending`.
        status: ToolCallStatus = "status" [default_on_error],
        /// What it has produced.
        content: Vec<ToolCallContent> = "content" [default_on_error, skip_invalid_items],
        /// Files that it works on.
        locations: Vec<ToolCallLocation> = "locations" [default_on_error, skip_invalid_items],
        /// What the model gave the tool.
        raw_input: Raw = "rawInput" [default_on_error],
        /// What the tool gave back.
        raw_output: Raw = "rawOutput" [default_on_error],
    }
    and "_meta"
}

impl ToolCall {
    /// The kind to show: one that is absent or unknown is `other`.
    pub fn kind_or_other(&self) -> &ToolKind {
        self.kind.as_ref().map_or(&ToolKind::Other, ToolKind::or_other)
    }

    /// The status to show: one that is absent or unknown is `pending`.
    pub fn status_or_pending(&self) -> &ToolCallStatus {
        match &self.status {
            Some(status) if status.is_known() => status,
            _ => &ToolCallStatus::Pending,
        }
    }
}

object! {
    /// A tool call has changed. Absent and `null` both mean unchanged; which of them came is kept.
    ///
    /// Spec: [`ToolCallUpdate`](https://agentclientprotocol.com/protocol/v1/schema#toolcallupdate)
    ///
    /// ```
    /// use acp_types::v1::tool_calls::{ToolCallStatus, ToolCallUpdate};
    ///
    /// let mut update = ToolCallUpdate::new("call-1");
    /// update.status = ToolCallStatus::Completed.into();
    /// assert_eq!(serde_json::to_string(&update)?, r#"{"toolCallId":"call-1","status":"completed"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct ToolCallUpdate {
        /// Which one.
        tool_call_id: ToolCallId = "toolCallId",
    }
    patch {
        /// What it is doing, for people to read.
        title: String = "title" [default_on_error],
        /// The tool's name, for programs.
        name: String = "name" [default_on_error],
        /// What kind of tool it is.
        kind: ToolKind = "kind" [default_on_error],
        /// How it stands.
        status: ToolCallStatus = "status" [default_on_error],
        /// All that it has produced, instead of what was.
        content: Vec<ToolCallContent> = "content" [default_on_error, skip_invalid_items],
        /// All files that it works on, instead of what was.
        locations: Vec<ToolCallLocation> = "locations" [default_on_error, skip_invalid_items],
        /// What the model gave the tool.
        raw_input: Raw = "rawInput" [default_on_error],
        /// What the tool gave back.
        raw_output: Raw = "rawOutput" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// How a tool call stands.
    ///
    /// Spec: [`ToolCallStatus`](https://agentclientprotocol.com/protocol/v1/schema#toolcallstatus)
    pub enum ToolCallStatus {
        /// It has not begun: its input is still coming, or the user has not agreed.
        Pending = "pending",
        /// It runs.
        InProgress = "in_progress",
        /// It ended well.
        Completed = "completed",
        /// It ended with an error.
        Failed = "failed",
    }
}

open_union! {
    /// What a tool call has produced.
    ///
    /// Spec: [`ToolCallContent`](https://agentclientprotocol.com/protocol/v1/schema#toolcallcontent)
    pub enum ToolCallContent by "type" {
        /// A block of content.
        Content(Content) = "content",
        /// A change to a file.
        Diff(Box<Diff>) = "diff",
        /// A terminal, to be shown as it runs.
        Terminal(Terminal) = "terminal",
    }
}

object! {
    /// A block of content.
    ///
    /// Spec: [`Content`](https://agentclientprotocol.com/protocol/v1/schema#content)
    pub struct Content {
        /// The block.
        content: ContentBlock = "content",
    }
    and "_meta"
}

object! {
    /// A change to a file.
    ///
    /// Spec: [`Diff`](https://agentclientprotocol.com/protocol/v1/schema#diff)
    pub struct Diff {
        /// Absolute path of the file.
        path: String = "path",
        /// Its text after the change.
        new_text: String = "newText",
    }
    optional {
        /// Its text before the change; absent for a new file.
        old_text: String = "oldText" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A place in a file that a tool call works on.
    ///
    /// Spec: [`ToolCallLocation`](https://agentclientprotocol.com/protocol/v1/schema#toolcalllocation)
    pub struct ToolCallLocation {
        /// Absolute path of the file.
        path: String = "path",
    }
    optional {
        /// The line.
        line: u32 = "line" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The agent asks whether it may go on with a tool call.
    ///
    /// Method `session/request_permission`. Spec: [`RequestPermissionRequest`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionrequest)
    ///
    /// ```
    /// use acp_types::v1::tool_calls::{
    ///     PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    ///     SelectedPermissionOutcome, ToolCallUpdate,
    /// };
    ///
    /// let allow = PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce);
    /// let reject = PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce);
    /// let request =
    ///     RequestPermissionRequest::new("sess-1", ToolCallUpdate::new("call-1"), vec![allow, reject]);
    ///
    /// let yes = RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new("yes"));
    /// let no = RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new("no"));
    /// assert!(request.is_granted_by(&yes) && !request.is_granted_by(&no));
    /// ```
    #[doc(alias = "session/request_permission")]
    pub struct RequestPermissionRequest {
        /// In which session.
        session_id: SessionId = "sessionId",
        /// Which tool call, and what is new about it.
        tool_call: ToolCallUpdate = "toolCall",
        /// The answers to choose from.
        options: Vec<PermissionOption> = "options",
    }
    and "_meta"
}

impl RequestPermissionRequest {
    /// Whether `outcome` is permission: one of these options was chosen, and it is a yes. Nothing else is.
    ///
    /// ```
    /// use acp_types::v1::tool_calls::{
    ///     PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    ///     SelectedPermissionOutcome,
    /// };
    /// use acp_types::v1::tool_calls::ToolCallUpdate;
    ///
    /// let yes = PermissionOption::new("y", "Yes", PermissionOptionKind::AllowOnce);
    /// let later = PermissionOption::new("l", "Later", "allow_later");
    /// let request = RequestPermissionRequest::new("sess-1", ToolCallUpdate::new("c"), [yes, later]);
    /// let chosen = |id| RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id));
    /// assert!(request.is_granted_by(&chosen("y")));
    /// assert!(!request.is_granted_by(&chosen("l")));
    /// ```
    pub fn is_granted_by(&self, outcome: &RequestPermissionOutcome) -> bool {
        outcome.option_id().is_some_and(|id| {
            let chosen = self.options.iter().find(|option| option.option_id == *id);
            chosen.is_some_and(|option| option.kind.is_permission())
        })
    }
}

object! {
    /// The user's answer.
    ///
    /// Method `session/request_permission`. Spec: [`RequestPermissionResponse`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionresponse)
    ///
    /// ```
    /// use acp_types::v1::tool_calls::{
    ///     RequestPermissionOutcome, RequestPermissionResponse, SelectedPermissionOutcome,
    /// };
    ///
    /// let chosen = RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new("once"));
    /// assert_eq!(
    ///     serde_json::to_string(&RequestPermissionResponse::new(chosen))?,
    ///     r#"{"outcome":{"outcome":"selected","optionId":"once"}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct RequestPermissionResponse {
        /// What came of the question.
        outcome: RequestPermissionOutcome = "outcome",
    }
    and "_meta"
}

open_union! {
    /// What came of a question for permission.
    ///
    /// Spec: [`RequestPermissionOutcome`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionoutcome)
    pub enum RequestPermissionOutcome by "outcome" {
        /// The turn was cancelled before the user answered.
        Cancelled(Extra) = "cancelled",
        /// The user chose an answer.
        Selected(SelectedPermissionOutcome) = "selected",
    }
}

impl RequestPermissionOutcome {
    /// The answer that was chosen. An outcome that is unknown chose none.
    pub fn option_id(&self) -> Option<&PermissionOptionId> {
        match self {
            Self::Selected(selected) => Some(&selected.option_id),
            Self::Cancelled(_) | Self::Unknown(_) => None,
        }
    }
}
