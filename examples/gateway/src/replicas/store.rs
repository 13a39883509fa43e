//! What gateways share that serve the same threads.
use agui_types::input::RunAgentInput;
use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::time::Duration;
use tokio::sync::mpsc;

/// The store cannot be asked, or not just now.
#[derive(Clone, Debug, thiserror::Error)]
#[error("what the gateways share cannot be reached: {0}")]
pub(crate) struct StoreError(pub(crate) String);

/// Who has a thread. Leases are numbered as they are given, over all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) owner: String,
    pub(crate) number: u64,
}

/// What is known of a run from its beginning.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RunRecord {
    /// The thread's name.
    pub(crate) thread: String,
    /// The gateway that has begun it.
    pub(crate) owner: String,
    /// Tells whether a later input of its id is the same.
    pub(crate) fingerprint: u64,
    /// What of the input is needed to follow it.
    pub(crate) input: RunAgentInput,
}

/// A part of what a run has said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// The events up to that number, compacted: they stand in place of what a reader may have of them.
    pub(crate) base: Option<(u64, Vec<Bytes>)>,
    /// The number of the event before `frames`.
    pub(crate) after: u64,
    /// The events that follow.
    pub(crate) frames: Vec<Bytes>,
    /// Whether that was all.
    pub(crate) has_ended: bool,
}

impl Part {
    /// The number of the last event.
    pub(crate) fn last(&self) -> u64 {
        self.after + self.frames.len() as u64
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.base.is_none() && self.frames.is_empty() && !self.has_ended
    }
}

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Appended {
    Taken,
    /// Another gateway has ended the run.
    Ended,
    /// The store does not know the run.
    Unknown,
}

/// What a gateway hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Another one sends this.
    Message(String),
    /// There is more of a run. This may get lost.
    More(String),
}

/// What gateways share: who lives, who has which thread, what runs have said, and messages between them.
#[async_trait]
pub(crate) trait Store: Debug + Send + Sync {
    /// A gateway lives, and is not taken for dead for so long.
    async fn live(&self, gateway: &str, lifetime: Duration) -> Result<(), StoreError>;

    async fn lives(&self, gateway: &str) -> Result<bool, StoreError>;

    /// A gateway has ended: what it has is free.
    async fn leave(&self, gateway: &str) -> Result<(), StoreError>;

    /// Takes a thread, unless somebody has it who lives; gives who has it then.
    async fn take(&self, thread: &str, gateway: &str) -> Result<Lease, StoreError>;

    /// Who has these threads, be they alive or not.
    async fn holders(&self, threads: &[String]) -> Result<Vec<Option<Lease>>, StoreError>;

    /// Takes a thread that nobody has with a lease that the store has forgotten; whether that went well.
    async fn restore(&self, thread: &str, lease: &Lease) -> Result<bool, StoreError>;

    /// Gives a thread back, if the lease is the one that it has.
    async fn release(&self, thread: &str, lease: &Lease) -> Result<(), StoreError>;

    /// A run begins; `false` if there is one of this name.
    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError>;

    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError>;

    /// Adds what is not there yet, and keeps the run for so long from now on.
    async fn append(&self, run: &str, part: &Part, keep: Duration) -> Result<Appended, StoreError>;

    /// What follows the event of this number; nothing if the run is unknown.
    async fn read(&self, run: &str, after: u64) -> Result<Option<Part>, StoreError>;

    /// Ends a run of a gateway that is dead with this event, if it has not ended and the event of this number is its last.
    async fn end_run(&self, run: &str, after: u64, frame: &Bytes) -> Result<(), StoreError>;

    async fn forget_run(&self, run: &str) -> Result<(), StoreError>;

    /// Somebody reads a run at another gateway, for so long at least.
    async fn watch_run(&self, run: &str, time: Duration) -> Result<(), StoreError>;

    async fn is_watched(&self, run: &str) -> Result<bool, StoreError>;

    /// Keeps something about a thread for a while, in place of what was kept before; nothing forgets that.
    async fn remember(&self, thread: &str, what: Option<&str>) -> Result<(), StoreError>;

    async fn recall(&self, thread: &str) -> Result<Option<String>, StoreError>;

    /// Sends to another gateway.
    async fn send(&self, to: &str, message: String) -> Result<(), StoreError>;

    /// What is for this gateway, until nobody listens any more.
    fn hear(&self, gateway: &str) -> mpsc::Receiver<Heard>;
}
