//! The request of a question.
use super::settlement::Settlement;
use crate::AnsweredBy;
use crate::elicitation::Elicitation;
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::permission::Permission;
use crate::tool_call::{Denial, ToolCalls};
use acp_types::v1::tool_calls::ToolCallId;
use alloc::boxed::Box;
use serde::{Deserialize, Serialize};

/// The request that a question comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum About {
    Permission(Box<Permission>),
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

    /// Returns the size in bytes of the parts that no limit shortens.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Permission(permission) => permission.bytes(),
            Self::Elicitation(elicitation) => json::raw(elicitation).as_str().len(),
        }
    }

    /// Adds all of the request to the value of an event.
    pub(super) fn describe(&self, value: Members, calls: &ToolCalls, limits: &Limits) -> Members {
        match self {
            Self::Permission(permission) => permission.describe_whole(value, limits),
            Self::Elicitation(elicitation) => elicitation.describe(value, calls, limits),
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
    by: AnsweredBy,
) {
    let (About::Permission(permission), Settlement::Permission(answer)) = (about, settlement)
    else {
        return;
    };
    let Some((call, id)) = permission.call().zip(permission.call_id()) else { return };
    let denial = if answer.is_cancelled() {
        (by == AnsweredBy::User).then_some(Denial::Cancelled)
    } else {
        permission.denies(answer).then_some(match by {
            AnsweredBy::Time => Denial::Time,
            AnsweredBy::User | AnsweredBy::Agent | AnsweredBy::End => Denial::User,
            _ => Denial::Policy,
        })
    };
    calls.set_denial(call, id, denial);
}
