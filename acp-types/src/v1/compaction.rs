//! Making room in the context.
//!
//! Spec: [Compaction](https://agentclientprotocol.com/protocol/v1/schema#compactionupdate)
use super::content::ContentBlock;
pub use crate::shared::compaction::{CompactionId, CompactionStatus};
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::Meta;

object! {
    /// A compaction begins or changes. Of the patched members, absent stays, `null` clears, a value replaces.
    ///
    /// Spec: [`CompactionUpdate`](https://agentclientprotocol.com/protocol/v1/schema#compactionupdate)
    pub struct CompactionUpdate {
        /// Which one; the first update of an id begins it.
        compaction_id: CompactionId = "compactionId",
        /// How it stands.
        status: CompactionStatus = "status",
    }
    patch {
        /// What was kept, for people to read, whole.
        summary: Vec<ContentBlock> = "summary" [default_on_error, skip_invalid_items],
        /// What went wrong.
        error: String = "error" [default_on_error],
        /// `_meta`: what peers agreed on outside the protocol.
        meta: Meta = "_meta",
    }
}

object! {
    /// A piece of a compaction's summary, to be added at the end.
    ///
    /// Spec: [`CompactionSummaryChunk`](https://agentclientprotocol.com/protocol/v1/schema#compactionsummarychunk)
    pub struct CompactionSummaryChunk {
        /// Which one; a new id begins a compaction that runs.
        compaction_id: CompactionId = "compactionId",
        /// The piece.
        content: ContentBlock = "content",
    }
    and "_meta"
}
