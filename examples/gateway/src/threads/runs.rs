//! The runs of this gateway and copies of others: their memory, repetition and retention.
use super::table::{ThreadEntry, ThreadTable};
use super::{Threads, lock, thread_name};
use crate::run::{Cancel, StartError, request_cancel};
use crate::settings::Limits;
use crate::store::{Reader, RunLog, ThreadName, TooManyReaders};
use crate::telemetry::Timeline;
use crate::telemetry::trace_context::TraceContext;
use agui_bridge::CancelReason;
use agui_types::input::RunAgentInput;
use agui_types::run_log::RunOutcome;
use host::http::Principal;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// A run, identified by user and id.
pub(super) type RunKey = (Principal, String);

/// Returns the globally unique name of a run.
pub(super) fn run_name((principal, run_id): &RunKey) -> String {
    serde_json::to_string(&[principal.as_str(), run_id]).unwrap_or_default()
}

/// A run, which is kept for a while after its end.
#[derive(Clone, Debug)]
pub(super) struct RunEntry {
    /// Number of the run, in order of arrival.
    number: u64,
    /// Whether the run belongs to this gateway. Otherwise this is a copy.
    pub(super) is_ours: bool,
    pub(super) thread: ThreadName,
    /// The input, compared with a repeated one. Its size counts until the run has ended: its thread
    /// has it, beside the log.
    pub(super) input: InputDigest,
    pub(super) log: Arc<RunLog>,
    pub(super) cancel: Cancel,
    /// Cancelled when the run is removed for lack of space.
    pub(super) forgotten: CancellationToken,
    /// Cancelled when the store has all events, or the run was refused.
    pub(super) stored: CancellationToken,
    /// Its spans, if enabled, for a run of this gateway.
    pub(super) timeline: Option<Arc<Timeline>>,
    /// The span of the run itself.
    pub(super) span: Option<TraceContext>,
}

/// What identifies an input, and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputDigest {
    /// Hash of the input as JSON.
    pub(super) fingerprint: u64,
    /// Bytes of that JSON.
    bytes: usize,
}

impl InputDigest {
    /// Serializes the input once.
    pub(super) fn new(input: &RunAgentInput) -> Self {
        let text = serde_json::to_vec(input).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Self { fingerprint: hasher.finish(), bytes: text.len() }
    }

    /// Returns that of a run of another gateway, with an input that is not here.
    pub(super) fn elsewhere(fingerprint: u64) -> Self {
        Self { fingerprint, bytes: 0 }
    }
}

impl Threads {
    /// Describes the numbers of open threads, of runs that have not ended, and of runs that can be
    /// read.
    #[cfg(unix)]
    pub(crate) fn open(&self) -> String {
        let is_open = |thread: &&ThreadEntry| !thread.has_ended();
        let (going_on, kept) = {
            let runs = lock(&self.runs);
            let going_on = runs.values().filter(|run| !run.log.has_ended()).count();
            (going_on, runs.len())
        };
        let threads = lock(&self.threads).entries().filter(is_open).count();
        format!("{threads} threads, {going_on} of {kept} runs")
    }

    /// Stops a run without readers. Returns when it has ended.
    pub(super) async fn watch(&self, run: &RunKey, log: &RunLog, cancelled: &Cancel) {
        let grace = self.times.disconnect_grace.0;
        let abandoned = async {
            log.abandoned(grace).await;
            while self.replicas.is_watched(&run_name(run)).await {
                sleep(grace.max(self.replicas.beat_time())).await;
                log.abandoned(grace).await;
            }
        };
        tokio::select! {
            () = log.ended() => {}
            () = abandoned => {
                tracing::info!(run = run.1, "nobody reads the run; stopping it");
                request_cancel(cancelled, CancelReason::NoReader);
                log.ended().await;
            }
        }
    }

