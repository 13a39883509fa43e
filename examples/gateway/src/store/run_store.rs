//! The trait of a store, and its data types.
use agui_types::event::RunFinishedEvent;
use agui_types::event::{MessagesSnapshotEvent, StateSnapshotEvent};
use agui_types::input::RunAgentInput;
use agui_types::run_log::LogPart;
use agui_types::sse;
use async_trait::async_trait;
use bytes::Bytes;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;
use tokio::sync::mpsc;

/// Maximum number of [texts of the program](RunStore::keep).
pub const MAX_KEPT: usize = 1024;

/// An error of a store: it cannot be reached, or refuses.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the shared store cannot be reached: {0}")]
pub struct StoreError(pub String);

impl StoreError {
    pub(crate) fn too_many_kept() -> Self {
        Self(format!("it has {MAX_KEPT} texts of the program, which is the limit"))
    }
}

/// The right to serve a thread. Leases are numbered in order over all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Name of the owner.
    pub owner: String,
    /// Number of the lease.
    pub number: u64,
}

/// A run, as known at its beginning.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RunRecord {
    /// Name of the thread.
    pub thread: String,
    /// The owner that began it.
    pub owner: String,
    /// Equal for equal inputs.
    pub fingerprint: u64,
    /// The part of the input that a reader needs.
    pub input: RunAgentInput,
    /// Why the run is being cancelled, if it is: the reason of its end if its owner is lost before
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel: Option<String>,
}

impl RunRecord {
    /// Returns the conversation before the run, as server-sent events.
    pub fn snapshot(&self) -> Bytes {
        snapshot(&self.input)
    }
}

/// The last run of a thread.
#[derive(Clone, Debug)]
pub struct LastRun {
    /// Name of the run.
    pub name: String,
    /// The run, as known at its beginning.
    pub record: RunRecord,
    /// The end of an earlier run with questions that this one has left open: it failed because it
    /// has no answers to them, or wrong ones.
    pub question: Option<RunFinishedEvent>,
}

/// Returns the messages and the state of an input, as server-sent events: `MESSAGES_SNAPSHOT` and
/// `STATE_SNAPSHOT`.
pub fn snapshot(input: &RunAgentInput) -> Bytes {
    let state = input.state.clone().unwrap_or_else(|| Raw::of(&Extra::new()));
    let messages = MessagesSnapshotEvent::new(input.messages.clone()).into();
    let mut frames = Vec::new();
    for event in [messages, StateSnapshotEvent::new(state).into()] {
        if let Err(error) = sse::write_event(&mut frames, &event) {
            tracing::error!(%error, "a snapshot is left out");
        }
    }
    frames.into()
}

/// Outcome of [`RunStore::append`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The events are in the store.
    Taken,
    /// Another owner has ended the run.
    Ended,
    /// The store does not know the run.
    Unknown,
}

/// A message to an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Sent by another owner.
    Message(String),
    /// A run has new events. The notification may be lost.
    More(String),
}

/// The programs that share a store: which are alive, the threads that each has, and messages
/// between them.
///
/// Each method is one atomic step. Every implementation behaves as
/// [`MemoryStore`](crate::store::MemoryStore).
///
/// # Errors
/// All methods fail when the store cannot be reached. Retry them.
#[async_trait]
pub trait Owners: Debug + Send + Sync {
    /// Reports that `owner` is alive, for `lifetime`.
    async fn live(&self, owner: &str, lifetime: Duration) -> Result<(), StoreError>;

    /// Returns whether `owner` is alive.
    async fn lives(&self, owner: &str) -> Result<bool, StoreError>;

    /// Ends `owner` and frees its leases.
    async fn leave(&self, owner: &str) -> Result<(), StoreError>;

    /// Takes the lease of a thread, unless a live owner holds it. Returns the valid lease.
    async fn take(&self, thread: &str, owner: &str) -> Result<Lease, StoreError>;

    /// Returns the leases of threads, regardless of whether their owners are alive.
    async fn holders(&self, threads: &[String]) -> Result<Vec<Option<Lease>>, StoreError>;

    /// Restores a lease that the store has lost. Returns `false` if the thread has another one.
    async fn restore(&self, thread: &str, lease: &Lease) -> Result<bool, StoreError>;

    /// Releases a lease, if it is still valid.
    async fn release(&self, thread: &str, lease: &Lease) -> Result<(), StoreError>;

    /// Reports that a run is read through another owner than its own, for `time`.
    async fn watch_run(&self, run: &str, time: Duration) -> Result<(), StoreError>;

    /// Returns whether a run is read through another owner than its own.
    async fn is_watched(&self, run: &str) -> Result<bool, StoreError>;

    /// Sends a message to another owner.
    async fn send(&self, to: &str, message: String) -> Result<(), StoreError>;

    /// Returns the messages to `owner`, until the receiver is dropped.
    fn deliveries(&self, owner: &str) -> mpsc::Receiver<Delivery>;
}

/// Shared data of several programs: events of runs, and texts. Otherwise like [`Owners`].
#[async_trait]
pub trait RunStore: Debug + Send + Sync {
    /// Returns the programs that share the store.
    fn owners(&self) -> &dyn Owners;

    /// Checks that the store can be written. The default has nothing to check.
    async fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Begins a run. Returns `false` if a run with this name exists. A store that keeps
    /// conversations adds the earlier messages that the input leaves out to the record.
    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError>;

    /// Returns a run.
    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError>;

    /// Adds the new events, and keeps the run for `keep` from now on.
    async fn append(
        &self,
        run: &str,
        part: &LogPart,
        keep: Duration,
    ) -> Result<AppendOutcome, StoreError>;

    /// Returns everything after the event with this number, or `None` for an unknown run.
    async fn read(&self, run: &str, after: u64) -> Result<Option<LogPart>, StoreError>;

    /// Ends a run with a dead owner by this event, unless it has ended or has an event after the
    /// number `after`.
    async fn end_run(&self, run: &str, after: u64, frame: &Bytes) -> Result<(), StoreError>;

    /// Records that a run is being cancelled, for a reason. Does nothing for an unknown run.
    async fn cancel_run(&self, run: &str, reason: &str) -> Result<(), StoreError>;

    /// Removes a run.
    async fn forget_run(&self, run: &str) -> Result<(), StoreError>;

    /// Ends the retention of a run. A store with a history of conversations keeps the last run of
    /// each thread, which a run of the same name may replace. The default removes the run.
    async fn retire_run(&self, run: &str) -> Result<(), StoreError> {
        self.forget_run(run).await
    }

    /// Stores a text about a thread, replacing the previous one; `None` removes it.
    async fn remember(&self, thread: &str, what: Option<&str>) -> Result<(), StoreError>;

    /// Returns the text about a thread.
    async fn recall(&self, thread: &str) -> Result<Option<String>, StoreError>;

    /// Stores a text of the program that does not expire, replacing the previous one; `None`
    /// removes it.
    ///
    /// # Errors
    /// There are [`MAX_KEPT`] others.
    async fn keep(&self, name: &str, what: Option<&str>) -> Result<(), StoreError>;

    /// Returns a text of the program.
    async fn kept(&self, name: &str) -> Result<Option<String>, StoreError>;
}
