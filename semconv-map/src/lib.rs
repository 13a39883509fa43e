//! Maps ACP and JSON-RPC traffic to OpenTelemetry GenAI spans and attributes, without IO.
#![no_std]

extern crate alloc;

pub mod acp;
pub mod attribute;
pub mod finish_reason;
pub mod keys;
pub mod messages;
pub mod policy;
pub mod span;
pub mod tool_type;
pub mod trace_context;
mod tracker;

pub use attribute::{Attribute, AttributeValue};
pub use policy::{Policy, Profile, SCHEMA_URL};
pub use span::Record;
pub use tracker::{CloseReason, Counters, Direction, Limits, Tracker};
