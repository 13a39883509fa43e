//! JSON-RPC 2.0 without IO, and the vocabulary of open, lossless wire types.
//!
//! Spec: [JSON-RPC 2.0](https://www.jsonrpc.org/specification)
//!
//! | part | is for |
//! |---|---|
//! | [`Message`] | requests, notifications and responses, borrowed from their line, what they carry left as text |
//! | [`peek()`] | what a line is, when nobody reads what it carries: one pass, no memory |
//! | [`framing`] | lines out of a stream of bytes, cut anywhere |
//! | [`Peer`] | which response belongs to which request, both ways, deadlines, cancelling; its page has a run loop |
//! | [`wire`] | macros for the types that go into `params` and `result`, so that they keep what they do not know |
//!
//! Nothing here sends, receives, waits or looks at a clock. Nothing panics at what a peer sends, and nothing grows past
//! a limit: [`framing::Lines::DEFAULT_LIMIT`], [`RequestId::MAX_LEN`], [`Message::MAX_EXTRA`], [`Limits`].
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
//! # Odd input
//!
//! Tolerant in what is taken, strict in what is sent. What is not taken is a [`DecodeError`] (or a
//! [`framing::FrameError`]) with the code and id to answer with; [`DecodeError::reply`] is the answer, and is nothing
//! for notifications and responses. No answer repeats what the peer sent.
//!
//! | the peer sends | it is |
//! |---|---|
//! | no `jsonrpc`, or another than `"2.0"` | taken; [`Message::version`] tells; written as `"2.0"` |
//! | `id` as `1.0`, `1e3`, 2^63, -1 or with escapes | taken, kept as written, compared by meaning |
//! | `id` as `null` in a request | taken: a request, answered with `null` |
//! | `id` as an object, array or boolean, with half a surrogate pair, or longer than [`RequestId::MAX_LEN`] | -32600, answered with `null` |
//! | `method` that is not a string, or has half a surrogate pair | -32600 |
//! | `params` as `null` | taken as absent |
//! | `params` as a string, number or boolean | -32600; no answer to a notification |
//! | `params` in a response | taken, as an unknown member, the last |
//! | `error` as `null` beside `result`, `result` as `null` beside `error` | taken as absent |
//! | `result` and `error` | -32600, a response |
//! | `method` and `result` or `error` | -32600 |
//! | `id` alone, as when a peer's result is undefined | -32600, a response |
//! | `result` without `id` | -32600, a response |
//! | `error` without `id` | taken, with the id `null` |
//! | `error` that is no error object | -32600, a response |
//! | an error code of any size up to 64 bits | taken |
//! | a member of JSON-RPC twice | -32600; the id counts unless it is the one |
//! | members that JSON-RPC does not know | taken, kept in order, doubles too; more than [`Message::MAX_EXTRA`] are -32600 |
//! | a batch (array), a string, a number, a boolean, `null` | -32600, answered with `null` |
//! | half a surrogate pair (`"\ud83d"`) in `params`, `result` or `data` | taken: it is text until somebody reads it |
//! | half a surrogate pair in a member's name | -32700 |
//! | arrays and objects inside each other, any number | taken: nothing recurses; [`peek()`] goes 1024 levels deep |
//! | text that is not JSON | -32700, with the id if it stood before the fault and the kind of message is clear |
//! | a blank line, `\r\n`, a byte order mark first in the stream | nothing |
//! | a line that is not UTF-8 | -32700, with the id as above; the next line is whole |
//! | a line longer than the limit | -32600, with the id as above; the next line is whole |
//! | a response to no open request | [`Incoming::Unmatched`] |
//! | a response that cannot be read, to an open request | [`Incoming::Malformed`], and the request ends |
//! | a request with the id of one that is open | refused with -32600 |
//! | more open requests than [`Limits::theirs`] | refused with -32603 |
#![no_std]

extern crate alloc;
#[cfg(any(feature = "codec", feature = "async"))]
extern crate std;

mod batch;
mod checked;
#[cfg(feature = "codec")]
pub mod codec;
mod decode_error;
#[cfg(feature = "async")]
pub mod driver;
mod encode;
mod envelope;
mod error_object;
pub mod framing;
mod id;
mod json_str;
#[cfg(feature = "async")]
pub mod memory;
mod message;
mod message_buf;
mod peek;
mod peek_cache;
mod peek_members;
mod peer;
mod pending;
mod scan;
mod strictness;
pub mod transcript;
pub mod wire;

pub use batch::{Batch, Document};
pub use decode_error::{DecodeError, Shape};
pub use error_object::{ErrorCode, ErrorObject};
pub use id::RequestId;
pub use json_str::JsonStr;
pub use message::{Kind, Message, Notification, Request, Response, Version};
pub use message_buf::MessageBuf;
pub use peek::{Peek, PeekError, peek, peek_member};
pub use peek_cache::PeekCache;
pub use peek_members::{Found, peek_members};
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
