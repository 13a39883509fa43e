//! Compaction of the context.
//!
//! Spec: [Compaction](https://agentclientprotocol.com/protocol/v1/schema#compactionupdate),
//! [version 2](https://agentclientprotocol.com/protocol/v2/schema#compactionupdate)
use jsonrpc_core::{open_enum, string_id};

string_id! {
    /// Identifies a compaction within its session.
    ///
    /// Spec: [`CompactionId`](https://agentclientprotocol.com/protocol/v1/schema#compactionid),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#compactionid)
    pub struct CompactionId;
}

open_enum! {
    /// Status of a compaction.
    ///
    /// Spec: [`CompactionStatus`](https://agentclientprotocol.com/protocol/v1/schema#compactionstatus),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#compactionstatus)
    pub enum CompactionStatus {
        /// Running.
        InProgress = "in_progress",
        /// Completed successfully.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Cancelled.
        Cancelled = "cancelled",
    }
}