    /// Returns when the retention of an ended run is over.
    pub(super) async fn keep(&self, forgotten: &CancellationToken) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = forgotten.cancelled() => {}
            () = sleep(self.times.keep.0) => {}
        }
    }

    /// Returns the spans of a run of this gateway.
    pub(crate) fn timeline(
        &self,
        principal: &Principal,
        run_id: &str,
    ) -> Result<Option<Arc<Timeline>>, TooManyReaders> {
        let run = (principal.clone(), run_id.to_owned());
        let timeline = lock(&self.runs).get(&run).and_then(|run| run.timeline.clone());
        match &timeline {
            Some(read) if read.readers() >= self.limits.readers => {
                Err(TooManyReaders(self.limits.readers))
            }
            _ => Ok(timeline),
        }
    }

    /// Follows the run with this id, unless the input resumes it.
    pub(super) fn follow_same(
        &self,
        run: &RunKey,
        thread: &ThreadName,
        input: &RunAgentInput,
        digest: InputDigest,
    ) -> Option<Result<Reader, StartError>> {
        let runs = lock(&self.runs);
        let other = runs.get(run).filter(|other| !other.is_resumed_by(thread, input, digest))?;
        Some(other.follow_same(thread, digest))
    }

    /// Reads the last run of a thread that ended with questions, if it is kept here.
    pub(crate) fn interrupted(
        &self,
        principal: &Principal,
        agent: Option<&str>,
        thread: &str,
    ) -> Option<Reader> {
        let thread = thread_name(principal, agent.unwrap_or(&self.default_agent), thread);
        last_interrupted(&lock(&self.runs), &thread)?.log.follow(0).ok()
    }

    /// Removes the copy of a run that the input has resumed at another gateway, under the same id.
    pub(super) fn forget_resumed(
        &self,
        run: &RunKey,
        thread: &ThreadName,
        input: &RunAgentInput,
        digest: InputDigest,
    ) {
        let mut runs = lock(&self.runs);
        let is_resumed =
            |other: &&RunEntry| !other.is_ours && other.is_resumed_by(thread, input, digest);
        if let Some(other) = runs.get(run).filter(is_resumed) {
            other.forgotten.cancel();
            runs.remove(run);
        }
    }

    /// Returns whether the run was present.
    pub(super) fn forget(&self, run: &RunKey, log: &Arc<RunLog>) -> bool {
        let mut runs = lock(&self.runs);
        // Another run may have the id since the removal.
        let is_there = runs.get(run).is_some_and(|run| Arc::ptr_eq(&run.log, log));
        if is_there {
            runs.remove(run);
        }
        is_there
    }

    /// Removes ended runs, the oldest first, while the limits are exceeded: those of the user
    /// beyond the share of a user, then those of all users. Waiting tool calls are part of the
    /// memory. Returns the removed runs of this gateway.
    pub(super) fn make_room(
        &self,
        runs: &mut HashMap<RunKey, RunEntry>,
        user: &Principal,
    ) -> Result<Vec<RunKey>, StartError> {
        let Limits { runs: most, kept_bytes, .. } = self.limits;
        let share = most.div_ceil(self.shares);
        let share_bytes = kept_bytes / self.shares;
        let calls = self.toolbox().questions().memory(user.as_str());
        let mut forgotten = Vec::new();
        loop {
            let own = || runs.iter().filter(|((owner, _), _)| owner == user);
            let own_bytes = calls.principal + own().map(|(_, run)| run.bytes()).sum::<usize>();
            let has_share = own().count() >= share || own_bytes > share_bytes;
            let bytes = calls.total + runs.values().map(RunEntry::bytes).sum::<usize>();
            let is_full = runs.len() >= most || bytes > kept_bytes;
            if !has_share && !is_full {
                return Ok(forgotten);
            }
            let ended = runs
                .iter()
                .filter(|((owner, _), run)| run.log.has_ended() && (!has_share || owner == user));
            let oldest = ended.min_by_key(|(_, run)| run.number).map(|(id, _)| id.clone());
            let Some((oldest, freed)) = oldest.and_then(|oldest| runs.remove_entry(&oldest)) else {
                let own = runs.keys().filter(|(owner, _)| owner == user).count();
                if runs.len() >= most {
                    return Err(StartError::Overloaded);
                }
                return if own >= share {
                    Err(StartError::UserLimit(own, "runs"))
                } else {
                    Ok(forgotten)
                };
            };
            freed.forgotten.cancel();
            if freed.is_ours {
                forgotten.push(oldest);
            }
        }
    }

    /// Makes a place for a thread of this user. Returns the idle thread that loses its place, if
    /// one does: the least recently used one, of the user if the user's share is full.
    pub(super) fn make_place(
        &self,
        threads: &mut ThreadTable,
        user: &str,
    ) -> Result<Option<(ThreadName, ThreadEntry)>, StartError> {
        let most = self.limits.threads;
        let own = threads.of_user(user);
        let has_share = own >= most.div_ceil(self.shares);
        if !has_share && threads.len() < most {
            return Ok(None);
        }
        let runs = lock(&self.runs);
        let busy: HashSet<_> =
            runs.values().filter(|run| !run.log.has_ended()).map(|run| &run.thread).collect();
        let is_idle = |key: &ThreadName| !busy.contains(key) && (!has_share || key.user == user);
        match threads.remove_oldest(is_idle) {
            Some(evicted) => Ok(Some(evicted)),
            None if has_share && self.shares > 1 => Err(StartError::UserLimit(own, "threads")),
            None => Err(StartError::Overloaded),
        }
    }

    /// Closes a thread that has lost its place.
    pub(super) fn evict(self: &Arc<Self>, key: ThreadName, entry: ThreadEntry) {
        if let Some((acp, name)) = self.conversation(&key) {
            acp.connection.remove(&name);
        }
        let threads = self.clone();
        self.tasks.spawn(async move { threads.release(&key, &entry.lease).await });
    }
}

