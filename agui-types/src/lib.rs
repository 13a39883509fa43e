//! Types and streams of AG-UI 1.0, without I/O.
//!
//! AG-UI carries a conversation between an agent and a page. The page posts one
//! [`RunAgentInput`](input::RunAgentInput); the agent answers with a stream of
//! [`Event`](event::Event)s. This crate has the wire types of both, the rules of their order, and
//! state machines for producers and clients. It performs no I/O and reads no clock: it works with
//! any HTTP stack and runtime, in browsers, and without `std`.
//!
//! ```toml
//! [dependencies]
//! agui-types = "0.1"
//! ```
//!
//! # Where to start
//!
//! | To | use |
//! |---|---|
//! | answer a page | [`produce::Run`], [`sse::write_event`] |
//! | query an agent | [`client::Agent`] |
//! | decode the input of a page | [`wire::decode`](jsonrpc_core::wire::decode) as [`RunAgentInput`](input::RunAgentInput) |
//! | decode an answer | [`sse::Decoder`], or `proto::Decoder` with the feature `protobuf` |
//! | choose between SSE and protobuf | [`transport::BodyEncoding`] |
//! | check the order of events | [`verify::Verifier`] |
//! | compute messages and state from a stream | [`reduce::Reducer`], [`json_patch::JsonDocument`] |
//! | keep a run for pages that reconnect | [`run_log::RunLog`] |
//! | shorten a stream | [`compact::compact`] |
//! | serve older clients | [`profile::Profile`], [`profile::Downgrade`] |
//! | accept older agents | [`legacy::ThinkingConverter`] |
//! | remove material that AG-UI 1.0 does not describe | [`enforce`] |
//! | expand chunk events | [`expand::Expander`] |
//!
//! # A page server
//!
//! A request handler decodes the input, makes a [`Run`](produce::Run), and writes its events as
//! server-sent events. The run keeps the protocol's rules: it closes what is open, and a run that
//! is dropped early ends with an error.
//!
//! ```
//! use agui_types::input::RunAgentInput;
//! use agui_types::jsonrpc_core::wire;
//! use agui_types::{produce::Run, sse};
//! use std::error::Error;
//!
//! /// Returns the body of a `text/event-stream` response.
//! fn answer(body: &str) -> Result<Vec<u8>, Box<dyn Error>> {
//!     let input: RunAgentInput = wire::decode(body)?;
//!     let mut response = Vec::new();
//!     let mut run = Run::begin(&input, |event| {
//!         sse::write_event(&mut response, &event).expect("events have a JSON form");
//!     });
//!     let message = run.new_message_id();
//!     run.text(&message, "Hello.")?;
//!     run.finish()?;
//!     drop(run);
//!     Ok(response)
//! }
//!
//! let posted = r#"{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}"#;
//! let response = answer(posted)?;
//! assert!(response.starts_with(br#"data: {"type":"RUN_STARTED","threadId":"t","runId":"r""#));
//! # Ok::<(), Box<dyn Error>>(())
//! ```
//!
//! # A client
//!
//! An [`Agent`](client::Agent) holds the conversation. It creates the request of each run and
//! applies the response. The bytes may arrive in pieces of any size.
//!
//! ```
//! use agui_types::client::Agent;
//! use agui_types::event::Event;
//! use agui_types::message::{Message, UserMessage};
//!
//! # fn post(_: &[u8]) -> (u16, &'static str, Vec<&'static [u8]>) {
//! #     (200, "text/event-stream", vec![
//! #         b"data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n",
//! #         b"data: {\"type\":\"TEXT_MESSAGE_CHUNK\",\"messageId\":\"m\",\"del", b"ta\":\"Hello.\"}\n\n",
//! #         b"data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n",
//! #     ])
//! # }
//! let mut agent = Agent::new("t");
//! agent.messages.push(Message::User(UserMessage::new("u", "Hi")));
//! let request = agent.request("r", Vec::new())?;
//!
//! // Send `request.body` with `request.headers` over any HTTP stack.
//! let (status, content_type, pieces) = post(&request.body);
//! let mut response = request.response(status, Some(content_type));
//! for piece in pieces {
//!     response.push(piece);
//!     while let Some(received) = response.poll() {
//!         if let Event::TextMessageContent(text) = received?.event {
//!             print!("{}", text.delta);
//!         }
//!     }
//! }
//! response.finish();
//! while let Some(received) = response.poll() {
//!     received?;
//! }
//! agent.take(response);
//! assert_eq!(agent.messages.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Lossless types
//!
//! Unknown members, names and variants of newer peers are kept. Decoding and encoding gives the
//! same JSON value. An optional member that is `null`, as 0.x peers write it, is `None` and is
//! encoded as `null` again.
//!
//! # Features
//!
//! All features are off by default.
//!
//! | Feature | adds |
//! |---|---|
//! | `protobuf` | `proto`, the binary transport |
//! | `schemars` | JSON Schemas of the wire types |
//!
//! Spec: [AG-UI 1.0](https://ag-ui.com/spec/1.0)
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::exhaustive_enums)]

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
#[cfg_attr(docsrs, doc(cfg(feature = "protobuf")))]
pub mod proto;
pub mod reduce;
mod rule;
pub mod run_log;
pub mod sse;
pub mod tool;
pub mod transport;
pub mod usage;
pub mod verify;

pub use jsonrpc_core;
pub use serde_json;

/// The protocol version of this crate, as a value of `protocolVersion`.
///
/// Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning#version-negotiation)
pub const PROTOCOL_VERSION: &str = "1.0";

/// The `metadata` of events, messages, tool calls, tools, interrupts and answers: an object with
/// any keys.
///
/// A `null` under a key is data. The key `ag-ui` is reserved; other keys should carry a vendor's
/// prefix.
///
/// Spec: [`Metadata`, 1.0](https://ag-ui.com/spec/1.0/basic/metadata)
pub type Metadata = jsonrpc_core::wire::Extra;
