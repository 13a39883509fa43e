//! AG-UI 1.0 as open, lossless Rust types, with what servers and clients do to a stream of its events.
//!
//! AG-UI carries a conversation between an agent and a page: the page posts one
//! [`RunAgentInput`](input::RunAgentInput), the agent answers with a stream of [`Event`](event::Event)s. This crate
//! holds the shapes of both, and the rules of their order. It does no IO and reads no clock: bytes in, values out.
//!
//! | to | use |
//! |---|---|
//! | read what a page posts | [`wire::decode::<RunAgentInput>`](jsonrpc_core::wire::decode), [`input`], [`message`] |
//! | give an answer that is right whatever happens | [`produce::Run`] |
//! | write an answer | [`event`], then [`sse::write_event`] |
//! | ask an agent, over any HTTP stack | [`client::Agent`] |
//! | read an answer | [`sse::Decoder`], [`transport::Encoding`] and, with the feature `protobuf`, `proto::Decoder` |
//! | take the events of retired names for those of 1.0 | [`legacy::Thinking`] |
//! | remove what 1.0 does not describe, and know it | [`enforce`] |
//! | put start, content and end in the place of chunks | [`expand::Expander`] |
//! | see that a stream keeps the rules | [`verify::Verifier`] |
//! | apply a stream to a conversation and a state | [`reduce::Reducer`], [`json_patch::Document`] |
//! | make a stream shorter | [`compact::compact`], [`compact::Coalescer`] |
//! | keep a run for pages that reconnect | [`run_log::RunLog`] |
//! | know what an older page can take, or give it that | [`profile::Profile`], [`profile::Downgrade`] |
//!
//! What a newer peer put in, be it a member, a name or a whole variant, is kept and written again. So every type here
//! obeys one law: decode, then encode, gives the same JSON value (an optional member that is `null` counts as absent,
//! as 0.x peers write it).
//!
//! ```
//! use agui_types::event::{
//!     Event, RunFinishedEvent, RunStartedEvent, TextMessageContentEvent, TextMessageEndEvent, TextMessageStartEvent,
//! };
//! use agui_types::input::RunAgentInput;
//! use agui_types::verify::Verifier;
//! use agui_types::{PROTOCOL_VERSION, sse};
//! use agui_types::jsonrpc_core::wire;
//!
//! let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
//! let input: RunAgentInput = wire::decode(posted)?;
//!
//! let mut started = RunStartedEvent::new(input.thread_id.clone(), input.run_id.clone());
//! started.protocol_version = Some(PROTOCOL_VERSION.into());
//! let events: [Event; 5] = [
//!     started.into(),
//!     TextMessageStartEvent::new("m").into(),
//!     TextMessageContentEvent::new("m", "Hello.").into(),
//!     TextMessageEndEvent::new("m").into(),
//!     RunFinishedEvent::new(input.thread_id.clone(), input.run_id.clone()).into(),
//! ];
//!
//! let (mut verifier, mut body) = (Verifier::strict(), Vec::new());
//! for event in &events {
//!     verifier.handle(event)?;
//!     sse::write_event(&mut body, event)?;
//! }
//! verifier.finish()?;
//! assert!(body.starts_with(b"data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\""));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Spec: [AG-UI 1.0](https://ag-ui.com/spec/1.0)
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod capabilities;
pub mod client;
pub mod compact;
pub mod content;
pub mod enforce;
pub mod event;
pub mod expand;
pub mod id;
pub mod input;
pub mod integer;
pub mod interrupt;
pub mod json_patch;
pub mod legacy;
pub mod message;
pub mod produce;
pub mod profile;
#[cfg(feature = "protobuf")]
pub mod proto;
pub mod reduce;
pub mod run_log;
pub mod sse;
pub mod tool;
pub mod transport;
pub mod usage;
pub mod verify;

pub use jsonrpc_core;
pub use serde_json;

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
