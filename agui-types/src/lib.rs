//! AG-UI 1.0 as open, lossless Rust types, with SSE encoding and a verifier of event order.
//!
//! Spec: [AG-UI 1.0](https://ag-ui.com/spec/1.0)
#![no_std]

extern crate alloc;

pub mod capabilities;
pub mod content;
pub mod event;
pub mod id;
pub mod input;
pub mod integer;
pub mod interrupt;
pub mod json_patch;
pub mod message;
pub mod profile;
pub mod sse;
pub mod tool;
pub mod usage;

/// The version of the protocol that this crate speaks, as `protocolVersion` says it.
///
/// Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning#version-negotiation)
pub const PROTOCOL_VERSION: &str = "1.0";

/// The `metadata` of events, messages, tool calls, tools, interrupts and answers: an object, open by key.
///
/// A `null` under a key is data. The key `ag-ui` is reserved; other keys should carry a vendor's prefix.
///
/// Spec: [`Metadata`, 1.0](https://ag-ui.com/spec/1.0/basic/metadata)
pub type Metadata = jsonrpc_core::wire::Extra;
