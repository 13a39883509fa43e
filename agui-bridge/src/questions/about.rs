//! The request of a question.
use super::settlement::{SettledBy, Settlement};
use crate::elicitation::Elicitation;
use crate::permission::Permission;
use crate::tool_call::{Denial, ToolCalls};
use acp_types::v1::tool_calls::ToolCallId;
use alloc::boxed::Box;
use serde::{Deserialize, Serialize};

/// The request that a question comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum About {
    Permission(Permission),
    Elicitation(Box<Elicitation>),
}

impl About {
    /// Returns the answer that neither agrees nor refuses.
    pub(super) fn cancelled(&self) -> Settlement {
        match self {
            Self::Permission(_) => Settlement::cancelled_permission(),
            Self::Elicitation(_) => Settlement::cancelled_elicitation(),
        }
    }

    /// Returns the answer that refuses, if the agent offers one.
    pub(super) fn refused(&self) -> Settlement {
        match self {
            Self::Permission(permission) => Settlement::Permission(permission.refused()),
            Self::Elicitation(_) => self.cancelled(),
        }
    }

    pub(super) fn call(&self) -> Option<&ToolCallId> {
        match self {
            Self::Permission(permission) => permission.call(),
            Self::Elicitation(elicitation) => elicitation.call(),
        }
    }
}

/// Sets the reason of a denied call for its result, unless the agent gives one.
pub(super) fn note_denial(
    calls: &mut ToolCalls,
    about: &About,
    settlement: &Settlement,
    by: SettledBy,
) {
    let (About::Permission(permission), Settlement::Permission(answer)) = (about, settlement)
    else {
        return;
    };
    let Some(call) = permission.call() else { return };
    let denial = if answer.is_cancelled() {
        (by == SettledBy::User).then_some(Denial::Cancelled)
    } else {
        permission.denies(answer).then_some(match by {
            SettledBy::Time => Denial::Time,
            SettledBy::Policy => Denial::Policy,
            SettledBy::User | SettledBy::Agent | SettledBy::End => Denial::User,
        })
    };
    calls.set_denial(call, denial);
}
