//! JSON-RPC 2.0 without IO, and the vocabulary of open, lossless wire types.
//!
//! Spec: [JSON-RPC 2.0](https://www.jsonrpc.org/specification)
//!
//! | part | is for |
//! |---|---|
//! | [`Message`] | requests, notifications and responses, borrowed from their line, what they carry left as text |
//! | [`Document`] | a message or a [`Batch`] of them, as the body of an HTTP request may hold |
//! | [`MessageBuf`] | a message that is kept |
//! | [`peek()`] | kind, id, method and payload of a line, in one pass without memory; [`Peeked`] is handed on to routing, typing and telemetry |
//! | [`peek_envelope`] | the same for a payload that is decoded, and so checked, later |
//! | [`Head`], [`MemberReader`] | the start of a message and some members of it, as far as they are asked for |
//! | [`framing`] | messages out of a stream of bytes, cut anywhere |
//! | [`Peer`] | which response belongs to which request, both ways, deadlines, cancelling; its page has a run loop |
//! | [`wire`] | macros for the types that go into `params` and `result`, so that they keep what they do not know |
//! | [`transcript`] | what went over a connection, written down, read back and played again |
//!
//! | with the feature | there is | is for | brings |
//! |---|---|---|---|
//! | `codec` | `codec` | lines as a decoder and an encoder, over a child process for example | bytes, bytestring, tokio-util; std |
//! | `async` | `memory` | two ends of a connection inside one program, for tests | bytes, bytestring, futures; std |
//! | `schemars` | `JsonSchema` for what the macros of [`wire`] define | schemas of a protocol's types | schemars |
//!
//! None is on unless asked for. All else is `no_std` with `alloc`.
//!
//! Apart from those nothing here sends, receives or waits, and nothing at all looks at a clock. Nothing panics at what a
//! peer sends, and nothing grows past a limit: [`framing::Lines::DEFAULT_LIMIT`],
//! [`RequestId::MAX_LEN`], [`Message::MAX_EXTRA`], [`Batch::MAX_LEN`],
//! [`Limits`], and those of [`wire::Decoded`].
//!
//! ```
//! use jsonrpc_core::{ErrorCode, ErrorObject, Message, Response, framing::Lines};
//!
//! let (mut lines, mut out) = (Lines::default(), Vec::new());
//! lines.push(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n{\"id\":");
//! while let Some(line) = lines.next() {
//!     match Message::decode(line?) {
//!         Ok(Message::Request(request)) => {
//!             let error = ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "unknown method");
//!             Message::from(Response::new(request.id, Err(error))).to_line(&mut out);
//!         }
//!         Ok(_) => {}
//!         Err(error) => {
//!             error.reply().into_iter().for_each(|reply| Message::from(reply).to_line(&mut out));
//!         }
//!     }
//! }
//! let expected = br#"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"unknown method"}}"#;
//! assert_eq!(out.trim_ascii_end(), expected);
//! # Ok::<(), jsonrpc_core::framing::FrameError>(())
//! ```
//!
#![doc = include_str!("odd_input.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(any(feature = "codec", feature = "async"))]
extern crate std;

mod batch;
mod checked;
#[cfg(feature = "codec")]
pub mod codec;
mod decode_error;
mod encode;
mod envelope;
mod error_object;
pub mod framing;
mod head;
mod id;
mod id_map;
mod json_str;
mod member_reader;
#[cfg(feature = "async")]
pub mod memory;
mod message;
mod message_buf;
mod peek;
mod peer;
mod pending;
mod scan;
mod strictness;
pub mod transcript;
pub mod wire;

pub use batch::{Batch, Document};
pub use decode_error::{DecodeError, Shape};
pub use encode::{keep_on_one_line, write_str};
pub use error_object::{ErrorCode, ErrorObject};
pub use head::{Head, Payload};
pub use id::RequestId;
pub use json_str::JsonStr;
pub use member_reader::{MemberReader, find_member, peek_member};
pub use message::{Kind, Message, Notification, Request, Response, Version};
pub use message_buf::MessageBuf;
pub use peek::{PeekError, Peeked, peek, peek_envelope};
pub use peer::{
    CancelMethod, Cancellation, EndReason, Ended, Incoming, Limits, LineError, NotOpen, Peer,
    RegisterError,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../tests/compile_fail.md")]
struct CompileFail;
