//! Updates that arrived while no run was open, for the beginning of the next one.
use crate::limits::Limits;
use crate::update::Update;
use alloc::collections::VecDeque;
use serde::{Deserialize, Serialize};

/// Updates in order of arrival, within a limit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WaitingUpdates {
    /// Each with its size as JSON.
    updates: VecDeque<(usize, Update)>,
    bytes: usize,
    dropped: u64,
}

impl WaitingUpdates {
    /// Adds an update. One that replaces the whole value of its subject removes the earlier one.
    /// The oldest are dropped beyond the limit.
    pub(crate) fn push(&mut self, update: Update, limits: &Limits) {
        let size = size(&update);
        let kind = update.kind();
        let same = |waiting: &Update| {
            kind.is_some() && waiting.kind() == kind && waiting.session() == update.session()
        };
        self.bytes = self.bytes.saturating_add(size);
        match self.updates.iter().position(|(_, waiting)| same(waiting)) {
            Some(place) => {
                if let Some(place) = self.updates.get_mut(place) {
                    self.bytes = self.bytes.saturating_sub(place.0);
                    *place = (size, update);
                }
            }
            None => self.updates.push_back((size, update)),
        }
        while self.updates.len() > limits.waiting_updates || self.bytes > limits.waiting_bytes {
            let Some((size, _)) = self.updates.pop_front() else { break };
            self.bytes -= size;
            self.dropped += 1;
        }
    }

    /// Counts updates that were lost on the way.
    pub(crate) fn note_dropped(&mut self, updates: u64) {
        self.dropped = self.dropped.saturating_add(updates);
    }

    /// Returns whether no update waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.updates.is_empty()
    }

    /// Returns whether a part of the conversation waits.
    pub(crate) fn has_conversation(&self) -> bool {
        self.updates.iter().any(|(_, update)| update.is_conversation())
    }

    /// Returns the number of dropped updates.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the kept updates, in order.
    pub(crate) fn into_updates(self) -> impl Iterator<Item = Update> {
        self.updates.into_iter().map(|(_, update)| update)
    }
}

fn size(update: &Update) -> usize {
    match update {
        Update::V1(update) => serde_json::to_vec(update).map_or(0, |json| json.len()),
        Update::V2(update) => serde_json::to_vec(update).map_or(0, |json| json.len()),
        Update::Asked(_, update) => size(update),
        Update::Extension(extension) => {
            extension.method.len().saturating_add(extension.params.as_str().len())
        }
    }
}
