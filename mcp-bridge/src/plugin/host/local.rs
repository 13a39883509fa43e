//! In-memory state of a host: parked tools, runs in progress, and dropped runs.
use crate::plugin::session::SessionRecord;
use crate::plugin::shared::Run;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Session id and epoch.
type RunKey = (String, u64);

/// Maximum number of dropped runs that are remembered. For further ones, other programs wait for
/// the end of the lease.
const MAX_DROPPED: usize = 4096;

/// Number of parked tools at which they are first checked.
const FIRST_CHECK: usize = 1024;

/// Shared by a host and its runs.
#[derive(Debug, Default)]
pub(super) struct LocalRuns(Mutex<LocalContents>);

#[derive(Debug, Default)]
struct LocalContents {
    parked: BTreeMap<String, Run>,
    /// Runs in progress. Two attempts to claim one epoch count twice until one of them fails.
    active: BTreeMap<RunKey, usize>,
    dropped: VecDeque<RunKey>,
    /// Number of parked tools at which they are checked next.
    check_at: usize,
}

impl LocalRuns {
    fn contents(&self) -> MutexGuard<'_, LocalContents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parks a tool.
    pub(super) fn park(&self, id: &str, run: Run) {
        let replaced = self.contents().parked.insert(id.into(), run);
        // Drop the tool without holding the lock.
        drop(replaced);
    }

    /// Removes and returns a parked tool.
    pub(super) fn unpark(&self, id: &str) -> Option<Run> {
        self.contents().parked.remove(id)
    }

    pub(super) fn is_parked(&self, id: &str) -> bool {
        self.contents().parked.contains_key(id)
    }

    pub(super) fn parked_count(&self) -> usize {
        self.contents().parked.len()
    }

    /// Returns the ids of parked tools without a run in progress.
    pub(super) fn idle(&self) -> Vec<String> {
        let contents = self.contents();
        let is_active = |id: &&String| {
            contents.active.range(((*id).clone(), 0)..).next().is_some_and(|(key, _)| key.0 == **id)
        };
        contents.parked.keys().filter(|id| !is_active(id)).cloned().collect()
    }

    /// Returns whether the number of parked tools has doubled since the last check.
    pub(super) fn is_check_due(&self) -> bool {
        let contents = self.contents();
        contents.parked.len() >= contents.check_at.max(FIRST_CHECK)
    }

    /// Records the end of a check of the parked tools.
    pub(super) fn set_checked(&self) {
        let mut contents = self.contents();
        contents.check_at = contents.parked.len().saturating_mul(2);
    }

    /// Returns whether a future of this program runs the session.
    pub(super) fn is_active(&self, record: &SessionRecord) -> bool {
        self.contents().active.contains_key(&(record.id.clone(), record.epoch))
    }

    /// Returns the sessions with a future that was dropped since the last call.
    pub(super) fn take_dropped(&self) -> VecDeque<RunKey> {
        core::mem::take(&mut self.contents().dropped)
    }

    /// Registers a run.
    pub(super) fn activate(self: &Arc<Self>, record: &SessionRecord, is_stored: bool) -> ActiveRun {
        let key = (record.id.clone(), record.epoch);
        *self.contents().active.entry(key.clone()).or_default() += 1;
        ActiveRun {
            local: Arc::clone(self),
            key,
            is_stored,
            is_over: false,
            parks: false,
            run: None,
        }
    }
}

/// A run in progress. If it is dropped, the host parks the tool (if the policy parks), and the
/// session can be claimed again.
#[derive(Debug)]
pub(in crate::plugin) struct ActiveRun {
    local: Arc<LocalRuns>,
    key: RunKey,
    /// Whether the session is in the store.
    pub(super) is_stored: bool,
    /// Whether the run ended regularly.
    pub(super) is_over: bool,
    /// Whether the policy parks tools.
    pub(super) parks: bool,
    pub(super) run: Option<Run>,
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        let mut contents = self.local.contents();
        if let Some(count) = contents.active.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                contents.active.remove(&self.key);
            }
        }
        if self.is_over || !self.is_stored {
            return;
        }
        if contents.dropped.len() >= MAX_DROPPED {
            contents.dropped.pop_front();
        }
        contents.dropped.push_back(self.key.clone());
        let run = self.run.take().filter(|_| self.parks);
        let replaced = run.and_then(|run| contents.parked.insert(self.key.0.clone(), run));
        // Drop the tools without holding the lock.
        drop(contents);
        drop(replaced);
    }
}
