//! A store in the memory of one program.
use crate::store::{
    AppendOutcome, Delivery, Lease, LogBase, LogPart, MAX_KEPT, Owners, RunRecord, RunStore,
    StoreError,
};
use async_trait::async_trait;
use bytes::Bytes;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Largest number of messages that wait for an owner.
const MAX_WAITING: usize = 1024;

/// Largest number of threads with kept sessions.
const MAX_REMEMBERED: usize = 4096;

/// A store for one program. It is lost at the program's end.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    alive: HashMap<String, Instant>,
    numbered: u64,
    leases: HashMap<String, Lease>,
    runs: HashMap<String, Run>,
    watched: HashMap<String, Instant>,
    /// The oldest first.
    remembered: VecDeque<(String, String)>,
    kept: HashMap<String, String>,
    receivers: HashMap<String, mpsc::Sender<Delivery>>,
}

#[derive(Debug)]
struct Run {
    record: RunRecord,
    base: Option<LogBase>,
    /// The number of the event before `frames`.
    after: u64,
    frames: Vec<Bytes>,
    has_ended: bool,
}

impl Run {
    fn last(&self) -> u64 {
        self.after + self.frames.len() as u64
    }

    /// Returns the frames after that number.
    fn behind(&self, after: u64) -> Vec<Bytes> {
        let skipped = usize::try_from(after.saturating_sub(self.after)).unwrap_or(usize::MAX);
        self.frames.iter().skip(skipped).cloned().collect()
    }
}

impl MemoryStore {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies of new events of a run in another store.
    pub(crate) fn announce(&self, run: &str) {
        self.state().announce(run);
    }
}

impl State {
    fn lives(&self, gateway: &str) -> bool {
        self.alive.get(gateway).is_some_and(|until| *until > Instant::now())
    }

    fn announce(&self, run: &str) {
        for receiver in self.receivers.values() {
            // A reader polls again after a while, so a lost notification is harmless.
            let _missed = receiver.try_send(Delivery::More(run.to_owned()));
        }
    }
}

#[async_trait]
impl Owners for MemoryStore {
    async fn live(&self, gateway: &str, lifetime: Duration) -> Result<(), StoreError> {
        self.state().alive.insert(gateway.to_owned(), Instant::now() + lifetime);
        Ok(())
    }

    async fn lives(&self, gateway: &str) -> Result<bool, StoreError> {
        Ok(self.state().lives(gateway))
    }

    async fn leave(&self, gateway: &str) -> Result<(), StoreError> {
        let mut state = self.state();
        state.alive.remove(gateway);
        state.receivers.remove(gateway);
        Ok(())
    }

    async fn take(&self, thread: &str, gateway: &str) -> Result<Lease, StoreError> {
        let mut state = self.state();
        if let Some(lease) = state.leases.get(thread)
            && (lease.owner == gateway || state.lives(&lease.owner))
        {
            return Ok(lease.clone());
        }
        state.numbered += 1;
        let lease = Lease { owner: gateway.to_owned(), number: state.numbered };
        state.leases.insert(thread.to_owned(), lease.clone());
        Ok(lease)
    }

    async fn holders(&self, threads: &[String]) -> Result<Vec<Option<Lease>>, StoreError> {
        let state = self.state();
        Ok(threads.iter().map(|thread| state.leases.get(thread).cloned()).collect())
    }

    async fn restore(&self, thread: &str, lease: &Lease) -> Result<bool, StoreError> {
        let mut state = self.state();
        if let Some(held) = state.leases.get(thread) {
            return Ok(held == lease);
        }
        state.numbered = state.numbered.max(lease.number);
        state.leases.insert(thread.to_owned(), lease.clone());
        Ok(true)
    }

    async fn release(&self, thread: &str, lease: &Lease) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.leases.get(thread) == Some(lease) {
            state.leases.remove(thread);
        }
        Ok(())
    }

    async fn watch_run(&self, run: &str, time: Duration) -> Result<(), StoreError> {
        self.state().watched.insert(run.to_owned(), Instant::now() + time);
        Ok(())
    }

    async fn is_watched(&self, run: &str) -> Result<bool, StoreError> {
        Ok(self.state().watched.get(run).is_some_and(|until| *until > Instant::now()))
    }

    async fn send(&self, to: &str, message: String) -> Result<(), StoreError> {
        let receiver = self.state().receivers.get(to).cloned();
        let receiver =
            receiver.ok_or_else(|| StoreError("the owner has no receiver".to_owned()))?;
        let sent = receiver.send(Delivery::Message(message)).await;
        sent.map_err(|_| StoreError("the owner has dropped its receiver".to_owned()))
    }

    fn deliveries(&self, gateway: &str) -> mpsc::Receiver<Delivery> {
        let (sender, inbox) = mpsc::channel(MAX_WAITING);
        self.state().receivers.insert(gateway.to_owned(), sender);
        inbox
    }
}

