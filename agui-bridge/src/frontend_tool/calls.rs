//! The frontend calls of a thread, and the states of a turn and of its calls.
use super::{CallError, FrontendCall};
use acp_types::v1::tool_calls::ToolCallId as AgentId;
use agui_types::id::ToolCallId;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// Progress of the agent's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Turn {
    Over,
    Open,
    Cancelled,
}

/// The remembered calls of a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Calls(BTreeMap<ToolCallId, CallState>);

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, id: &ToolCallId) -> Option<&CallState> {
        self.0.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &ToolCallId) -> Option<&mut CallState> {
        self.0.get_mut(id)
    }

    pub(super) fn insert(&mut self, id: ToolCallId, call: CallState) {
        self.0.insert(id, call);
    }

    /// Returns the call with this id in the stream.
    pub(super) fn find(&self, id: &ToolCallId) -> Option<ToolCallId> {
        let shown = |call_id, call: &CallState| call.stream_id.as_ref().unwrap_or(call_id) == id;
        let mut found = self.0.iter().filter(|(call_id, call)| shown(call_id, call));
        found.next().map(|(call_id, _)| call_id.clone())
    }

    /// Returns the number of calls in such a stage.
    pub(super) fn count(&self, is_meant: impl Fn(Stage) -> bool) -> usize {
        self.0.values().filter(|call| is_meant(call.stage)).count()
    }

    /// Returns whether a call is in such a stage.
    pub(super) fn any(&self, is_meant: impl Fn(Stage) -> bool) -> bool {
        self.0.values().any(|call| is_meant(call.stage))
    }

    /// Returns the calls in such a stage, in order of creation.
    pub(super) fn in_stage(&self, is_meant: impl Fn(Stage) -> bool) -> Vec<ToolCallId> {
        let meant = self.0.iter().filter(|(_, call)| is_meant(call.stage));
        let mut meant: Vec<_> = meant.map(|(id, call)| (call.number, id.clone())).collect();
        meant.sort_unstable();
        meant.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns when the first waiting call expires.
    pub(super) fn poll_timeout(&self) -> Option<Duration> {
        self.0.values().filter_map(|call| call.stage.until()).min()
    }

    /// Returns the number of calls that wait for a run.
    pub(super) fn waiting_to_begin(&self) -> usize {
        self.0.values().filter(|call| call.waiting_to_begin.is_some()).count()
    }

    /// Takes the calls that wait for a run, in order of creation.
    pub(super) fn take_waiting_to_begin(&mut self) -> impl Iterator<Item = FrontendCall> {
        let mut waiting: Vec<(u64, FrontendCall)> = Vec::new();
        for call in self.0.values_mut() {
            waiting.extend(call.waiting_to_begin.take().map(|begin| (call.number, begin)));
        }
        waiting.sort_unstable_by_key(|(number, _)| *number);
        waiting.into_iter().map(|(_, begin)| begin)
    }

    /// Removes the oldest call that the agent does not wait for, if there are `max` calls.
    pub(super) fn make_room(&mut self, max: usize) -> Result<(), CallError> {
        while self.0.len() >= max.max(1) {
            let is_idle = |call: &CallState| !call.stage.waits() && call.waiting_to_begin.is_none();
            let idle = self.0.iter().filter(|(_, call)| is_idle(call));
            let oldest = idle.min_by_key(|(_, call)| call.number).map(|(id, _)| id.clone());
            self.0.remove(&oldest.ok_or(CallError::TooMany)?);
        }
        Ok(())
    }

    /// Returns an id for a new call: that of the agent, or one with a number from `number` on.
    pub(super) fn new_id(&self, agent_id: Option<&AgentId>, number: u64) -> ToolCallId {
        let own = agent_id.map(|id| ToolCallId::from(id.as_str()));
        let own = own.filter(|id| !id.as_str().is_empty() && !self.0.contains_key(id));
        own.unwrap_or_else(|| {
            let mut number = number;
            loop {
                let id = ToolCallId::from(format!("call-{number}"));
                if !self.0.contains_key(&id) {
                    break id;
                }
                number += 1;
            }
        })
    }
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

    pub(super) fn is_parked(self) -> bool {
        matches!(self, Self::Parked { .. })
    }
}
