use crate::envelope::Recovered;
use crate::message::{Kind, Response};
use crate::wire;
use crate::{ErrorCode, ErrorObject, RequestId};
use alloc::string::{String, ToString};

/// Text from the peer is not a JSON-RPC message.
///
/// No part of it repeats what the peer sent, so that [`reply`](Self::reply) does not send it back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The text is not JSON.
    #[error("not valid JSON")]
    Syntax {
        /// Why, and where.
        #[source]
        source: serde_json::Error,
        /// What it would have been, as far as that can be told.
        kind: Option<Kind>,
        /// The id, if it stood before the place where reading ended, and whose it is was clear there.
        id: Option<RequestId>,
    },
    /// The JSON is neither a request, nor a notification, nor a response.
    #[error("not a JSON-RPC message: {problem}")]
    Shape {
        /// What is wrong with it.
        problem: Shape,
        /// What it would have been, as far as that can be told.
        kind: Option<Kind>,
        /// Its id, if it has one.
        id: Option<RequestId>,
    },
    /// The `error` of a response is not an error object.
    #[error("the `error` of a response is not an error object")]
    ErrorObject {
        /// Why.
        #[source]
        source: wire::DecodeError,
        /// The id of the response.
        id: RequestId,
    },
}

/// What keeps a JSON value from being a JSON-RPC message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Shape {
    /// An array, where one message was asked for; [`Batch`](crate::Batch) reads those.
    #[error("expected one message, got an array (a batch)")]
    Batch,
    /// A string, number, boolean or `null`.
    #[error("expected an object")]
    NotAnObject,
    /// A member of the envelope comes twice.
    #[error("expected one member `{0}`, got two")]
    Duplicate(&'static str),
    /// More than [`Message::MAX_EXTRA`](crate::Message::MAX_EXTRA) members that JSON-RPC does not know.
    #[error("expected fewer unknown members")]
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
    #[error("expected one of `method`, `result` and `error`, got none")]
    Empty,
    /// More than one of `method`, `result` and `error`.
    #[error("expected one of `method`, `result` and `error`, got more")]
    Ambiguous,
    /// A `result` without an `id`.
    #[error("expected an `id` beside `result`, got none")]
    ResultWithoutId,
    /// An `error` without an `id`; only [`Message::decode_strict`](crate::Message::decode_strict) minds.
    #[error("expected an `id` beside `error`, got none")]
    ErrorWithoutId,
    /// `jsonrpc` is missing, or not `"2.0"`; only [`Message::decode_strict`](crate::Message::decode_strict) minds.
    #[error("expected `jsonrpc` to be \"2.0\"")]
    Version,
    /// A batch without messages.
    #[error("expected at least one message, got an empty array")]
    EmptyBatch,
    /// More messages in a batch than [`Batch::MAX_LEN`](crate::Batch::MAX_LEN), or what the caller allows.
    #[error("expected fewer messages in one array")]
    TooManyMessages,
}

impl DecodeError {
    /// The code to answer the peer with.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Syntax { .. } => ErrorCode::PARSE_ERROR,
            Self::Shape { .. } | Self::ErrorObject { .. } => ErrorCode::INVALID_REQUEST,
        }
    }

    /// The id of the bad message, if it has one that can be read.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Syntax { id, .. } | Self::Shape { id, .. } => id.as_ref(),
            Self::ErrorObject { id, .. } => Some(id),
        }
    }

    /// What the message would have been, as far as that can be told.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Syntax { kind, .. } | Self::Shape { kind, .. } => *kind,
            Self::ErrorObject { .. } => Some(Kind::Response),
        }
    }

    /// The error response that JSON-RPC asks for; notifications and responses are never answered.
    ///
    /// A peer that mixes other output into its stream gets an answer to each line of it; callers that know better may
    /// prefer not to send those with a `null` id.
    pub fn reply(&self) -> Option<Response<'static>> {
        reply(self.kind(), self.id(), self.code(), self.to_string())
    }

    pub(crate) fn syntax(source: serde_json::Error, recovered: Recovered) -> Self {
        Self::Syntax { source, kind: recovered.kind, id: recovered.id }
    }
}

/// The answer to what is no message.
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
