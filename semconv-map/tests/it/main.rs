//! Integration tests of the tracker with handwritten lines, generated lines, and recordings of real
//! agents.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper that panics fails its test"
)]

mod assembly;
mod capture;
mod content;
mod conventions;
mod extract;
mod finish_reason;
mod golden;
mod initialization;
mod inject;
mod lifecycle;
mod limits;
mod line_memory;
mod lines;
mod links;
mod memory;
mod metrics;
mod permission;
mod profile;
mod prompt_turn;
mod properties;
mod rpc;
mod skimmed;
mod spans;
mod subagent;
mod tool_call;
mod trace_context;
mod usage;
mod version_2;
