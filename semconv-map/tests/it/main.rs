//! The tracker against lines that were written for it, generated ones, and recordings of real agents.

mod content;
mod golden;
mod lifecycle;
mod limits;
mod lines;
mod permission;
mod profile;
mod prompt_turn;
mod properties;
mod spans;
mod tool_call;
mod trace_context;
