//! The logs of a hub's runs, with a common limit.
use super::threads::ThreadNumber;
use agui_types::event::Event;
use agui_types::id::RunId;
use agui_types::input::RunAgentInput;
use agui_types::run_log::{Frames, PushError, Read, RunLog, RunLogLimits, RunOutcome};
use alloc::collections::{BTreeMap, VecDeque};

/// Maximum size of polled frames in bytes.
const MAX_FRAME: usize = 256 << 10;

/// The logs of a hub's runs.
#[derive(Debug, Default)]
pub(super) struct Runs {
    all: BTreeMap<ThreadNumber, BTreeMap<RunId, LoggedRun>>,
    len: usize,
    /// Runs with new frames, each once.
    ready: VecDeque<(ThreadNumber, RunId)>,
    begun: u64,
}

#[derive(Debug)]
struct LoggedRun {
    /// Order of arrival.
    number: u64,
    log: RunLog,
    /// Number of the last polled event.
    polled: u64,
    is_ready: bool,
}

impl LoggedRun {
    fn fits(&self, pushed: &Result<u64, PushError>) -> bool {
        !matches!(pushed, Err(PushError::Full)) && !self.log.is_full()
    }
}

impl Runs {
    pub(super) fn get(&self, thread: ThreadNumber, run_id: &RunId) -> Option<&RunLog> {
        Some(&self.all.get(&thread)?.get(run_id)?.log)
    }

    /// Forgets the oldest ended runs until there is room for one more. Returns whether there is
    /// room.
    pub(super) fn make_room(&mut self, max: usize, max_bytes: usize) -> bool {
        if self.len < max && self.bytes() <= max_bytes {
            return true;
        }
        while self.len >= max || self.bytes() > max_bytes {
            let ended = self.iter().filter(|(_, run)| run.log.has_ended());
            let oldest = ended.min_by_key(|(_, run)| run.number);
            let Some((thread, run_id)) =
                oldest.map(|(thread, run)| (thread, run.log.run_id().clone()))
            else {
                break;
            };
            self.forget(thread, &run_id);
        }
        self.len < max
    }

    fn iter(&self) -> impl Iterator<Item = (ThreadNumber, &LoggedRun)> {
        self.all.iter().flat_map(|(thread, runs)| runs.values().map(|run| (*thread, run)))
    }

    fn bytes(&self) -> usize {
        self.iter().map(|(_, run)| run.log.bytes()).sum()
    }

    /// Creates the log of a run. A run that is resumed under its own id continues its numbering.
    pub(super) fn insert(
        &mut self,
        thread: ThreadNumber,
        input: &RunAgentInput,
        limits: RunLogLimits,
    ) {
        self.begun += 1;
        let runs = self.all.entry(thread).or_default();
        let last = runs.get(&input.run_id).map_or(0, |before| before.log.last());
        let run = LoggedRun {
            number: self.begun,
            log: RunLog::new(input, limits).with_last(last),
            polled: last,
            is_ready: false,
        };
        if runs.insert(input.run_id.clone(), run).is_none() {
            self.len += 1;
        }
    }

    /// Adds an event to the log of a run. Returns `false` if the log is full.
    pub(super) fn push(&mut self, thread: ThreadNumber, run_id: &RunId, event: &Event) -> bool {
        let Some(run) = self.all.get_mut(&thread).and_then(|runs| runs.get_mut(run_id)) else {
            return true;
        };
        let pushed = run.log.push(event);
        if !run.is_ready {
            run.is_ready = true;
            self.ready.push_back((thread, run_id.clone()));
        }
        run.fits(&pushed)
    }

    /// Adds an encoded event, like [`push`](Self::push).
    pub(super) fn push_written(
        &mut self,
        thread: ThreadNumber,
        run_id: &RunId,
        frame: &[u8],
    ) -> bool {
        let Some(run) = self.all.get_mut(&thread).and_then(|runs| runs.get_mut(run_id)) else {
            return true;
        };
        let pushed = run.log.push_written(frame);
        if !run.is_ready {
            run.is_ready = true;
            self.ready.push_back((thread, run_id.clone()));
        }
        run.fits(&pushed)
    }

    /// Ends the log of a run, and returns the outcome of the run.
    pub(super) fn end(&mut self, thread: ThreadNumber, run_id: &RunId) -> Option<RunOutcome> {
        let run = self.all.get_mut(&thread)?.get_mut(run_id)?;
        run.log.end();
        run.log.outcome().cloned()
    }

    pub(super) fn forget(&mut self, thread: ThreadNumber, run_id: &RunId) {
        if let Some(runs) = self.all.get_mut(&thread) {
            self.len -= usize::from(runs.remove(run_id).is_some());
            if runs.is_empty() {
                self.all.remove(&thread);
            }
        }
    }

    pub(super) fn remove_thread(&mut self, thread: ThreadNumber) {
        self.len -= self.all.remove(&thread).map_or(0, |runs| runs.len());
        self.ready.retain(|(ready, _)| *ready != thread);
    }

    /// Returns the next new frames of a run.
    pub(super) fn poll(&mut self) -> Option<(ThreadNumber, RunId, Frames, bool)> {
        loop {
            let (thread, run_id) = self.ready.pop_front()?;
            let Some(run) = self.all.get_mut(&thread).and_then(|runs| runs.get_mut(&run_id)) else {
                continue;
            };
            run.is_ready = false;
            let (Read::Frames(frames) | Read::Restart(frames)) =
                run.log.read(run.polled, MAX_FRAME)
            else {
                continue;
            };
            run.polled = frames.last;
            let is_last = frames.last >= run.log.last();
            let has_ended = is_last && run.log.has_ended();
            if !is_last {
                run.is_ready = true;
                self.ready.push_back((thread, run_id.clone()));
            }
            return Some((thread, run_id, frames, has_ended));
        }
    }

    /// Returns the next run with new frames, and whether it has ended.
    pub(super) fn poll_changed(&mut self) -> Option<(ThreadNumber, RunId, bool)> {
        loop {
            let (thread, run_id) = self.ready.pop_front()?;
            let Some(run) = self.all.get_mut(&thread).and_then(|runs| runs.get_mut(&run_id)) else {
                continue;
            };
            run.is_ready = false;
            let last = run.log.last();
            if run.polled < last {
                run.polled = last;
                return Some((thread, run_id, run.log.has_ended()));
            }
        }
    }
}
