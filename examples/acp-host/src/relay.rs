//! An agent behind its editor, with an observer of the bytes between them.
//!
//! ```text
//!            ┌ relay ─ relay ┐   bytes, unchanged and at once
//! editor ⇄ ──┤               ├── ⇄ agent
//!            └──── tap ──────┘   what passed, while there is room
//! ```
//!
//! With [`Insert`] each line is looked at before it is passed on, and text may be put into it; then nothing goes to the tap.
//!
//! Directions are as the editor sees them: `Sent` is for the agent, `Received` is from it.

mod ending;
mod gathering;
mod insertion;
mod pass;
mod reassembly;
mod session;
mod tap;

pub use gathering::{Gathering, Gathers};
pub use insertion::{Insert, Insertion, Watching};
pub use reassembly::{Look, Reassembly};
pub use session::{NotStarted, Session, SessionEnd};
pub use tap::{Chunk, Chunks, Dropped, MAX_WAITING_BYTES, MAX_WAITING_CHUNKS, Taken, Tap};
