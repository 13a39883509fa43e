//! Where the runs of AG-UI servers are kept, so that several servers can serve the same threads.
//!
//! An owner is one server. It takes the [`Lease`] of a thread before it begins a run there, appends the run's events,
//! and says now and then that it is alive. Another server reads the events from the store, sends its requests about the
//! thread to the owner, and takes the thread when the owner is dead.
//!
//! | store | keeps |
//! |---|---|
//! | [`MemoryStore`] | in the memory of one program |
//! | `RedisStore` (feature `redis`) | on a Redis server that several programs share |
//!
//! A [`RunLog`] is the log of one run in the memory of a server: readers follow it by number. A [`Replica`] is one owner: it
//! brings the logs of its runs to the store, and follows those of others.
//!
//! A third store is an implementation of [`RunStore`]; the tests hold each against [`MemoryStore`].

mod log;
mod memory;
#[cfg(feature = "redis")]
mod redis;
mod replica;
mod store;

pub use agui_types::run_log::{LogBase, LogPart};
pub use log::{LiveLog, LogLimits, Reader, RunLog, TooManyReaders};
pub use memory::MemoryStore;
#[cfg(feature = "redis")]
pub use redis::RedisStore;
pub use replica::{Replica, ReplicaOptions};
pub use store::{Appended, Delivery, Lease, RunRecord, RunStore, StoreError};
