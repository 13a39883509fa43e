//! The outcome of a run, as its last event announces it.
use crate::event::{Event, RunFinishedOutcome};
use alloc::borrow::ToOwned;
use alloc::string::String;
use jsonrpc_core::peek_member;
use jsonrpc_core::wire::Raw;

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunOutcome {
    /// `RUN_FINISHED` without an outcome, or with one that this version treats as a success.
    Success,
    /// `RUN_FINISHED` with open interrupts.
    Interrupt,
    /// `RUN_FINISHED` with outcome `cancelled`, or `RUN_ERROR` with code `CANCELLED` for clients
    /// before 1.0; with the [reason](CANCEL_REASON), if the event states it.
    Cancelled(Option<String>),
    /// `RUN_ERROR`, with its code.
    Error(Option<String>),
}

/// Member of the result of a cancelled run: the reason for its end, such as `user`.
pub const CANCEL_REASON: &str = "cancelReason";

/// The code that reports a cancelled run to clients before 1.0.
const CANCELLED: &str = "CANCELLED";

impl RunOutcome {
    /// Returns the outcome that an event announces, or `None` if it does not end a run.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::RunFinished(finished) => Some(match &finished.outcome {
                Some(RunFinishedOutcome::Cancelled(_)) => {
                    Self::Cancelled(finished.result.as_ref().and_then(cancel_reason))
                }
                Some(RunFinishedOutcome::Interrupt(_)) => Self::Interrupt,
                _ => Self::Success,
            }),
            Event::RunError(error) => Some(match error.code.as_deref() {
                Some(CANCELLED) => Self::Cancelled(None),
                code => Self::Error(code.map(ToOwned::to_owned)),
            }),
            _ => None,
        }
    }

    /// Returns the outcome of `RUN_FINISHED`, or the code of `RUN_ERROR` (`error` if it has none).
    pub fn name(&self) -> &str {
        match self {
            Self::Success => "success",
            Self::Interrupt => "interrupt",
            Self::Cancelled(_) => "cancelled",
            Self::Error(code) => code.as_deref().unwrap_or("error"),
        }
    }

    /// Returns the reason for the end of a cancelled run.
    pub fn cancel_reason(&self) -> Option<&str> {
        match self {
            Self::Cancelled(reason) => reason.as_deref(),
            _ => None,
        }
    }
}

fn cancel_reason(result: &Raw) -> Option<String> {
    let reason = peek_member(result.as_str(), CANCEL_REASON).ok()??;
    serde_json::from_str(reason).ok()
}
