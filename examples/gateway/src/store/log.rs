//! The log of a run, shared by the task that writes it and the HTTP responses that read it.
//!
//! The state machine is [`agui_types::run_log`]; this module wakes and counts readers.
use crate::store::RunRecord;
use agui_types::event::Event;
use agui_types::id::RunId;
use agui_types::input::RunAgentInput;
use agui_types::run_log::{self, LogPart, LogRead, PushError, RunLogLimits, RunOutcome};
use bytes::Bytes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

mod reader;

pub use reader::Reader;

/// Largest size of one read, in bytes.
const MAX_BATCH: usize = 256 * 1024;

/// Limits of a log.
#[derive(Clone, Copy, Debug)]
pub struct LogLimits {
    /// Number of events that are kept as they were sent.
    pub events: usize,
    /// Bytes of those events, and of the compacted events before them.
    pub bytes: usize,
    /// Number of concurrent readers.
    pub readers: usize,
}

impl LogLimits {
    fn empty(self, input: &RunAgentInput) -> run_log::RunLog {
        let limits = RunLogLimits { events: self.events, bytes: self.bytes };
        run_log::RunLog::new(input, limits)
    }
}

/// The events of one run, numbered from 1.
#[derive(Debug)]
pub struct RunLog {
    run_id: RunId,
    log: Mutex<run_log::RunLog>,
    max_readers: usize,
    /// Notifies of new events and of the end.
    changed: watch::Sender<()>,
    readers: watch::Sender<usize>,
    /// Whether readers wait for the end of the run until it is stored.
    is_end_held: watch::Sender<bool>,
}

/// An error following a run: it has too many readers.
#[derive(Debug, thiserror::Error)]
#[error("{0} readers already follow this run")]
pub struct TooManyReaders(
    /// The limit.
    pub usize,
);

impl RunLog {
    /// Creates the empty log of the run that `input` starts.
    pub fn new(input: &RunAgentInput, limits: LogLimits) -> Self {
        Self {
            run_id: input.run_id.clone(),
            log: Mutex::new(limits.empty(input)),
            max_readers: limits.readers,
            changed: watch::Sender::new(()),
            readers: watch::Sender::new(0),
            is_end_held: watch::Sender::new(false),
        }
    }

    /// Holds the end of the run back from readers until a store has it, so that no reader acts on
    /// an end that a crash undoes. [`Replica::share`](crate::store::Replica::share) releases it.
    #[must_use]
    pub fn with_held_end(self) -> Self {
        self.is_end_held.send_replace(true);
        self
    }

    /// Passes the end on to readers.
    pub(crate) fn release_end(&self) {
        self.is_end_held.send_replace(false);
    }

    /// Continues the numbers of an earlier run with the same id.
    #[must_use]
    pub fn behind(self, before: &Self) -> Self {
        let last = before.last();
        let log = self.log.into_inner().unwrap_or_else(PoisonError::into_inner);
        Self { log: Mutex::new(log.with_last(last)), ..self }
    }

    /// Adds an event, and wakes the readers. Returns `false` if the log is full. The end of the run
    /// is always added.
    pub fn push(&self, event: &Event) -> bool {
        self.write(|log| log.push(event).map(drop))
    }

    /// Adds events with `write`, and wakes the readers. Returns `false` if the log is full.
    pub fn write(&self, write: impl FnOnce(&mut run_log::RunLog) -> Result<(), PushError>) -> bool {
        let mut log = self.lock();
        let written = write(&mut log);
        let has_room = !log.is_full();
        drop(log);
        self.notify();
        match written {
            Ok(()) => has_room,
            Err(PushError::Full) => false,
            // Another owner has ended the run.
            Err(PushError::Ended) => true,
            Err(error) => {
                tracing::error!(%error, run = %self.run_id, "an event is left out");
                true
            }
        }
    }

    /// Wakes the readers.
    fn notify(&self) {
        self.changed.send_replace(());
    }

    /// Ends the run.
    pub fn end(&self) {
        self.lock().end();
        self.notify();
    }

    /// Ends the run with this event, unless it has already ended.
    pub fn end_with(&self, event: &Event) {
        let mut log = self.lock();
        if log.has_ended() {
            return;
        }
        if let Err(error) = log.push(event) {
            tracing::error!(%error, run = %self.run_id, "the end of a run is left out");
        }
        log.end();
        drop(log);
        self.notify();
    }

    /// Returns whether the run has ended.
    pub fn has_ended(&self) -> bool {
        self.lock().has_ended()
    }

    /// Returns how the run ended.
    pub fn outcome(&self) -> Option<RunOutcome> {
        self.lock().outcome().cloned()
    }

    /// Returns the id of the run.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Returns the number of the last event.
    pub fn last(&self) -> u64 {
        self.lock().last()
    }

    /// Returns the memory of the events in bytes.
    pub fn bytes(&self) -> usize {
        self.lock().bytes()
    }

    /// Returns whether the run has ended and `after` is its last event.
    pub fn is_read(&self, after: u64) -> bool {
        let log = self.lock();
        log.has_ended() && after >= log.last()
    }

    /// Follows the run from the event with this number; 0 is the beginning.
    ///
    /// # Errors
    /// The run has too many readers.
    pub fn follow(self: &Arc<Self>, after: u64) -> Result<Reader, TooManyReaders> {
        let is_admitted = self.readers.send_if_modified(|readers| {
            let is_admitted = *readers < self.max_readers;
            *readers += usize::from(is_admitted);
            is_admitted
        });
        if !is_admitted {
            return Err(TooManyReaders(self.max_readers));
        }
        Ok(Reader::new(self.clone(), after))
    }

    /// Returns the number in an event id of this run.
    pub fn number(&self, event_id: &str) -> Option<u64> {
        self.lock().number(event_id)
    }

