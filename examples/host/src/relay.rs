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
mod ending;
mod gathering;
mod insertion;
mod pass;
mod reassembly;
mod session;
mod tap;
mod whole_write;

pub use gathering::{Gathering, Gathers};
pub use insertion::{Insert, Insertion, Treatment, Watching};
pub use reassembly::{Look, Reassembly};
pub use session::{NotStarted, Session, SessionEnd};
pub use tap::{Chunk, Chunks, Dropped, MAX_WAITING_BYTES, MAX_WAITING_CHUNKS, Taken, Tap};
