//! The open run, and its turn.
use super::output::SessionNumber;
use crate::input::{FallbackTurn, ForwardedMembers, Instruction, Plan, Prompt, SessionStep};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::session_setup::SessionId;
use agui_types::id::RunId;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::Extra;
use serde::{Deserialize, Serialize};

/// The open run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ActiveRun {
    pub(super) run_id: RunId,
    /// Members of `_meta` for requests of the run.
    pub(super) meta: Extra,
    pub(super) is_cancelled: bool,
    /// Whether the run ended with an interrupt.
    pub(super) is_interrupted: bool,
    pub(super) stage: Stage,
}

/// Progress of the open run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// The session is being opened. The prompt follows.
    Opening { session: SessionNumber, turn: PlannedTurn },
    /// The previous turn has to end first. The prompt follows. At `until` the session is released.
    Waiting { turn: PlannedTurn, until: Option<Duration> },
    /// The agent has the prompt, or needs none.
    Working,
    /// The turn is being cancelled. At `until` the session is released.
    Stopping { until: Duration },
}

/// The turn of an input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedTurn {
    pub(super) prompt: Prompt,
    /// The messages of the prompt.
    pub(super) instruction: Instruction,
    /// Index of the first block of these messages in the prompt.
    #[serde(default)]
    pub(super) first_said: usize,
    pub(super) step: SessionStep,
    /// Whether the user changed the conversation, so that a new session is expected.
    pub(super) is_expected: bool,
    pub(super) forwarded: ForwardedMembers,
    /// The session to fork, if it is another thread's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<SessionId>,
    /// The turn if the agent refuses to fork the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fallback: Option<Box<FallbackTurn>>,
}

impl ActiveRun {
    pub(super) fn new(run_id: RunId, meta: Extra) -> Self {
        let stage = Stage::Working;
        Self { run_id, meta, is_cancelled: false, is_interrupted: false, stage }
    }

    /// Returns whether its session is being opened.
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.stage, Stage::Opening { .. })
    }

    /// Returns the end of the stage.
    pub(super) fn until(&self) -> Option<Duration> {
        match &self.stage {
            Stage::Stopping { until } => Some(*until),
            Stage::Waiting { until, .. } => *until,
            Stage::Opening { .. } | Stage::Working => None,
        }
    }
}

impl PlannedTurn {
    /// Adds texts before the prompt, also for a session in place of a refused fork.
    pub(super) fn precede(&mut self, texts: Vec<String>) {
        let count = texts.len();
        if let Some(fallback) = &mut self.fallback {
            let blocks = texts.iter().cloned().map(ContentBlock::from);
            fallback.prompt.blocks.splice(..0, blocks);
            fallback.first_said += count;
        }
        self.prompt.blocks.splice(..0, texts.into_iter().map(ContentBlock::from));
        self.first_said += count;
    }

    /// Returns the turn of a plan, if any. `source` is the session to fork if it is another
    /// thread's.
    pub(super) fn of(plan: Plan, source: Option<SessionId>) -> Option<Self> {
        let is_expected = plan.diverged.is_some();
        let Plan { session: step, forwarded, instruction, first_said, prompt, fallback, .. } = plan;
        prompt.map(|prompt| Self {
            prompt,
            instruction,
            first_said,
            step,
            is_expected,
            forwarded,
            source,
            fallback,
        })
    }
}
