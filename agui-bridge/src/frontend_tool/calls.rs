//! States of a turn and of its frontend calls.
use super::FrontendCall;
use agui_types::id::ToolCallId;
use alloc::string::String;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Progress of the agent's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Turn {
    Over,
    Open,
    Cancelled,
}

/// A call of a tool of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CallState {
    /// Sequence number of the call within the thread.
    pub(super) number: u64,
    pub(super) name: String,
    /// The id in the stream, if it differs.
    pub(super) stream_id: Option<ToolCallId>,
    pub(super) stage: Stage,
    /// Set for a call that was made while no run was open.
    pub(super) waiting_to_begin: Option<FrontendCall>,
}

/// Progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// The agent waits; the run continues.
    Sync { until: Duration },
    /// The agent waits; the run may end.
    Parked { until: Duration },
    /// The agent has an answer without the page's result.
    Open,
    /// No further event is expected.
    Done,
}

impl Stage {
    pub(super) fn until(self) -> Option<Duration> {
        match self {
            Self::Sync { until } | Self::Parked { until } => Some(until),
            Self::Open | Self::Done => None,
        }
    }

    pub(super) fn waits(self) -> bool {
        self.until().is_some()
    }
}
