//! Why a run was cancelled.
use crate::json::Members;
use alloc::format;
use alloc::string::String;
use core::fmt;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};

/// The reason for the end of a cancelled run.
///
/// Its text is the member `cancelReason` of the `result` of `RUN_FINISHED`. Clients before 1.0
/// get it in the message of `RUN_ERROR` `CANCELLED`.
///
/// ```
/// assert_eq!(agui_bridge::CancelReason::NoReader.as_str(), "no-reader");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CancelReason {
    /// `user`: the user stopped the run.
    User,
    /// `no-reader`: no client has read the run for some time.
    NoReader,
    /// `newer-run`: a later run of the thread takes its place.
    NewerRun,
    /// `owner-lost`: another program has taken the thread.
    OwnerLost,
    /// `shutdown`: the program ends before the run has begun.
    Shutdown,
    /// `agent`: the agent ended the turn as cancelled without a request.
    Agent,
    /// `failure`: the run has failed. It answered interrupts, which some clients remove only at a
    /// regular end.
    Failure,
}

impl CancelReason {
    /// Returns the text of the reason.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::NoReader => "no-reader",
            Self::NewerRun => "newer-run",
            Self::OwnerLost => "owner-lost",
            Self::Shutdown => "shutdown",
            Self::Agent => "agent",
            Self::Failure => "failure",
        }
    }

    /// Adds the reason to a result.
    pub(crate) fn of_result(self, result: Members) -> Raw {
        result.with(agui_types::run_log::CANCEL_REASON, self.as_str()).into_raw()
    }

    /// Returns the message for clients before 1.0.
    pub(crate) fn message(self) -> String {
        format!("The run was cancelled: {self}.")
    }
}

impl fmt::Display for CancelReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
