//! Events of servers, and messages to send.
use super::CallId;
use crate::mcp::base::{Era, ProtocolVersion};
use crate::mcp::capabilities::{ClientCapabilities, Implementation};
use crate::mcp::dispatch::{ClientNotification, ClientRequest};
use crate::mcp::logging::LoggingLevel;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Meta, Raw};
use jsonrpc_core::{ErrorObject, MessageBuf, RequestId};

/// An event returned by [`Server::poll_event`](super::Server::poll_event).
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// A tool is called, for the first time or again. End the call with
    /// [`Server::finish`](super::Server::finish), [`Server::fail`](super::Server::fail) or
    /// [`Server::ask`](super::Server::ask).
    Call(Box<ToolCall>),
    /// The client cancelled a call. The call has ended; further output for it is dropped.
    Cancelled(CallId),
    /// A request that is not about tools. Answer it with
    /// [`Server::respond`](super::Server::respond).
    Request {
        /// Id of the request.
        id: RequestId,
        /// The request.
        request: Box<ClientRequest>,
        /// Generation of the request, for [`adapt_outcome`](super::adapt_outcome).
        era: Era,
    },
    /// The first subscription of the client to the resource with this URI. Report its changes to
    /// [`Server::notify_changed`](super::Server::notify_changed).
    Subscribed(String),
    /// The client has no subscription to the resource with this URI any more.
    Unsubscribed(String),
    /// A notification that the server itself does not handle.
    Notification(ClientNotification),
    /// A line was malformed or is not a message that a server receives. An error response was sent
    /// if one is due.
    Malformed(String),
}

/// A call of a tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// Id of the call. Since 2026-07-28 a repeated call has a new id.
    pub id: CallId,
    /// Name of the tool, one of those that the server offers.
    pub name: String,
    /// The arguments, a JSON object.
    pub arguments: Raw,
    /// The `_meta` of the request, as received.
    pub meta: Option<Meta>,
    /// Protocol version of the request.
    pub version: ProtocolVersion,
    /// Capabilities of the client.
    pub capabilities: ClientCapabilities,
    /// Name and version that the client claims, if any. The value is not verified.
    pub client_info: Option<Implementation>,
    /// Token for progress notifications, if the client requested them.
    pub progress_token: Option<RequestId>,
    /// Minimum level of log messages: of this call, or of the session up to 2025-11-25. `None` if
    /// the client requested none.
    pub log_level: Option<LoggingLevel>,
    /// The state that the tool returned when it asked. `None` in the first call. Since 2026-07-28
    /// it passed through the client, which may have modified it.
    pub request_state: Option<String>,
    /// Answers by key, each the result of its method. Clients up to 2025-11-25 may answer with an
    /// error; newer clients cannot. Answers may be missing, and others may be unsolicited.
    pub responses: Vec<(String, Result<Raw, ErrorObject>)>,
}

impl ToolCall {
    /// Returns the answer to a question.
    pub fn response(&self, key: &str) -> Option<&Result<Raw, ErrorObject>> {
        self.responses.iter().find(|(name, _)| name == key).map(|(_, response)| response)
    }
}

/// A message to send.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OutgoingMessage {
    /// The message.
    pub message: MessageBuf,
    /// The client request that the message belongs to. Over HTTP the message is sent in the
    /// response to that request.
    pub related: Option<RequestId>,
}
