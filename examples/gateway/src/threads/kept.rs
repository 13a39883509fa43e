//! How long runs are kept, and how much there is of things.
use super::shared::run_name;
use super::{Kept, RunKey, Threads, fingerprint, lock};
use crate::run::StartError;
use crate::thread::ThreadKey;
use agui_types::input::RunAgentInput;
use agui_types::run_log::RunOutcome;
use http_access::Principal;
use run_store::{Reader, RunLog, TooManyReaders};
use run_telemetry::Timeline;
use run_telemetry::trace_context::TraceContext;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// Numbers of open threads and runs, reported on a signal.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Open {
    threads: usize,
    /// Runs that have not ended.
    going_on: usize,
    /// Runs that can be read.
    kept: usize,
}

#[cfg(unix)]
impl std::fmt::Display for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} threads, {} of {} runs", self.threads, self.going_on, self.kept)
    }
}

impl Threads {
    /// How much there is of things.
    #[cfg(unix)]
    pub(crate) fn open(&self) -> Open {
        let is_open = |thread: &&super::Entry| !thread.has_ended();
        let (going_on, kept) = {
            let runs = lock(&self.runs);
            let going_on = runs.values().filter(|run| !run.log.has_ended()).count();
            (going_on, runs.len())
        };
        Open { threads: lock(&self.threads).values().filter(is_open).count(), going_on, kept }
    }

    /// Stops a run without readers. Returns when it has ended.
    pub(super) async fn watch(&self, run: &RunKey, log: &RunLog, cancel: &CancellationToken) {
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
                cancel.cancel();
                log.ended().await;
            }
        }
    }

    /// Returns when a run that has ended is kept no longer.
    pub(super) async fn keep(&self, forgotten: &CancellationToken) {
        tokio::select! {
            () = self.shutdown.cancelled() => {}
            () = forgotten.cancelled() => {}
            () = sleep(self.times.keep.0) => {}
        }
    }

    /// The spans of a run that was begun here.
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

    /// Follows the run of this id, if there is one that the input does not resume.
    pub(super) fn follow_same(
        &self,
        run: &RunKey,
        thread: &ThreadKey,
        input: &RunAgentInput,
    ) -> Option<Result<Reader, StartError>> {
        let runs = lock(&self.runs);
        let other = runs.get(run).filter(|other| !other.is_resumed_by(thread, input))?;
        Some(other.follow_same(thread, fingerprint(input)))
    }

    /// Forgets what is known of a run elsewhere that the input has resumed there, under the same id.
    pub(super) fn forget_resumed(&self, run: &RunKey, thread: &ThreadKey, input: &RunAgentInput) {
        let mut runs = lock(&self.runs);
        let is_resumed = |other: &&Kept| !other.is_ours && other.is_resumed_by(thread, input);
        if let Some(other) = runs.get(run).filter(is_resumed) {
            other.forgotten.cancel();
            runs.remove(run);
        }
    }

    /// Whether it was there.
    pub(super) fn forget(&self, run: &RunKey, log: &Arc<RunLog>) -> bool {
        let mut runs = lock(&self.runs);
        // Another may have its id since room was made.
        let is_there = runs.get(run).is_some_and(|kept| Arc::ptr_eq(&kept.log, log));
        if is_there {
            runs.remove(run);
        }
        is_there
    }

    /// Forgets runs that have ended, the oldest first, while there are too many or too much of them; gives those of them
    /// that were begun here.
    pub(super) fn make_room(
        &self,
        runs: &mut HashMap<RunKey, Kept>,
    ) -> Result<Vec<RunKey>, StartError> {
        let mut bytes: usize = runs.values().map(|run| run.log.bytes()).sum();
        let mut forgotten = Vec::new();
        while runs.len() >= self.limits.runs || bytes > self.limits.kept_bytes {
            let ended = runs.iter().filter(|(_, run)| run.log.has_ended());
            let oldest = ended.min_by_key(|(_, run)| run.number).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            let Some(freed) = runs.remove(&oldest) else { break };
            freed.forgotten.cancel();
            // It may have grown since it was counted.
            bytes = bytes.saturating_sub(freed.log.bytes());
            if freed.is_ours {
                forgotten.push(oldest);
            }
        }
        if runs.len() >= self.limits.runs { Err(StartError::Overloaded) } else { Ok(forgotten) }
    }
}

/// The span of the interrupted run with which an input goes on, if it was begun here.
pub(super) fn resumed(
    runs: &HashMap<RunKey, Kept>,
    thread: &ThreadKey,
    input: &RunAgentInput,
) -> Option<TraceContext> {
    input.resume.as_ref().filter(|answers| !answers.is_empty())?;
    let of_thread = runs.values().filter(|kept| kept.thread == *thread);
    let interrupted = of_thread.filter(|kept| kept.log.outcome() == Some(RunOutcome::Interrupt));
    interrupted.max_by_key(|kept| kept.number)?.span.clone()
}
