//! How a run ended, in a word.
use agui_types::event::{Event, RunFinishedOutcome};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The outcome of `RUN_FINISHED`, or the code of `RUN_ERROR`.
    pub(crate) name: String,
    pub(crate) is_error: bool,
}

/// The code that tells clients before 1.0 that a run was stopped, which is no error.
const CANCELLED: &str = "CANCELLED";

const INTERRUPT: &str = "interrupt";

impl Outcome {
    /// Whether somebody was asked something.
    pub(crate) fn is_interrupt(&self) -> bool {
        !self.is_error && self.name == INTERRUPT
    }

    /// What an event says of it; nothing if that does not end a run.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let (name, is_error) = match event {
            Event::RunFinished(finished) => match &finished.outcome {
                Some(RunFinishedOutcome::Cancelled(_)) => ("cancelled", false),
                Some(RunFinishedOutcome::Interrupt(_)) => (INTERRUPT, false),
                _ => ("success", false),
            },
            Event::RunError(error) => match error.code.as_deref() {
                Some(CANCELLED) => ("cancelled", false),
                code => (code.unwrap_or("error"), true),
            },
            _ => return None,
        };
        Some(Self { name: name.to_owned(), is_error })
    }
}
