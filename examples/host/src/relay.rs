//! An agent behind its editor, with an observer of the bytes between them.
//!
//! ```text
//!            ┌ relay ─ relay ┐   bytes, unchanged and at once
//! editor ⇄ ──┤               ├── ⇄ agent
//!            └──── tap ──────┘   forwarded bytes, within limits
//! ```
//!
//! With [`Insert`] each line is read before it is forwarded, and may get an insertion, or an answer
//! instead; the tap then gets no bytes.
//!
//! Directions are those of the editor: `Sent` is to the agent, `Received` is from it.

mod answers;
mod batch_queue;
mod ending;
mod insertion;
mod pass;
mod reassembly;
mod session;
mod tap;
mod whole_write;

pub use batch_queue::{BatchItems, BatchQueue};
pub use insertion::{Insert, Insertion, Observer, Treatment};
pub use reassembly::{LineObserver, Reassembly};
pub use session::{Session, SessionEnd, StartError};
pub use tap::{Chunk, Chunks, DropTotals, MAX_WAITING_BYTES, MAX_WAITING_CHUNKS, Tap, TapOutput};
