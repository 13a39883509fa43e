//! The settlement of a question.
use crate::permission::PermissionAnswer;
use acp_types::v1::elicitation::ElicitationAction;
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
