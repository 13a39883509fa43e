//! Own runs that others read, and runs of others that are read here.
use super::{Replica, lock};
use crate::store::{AppendOutcome, LogLimits, RunLog, RunRecord, StoreError};
use agui_types::PROTOCOL_VERSION;
use agui_types::event::{Event, RunStartedEvent};
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use futures::FutureExt;
use futures::future::FusedFuture;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

/// Time that a reader of another owner's run waits for a notification before it polls.
const LOOK_TIME: Duration = Duration::from_secs(1);

/// Time before another attempt to reach the store.
const RETRY_TIME: Duration = Duration::from_millis(500);

/// Shortest time between two copies of the events of a run to the store. Events in quick succession
/// are one change, and of a run that is faster than the store mostly the compacted events are
/// copied.
const COPY_TIME: Duration = Duration::from_millis(50);

/// Time that an ending owner tries to copy the events of its runs to the store.
const LAST_TIME: Duration = Duration::from_secs(3);

/// Limits of a log with the beginning of a run.
const BEGINNING: LogLimits = LogLimits { events: 2, bytes: 64 * 1024, readers: 1 };

impl Replica {
    /// Begins a run. Returns `false` if a run with this name exists.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError> {
        self.store.begin_run(run, record).await
    }

    /// Returns a run.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        self.store.run(run).await
    }

    /// Returns the conversation with the messages of a new run, if its input leaves some of it out.
    /// Otherwise, and without a store that keeps conversations, the result is empty.
    pub async fn history(&self, run: &str, input: &RunAgentInput) -> Vec<Message> {
        let record = match self.store.run(run).await {
            Ok(record) => record,
            Err(error) => {
                tracing::warn!(%error, "the earlier messages of a run are left out");
                None
            }
        };
        let messages = record.map(|record| record.input.messages).unwrap_or_default();
        if messages == input.messages { Vec::new() } else { messages }
    }

    /// Removes a run.
    pub async fn forget_run(&self, run: &str) {
        if let Err(error) = self.store.forget_run(run).await {
            tracing::debug!(%error, "a run stays until it expires in the store");
        }
    }

    /// Ends the retention of a run, which a store with a history may keep.
    pub async fn retire_run(&self, run: &str) {
        if let Err(error) = self.store.retire_run(run).await {
            tracing::debug!(%error, "a run stays in the store");
        }
    }

    /// Returns a copy of a run that has no owner any more. A run without an end is ended.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn copy(
        &self,
        run: &str,
        record: &RunRecord,
        limits: LogLimits,
    ) -> Result<Arc<RunLog>, StoreError> {
        let log = Arc::new(RunLog::new(&record.input, limits));
        while let Some(part) = self.store.read(run, log.last()).await? {
            if part.is_empty() {
                break;
            }
            let has_ended = part.has_ended;
            log.apply(part);
            if has_ended {
                return Ok(log);
            }
        }
        let lost = self.end_lost(run, record, &log).await?;
        if log.last() == 0 {
            log.push(&started(record));
        }
        log.end_with(&lost);
        Ok(log)
    }

    /// Ends the run of an owner that is gone, in the store, and returns the last event. A run
    /// without events has not lost its beginning: readers insert the conversation before the run
    /// behind that.
    async fn end_lost(
        &self,
        run: &str,
        record: &RunRecord,
        log: &RunLog,
    ) -> Result<Event, StoreError> {
        // It may be cancelled since its record was read.
        let latest = self.store.run(run).await?;
        let lost = self.lost(latest.as_ref().unwrap_or(record));
        let begun = RunLog::new(&record.input, BEGINNING);
        let (last, frame) = if log.last() == 0 {
            begun.push(&started(record));
            let keep = self.options.keep + self.options.lifetime;
            self.store.append(run, &begun.part(0), keep).await?;
            begun.next_frame(&lost)
        } else {
            log.next_frame(&lost)
        };
        self.store.end_run(run, last, &frame).await?;
        Ok(lost)
    }

    /// Records that a run is being cancelled, for a reason.
    pub async fn cancel_run(&self, run: &str, reason: &str) {
        if let Err(error) = self.store.cancel_run(run, reason).await {
            tracing::warn!(%error, "a cancelled run may end as lost");
        }
    }

    /// Reports that a run of another owner is read here.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn watch_run(&self, run: &str) -> Result<(), StoreError> {
        self.store.owners().watch_run(run, self.options.lifetime).await
    }

    /// Returns whether a run is read through another owner; `true` if the store does not respond.
    pub async fn is_watched(&self, run: &str) -> bool {
        self.store.owners().is_watched(run).await.unwrap_or(true)
    }

    /// Returns the record of a run that this owner begins.
    pub fn record(&self, thread: String, fingerprint: u64, input: RunAgentInput) -> RunRecord {
        RunRecord { thread, owner: self.options.id.clone(), fingerprint, input, cancel: None }
    }

    /// Copies the events of a run to the store until its end, or until the run is removed from the
    /// store after `forgotten` was cancelled. `record` may be without the conversation before the
    /// run, which the log has. `before_end` is awaited before the end is stored and
    /// passed on to readers. Returns `false` if another owner has ended the run.
    pub async fn share(
        &self,
        run: &str,
        record: &RunRecord,
        log: &RunLog,
        forgotten: &CancellationToken,
        ending: &CancellationToken,
        before_end: impl Future<Output = ()>,
    ) -> bool {
        let is_ours = self.copy_to_store(run, record, log, forgotten, ending, before_end).await;
        log.release_end();
        is_ours
    }

    async fn copy_to_store(
        &self,
        run: &str,
        record: &RunRecord,
        log: &RunLog,
        forgotten: &CancellationToken,
        ending: &CancellationToken,
        before_end: impl Future<Output = ()>,
    ) -> bool {
        let mut before_end = pin!(before_end.fuse());
        let mut changed = log.changed();
        let mut after = 0;
        let keep = self.options.keep + self.options.lifetime;
        loop {
            changed.mark_unchanged();
            let part = log.part(after);
            if part.is_empty() && timeout(self.options.lifetime, changed.changed()).await.is_ok() {
                continue;
            }
            if part.has_ended && !before_end.is_terminated() {
                before_end.as_mut().await;
            }
            let next_copy = Instant::now() + COPY_TIME;
            // An empty part marks the run as open.
            match self.store.append(run, &part, keep).await {
                Ok(AppendOutcome::Taken) if part.has_ended => return true,
                Ok(AppendOutcome::Taken) => {
                    after = part.last();
                    let _ended = timeout_at(next_copy, log.ended()).await;
                }
                Ok(AppendOutcome::Ended) => {
                    log.end_with(&self.lost(record));
                    return false;
                }
                Ok(AppendOutcome::Unknown) if forgotten.is_cancelled() => return true,
                Ok(AppendOutcome::Unknown) => {
                    // The store has lost its data.
                    let record = log.restate(record);
                    if self.store.begin_run(run, &record).await.is_ok() {
                        after = 0;
                    }
                }
                Err(error) => {
                    log.release_end();
                    tracing::warn!(%error, "the events of a run are kept here until the store responds again");
                    tokio::select! {
                        () = sleep(RETRY_TIME) => {}
                        () = async { ending.cancelled().await; sleep(LAST_TIME).await } => return true,
                    }
                }
            }
        }
    }

    /// Follows a run of another owner until its end, or until it has had no reader here for
    /// `unread`.
    pub async fn mirror(&self, run: &str, record: &RunRecord, log: &RunLog, unread: Duration) {
        let more = lock(&self.mirrors).entry(run.to_owned()).or_default().clone();
        let follow = async {
            let mut unknown_since = None;
            while !log.has_ended() {
                match self.look(run, record, log, &mut unknown_since).await {
                    Ok(true) => {}
                    Ok(false) => {
                        let _quiet = timeout(LOOK_TIME, more.notified()).await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a run of another owner cannot be read");
                        sleep(RETRY_TIME).await;
                    }
                }
            }
        };
        tokio::select! {
            () = follow => {}
            () = log.abandoned(unread) => {}
        }
        lock(&self.mirrors).remove(run);
    }

    /// Reads new events of another owner's run; returns `false` if there were no new ones.
    async fn look(
        &self,
        run: &str,
        record: &RunRecord,
        log: &RunLog,
        unknown_since: &mut Option<Instant>,
    ) -> Result<bool, StoreError> {
        if log.is_being_read() {
            self.watch_run(run).await?;
        }
        let Some(part) = self.store.read(run, log.last()).await? else {
            // The owner writes the run again if the store has lost it.
            let since = unknown_since.get_or_insert_with(Instant::now);
            if since.elapsed() > self.options.lifetime * 2 {
                log.end_with(&self.lost(record));
            }
            return Ok(false);
        };
        *unknown_since = None;
        if part.is_empty() {
            let owner = &record.owner;
            if !self.is_mine(owner) && !self.store.owners().lives(owner).await? {
                self.end_lost(run, record, log).await?;
                return Ok(true);
            }
            return Ok(false);
        }
        log.apply(part);
        Ok(true)
    }
}

