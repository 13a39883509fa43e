//! The bridge between versions.
mod call_ids;
mod cases;
mod chain;
mod diffs;
mod limits;
mod members;
mod own_turns;
mod permissions;
mod properties;
mod properties_v1;
mod recorded;
mod resumed;
mod setup;
mod subagents;
mod turns;
mod versions;
