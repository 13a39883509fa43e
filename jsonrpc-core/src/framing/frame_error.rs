//! Errors of taking a message from a stream.
use crate::decode_error::reply;
use crate::envelope::{MessageFragment, recover};
use crate::message::{Kind, Response};
use crate::{ErrorCode, RequestId};
use alloc::string::ToString;

/// An error taking a message from a stream. Later messages are intact.
///
/// It contains no received text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The message is longer than the limit.
    #[error("message longer than {limit} bytes")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
        /// The kind of message, as far as it is known.
        kind: Option<Kind>,
        /// The id at any place of the message, if it is readable and unambiguous.
        id: Option<RequestId>,
    },
    /// The message is not UTF-8.
    #[error("not valid UTF-8 from byte {at}")]
    Utf8 {
        /// Index of the first invalid byte in the message.
        at: usize,
        /// The kind of message, as far as it is known.
        kind: Option<Kind>,
        /// The id, if it is readable and unambiguous.
        id: Option<RequestId>,
    },
    /// A string of the message has a lone surrogate, and the [policy](super::TextPolicy) rejects
    /// it.
    #[error("lone surrogate at byte {at}")]
    Surrogate {
        /// Index of the escape in the message.
        at: usize,
        /// The kind of message, as far as it is known.
        kind: Option<Kind>,
        /// The id, if it is readable and unambiguous.
        id: Option<RequestId>,
    },
}

impl FrameError {
    /// Returns the JSON-RPC error code for the response.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TooLong { .. } => ErrorCode::INVALID_REQUEST,
            Self::Utf8 { .. } | Self::Surrogate { .. } => ErrorCode::PARSE_ERROR,
        }
    }

    /// Returns the kind of message, as far as it is known.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::TooLong { kind, .. } | Self::Utf8 { kind, .. } | Self::Surrogate { kind, .. } => {
                *kind
            }
        }
    }

    /// Returns the id of the message, as far as it is known.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::TooLong { id, .. } | Self::Utf8 { id, .. } | Self::Surrogate { id, .. } => {
                id.as_ref()
            }
        }
    }

    /// Returns the error response that JSON-RPC requires; `None` for notifications and responses,
    /// which are never answered.
    pub fn reply(&self) -> Option<Response<'static>> {
        reply(self.kind(), self.id(), self.code(), self.to_string())
    }

    pub(crate) fn utf8(at: usize, message: &[u8]) -> Self {
        let MessageFragment { kind, id } = recover(message);
        Self::Utf8 { at, kind, id }
    }

    pub(crate) fn surrogate(at: usize, message: &[u8]) -> Self {
        let MessageFragment { kind, id } = recover(message);
        Self::Surrogate { at, kind, id }
    }
}
