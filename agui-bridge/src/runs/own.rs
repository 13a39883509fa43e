//! Turns that the agent has begun without a prompt.
use super::Runs;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// A turn that the agent has begun without a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OwnTurn {
    /// The agent reports its end.
    Reported,
    /// It ends by silence, at this time if that is known.
    Quiet(Option<Duration>),
}

impl Runs {
    /// Records the agent's work outside of a prompt. Work that `is_reported` ends with a report.
    pub(crate) fn note_own(&mut self, is_reported: bool, until: Option<Duration>) {
        let is_prompted = (self.is_open() || self.is_parked()) && self.own.is_none();
        if is_prompted {
            return;
        }
        let is_reported = is_reported || self.own == Some(OwnTurn::Reported);
        self.own = Some(if is_reported { OwnTurn::Reported } else { OwnTurn::Quiet(until) });
    }

    /// Returns the agent's own turn.
    pub(crate) fn own(&self) -> Option<OwnTurn> {
        self.own
    }

    /// Ends the agent's own turn, and returns whether there was one.
    pub(crate) fn end_own(&mut self) -> bool {
        self.own.take().is_some()
    }
}
