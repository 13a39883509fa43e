//! Compaction of the context.
//!
//! Spec: [Compaction](https://agentclientprotocol.com/protocol/v2/schema#compactionupdate)
use super::content::ContentBlock;
pub use crate::shared::compaction::{CompactionId, CompactionStatus};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::Meta;

object! {
    /// A compaction begins or changes. In a patched member, absence keeps the value, `null` clears
    /// it, and a value replaces it.
    ///
    /// Spec: [`CompactionUpdate`](https://agentclientprotocol.com/protocol/v2/schema#compactionupdate)
    pub struct CompactionUpdate {
        /// Identifier of the compaction. The first update with an id begins it.
        compaction_id: CompactionId = "compactionId",
    }
    patch {
        /// Current status; initially `in_progress`, which `null` restores.
        status: CompactionStatus = "status" [default_on_error],
        /// The complete human-readable summary.
        summary: Vec<ContentBlock> = "summary" [default_on_error, skip_invalid_items],
        /// The error.
        error: String = "error" [default_on_error],
        /// `_meta`: extension metadata.
        meta: Meta = "_meta",
    }
}

object! {
    /// Content to append to a compaction's summary.
    ///
    /// Spec: [`CompactionSummaryChunk`](https://agentclientprotocol.com/protocol/v2/schema#compactionsummarychunk)
    pub struct CompactionSummaryChunk {
        /// Identifier of the compaction. A new id begins a running compaction.
        compaction_id: CompactionId = "compactionId",
        /// The appended content.
        content: ContentBlock = "content",
    }
    and "_meta"
}
