//! Why a message cannot be taken from the stream.
use crate::decode_error::reply;
use crate::envelope::{Recovered, recover};
use crate::message::{Kind, Response};
use crate::{ErrorCode, RequestId};
use alloc::string::ToString;

/// A message that cannot be taken from the stream; the messages behind it are whole.
///
/// No part of it repeats what the peer sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The message is longer than the limit.
    #[error("message longer than {limit} bytes")]
    TooLong {
        /// How many bytes a message may have.
        limit: usize,
        /// What kind of message it is, as far as that can be told.
        kind: Option<Kind>,
        /// Its id, wherever it stands in the message, if it can be read and it is clear whose it is.
        id: Option<RequestId>,
    },
    /// The message is not UTF-8.
    #[error("not valid UTF-8 from byte {at}")]
    Utf8 {
        /// Where in the message the first wrong byte is.
        at: usize,
        /// What kind of message it is, as far as that can be told.
        kind: Option<Kind>,
        /// Its id, where it can be read and it is clear whose it is.
        id: Option<RequestId>,
    },
    /// A string of the message has half a surrogate pair, and the [policy](super::TextPolicy) is to reject that.
    #[error("half a surrogate pair at byte {at}")]
    Surrogate {
        /// Where in the message the escape is.
        at: usize,
        /// What kind of message it is, as far as that can be told.
        kind: Option<Kind>,
        /// Its id, where it can be read and it is clear whose it is.
        id: Option<RequestId>,
    },
}

impl FrameError {
    /// The code to answer the peer with.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::TooLong { .. } => ErrorCode::INVALID_REQUEST,
            Self::Utf8 { .. } | Self::Surrogate { .. } => ErrorCode::PARSE_ERROR,
        }
    }

    /// What kind of message it is, as far as that can be told.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::TooLong { kind, .. } | Self::Utf8 { kind, .. } | Self::Surrogate { kind, .. } => {
                *kind
            }
        }
    }

    /// The id of the message, as far as that can be told.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::TooLong { id, .. } | Self::Utf8 { id, .. } | Self::Surrogate { id, .. } => {
                id.as_ref()
            }
        }
    }

    /// The error response that JSON-RPC asks for; notifications and responses are never answered.
    pub fn reply(&self) -> Option<Response<'static>> {
        reply(self.kind(), self.id(), self.code(), self.to_string())
    }

    pub(crate) fn utf8(at: usize, message: &[u8]) -> Self {
        let Recovered { kind, id } = recover(message);
        Self::Utf8 { at, kind, id }
    }

    pub(crate) fn surrogate(at: usize, message: &[u8]) -> Self {
        let Recovered { kind, id } = recover(message);
        Self::Surrogate { at, kind, id }
    }
}
