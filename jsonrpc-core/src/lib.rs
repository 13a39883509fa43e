//! JSON-RPC 2.0 without IO, and the vocabulary of open, lossless wire types.
//!
//! # Odd input
#![no_std]

extern crate alloc;

mod decode_error;
mod encode;
mod envelope;
mod error_object;
pub mod framing;
mod id;
mod json_str;
mod message;
mod peek;
mod peer;
mod pending;
mod scan;
pub mod wire;

pub use decode_error::{DecodeError, Shape};
pub use error_object::{ErrorCode, ErrorObject};
pub use id::RequestId;
pub use json_str::JsonStr;
pub use message::{Kind, Message, Notification, Request, Response, Version};
pub use peek::{Peek, PeekError, peek, peek_member};
pub use peer::{
    CancelMethod, Cancellation, EndReason, Ended, Incoming, Limits, LineError, NotOpen, Peer,
    RegisterError,
};
