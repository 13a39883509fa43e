//! The run that is open, and the turn that it asks for.
use super::output::SessionNumber;
use crate::input::{Forwarded, Plan, Prompt, SessionStep};
use agui_types::id::RunId;
use core::time::Duration;
use jsonrpc_core::wire::Extra;
use serde::{Deserialize, Serialize};

/// The run that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ActiveRun {
    pub(super) run_id: RunId,
    /// Members of `_meta` for the run's requests.
    pub(super) meta: Extra,
    pub(super) is_cancelled: bool,
    /// Whether it ended with an interrupt.
    pub(super) is_interrupted: bool,
    pub(super) stage: Stage,
}

/// Progress of the run that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// The session is being opened; the prompt follows.
    Opening { session: SessionNumber, turn: PlannedTurn },
    /// The turn of the run before has to end first; the prompt follows. After `until` its session is left.
    Waiting { turn: PlannedTurn, until: Option<Duration> },
    /// The agent has the prompt, or none is needed.
    Working,
    /// The turn is being cancelled. After `until` its session is left.
    Stopping { until: Duration },
}

/// A turn that an input asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedTurn {
    pub(super) prompt: Prompt,
    pub(super) step: SessionStep,
    /// Whether the user has changed the conversation, so that a new session is no news.
    pub(super) is_expected: bool,
    pub(super) forwarded: Forwarded,
}

impl ActiveRun {
    pub(super) fn new(run_id: RunId, meta: Extra) -> Self {
        let stage = Stage::Working;
        Self { run_id, meta, is_cancelled: false, is_interrupted: false, stage }
    }

    /// Returns the time at which the stage is over.
    pub(super) fn until(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Stopping { until } => Some(*until),
            Stage::Waiting { until, .. } => *until,
            Stage::Opening { .. } | Stage::Working => None,
        }
    }
}

impl PlannedTurn {
    /// Returns the turn of a plan, if it has one.
    pub(super) fn of(plan: Plan) -> Option<Self> {
        let is_expected = plan.diverged.is_some();
        let (step, forwarded) = (plan.session, plan.forwarded);
        plan.prompt.map(|prompt| Self { prompt, step, is_expected, forwarded })
    }
}
