//! Tool calls, their content and status, and requests for the user's permission.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v1/tool-calls)
use super::content::ContentBlock;
pub use crate::shared::permissions::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, SelectedPermissionOutcome,
};
use crate::shared::session_setup::SessionId;
pub use crate::shared::tool_calls::{SessionReference, Terminal, ToolCallId, ToolKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{object, open_enum, open_union};

object! {
    /// A tool call requested by the model, as first announced by the agent.
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
        /// Identifier of the tool call, unique within the session.
        tool_call_id: ToolCallId = "toolCallId",
        /// Human-readable description of the activity.
        title: String = "title",
    }
    optional {
        /// Programmatic name of the tool.
        name: String = "name" [default_on_error],
        /// Kind of the tool; absent means `other`.
        kind: ToolKind = "kind" [default_on_error],
        /// Status; absent means `pending`.
        status: ToolCallStatus = "status" [default_on_error],
        /// Content that the tool call produced.
        content: Vec<ToolCallContent> = "content" [default_on_error, skip_invalid_items],
        /// Files that the tool call concerns.
        locations: Vec<ToolCallLocation> = "locations" [default_on_error, skip_invalid_items],
        /// Input of the tool, as sent by the model.
        raw_input: Raw = "rawInput" [default_on_error],
        /// Output of the tool.
        raw_output: Raw = "rawOutput" [default_on_error],
    }
    and "_meta"
}

impl ToolCall {
    /// Returns the kind, with `other` for an absent or unknown one.
    pub fn kind_or_other(&self) -> &ToolKind {
        self.kind.as_ref().map_or(&ToolKind::Other, ToolKind::or_other)
    }

    /// Returns the status, with `pending` for an absent or unknown one.
    pub fn status_or_pending(&self) -> &ToolCallStatus {
        match &self.status {
            Some(status) if status.is_known() => status,
            _ => &ToolCallStatus::Pending,
        }
    }
}

object! {
    /// A change of a tool call. Absence and `null` both mean unchanged, and are kept apart.
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
        /// Identifier of the tool call.
        tool_call_id: ToolCallId = "toolCallId",
    }
    patch {
        /// Human-readable description of the activity.
        title: String = "title" [default_on_error],
        /// Programmatic name of the tool.
        name: String = "name" [default_on_error],
        /// Kind of the tool.
        kind: ToolKind = "kind" [default_on_error],
        /// Current status.
        status: ToolCallStatus = "status" [default_on_error],
        /// Produced content, which replaces the earlier content.
        content: Vec<ToolCallContent> = "content" [default_on_error, skip_invalid_items],
        /// Concerned files, which replace the earlier ones.
        locations: Vec<ToolCallLocation> = "locations" [default_on_error, skip_invalid_items],
        /// Input of the tool, as sent by the model.
        raw_input: Raw = "rawInput" [default_on_error],
        /// Output of the tool.
        raw_output: Raw = "rawOutput" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// Status of a tool call.
    ///
    /// Spec: [`ToolCallStatus`](https://agentclientprotocol.com/protocol/v1/schema#toolcallstatus)
    pub enum ToolCallStatus {
        /// Not begun: the input is incomplete, or the user has not agreed.
        Pending = "pending",
        /// Running.
        InProgress = "in_progress",
        /// Completed successfully.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
    }
}

open_union! {
    /// Content produced by a tool call.
    ///
    /// Spec: [`ToolCallContent`](https://agentclientprotocol.com/protocol/v1/schema#toolcallcontent)
    pub enum ToolCallContent by "type" {
        /// A block of content.
        Content(Content) = "content",
        /// A change to a file.
        Diff(Box<Diff>) = "diff",
        /// A terminal, shown while it runs.
        Terminal(Terminal) = "terminal",
        /// A reference to another session. Requires the client's `subagents`.
        Session(SessionReference) = "session",
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
    pub struct Diff by name {
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
    /// A place in a file that a tool call concerns.
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
    /// A request for permission to continue with a tool call.
    ///
    /// Method `session/request_permission`.
    /// Spec: [`RequestPermissionRequest`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionrequest)
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
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// The tool call, with changed members.
        tool_call: ToolCallUpdate = "toolCall",
        /// The options.
        options: Vec<PermissionOption> = "options",
    }
    and "_meta"
}

impl RequestPermissionRequest {
    /// Returns whether `outcome` grants permission: it selects one of these options, and the option
    /// allows.
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
    /// Method `session/request_permission`.
    /// Spec: [`RequestPermissionResponse`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionresponse)
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
        /// The outcome of the request.
        outcome: RequestPermissionOutcome = "outcome",
    }
    and "_meta"
}

open_union! {
    /// The outcome of a permission request.
    ///
    /// Spec: [`RequestPermissionOutcome`](https://agentclientprotocol.com/protocol/v1/schema#requestpermissionoutcome)
    pub enum RequestPermissionOutcome by "outcome" {
        /// The turn was cancelled before the user answered.
        Cancelled(Extra) = "cancelled",
        /// The user selected an option.
        Selected(SelectedPermissionOutcome) = "selected",
    }
}

impl RequestPermissionOutcome {
    /// Returns the selected option. An unknown outcome has none.
    pub fn option_id(&self) -> Option<&PermissionOptionId> {
        match self {
            Self::Selected(selected) => Some(&selected.option_id),
            Self::Cancelled(_) | Self::Unknown(_) => None,
        }
    }
}
