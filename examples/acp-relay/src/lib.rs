//! An agent between an editor and somebody who looks at what passes.
//!
//! ```text
//!            ┌ relay ─ relay ┐   bytes, unchanged and at once
//! editor ⇄ ──┤               ├── ⇄ agent
//!            └──── tap ──────┘   what passed, while there is room
//! ```
//!
//! Or, where something is to be put into lines ([`Insert`]), nothing is left: each line is looked at and then passed on.
//!
//! Directions are as the editor sees them: `Sent` is for the agent, `Received` is from it.

mod ending;
mod gathering;
mod insertion;
mod launch;
mod reassembly;
mod relay;
mod session;
mod system;
mod tap;

pub use gathering::{Gathering, Gathers};
pub use insertion::{Insert, Insertion, Watching};
pub use launch::Guard;
pub use reassembly::{Look, Reassembly};
pub use session::{NotStarted, Session};
pub use tap::{Chunk, Chunks, Dropped, MAX_WAITING_BYTES, MAX_WAITING_CHUNKS, Taken, Tap};

/// Why a session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// The editor closed its end, or somebody told us to end.
    ClientClosed,
    /// The agent exited by itself.
    AgentExited,
}
