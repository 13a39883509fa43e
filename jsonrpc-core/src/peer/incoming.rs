//! Received messages, and lines that are not messages.
#[cfg(doc)]
use super::Peer;
#[cfg(doc)]
use crate::ErrorCode;
use crate::decode_error::MessageError;
use crate::framing::FrameError;
use crate::message::{Kind, Notification, Request, Response};
use crate::{ErrorObject, RequestId};
use serde_json::value::RawValue;

/// A message of the peer, or a line that is not a message.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a caller that ignores a kind leaves a request open: a new kind has to break its build"
)]
pub enum PeerMessage<'a, T> {
    /// A request, to be answered once with [`Peer::respond`].
    Request(Request<'a>),
    /// A notification, including a cancellation of a request that is not open.
    Notification(Notification<'a>),
    /// The end of an own request.
    Response {
        /// Id of the request.
        id: RequestId,
        /// The token of the request.
        token: T,
        /// The result or error.
        outcome: Result<&'a RawValue, ErrorObject>,
    },
    /// The peer cancels a request. It has still to be answered, for example with
    /// [`ErrorCode::REQUEST_CANCELLED`].
    Cancelled {
        /// Id of the request.
        id: RequestId,
        /// The notification, unchanged.
        notification: Notification<'a>,
    },
    /// A refused request: too many are open, an open one has the same id, or the connection is
    /// closing.
    Refused {
        /// The request.
        request: Request<'a>,
        /// The response to send.
        response: Response<'static>,
    },
    /// A response without an open request: the request has ended or never existed, or the response
    /// is an error with the id `null`.
    Unmatched(Response<'a>),
    /// A line that is not a message.
    Malformed {
        /// The defect.
        error: LineError,
        /// The response that JSON-RPC requires, to be sent.
        reply: Option<Response<'static>>,
        /// The own request that ends, if the line was its response.
        ended: Option<(RequestId, T)>,
    },
}

/// An error reading a line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line could not be taken from the stream.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The line could not be decoded.
    #[error(transparent)]
    Decode(#[from] MessageError),
}

impl LineError {
    /// Returns the kind of message, as far as it is known.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Frame(error) => error.kind(),
            Self::Decode(error) => error.kind(),
        }
    }

    /// Returns the id of the message, as far as it is known.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Frame(error) => error.id(),
            Self::Decode(error) => error.id(),
        }
    }

    /// Returns the error response that JSON-RPC requires; `None` for notifications and responses,
    /// which are never answered.
    pub fn reply(&self) -> Option<Response<'static>> {
        match self {
            Self::Frame(error) => error.reply(),
            Self::Decode(error) => error.reply(),
        }
    }
}
