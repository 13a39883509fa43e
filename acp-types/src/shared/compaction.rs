//! Making room in the context.
//!
//! Spec: [Compaction](https://agentclientprotocol.com/protocol/v1/schema#compactionupdate), [version 2](https://agentclientprotocol.com/protocol/v2/schema#compactionupdate)
use jsonrpc_core::{open_enum, string_id};

string_id! {
    /// Names a compaction within its session.
    ///
    /// Spec: [`CompactionId`](https://agentclientprotocol.com/protocol/v1/schema#compactionid), [version 2](https://agentclientprotocol.com/protocol/v2/schema#compactionid)
    pub struct CompactionId;
}

open_enum! {
    /// How a compaction stands.
    ///
    /// Spec: [`CompactionStatus`](https://agentclientprotocol.com/protocol/v1/schema#compactionstatus), [version 2](https://agentclientprotocol.com/protocol/v2/schema#compactionstatus)
    pub enum CompactionStatus {
        /// It runs.
        InProgress = "in_progress",
        /// It ended well.
        Completed = "completed",
        /// It ended with an error.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}
