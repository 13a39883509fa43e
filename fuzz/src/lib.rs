//! What must hold for any input. Each function panics where it does not.
//!
//! `cargo test` replays the corpus on any toolchain. To look for more, with nightly and cargo-fuzz, from the folder above:
//!
//! ```text
//! cargo +nightly fuzz run --features libfuzzer peek fuzz/corpus/peek fuzz/corpus/message
//! ```
//!
//! An input that was found goes into the corpus under a name that says what it shows.
mod lines;
mod message;
mod peek;
mod wire;

pub use lines::lines;
pub use message::message;
pub use peek::peek;
pub use wire::wire;

/// A target's name and body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 4] =
    [("message", message), ("peek", peek), ("lines", lines), ("wire", wire)];