impl RunEntry {
    /// Creates the entry of a run that begins here.
    pub(super) fn new(
        number: u64,
        thread: ThreadName,
        input: InputDigest,
        log: Arc<RunLog>,
    ) -> Self {
        Self {
            number,
            is_ours: true,
            thread,
            input,
            log,
            cancel: Cancel::default(),
            forgotten: CancellationToken::new(),
            stored: CancellationToken::new(),
            timeline: None,
            span: None,
        }
    }

    /// Creates the entry of a copy of a run of another gateway.
    pub(super) fn copy(
        number: u64,
        thread: ThreadName,
        fingerprint: u64,
        log: Arc<RunLog>,
    ) -> Self {
        let copy = Self::new(number, thread, InputDigest::elsewhere(fingerprint), log);
        copy.stored.cancel();
        Self { is_ours: false, ..copy }
    }

    /// Returns the number of bytes of the run.
    fn bytes(&self) -> usize {
        let input = if self.log.has_ended() { 0 } else { self.input.bytes };
        self.log.bytes().saturating_add(input)
    }

    /// Follows the run, if the input is a repetition of its own.
    pub(super) fn follow_same(
        &self,
        thread: &ThreadName,
        input: InputDigest,
    ) -> Result<Reader, StartError> {
        if self.thread != *thread || self.input.fingerprint != input.fingerprint {
            return Err(StartError::OtherRun);
        }
        Ok(self.log.follow(0)?)
    }

    /// Returns whether an input with the same id resumes the run, as some clients (CopilotKit) do
    /// after an interrupt.
    pub(super) fn is_resumed_by(
        &self,
        thread: &ThreadName,
        input: &RunAgentInput,
        digest: InputDigest,
    ) -> bool {
        let interrupted =
            self.log.outcome().is_some_and(|outcome| outcome == RunOutcome::Interrupt);
        let answers = input.resume.as_ref().is_some_and(|answers| !answers.is_empty());
        let is_repeated = self.input.fingerprint == digest.fingerprint;
        interrupted && answers && self.thread == *thread && !is_repeated
    }
}

/// Returns what ends the storing of each open run of a thread.
pub(super) fn open(
    runs: &HashMap<RunKey, RunEntry>,
    thread: &ThreadName,
) -> Vec<CancellationToken> {
    let ours = runs.values().filter(|run| run.is_ours && run.thread == *thread);
    ours.filter(|run| !run.stored.is_cancelled()).map(|run| run.stored.clone()).collect()
}

/// Returns the span of the interrupted run that an input resumes, if it belongs to this gateway.
pub(super) fn resumed(
    runs: &HashMap<RunKey, RunEntry>,
    thread: &ThreadName,
    input: &RunAgentInput,
) -> Option<TraceContext> {
    input.resume.as_ref().filter(|answers| !answers.is_empty())?;
    last_interrupted(runs, thread)?.span.clone()
}

fn last_interrupted<'a>(
    runs: &'a HashMap<RunKey, RunEntry>,
    thread: &ThreadName,
) -> Option<&'a RunEntry> {
    let of_thread = runs.values().filter(|run| run.thread == *thread);
    let interrupted = of_thread.filter(|run| run.log.outcome() == Some(RunOutcome::Interrupt));
    interrupted.max_by_key(|run| run.number)
}
