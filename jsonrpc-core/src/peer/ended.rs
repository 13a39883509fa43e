//! Requests that end without a response, and errors of requests.
#[cfg(doc)]
use super::{PeerMessage, RequestLimits};
use crate::RequestId;

/// An own request that ended without a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnansweredRequest<T> {
    /// Id of the request.
    pub id: RequestId,
    /// The token of the request.
    pub token: T,
    /// The reason.
    pub reason: EndReason,
}

/// The reason why a request ended without a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// The deadline has passed. A later response is [unmatched](PeerMessage::Unmatched).
    Expired,
    /// The connection has closed, or no further message arrives.
    Closed,
}

/// An error registering a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// [`RequestLimits::ours`] requests are open.
    #[error("too many open requests")]
    Full,
    /// The connection is closed.
    #[error("connection closed")]
    Closed,
    /// An open request has the same id, or the id is `null`.
    #[error("the id is in use")]
    Taken,
}

/// An error responding: no request of the peer with this id is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no open request has this id")]
pub struct RespondError;
