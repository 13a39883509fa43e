//! Permission requests.
//!
//! Spec: [Tool Calls](https://agentclientprotocol.com/protocol/v2/tool-calls#requesting-permission)
use super::session_setup::AbsolutePath;
use super::tool_calls::ToolCallUpdate;
pub use crate::shared::permissions::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, SelectedPermissionOutcome,
};
use crate::shared::session_setup::SessionId;
use crate::shared::terminals::TerminalId;
use crate::shared::tool_calls::ToolCallId;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_union};

object! {
    /// A request for permission.
    ///
    /// Method `session/request_permission`.
    /// Spec: [`RequestPermissionRequest`](https://agentclientprotocol.com/protocol/v2/schema#requestpermissionrequest)
    ///
    /// ```
    /// use acp_types::v2::permissions::{
    ///     PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    ///     SelectedPermissionOutcome,
    /// };
    ///
    /// let allow = PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce);
    /// let request = RequestPermissionRequest::new("sess-1", "Run the tests?", vec![allow]);
    /// let yes = RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new("yes"));
    /// assert!(request.is_granted_by(&yes));
    /// ```
    #[doc(alias = "session/request_permission")]
    pub struct RequestPermissionRequest {
        /// Identifier of the session.
        session_id: SessionId = "sessionId",
        /// Human-readable question.
        title: String = "title",
        /// The options, at least one.
        options: Vec<PermissionOption> = "options",
    }
    optional {
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// The subject of the request.
        subject: Box<RequestPermissionSubject> = "subject",
    }
    and "_meta"
}

impl RequestPermissionRequest {
    /// Returns whether `outcome` grants permission: it selects one of these options, and the option
    /// allows.
    ///
    /// ```
    /// use acp_types::v2::permissions::{
    ///     PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    ///     SelectedPermissionOutcome,
    /// };
    ///
    /// let yes = PermissionOption::new("y", "Yes", PermissionOptionKind::AllowOnce);
    /// let later = PermissionOption::new("l", "Later", "allow_later");
    /// let request = RequestPermissionRequest::new("sess-1", "May I?", [yes, later]);
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

open_union! {
    /// The subject of a permission request.
    ///
    /// Spec: [`RequestPermissionSubject`](https://agentclientprotocol.com/protocol/v2/schema#requestpermissionsubject)
    pub enum RequestPermissionSubject by "type" {
        /// A tool call.
        ToolCall(ToolCallPermissionSubject) = "tool_call",
        /// A command.
        Command(CommandPermissionSubject) = "command",
    }
}

object! {
    /// A tool call that requires permission.
    ///
    /// Spec: [`ToolCallPermissionSubject`](https://agentclientprotocol.com/protocol/v2/schema#toolcallpermissionsubject)
    pub struct ToolCallPermissionSubject {
        /// The tool call, with changed members; equivalent to a `tool_call_update`.
        tool_call: Box<ToolCallUpdate> = "toolCall",
    }
    and "_meta"
}

object! {
    /// A command that requires permission.
    ///
    /// Spec: [`CommandPermissionSubject`](https://agentclientprotocol.com/protocol/v2/schema#commandpermissionsubject)
    pub struct CommandPermissionSubject {
        /// The command.
        command: String = "command",
        /// Working directory of the command.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// Identifier of the related tool call.
        tool_call_id: ToolCallId = "toolCallId" [default_on_error],
        /// Identifier of the terminal for the command.
        terminal_id: TerminalId = "terminalId" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The user's answer.
    ///
    /// Method `session/request_permission`.
    /// Spec: [`RequestPermissionResponse`](https://agentclientprotocol.com/protocol/v2/schema#requestpermissionresponse)
    pub struct RequestPermissionResponse {
        /// The outcome of the request.
        outcome: RequestPermissionOutcome = "outcome",
    }
    and "_meta"
}

open_union! {
    /// The outcome of a permission request. An unknown outcome grants no permission.
    ///
    /// Spec: [`RequestPermissionOutcome`](https://agentclientprotocol.com/protocol/v2/schema#requestpermissionoutcome)
    pub enum RequestPermissionOutcome by "outcome" {
        /// The agent withdrew the request before the user answered.
        Cancelled(CancelledPermissionOutcome) = "cancelled",
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

object! {
    /// The agent withdrew the request before the user answered.
    ///
    /// Spec: [`CancelledPermissionOutcome`](https://agentclientprotocol.com/protocol/v2/schema#cancelledpermissionoutcome)
    pub struct CancelledPermissionOutcome {}
    and "_meta"
}
