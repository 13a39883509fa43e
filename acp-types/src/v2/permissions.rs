//! The user's permission.
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
    /// The agent asks whether it may go on.
    ///
    /// Method `session/request_permission`. Spec: [`RequestPermissionRequest`](https://agentclientprotocol.com/protocol/v2/schema#requestpermissionrequest)
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
        /// In which session.
        session_id: SessionId = "sessionId",
        /// The question, for people to read.
        title: String = "title",
        /// The answers to choose from; at least one.
        options: Vec<PermissionOption> = "options",
    }
    optional {
        /// More about it, for the user.
        description: String = "description" [default_on_error],
        /// What it is about.
        subject: Box<RequestPermissionSubject> = "subject",
    }
    and "_meta"
}

impl RequestPermissionRequest {
    /// Whether `outcome` is permission: one of these options was chosen, and it is a yes. Nothing else is.
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
    /// What a question for permission is about.
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
    /// A question for permission is about a tool call.
    ///
    /// Spec: [`ToolCallPermissionSubject`](https://agentclientprotocol.com/protocol/v2/schema#toolcallpermissionsubject)
    pub struct ToolCallPermissionSubject {
        /// Which one, and what is new about it: it counts as a `tool_call_update`.
        tool_call: Box<ToolCallUpdate> = "toolCall",
    }
    and "_meta"
}

object! {
    /// A question for permission is about a command.
    ///
    /// Spec: [`CommandPermissionSubject`](https://agentclientprotocol.com/protocol/v2/schema#commandpermissionsubject)
    pub struct CommandPermissionSubject {
        /// The command.
        command: String = "command",
        /// The folder to run it in.
        cwd: AbsolutePath = "cwd",
    }
    optional {
        /// The tool call that it belongs to.
        tool_call_id: ToolCallId = "toolCallId" [default_on_error],
        /// The terminal that it would run in.
        terminal_id: TerminalId = "terminalId" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The user's answer.
    ///
    /// Method `session/request_permission`. Spec: [`RequestPermissionResponse`](https://agentclientprotocol.com/protocol/v2/schema#requestpermissionresponse)
    pub struct RequestPermissionResponse {
        /// What came of the question.
        outcome: RequestPermissionOutcome = "outcome",
    }
    and "_meta"
}

open_union! {
    /// What came of a question for permission. One that is unknown is no permission.
    ///
    /// Spec: [`RequestPermissionOutcome`](https://agentclientprotocol.com/protocol/v2/schema#requestpermissionoutcome)
    pub enum RequestPermissionOutcome by "outcome" {
        /// The agent took the question back before the user answered.
        Cancelled(CancelledPermissionOutcome) = "cancelled",
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

object! {
    /// The agent took the question back before the user answered.
    ///
    /// Spec: [`CancelledPermissionOutcome`](https://agentclientprotocol.com/protocol/v2/schema#cancelledpermissionoutcome)
    pub struct CancelledPermissionOutcome {}
    and "_meta"
}
