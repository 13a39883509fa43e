//! JSON-RPC 2.0 without I/O, and macros for open, lossless wire types.
//!
//! [JSON-RPC 2.0](https://www.jsonrpc.org/specification) is the message format of the Agent Client
//! Protocol, the Model Context Protocol and the Language Server Protocol. This crate splits byte
//! streams into messages, decodes and encodes them, and correlates requests with responses. It
//! performs no I/O and reads no clock, so it works with threads, with any async runtime, and in
//! WebAssembly. It is `no_std` with `alloc`.
//!
//! ```toml
//! [dependencies]
//! spanwire-jsonrpc-core = "0.1"
//! serde_json = { version = "1", features = ["raw_value"] }
//! ```
//!
//! The library is imported as `jsonrpc_core`. Payloads are `RawValue`s of serde_json.
//!
//! # Which item for which task
//!
//! | to | use |
//! |---|---|
//! | split a byte stream into messages | [`framing::Lines`] |
//! | decode or encode a message | [`Message`], with [`Request`], [`Notification`] and [`Response`] |
//! | keep a message after its line is dropped | [`MessageBuf`] |
//! | decode the body of an HTTP request, with or without a batch | [`Document`], [`Batch`] |
//! | route a message by its method without decoding the rest | [`peek()`] |
//! | read a few members of a large message | [`Head`], [`MemberReader`], [`peek_member`] |
//! | correlate requests and responses, with deadlines and cancellation | [`Peer`] |
//! | define the types of `params` and `result` | the macros of [`wire`] |
//! | record a connection and replay it in a test | [`transcript`] |
//! | read and write a child process or a socket with tokio | `codec`, with the feature of the same name |
//! | connect two peers in memory, for a test | `memory`, with the feature `async` |
//!
//! # A server on standard input and output
//!
//! The program answers `ping` and refuses other requests. Invalid lines and repeated ids are
//! answered with an error:
//!
//! ```no_run
//! use jsonrpc_core::framing::Lines;
//! use jsonrpc_core::{CancelMethod, ErrorCode, ErrorObject, Message, Peer, PeerMessage, RequestLimits};
//! use serde_json::value::RawValue;
//! use std::io::{Read, Write};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // The type parameter is the token of an own request. This server sends none.
//!     let mut peer = Peer::<()>::new(CancelMethod::ACP, RequestLimits::default());
//!     let (mut lines, mut output) = (Lines::default(), Vec::new());
//!     let mut buffer = [0; 8192];
//!     loop {
//!         let length = std::io::stdin().read(&mut buffer)?;
//!         if length == 0 {
//!             return Ok(());
//!         }
//!         lines.push(&buffer[..length]);
//!         while let Some(line) = lines.next() {
//!             match peer.handle_line(line) {
//!                 PeerMessage::Request(request) => {
//!                     let outcome = match &*request.method {
//!                         "ping" => Ok(RawValue::NULL),
//!                         _ => Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "unknown")),
//!                     };
//!                     let response = peer.respond(&request.id, outcome)?;
//!                     Message::from(response).to_line(&mut output);
//!                 }
//!                 PeerMessage::Refused { response, .. }
//!                 | PeerMessage::Malformed { reply: Some(response), .. } => {
//!                     Message::from(response).to_line(&mut output);
//!                 }
//!                 _ => {}
//!             }
//!         }
//!         std::io::stdout().write_all(&output)?;
//!         output.clear();
//!     }
//! }
//! ```
//!
//! A client registers its requests with the same [`Peer`], which returns each response with the
//! token of its request; the page of [`Peer`] has a complete loop. `cargo run --example calls` runs
//! a client and a server in one process.
//!
//! # Features
//!
//! | feature | adds | dependencies |
//! |---|---|---|
//! | `codec` | `codec`: a decoder and an encoder for `tokio_util::codec` | bytes, bytestring, tokio-util; std |
//! | `async` | `memory`: an in-memory connection for tests | bytes, bytestring, futures; std |
//! | `schemars` | `JsonSchema` for the types that the macros of [`wire`] define | schemars |
//! | `url` | `is_public_url`: whether a URL names a public host, as browsers read it | url |
//!
//! No feature is enabled by default.
//!
//! # Limits
//!
//! No input causes a panic, and memory is bounded: see [`framing::Lines::DEFAULT_LIMIT`],
//! [`RequestId::MAX_LEN`], [`Message::MAX_EXTRA`], [`Batch::MAX_LEN`], [`RequestLimits`] and
//! [`wire::DecodedValue`].
//!
#![doc = include_str!("odd_input.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::exhaustive_enums)]

extern crate alloc;
#[cfg(any(feature = "codec", feature = "async"))]
extern crate std;

mod batch;
mod checked;
#[cfg(feature = "codec")]
pub mod codec;
mod decode;
mod decode_error;
mod encode;
mod envelope;
mod error_object;
pub mod framing;
mod head;
mod id;
mod id_map;
mod json_str;
mod json_text;
mod member_reader;
#[cfg(feature = "async")]
pub mod memory;
mod message;
mod message_buf;
mod peek;
mod peek_error;
mod peer;
mod pending;
pub mod pointer;
#[cfg(feature = "url")]
mod public_host;
mod scan;
pub mod transcript;
pub mod wire;

pub use batch::{Batch, Document};
pub use decode_error::{MessageError, Shape};
pub use encode::write_notification;
pub use error_object::{ErrorCode, ErrorObject};
pub use head::{Head, Payload};
pub use id::RequestId;
pub use json_str::JsonStr;
pub use json_text::write_str;
pub use member_reader::{MemberReader, array_items, find_member, peek_member};
pub use message::{Kind, Message, Notification, Request, Response, Version};
pub use message_buf::MessageBuf;
pub use peek::{PeekedMessage, peek};
pub use peek_error::PeekError;
pub use peer::{
    CancelMethod, Cancellation, EndReason, LineError, Peer, PeerMessage, RegisterError,
    RequestLimits, RespondError, UnansweredRequest,
};
#[cfg(feature = "url")]
pub use public_host::is_public_url;
pub use serde;
pub use serde_json;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../tests/compile_fail.md")]
struct CompileFail;
