//! Stage and status of a tool call.
use acp_types::v1::tool_calls::ToolCallStatus;
use serde::{Deserialize, Serialize};

/// The events of a call that were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Stage {
    /// `TOOL_CALL_START`.
    Started,
    /// `TOOL_CALL_ARGS` and `TOOL_CALL_END`.
    Ended,
    /// `TOOL_CALL_RESULT`.
    Finished,
}

/// Status of a call: the agent's, or the bridge's own for a call that the agent left open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Status {
    Agent(ToolCallStatus),
    Incomplete,
    Cancelled,
}

/// The rank of a final status.
const FINAL: u8 = 3;

impl Status {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Agent(status) => status.as_str(),
            Self::Incomplete => "incomplete",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether the agent has ended the call.
    pub(super) fn is_final(&self) -> bool {
        self.rank() == FINAL
    }

    /// Returns whether the call runs or ran.
    pub(super) fn has_begun(&self) -> bool {
        self.rank() > 0
    }

    /// Returns whether `next` may replace this status. A status never goes back.
    pub(super) fn may_become(&self, next: &Self) -> bool {
        !self.is_final() && next.rank() >= self.rank()
    }

    /// Returns the rank of a status. An unknown status counts as in progress.
    fn rank(&self) -> u8 {
        match self {
            Self::Agent(ToolCallStatus::Pending) => 0,
            Self::Agent(ToolCallStatus::Completed | ToolCallStatus::Failed) => FINAL,
            // Defined in v2 only.
            Self::Agent(status) if status.as_str() == "cancelled" => FINAL,
            Self::Agent(_) => 1,
            Self::Incomplete | Self::Cancelled => 2,
        }
    }
}

/// The reason why a call was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Denial {
    /// The user rejected it.
    User,
    /// A policy rejected it.
    Policy,
    /// The request was not answered in time.
    Time,
    /// The user cancelled the request.
    Cancelled,
}

impl Denial {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::User => "rejected by user",
            Self::Policy => "rejected by policy",
            Self::Time => "not answered in time",
            Self::Cancelled => "cancelled",
        }
    }
}
