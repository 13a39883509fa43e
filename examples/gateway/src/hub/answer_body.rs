//! The body of an answer to a question of the agent over HTTP.
use acp_types::v1::elicitation::ElicitationAction;
use agui_bridge::PermissionAnswer;
use agui_bridge::conversation::UserAnswer;
use jsonrpc_core::wire::Raw;

jsonrpc_core::object! {
    /// The answer to a question of the agent.
    pub struct AnswerBody {}
    optional {
        /// The selected option of a permission request.
        option_id: String = "optionId",
        /// The response to an elicitation: `accept`, `decline` or `cancel`.
        action: String = "action",
        /// The values of its form.
        content: Raw = "content",
        /// The question is cancelled.
        cancelled: bool = "cancelled",
    }
}

impl AnswerBody {
    /// Returns the answer, if the body has exactly one.
    pub fn answer(self) -> Option<UserAnswer> {
        match (&self.option_id, &self.action, self.cancelled.unwrap_or_default()) {
            (Some(option_id), None, false) if self.content.is_none() => {
                let selected = PermissionAnswer::Selected(option_id.as_str().into());
                Some(UserAnswer::Permission(selected))
            }
            (None, Some(_), false) => {
                let action = Raw::from_value(&self).ok()?.decode::<ElicitationAction>().ok()?;
                let is_known = !matches!(action, ElicitationAction::Unknown(_));
                is_known.then_some(UserAnswer::Elicitation(action))
            }
            (None, None, true) => Some(UserAnswer::Cancelled),
            _ => None,
        }
    }
}
