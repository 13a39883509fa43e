//! Framing: messages in a stream of bytes, without I/O: [`Lines`].
//!
//! `push` takes received bytes, `next` returns messages, and `finish` marks the end. A message that
//! is too long or not UTF-8 is one [`FrameError`], and later messages are intact. [`TextPolicy`]
//! determines the handling of invalid text. Memory is bounded by one unfinished message up to the
//! limit, and the pushed bytes that were not taken. [`Affix`] recognizes lines that differ from the
//! previous one only in a text and a number.
//!
//! Spec: [stdio](https://agentclientprotocol.com/protocol/v1/transports#stdio) (ACP v1),
//! [Transports](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports) (MCP
//! 2025-11-25)
mod affix;
mod cut;
#[cfg(any(feature = "codec", feature = "async"))]
mod frame;
mod frame_error;
mod lines;
mod text_policy;
mod too_long;

pub use affix::Affix;
#[cfg(any(feature = "codec", feature = "async"))]
pub use frame::Frame;
pub use frame_error::FrameError;
pub use lines::Lines;
pub use text_policy::{InvalidTextAction, TextPolicy};

#[cfg(feature = "codec")]
pub(crate) use cut::{BEHIND, Cut, LineCutter};