    /// Waits until the run has had no reader for `grace`.
    pub async fn abandoned(&self, grace: Duration) {
        let mut readers = self.readers.subscribe();
        loop {
            // The log holds the sender, so both waits end only with their conditions.
            let _ = readers.wait_for(|readers| *readers == 0).await;
            if timeout(grace, readers.wait_for(|readers| *readers > 0)).await.is_err() {
                return;
            }
        }
    }

    /// Waits for the end of the run.
    pub async fn ended(&self) {
        let mut changed = self.changed.subscribe();
        while !self.has_ended() && changed.changed().await.is_ok() {}
    }

    /// Notifies of new events and of the end.
    pub fn changed(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Waits for a further event of a run of another owner, for the end of that run, or for `time`.
    pub async fn comes(&self, event_id: &str, time: Duration) {
        let number = event_id.rsplit_once(':').and_then(|(_, number)| number.parse::<u64>().ok());
        let mut changed = self.changed();
        let comes = async {
            while !self.has_ended()
                && number.is_some_and(|number| number > self.last())
                && changed.changed().await.is_ok()
            {}
        };
        let _late = timeout(time, comes).await;
    }

    /// Returns whether the run has a reader.
    pub fn is_being_read(&self) -> bool {
        *self.readers.borrow() > 0
    }

    /// Returns the events after this number, for a copy.
    pub fn part(&self, after: u64) -> LogPart {
        self.lock().part(after, MAX_BATCH)
    }

    /// Extends this copy of a run.
    pub fn apply(&self, part: LogPart) {
        self.lock().apply(part);
        self.notify();
    }

    /// Returns the number of the last event, and the frame that this event would become.
    pub fn next_frame(&self, event: &Event) -> (u64, Bytes) {
        let log = self.lock();
        (log.last(), log.next_frame(event).unwrap_or_default())
    }

    /// Returns the next events after this number.
    fn read(&self, after: u64) -> LogRead {
        self.lock().read(after, MAX_BATCH)
    }

    /// Returns the record of the run with the conversation before it, which this log has.
    pub(crate) fn restate(&self, record: &RunRecord) -> RunRecord {
        let mut record = record.clone();
        let log = self.lock();
        record.input.messages = log.messages().decode().unwrap_or_default();
        record.input.state = log.state().cloned();
        record
    }

    fn lock(&self) -> MutexGuard<'_, run_log::RunLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agui_types::event::{RunFinishedEvent, RunStartedEvent, TextMessageContentEvent};
    use agui_types::event::{TextMessageEndEvent, TextMessageStartEvent};
    use futures::StreamExt;
    use jsonrpc_core::wire;

    const LIMITS: LogLimits = LogLimits { events: 64, bytes: 16 * 1024, readers: 2 };

    fn log() -> Arc<RunLog> {
        let input = r#"{"threadId":"t","runId":"r","messages":[]}"#;
        Arc::new(RunLog::new(&wire::decode(input).unwrap(), LIMITS))
    }

    fn run(words: usize) -> Vec<Event> {
        let mut events: Vec<Event> =
            vec![RunStartedEvent::new("t", "r").into(), TextMessageStartEvent::new("m").into()];
        let word = |word| TextMessageContentEvent::new("m", format!("word {word} ")).into();
        events.extend((0..words).map(word));
        events.push(TextMessageEndEvent::new("m").into());
        events.push(RunFinishedEvent::new("t", "r").into());
        events
    }

    #[tokio::test]
    async fn reader_gets_all_events_once() {
        let log = log();
        let reading = tokio::spawn(log.follow(0).unwrap().read().collect::<Vec<_>>());
        for events in run(20).chunks(3) {
            events.iter().for_each(|event| assert!(log.push(event)));
            tokio::task::yield_now().await;
        }
        log.end();
        let text = String::from_utf8(reading.await.unwrap().concat()).unwrap();
        let ids = text.lines().filter_map(|line| line.strip_prefix("id: r:"));
        assert!(ids.eq((1..=24).map(|number: u64| number.to_string())), "{text}");
    }

    #[tokio::test]
    async fn reader_that_fell_behind_is_closed() {
        let log = log();
        let events = run(500);
        log.push(&events[0]);
        let mut reader = Box::pin(log.follow(0).unwrap().read());
        assert!(reader.next().await.is_some());
        events[1..].iter().for_each(|event| assert!(log.push(event)));
        let last = String::from_utf8(reader.next().await.unwrap().to_vec()).unwrap();
        assert!(last.starts_with(": ") && last.contains("Last-Event-ID"), "{last}");
        assert_eq!(reader.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_by_comments() {
        let log = log();
        let mut reader = Box::pin(log.follow(0).unwrap().read());
        assert_eq!(reader.next().await.unwrap(), &b": heartbeat\n\n"[..]);
        log.end();
        assert_eq!(reader.next().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn run_is_abandoned_after_grace_without_readers() {
        let log = log();
        let grace = Duration::from_secs(60);
        let first = log.follow(0).unwrap();
        let second = log.follow(0).unwrap();
        assert!(log.follow(0).is_err(), "there is a limit");
        let waiting = tokio::spawn({
            let log = log.clone();
            async move { log.abandoned(grace).await }
        });
        drop(first);
        tokio::time::sleep(grace * 2).await;
        assert!(!waiting.is_finished(), "one still reads");
        drop(second);
        tokio::time::sleep(grace / 2).await;
        let third = log.follow(0).unwrap();
        tokio::time::sleep(grace).await;
        drop(third);
        tokio::time::sleep(grace / 2).await;
        assert!(!waiting.is_finished(), "a reader came back");
        waiting.await.unwrap();
    }
}
