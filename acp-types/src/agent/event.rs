//! Events of an agent connection.
use super::{CallError, CallKey, CloseReason, Diagnostic, Received, RequestKey};
use crate::inbox::Weigh;
use crate::{v1, v2};
use alloc::boxed::Box;

/// An event of a [`Connection`](super::Connection).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A request of the client, to be answered with [`reply`](super::Connection::reply): a prompt at the end of its
    /// turn in version 1, at once in version 2.
    Request(RequestKey, Box<Received<ClientRequest>>),
    /// A notification of the client. `session/cancel` follows the [`Cancelled`](Self::Cancelled) of its prompt.
    Notification(Box<Received<ClientNotification>>),
    /// The client cancelled a request: a prompt with `session/cancel`, any request with `$/cancel_request`. It has
    /// still to be answered: a prompt with the stop reason `cancelled`, another request with its result or
    /// [`REQUEST_CANCELLED`](jsonrpc_core::ErrorCode::REQUEST_CANCELLED).
    Cancelled(RequestKey),
    /// The end of a call.
    CallEnded(CallKey, Result<Box<Received<ClientResponse>>, CallError>),
    /// A deviation was tolerated, or a message was dropped; for logs.
    Diagnostic(Diagnostic),
    /// The connection is closed. No event follows.
    Closed(CloseReason),
}

/// A request of the client, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientRequest {
    /// Version 1.
    V1(v1::dispatch::ClientRequest),
    /// Version 2.
    V2(v2::dispatch::ClientRequest),
}

impl ClientRequest {
    /// Returns the method.
    pub fn method(&self) -> &str {
        match self {
            Self::V1(request) => request.method(),
            Self::V2(request) => request.method(),
        }
    }
}

/// A notification of the client, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientNotification {
    /// Version 1.
    V1(v1::dispatch::ClientNotification),
    /// Version 2.
    V2(v2::dispatch::ClientNotification),
}

/// The result of a call, by version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientResponse {
    /// Version 1.
    V1(v1::dispatch::ClientResponse),
    /// Version 2.
    V2(v2::dispatch::ClientResponse),
}

/// An event that was not polled.
#[derive(Debug)]
pub(super) enum Waiting {
    Request(RequestKey, Box<Received<ClientRequest>>),
    Notification(Box<Received<ClientNotification>>),
    Cancelled(RequestKey),
    CallEnded(CallKey, Result<Box<Received<ClientResponse>>, CallError>),
}

impl Weigh for Waiting {
    fn droppable(&self) -> Option<usize> {
        match self {
            Self::Notification(notification) => Some(notification.raw.as_str().len()),
            _ => None,
        }
    }

    fn firm(&self) -> usize {
        match self {
            Self::Request(_, request) => request.raw.as_str().len(),
            _ => 0,
        }
    }
}
