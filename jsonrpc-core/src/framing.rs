//! Finds messages in a stream of bytes, without reading or writing any.
//!
//! | framing | a message is |
//! |---|---|
//! | [`Lines`] | a line; ACP and MCP over stdio |
//! | [`ContentLength`] | what its header says it is; the language server protocol and its kin |
//! | [`Body`] | the whole body of an HTTP request or response, or one WebSocket message |
//!
//! They are used alike: `push` what was read, take messages with `next`, tell the end with `finish`. A message that is
//! too long, not UTF-8 or badly announced is one [`FrameError`], and the messages behind it are whole; [`TextPolicy`]
//! chooses what becomes of invalid text. A framing holds at most one unfinished message up to its limit, and what was
//! pushed and not taken.
//!
//! Spec: [stdio](https://agentclientprotocol.com/protocol/v1/transports#stdio) (ACP v1),
//! [Transports](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports) (MCP 2025-11-25),
//! [Base Protocol](https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#baseProtocol)
//! (LSP 3.17)
mod body;
mod content_length;
mod cut;
#[cfg(any(feature = "codec", feature = "async"))]
mod frame;
mod frame_error;
mod lines;
mod skim;
mod text_policy;

pub use body::Body;
pub use content_length::ContentLength;
#[cfg(any(feature = "codec", feature = "async"))]
pub use frame::Frame;
pub use frame_error::{FrameError, HeaderProblem};
pub use lines::Lines;
pub use text_policy::{OnInvalid, TextPolicy};

#[cfg(feature = "codec")]
pub(crate) use {
    body::BodyCutter,
    content_length::{HeaderCutter, header_for},
    cut::{BEHIND, Cut, Cutter},
    lines::LineCutter,
};

/// How long a message may be unless told otherwise, in bytes: 16 MiB.
const DEFAULT_LIMIT: usize = 16 * 1024 * 1024;
