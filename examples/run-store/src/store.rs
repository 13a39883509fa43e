//! The trait of a store, and what passes through it.
use agui_types::input::RunAgentInput;
use agui_types::run_log::LogPart;
use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;
use tokio::sync::mpsc;

/// The store cannot be reached, or refuses.
#[derive(Clone, Debug, thiserror::Error)]
#[error("what the gateways share cannot be reached: {0}")]
pub struct StoreError(pub String);

/// The right to serve a thread. Leases are numbered in the order in which they are given, over all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Name of the program that holds it.
    pub owner: String,
    /// Number of the lease.
    pub number: u64,
}

/// A run, as known from its beginning.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RunRecord {
    /// The thread's name.
    pub thread: String,
    /// The owner that began it.
    pub owner: String,
    /// Equal for inputs that are the same.
    pub fingerprint: u64,
    /// The part of the input that a reader needs.
    pub input: RunAgentInput,
}

/// Outcome of [`RunStore::append`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
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
    /// A run has new events. May get lost.
    More(String),
}

/// Where several programs keep what they share: leases of threads, events of runs, and messages to each other.
///
/// Each method is one atomic step. Every implementation answers as [`MemoryStore`](crate::MemoryStore) does.
///
/// # Errors
/// All methods fail when the store cannot be reached; the caller tries again.
#[async_trait]
pub trait RunStore: Debug + Send + Sync {
    /// Says that `owner` is alive, for as long as `lifetime`.
    async fn live(&self, owner: &str, lifetime: Duration) -> Result<(), StoreError>;

    /// Returns whether `owner` is alive.
    async fn lives(&self, owner: &str) -> Result<bool, StoreError>;

    /// Says that `owner` has ended: its leases are free.
    async fn leave(&self, owner: &str) -> Result<(), StoreError>;

    /// Takes the lease of a thread, unless an owner holds it that is alive. Returns the lease that is valid then.
    async fn take(&self, thread: &str, owner: &str) -> Result<Lease, StoreError>;

    /// Returns the leases of threads, whether their owners are alive or not.
    async fn holders(&self, threads: &[String]) -> Result<Vec<Option<Lease>>, StoreError>;

    /// Restores a lease that the store has lost. Returns `false` if the thread has another one.
    async fn restore(&self, thread: &str, lease: &Lease) -> Result<bool, StoreError>;

    /// Releases a lease, if it is still valid.
    async fn release(&self, thread: &str, lease: &Lease) -> Result<(), StoreError>;

    /// Begins a run. Returns `false` if one of this name exists.
    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError>;

    /// Returns a run.
    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError>;

    /// Adds the events that are new, and keeps the run for as long as `keep` from now on.
    async fn append(
        &self,
        run: &str,
        part: &LogPart,
        keep: Duration,
    ) -> Result<Appended, StoreError>;

    /// Returns what follows the event of this number, or `None` for an unknown run.
    async fn read(&self, run: &str, after: u64) -> Result<Option<LogPart>, StoreError>;

    /// Ends a run of a dead owner with this event, unless it has ended or has an event after the number `after`.
    async fn end_run(&self, run: &str, after: u64, frame: &Bytes) -> Result<(), StoreError>;

    /// Removes a run.
    async fn forget_run(&self, run: &str) -> Result<(), StoreError>;

    /// Says that a run is read through another owner than its own, for as long as `time`.
    async fn watch_run(&self, run: &str, time: Duration) -> Result<(), StoreError>;

    /// Returns whether a run is read through another owner than its own.
    async fn is_watched(&self, run: &str) -> Result<bool, StoreError>;

    /// Keeps a text about a thread in place of the previous one; `None` removes it.
    async fn remember(&self, thread: &str, what: Option<&str>) -> Result<(), StoreError>;

    /// Returns the text about a thread.
    async fn recall(&self, thread: &str) -> Result<Option<String>, StoreError>;

    /// Sends a message to another owner.
    async fn send(&self, to: &str, message: String) -> Result<(), StoreError>;

    /// Returns the messages to `owner`, until the receiver is dropped.
    fn deliveries(&self, owner: &str) -> mpsc::Receiver<Delivery>;
}