#[async_trait]
impl RunStore for MemoryStore {
    fn owners(&self) -> &dyn Owners {
        self
    }

    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError> {
        let mut state = self.state();
        if state.runs.contains_key(run) {
            return Ok(false);
        }
        let begun = Run {
            record: record.clone(),
            base: None,
            after: 0,
            frames: Vec::new(),
            has_ended: false,
        };
        state.runs.insert(run.to_owned(), begun);
        Ok(true)
    }

    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        Ok(self.state().runs.get(run).map(|run| run.record.clone()))
    }

    async fn append(
        &self,
        name: &str,
        part: &LogPart,
        _: Duration,
    ) -> Result<AppendOutcome, StoreError> {
        let mut state = self.state();
        let Some(run) = state.runs.get_mut(name) else { return Ok(AppendOutcome::Unknown) };
        if run.has_ended {
            return Ok(AppendOutcome::Ended);
        }
        if let Some(base) = &part.base
            && base.last > run.after
        {
            run.frames = run.behind(base.last);
            run.after = base.last;
            run.base = Some(base.clone());
        }
        let known = usize::try_from(run.last().saturating_sub(part.after)).unwrap_or(usize::MAX);
        run.frames.extend(part.frames.iter().skip(known).cloned());
        run.has_ended = part.has_ended;
        state.announce(name);
        Ok(AppendOutcome::Taken)
    }

    async fn read(&self, run: &str, after: u64) -> Result<Option<LogPart>, StoreError> {
        let state = self.state();
        let Some(run) = state.runs.get(run) else { return Ok(None) };
        let base = run.base.clone().filter(|base| base.last > after);
        let after = after.max(run.after);
        let frames = run.behind(after);
        let has_ended = run.has_ended && after + frames.len() as u64 == run.last();
        Ok(Some(LogPart { base, after, frames, has_ended }))
    }

    async fn end_run(&self, name: &str, after: u64, frame: &Bytes) -> Result<(), StoreError> {
        let mut state = self.state();
        if let Some(run) = state.runs.get_mut(name)
            && !run.has_ended
            && run.last() == after
        {
            run.frames.push(frame.clone());
            run.has_ended = true;
            state.announce(name);
        }
        Ok(())
    }

    async fn cancel_run(&self, run: &str, reason: &str) -> Result<(), StoreError> {
        if let Some(run) = self.state().runs.get_mut(run) {
            run.record.cancel = Some(reason.to_owned());
        }
        Ok(())
    }

    async fn forget_run(&self, run: &str) -> Result<(), StoreError> {
        let mut state = self.state();
        state.runs.remove(run);
        state.watched.remove(run);
        Ok(())
    }

    async fn remember(&self, thread: &str, what: Option<&str>) -> Result<(), StoreError> {
        let mut state = self.state();
        let Some(what) = what else {
            state.remembered.retain(|(known, _)| known != thread);
            return Ok(());
        };
        state.remembered.retain(|(known, _)| known != thread);
        state.remembered.push_back((thread.to_owned(), what.to_owned()));
        if state.remembered.len() > MAX_REMEMBERED {
            state.remembered.pop_front();
        }
        Ok(())
    }

    async fn recall(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let state = self.state();
        let known = state.remembered.iter().find(|(known, _)| known == thread);
        Ok(known.map(|(_, what)| what.clone()))
    }

    async fn keep(&self, name: &str, what: Option<&str>) -> Result<(), StoreError> {
        let kept = &mut self.state().kept;
        match what {
            Some(_) if kept.len() >= MAX_KEPT && !kept.contains_key(name) => {
                return Err(StoreError::too_many_kept());
            }
            Some(what) => kept.insert(name.to_owned(), what.to_owned()),
            None => kept.remove(name),
        };
        Ok(())
    }

    async fn kept(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.state().kept.get(name).cloned())
    }
}
