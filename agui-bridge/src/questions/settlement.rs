//! The settlement of a question.
use super::response::Answer;
use crate::json::Members;
use crate::permission::PermissionAnswer;
use acp_types::v1::elicitation::{CreateElicitationResponse, ElicitationAction};
use jsonrpc_core::wire::Extra;
use serde::{Deserialize, Serialize};

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

    /// Adds the answer to the value of an event.
    pub(super) fn describe(&self, value: Members) -> Members {
        match self {
            Self::Permission(answer) => answer.describe(value),
            Self::Elicitation(action) => value.with("action", action.tag()),
        }
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

/// The origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SettledBy {
    User,
    Policy,
    /// The question expired.
    Time,
    /// The agent withdrew the question.
    Agent,
    /// The turn ended, or is being cancelled.
    End,
}
