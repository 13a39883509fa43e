//! The error of reading a line without decoding it.
use crate::decode_error::Shape;

/// An error peeking at a line, or reading one of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeekError {
    /// The line is not UTF-8.
    #[error("not valid UTF-8 from byte {at}")]
    Utf8 {
        /// Index of the first invalid byte.
        at: usize,
    },
    /// The line is not JSON.
    #[error("not valid JSON at byte {at}")]
    Syntax {
        /// Index at which reading ended.
        at: usize,
    },
    /// The requested member is repeated.
    #[error("expected one member of this name, got two")]
    Duplicate,
    /// The line is JSON, but not a message.
    #[error("not a JSON-RPC message: {0}")]
    Shape(Shape),
}
