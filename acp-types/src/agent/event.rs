//! Events of an agent connection.
use super::{CallError, CallKey, CloseReason, Diagnostic, ReceivedValue, RequestKey};
use crate::by_version::by_version;
use crate::endpoint;
use crate::inbox::Weigh;
use alloc::boxed::Box;
use jsonrpc_core::wire::{DecodeError, DecodedValue, Mode};
use serde_json::value::RawValue;

/// An event of a [`Connection`](super::Connection).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A request of the client, to be answered with [`reply`](super::Connection::reply): a prompt
    /// at the end of its turn in version 1, at once in version 2.
    Request(RequestKey, Box<ReceivedValue<ClientRequest>>),
    /// A notification of the client. `session/cancel` follows the [`Cancelled`](Self::Cancelled) of
    /// its prompt.
    Notification(Box<ReceivedValue<ClientNotification>>),
    /// The client cancelled a request: a prompt with `session/cancel`, any request with
    /// `$/cancel_request`. It has still to be answered: a prompt with the stop reason `cancelled`,
    /// another request with its result or
    /// [`REQUEST_CANCELLED`](jsonrpc_core::ErrorCode::REQUEST_CANCELLED).
    ///
    /// In version 2, `session/cancel` refers only to prompts without an answer, and the machine has
    /// answered them. Do not begin their work.
    Cancelled(RequestKey),
    /// The end of a call.
    CallEnded(CallKey, Result<Box<ReceivedValue<ClientResponse>>, CallError>),
    /// A deviation was tolerated, or a message was dropped; for logs.
    Diagnostic(Diagnostic),
    /// The connection is closed. No event follows.
    Closed(CloseReason),
}

by_version! {
    /// A request of the client, by version.
    pub enum ClientRequest of Option<&RawValue>, with method;

    /// A notification of the client, by version.
    pub enum ClientNotification of Option<&RawValue>;

    /// The result of a call, by version.
    pub enum ClientResponse of &RawValue;
}

/// An event that was not polled.
#[derive(Debug)]
pub(crate) enum PendingEvent {
    Request(RequestKey, Box<ReceivedValue<ClientRequest>>),
    Notification(Box<ReceivedValue<ClientNotification>>),
    Cancelled(RequestKey),
    CallEnded(CallKey, Result<Box<ReceivedValue<ClientResponse>>, CallError>),
}

impl endpoint::Event for PendingEvent {
    type Response = ClientResponse;

    fn call_ended(
        key: CallKey,
        outcome: Result<Box<ReceivedValue<ClientResponse>>, CallError>,
    ) -> Self {
        Self::CallEnded(key, outcome)
    }
}

impl Weigh for PendingEvent {
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
