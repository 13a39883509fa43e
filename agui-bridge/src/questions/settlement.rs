//! The settlement of a question.
use super::response::Answer;
use crate::AnsweredBy;
use crate::json::Members;
use crate::permission::PermissionAnswer;
use acp_types::v1::elicitation::{CreateElicitationResponse, ElicitationAction};
use jsonrpc_core::wire::Extra;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Settlement {
    Permission(PermissionAnswer),
    Elicitation(ElicitationAction),
}

impl Settlement {
    pub(super) fn cancelled_permission() -> Self {
        Self::Permission(PermissionAnswer::Cancelled)
    }

    pub(super) fn cancelled_elicitation() -> Self {
        Self::Elicitation(ElicitationAction::Cancel(Extra::new()))
    }

    /// Returns whether the question has no answer.
    pub(super) fn is_cancelled(&self) -> bool {
        match self {
            Self::Permission(answer) => answer.is_cancelled(),
            Self::Elicitation(action) => matches!(action, ElicitationAction::Cancel(_)),
        }
    }

    /// Adds the answer and its origin to the value of an event.
    pub(super) fn describe(&self, value: Members, by: AnsweredBy) -> Members {
        let value = match self {
            Self::Permission(answer) => answer.describe(value),
            Self::Elicitation(action) => value.with("action", action.tag()),
        };
        value.with("answeredBy", by.as_str())
    }

    /// Returns the result of the agent's request.
    pub(super) fn to_answer(&self) -> Answer {
        match self {
            Self::Permission(answer) => Answer::Permission(answer.to_response()),
            Self::Elicitation(action) => {
                Answer::Elicitation(CreateElicitationResponse::new(action.clone()))
            }
        }
    }
}
