//! Finds messages in a stream of bytes, without reading or writing any: [`Lines`].
//!
//! `push` takes the bytes that were read, `next` gives messages, `finish` marks the end. A message that is too long or not
//! UTF-8 is one [`FrameError`], and the messages behind it are whole; [`TextPolicy`] chooses what becomes of invalid text.
//! At most one unfinished message up to the limit is held, and what was pushed and not taken.
//!
//! Spec: [stdio](https://agentclientprotocol.com/protocol/v1/transports#stdio) (ACP v1),
//! [Transports](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports) (MCP 2025-11-25)
mod cut;
#[cfg(any(feature = "codec", feature = "async"))]
mod frame;
mod frame_error;
mod lines;
mod text_policy;
mod too_long;

#[cfg(any(feature = "codec", feature = "async"))]
pub use frame::Frame;
pub use frame_error::FrameError;
pub use lines::Lines;
pub use text_policy::{OnInvalid, TextPolicy};

#[cfg(feature = "codec")]
pub(crate) use cut::{BEHIND, Cut, LineCutter};
