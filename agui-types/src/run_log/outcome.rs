//! The outcome of a run, as its last event announces it.
use crate::event::{Event, RunFinishedOutcome};
use alloc::borrow::ToOwned;
use alloc::string::String;

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunOutcome {
    /// `RUN_FINISHED` without an outcome, or with one that this version treats as a success.
    Success,
    /// `RUN_FINISHED` with open interrupts.
    Interrupt,
    /// `RUN_FINISHED` with outcome `cancelled`, or `RUN_ERROR` with code `CANCELLED` for clients before 1.0.
    Cancelled,
    /// `RUN_ERROR`, with its code.
    Error(Option<String>),
}

/// The code that reports a cancelled run to clients before 1.0.
const CANCELLED: &str = "CANCELLED";

impl RunOutcome {
    /// Returns the outcome that an event announces, or `None` if it does not end a run.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::RunFinished(finished) => Some(match &finished.outcome {
                Some(RunFinishedOutcome::Cancelled(_)) => Self::Cancelled,
                Some(RunFinishedOutcome::Interrupt(_)) => Self::Interrupt,
                _ => Self::Success,
            }),
            Event::RunError(error) => Some(match error.code.as_deref() {
                Some(CANCELLED) => Self::Cancelled,
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
            Self::Cancelled => "cancelled",
            Self::Error(code) => code.as_deref().unwrap_or("error"),
        }
    }
}
