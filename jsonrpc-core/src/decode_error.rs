//! The error of decoding a message.
use crate::message::{Kind, Response};
use crate::wire;
use crate::{ErrorCode, ErrorObject, RequestId};
use alloc::string::{String, ToString};

/// An error decoding a JSON-RPC message.
///
/// It contains no received text, so [`reply`](Self::reply) does not send any back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The text is not JSON.
    #[error("not valid JSON")]
    Syntax {
        /// The reason, and the place.
        #[source]
        source: serde_json::Error,
        /// The kind of message, as far as it is known.
        kind: Option<Kind>,
        /// The id, if it precedes the error and belongs unambiguously to this kind of message.
        id: Option<RequestId>,
    },
    /// The JSON is not a request, notification or response.
    #[error("not a JSON-RPC message: {problem}")]
    Shape {
        /// The defect.
        problem: Shape,
        /// The kind of message, as far as it is known.
        kind: Option<Kind>,
        /// Its id, if it has one.
        id: Option<RequestId>,
    },
    /// The `error` of a response is not an error object.
    #[error("the `error` of a response is not an error object")]
    ErrorObject {
        /// The reason.
        #[source]
        source: wire::DecodeError,
        /// The id of the response.
        id: RequestId,
    },
}

/// The reason why a JSON value is not a JSON-RPC message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Shape {
    /// An array, where one message is expected; [`Batch`](crate::Batch) decodes arrays.
    #[error("expected one message, got an array (a batch)")]
    Batch,
    /// A string, number, boolean or `null`.
    #[error("expected an object")]
    NotAnObject,
    /// A repeated member of the envelope.
    #[error("expected one member `{0}`, got two")]
    Duplicate(&'static str),
    /// More than [`Message::MAX_EXTRA`](crate::Message::MAX_EXTRA) unknown members.
    #[error("too many unknown members")]
    TooManyMembers,
    /// `method` is not a string.
    #[error("expected `method` to be a string")]
    Method,
    /// `id` is not a string, a number or `null`, or is longer than [`RequestId::MAX_LEN`].
    #[error("expected `id` to be a short string, a number or null")]
    Id,
    /// `params` is not an object or an array.
    #[error("expected `params` to be an object or an array")]
    Params,
    /// None of `method`, `result` and `error`.
    #[error("expected one of `method`, `result` and `error`")]
    Empty,
    /// More than one of `method`, `result` and `error`.
    #[error("expected only one of `method`, `result` and `error`")]
    Ambiguous,
    /// A `result` without an `id`.
    #[error("expected an `id` with `result`")]
    ResultWithoutId,
    /// An `error` without an `id`; an error only for
    /// [`Message::decode_strict`](crate::Message::decode_strict).
    #[error("expected an `id` with `error`")]
    ErrorWithoutId,
    /// `jsonrpc` is missing, or not `"2.0"`; an error only for
    /// [`Message::decode_strict`](crate::Message::decode_strict).
    #[error("expected `jsonrpc` to be \"2.0\"")]
    Version,
    /// A batch without messages.
    #[error("expected at least one message in the array")]
    EmptyBatch,
    /// More messages in a batch than [`Batch::MAX_LEN`](crate::Batch::MAX_LEN), or than the caller
    /// permits.
    #[error("too many messages in one array")]
    TooManyMessages,
}

impl MessageError {
    /// Returns the JSON-RPC error code for the response.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Syntax { .. } => ErrorCode::PARSE_ERROR,
            Self::Shape { .. } | Self::ErrorObject { .. } => ErrorCode::INVALID_REQUEST,
        }
    }

    /// Returns the id of the message, if it is readable.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Syntax { id, .. } | Self::Shape { id, .. } => id.as_ref(),
            Self::ErrorObject { id, .. } => Some(id),
        }
    }

    /// Returns the kind of message, as far as it is known.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Syntax { kind, .. } | Self::Shape { kind, .. } => *kind,
            Self::ErrorObject { .. } => Some(Kind::Response),
        }
    }

    /// Returns the error response that JSON-RPC requires; `None` for notifications and responses,
    /// which are never answered.
    ///
    /// A peer that mixes other output into its stream receives a response to each such line. To
    /// avoid that, drop responses with a `null` id.
    pub fn reply(&self) -> Option<Response<'static>> {
        reply(self.kind(), self.id(), self.code(), self.to_string())
    }
}

/// Returns the response to an invalid message.
pub(crate) fn reply(
    kind: Option<Kind>,
    id: Option<&RequestId>,
    code: ErrorCode,
    message: String,
) -> Option<Response<'static>> {
    if matches!(kind, Some(Kind::Notification | Kind::Response)) {
        return None;
    }
    let id = id.cloned().unwrap_or(RequestId::NULL);
    Some(Response::new(id, Err(ErrorObject::new(code, message))))
}