/// Returns the first event of a run.
fn started(record: &RunRecord) -> Event {
    let thread = record.input.thread_id.clone();
    let run = record.input.run_id.clone();
    let mut started = RunStartedEvent::new(thread, run);
    started.protocol_version = Some(PROTOCOL_VERSION.into());
    started.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{LogLimits, MemoryStore, ReplicaOptions, RunStore};
    use agui_types::event::{CustomEvent, RunErrorEvent, RunFinishedEvent};
    use futures::StreamExt;
    use futures::future::ready;
    use jsonrpc_core::wire;
    use jsonrpc_core::wire::Raw;
    use std::sync::Arc;
    use tokio::sync::oneshot;

    const LIMITS: LogLimits = LogLimits { events: 64, bytes: 16 * 1024, readers: 2 };

    fn owner(id: &str, store: Arc<MemoryStore>) -> Replica {
        let options = ReplicaOptions {
            id: id.to_owned(),
            lifetime: Duration::from_secs(1),
            keep: Duration::from_secs(1),
            lost: |record| RunErrorEvent::new(record.cancel.as_deref().unwrap_or("lost")).into(),
        };
        Replica::new(store, options)
    }

    fn input() -> RunAgentInput {
        wire::decode(r#"{"threadId":"t","runId":"r","messages":[]}"#).unwrap()
    }

    /// A run of an owner that has died before the store had an event of it begins as any other, so
    /// that the conversation before it is shown.
    #[tokio::test(start_paused = true)]
    async fn lost_run_without_events_has_a_beginning() {
        for is_followed in [false, true] {
            let store = Arc::new(MemoryStore::default());
            let record = owner("gone", store.clone()).record("t".to_owned(), 0, input());
            let reader = owner("here", store);
            assert!(reader.begin_run("r", &record).await.unwrap());
            let log = if is_followed {
                let log = Arc::new(RunLog::new(&record.input, LIMITS));
                let _reader = log.follow(0).unwrap();
                reader.mirror("r", &record, &log, Duration::from_secs(60)).await;
                log
            } else {
                reader.copy("r", &record, LIMITS).await.unwrap()
            };
            let copied = reader.copy("r", &record, LIMITS).await.unwrap();
            for log in [log, copied] {
                assert_eq!(log.last(), 2, "{is_followed}");
                let frames: Vec<_> = log.follow(0).unwrap().read().collect().await;
                let text = String::from_utf8(frames.concat()).unwrap();
                let place = |kind: &str| text.find(kind).unwrap_or_else(|| panic!("{text}"));
                assert!(place("RUN_STARTED") < place("RUN_ERROR"), "{text}");
            }
        }
    }

    /// Neither the store nor a reader has the end of a run before what precedes it is done.
    #[tokio::test(start_paused = true)]
    async fn end_is_stored_and_read_after_what_precedes_it() {
        let store = Arc::new(MemoryStore::default());
        let input = input();
        let replica = owner("", store.clone());
        let log = Arc::new(RunLog::new(&input, LIMITS).with_held_end());
        let record = replica.record("t".to_owned(), 0, input);
        assert!(replica.begin_run("r", &record).await.unwrap());
        log.push(&RunStartedEvent::new("t", "r").into());
        log.push(&RunFinishedEvent::new("t", "r").into());
        log.end();
        let (done, waiting) = oneshot::channel();
        let reading = log.follow(0).unwrap().read().map(|frame| frame.to_vec()).concat();
        let mut reading = pin!(reading);
        let [forgotten, ending] = [CancellationToken::new(), CancellationToken::new()];
        let before_end = async { waiting.await.unwrap() };
        let share = replica.share("r", &record, &log, &forgotten, &ending, before_end);
        let read = async {
            assert!(timeout(Duration::from_secs(1), &mut reading).await.is_err());
            let stored = store.read("r", 0).await.unwrap().unwrap();
            assert!(!stored.has_ended, "{stored:?}");
            done.send(()).unwrap();
            String::from_utf8(reading.await).unwrap()
        };
        let (is_ours, text) = tokio::join!(share, read);
        assert!(is_ours && text.contains("RUN_FINISHED"), "{text}");
        assert!(store.read("r", 0).await.unwrap().unwrap().has_ended);
    }

    /// Events in quick succession are copied together. The end is copied at once.
    #[tokio::test(start_paused = true)]
    async fn events_in_quick_succession_are_one_change() {
        let store = Arc::new(MemoryStore::default());
        let mut changes = store.owners().deliveries("");
        let replica = owner("", store);
        let input = input();
        let log = RunLog::new(&input, LIMITS);
        let record = replica.record("t".to_owned(), 0, input);
        assert!(replica.begin_run("r", &record).await.unwrap());
        let [forgotten, ending] = [CancellationToken::new(), CancellationToken::new()];
        let share = replica.share("r", &record, &log, &forgotten, &ending, ready(()));
        let begun = Instant::now();
        let write = async {
            log.push(&RunStartedEvent::new("t", "r").into());
            for _ in 0..100 {
                sleep(COPY_TIME / 10).await;
                log.push(&CustomEvent::new("count", Raw::of(&1)).into());
            }
            log.push(&RunFinishedEvent::new("t", "r").into());
            log.end();
        };
        let (is_ours, ()) = tokio::join!(share, write);
        assert!(is_ours);
        assert_eq!(begun.elapsed(), COPY_TIME * 10);
        let count = std::iter::from_fn(|| changes.try_recv().ok()).count();
        assert!((10..=12).contains(&count), "{count}");
    }

    /// Removes a run from the store while its end is not copied yet. Returns whether the run is in
    /// the store afterwards.
    async fn is_restored(was_forgotten: bool) -> bool {
        let replica = owner("", Arc::new(MemoryStore::default()));
        let input = input();
        let log = RunLog::new(&input, LIMITS);
        let record = replica.record("t".to_owned(), 0, input);
        let [forgotten, ending] = [CancellationToken::new(), CancellationToken::new()];
        assert!(replica.begin_run("r", &record).await.unwrap());
        log.push(&RunStartedEvent::new("t", "r").into());
        if was_forgotten {
            forgotten.cancel();
        }
        replica.forget_run("r").await;
        log.push(&RunFinishedEvent::new("t", "r").into());
        log.end();
        assert!(replica.share("r", &record, &log, &forgotten, &ending, ready(())).await);
        replica.run("r").await.unwrap().is_some()
    }

    /// A run is cancelled, and its owner dies before it has ended.
    #[tokio::test(start_paused = true)]
    async fn lost_run_that_was_cancelled_ends_as_cancelled() {
        let store = Arc::new(MemoryStore::default());
        let gone = owner("gone", store.clone());
        let record = gone.record("t".to_owned(), 0, input());
        assert!(gone.begin_run("r", &record).await.unwrap());
        gone.cancel_run("r", "user").await;
        let log = owner("here", store).copy("r", &record, LIMITS).await.unwrap();
        let frames: Vec<_> = log.follow(0).unwrap().read().collect().await;
        let text = String::from_utf8(frames.concat()).unwrap();
        assert!(text.contains(r#""message":"user""#), "{text}");
    }

    #[tokio::test(start_paused = true)]
    async fn run_that_was_removed_here_is_not_restored() {
        assert!(!is_restored(true).await);
        assert!(is_restored(false).await, "the store has lost it");
    }
}
