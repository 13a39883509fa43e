//! Storage of runs of AG-UI servers, shared by several servers of the same threads.
//!
//! An owner is one server. It takes the [`Lease`] of a thread before it begins a run, appends the
//! events of the run, and reports regularly that it is alive. Another server reads the events from
//! the store, sends requests about the thread to its owner, and takes over the thread when the
//! owner is dead.
//!
//! | store | location |
//! |---|---|
//! | [`MemoryStore`] | the memory of one program |
//! | [`FileStore`] | one file of one program, with the history of conversations |
//! | `RedisStore` (feature `redis`) | a Redis server shared by several programs |
//!
//! A [`RunLog`] is the log of one run in a server's memory; readers follow it by number. A
//! [`Replica`] is one owner: it copies the logs of its runs to the store, and follows those of
//! others.
//!
//! Another store is an implementation of [`RunStore`] and [`Owners`]; the tests compare each with
//! [`MemoryStore`].
//!
//! Each method of the traits is one atomic step. A property test applies the same steps to
//! [`MemoryStore`], [`FileStore`] and Redis, and compares the results: `REDIS_URL=redis://127.0.0.1
//! cargo test -p gateway --features redis --test it store::`.
mod file;
mod log;
mod memory;
mod messages;
#[cfg(feature = "redis")]
mod redis;
mod replica;
mod run_store;
mod thread;

pub use agui_types::run_log::{LogBase, LogPart};
pub use file::{FileError, FileLimits, FileStore};
pub use log::{LogLimits, Reader, RunLog, TooManyReaders};
pub use memory::MemoryStore;
#[cfg(feature = "redis")]
pub use redis::RedisStore;
pub use replica::{Replica, ReplicaOptions};
pub use run_store::LastRun;
pub use run_store::{
    AppendOutcome, Delivery, Lease, MAX_KEPT, Owners, RunRecord, RunStore, StoreError, snapshot,
};
pub use thread::{
    Restoration, ThreadName, ThreadPage, ThreadQuery, ThreadSummary, TrashReason, TrashedThread,
};
