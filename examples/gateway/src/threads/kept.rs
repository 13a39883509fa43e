//! Retention of runs, and numbers of open objects.
use super::shared::run_name;
use super::steering::key;
use super::{Entry, Kept, RunKey, Threads, lock};
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

/// Logs of a run: the gateway's, and that of the agent's hub.
const LOGS: usize = 2;

/// Copies of an input until its run has ended, beside those of its logs: those of the run, its
/// record, and its thread.
const OPEN_COPIES: usize = 3;

impl Threads {
    /// Describes the numbers of open threads, of runs that have not ended, and of runs that can be
    /// read.
    #[cfg(unix)]
    pub(crate) fn open(&self) -> String {
        let is_open = |thread: &&Entry| !thread.has_ended();
        let (going_on, kept) = {
            let runs = lock(&self.runs);
            let going_on = runs.values().filter(|run| !run.log.has_ended()).count();
            (going_on, runs.len())
        };
        let threads = lock(&self.threads).values().filter(is_open).count();
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
        let timeline = lock(&self.runs).get(&run).and_then(|kept| kept.timeline.clone());
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
    ) -> Option<Result<Reader, StartError>> {
        let runs = lock(&self.runs);
        let other = runs.get(run).filter(|other| !other.is_resumed_by(thread, input))?;
        Some(other.follow_same(thread, fingerprint(input)))
    }

    /// Reads the last run of a thread that ended with questions, if it is kept here.
    pub(crate) fn interrupted(
        &self,
        principal: &Principal,
        agent: Option<&str>,
        thread: &str,
    ) -> Option<Reader> {
        let thread = key(principal, agent.unwrap_or(&self.default_agent), thread);
        last_interrupted(&lock(&self.runs), &thread)?.log.follow(0).ok()
    }

    /// Removes the copy of a run that the input has resumed at another gateway, under the same id.
    pub(super) fn forget_resumed(&self, run: &RunKey, thread: &ThreadName, input: &RunAgentInput) {
        let mut runs = lock(&self.runs);
        let is_resumed = |other: &&Kept| !other.is_ours && other.is_resumed_by(thread, input);
        if let Some(other) = runs.get(run).filter(is_resumed) {
            other.forgotten.cancel();
            runs.remove(run);
        }
    }

    /// Returns whether the run was present.
    pub(super) fn forget(&self, run: &RunKey, log: &Arc<RunLog>) -> bool {
        let mut runs = lock(&self.runs);
        // Another run may have the id since the removal.
        let is_there = runs.get(run).is_some_and(|kept| Arc::ptr_eq(&kept.log, log));
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
        runs: &mut HashMap<RunKey, Kept>,
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
            let bytes = calls.total + runs.values().map(Kept::bytes).sum::<usize>();
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
        threads: &mut HashMap<ThreadName, Entry>,
        user: &str,
    ) -> Result<Option<(ThreadName, Entry)>, StartError> {
        let most = self.limits.threads;
        let own = threads.keys().filter(|key| key.user == user).count();
        let has_share = own >= most.div_ceil(self.shares);
        if !has_share && threads.len() < most {
            return Ok(None);
        }
        let runs = lock(&self.runs);
        let busy: HashSet<_> =
            runs.values().filter(|run| !run.log.has_ended()).map(|run| &run.thread).collect();
        let idle = threads
            .iter()
            .filter(|(key, _)| !busy.contains(key) && (!has_share || key.user == user));
        let oldest = idle.min_by_key(|(_, thread)| thread.used).map(|(key, _)| key.clone());
        match oldest.and_then(|key| threads.remove_entry(&key)) {
            Some(evicted) => Ok(Some(evicted)),
            None if has_share && self.shares > 1 => Err(StartError::UserLimit(own, "threads")),
            None => Err(StartError::Overloaded),
        }
    }

    /// Closes a thread that has lost its place.
    pub(super) fn evict(self: &Arc<Self>, key: ThreadName, entry: Entry) {
        if let Some((acp, name)) = self.conversation(&key) {
            acp.connection.remove(&name);
        }
        let threads = self.clone();
        self.tasks.spawn(async move { threads.release(&key, &entry.lease).await });
    }
}

impl Kept {
    /// Creates the record of a run that begins here.
    pub(super) fn new(
        number: u64,
        thread: ThreadName,
        input: &RunAgentInput,
        log: Arc<RunLog>,
    ) -> Self {
        let text = serde_json::to_vec(input).unwrap_or_default();
        Self {
            number,
            is_ours: true,
            thread,
            fingerprint: hash(&text),
            open_bytes: text.len().saturating_mul(OPEN_COPIES),
            log,
            cancel: Cancel::default(),
            forgotten: CancellationToken::new(),
            shared: CancellationToken::new(),
            timeline: None,
            span: None,
        }
    }

    /// Returns the number of bytes of the run.
    fn bytes(&self) -> usize {
        let open_bytes = if self.log.has_ended() { 0 } else { self.open_bytes };
        self.log.bytes().saturating_mul(LOGS).saturating_add(open_bytes)
    }

    /// Follows the run, if the input is a repetition of its own.
    pub(super) fn follow_same(
        &self,
        thread: &ThreadName,
        fingerprint: u64,
    ) -> Result<Reader, StartError> {
        if self.thread != *thread || self.fingerprint != fingerprint {
            return Err(StartError::OtherRun);
        }
        Ok(self.log.follow(0)?)
    }

    /// Returns whether an input with the same id resumes the run, as some clients (CopilotKit) do
    /// after an interrupt.
    pub(super) fn is_resumed_by(&self, thread: &ThreadName, input: &RunAgentInput) -> bool {
        let interrupted =
            self.log.outcome().is_some_and(|outcome| outcome == RunOutcome::Interrupt);
        let answers = input.resume.as_ref().is_some_and(|answers| !answers.is_empty());
        interrupted && answers && self.thread == *thread && self.fingerprint != fingerprint(input)
    }
}

/// Returns the hash of an input.
pub(super) fn fingerprint(input: &RunAgentInput) -> u64 {
    hash(&serde_json::to_vec(input).unwrap_or_default())
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns what ends the storing of each open run of a thread.
pub(super) fn open(runs: &HashMap<RunKey, Kept>, thread: &ThreadName) -> Vec<CancellationToken> {
    let ours = runs.values().filter(|kept| kept.is_ours && kept.thread == *thread);
    ours.filter(|kept| !kept.shared.is_cancelled()).map(|kept| kept.shared.clone()).collect()
}

/// Returns the span of the interrupted run that an input resumes, if it belongs to this gateway.
pub(super) fn resumed(
    runs: &HashMap<RunKey, Kept>,
    thread: &ThreadName,
    input: &RunAgentInput,
) -> Option<TraceContext> {
    input.resume.as_ref().filter(|answers| !answers.is_empty())?;
    last_interrupted(runs, thread)?.span.clone()
}

fn last_interrupted<'a>(runs: &'a HashMap<RunKey, Kept>, thread: &ThreadName) -> Option<&'a Kept> {
    let of_thread = runs.values().filter(|kept| kept.thread == *thread);
    let interrupted = of_thread.filter(|kept| kept.log.outcome() == Some(RunOutcome::Interrupt));
    interrupted.max_by_key(|kept| kept.number)
}
