//! Agents and clients as objects with async methods, on any runtime (feature `async`). They wrap
//! the machines [`agent`] and [`client`].
//!
//! A program implements [`v1::Agent`] or [`v1::Client`] (or those of [`v2`], a preview): one typed
//! method for each request and notification of its side, most of them with a default. `connect_*`
//! returns a future that runs the connection between a [`Stream`](futures::Stream) and a
//! [`Sink`](futures::Sink) of [frames](jsonrpc_core::framing::Frame). An agent sends messages to
//! its client through a [`Peer`]; a client opens [`Sessions`]. Traits that begin with `Local` are
//! for types that are not `Send`. No task is spawned and no clock is read: use the runtime's
//! timeout around a call. A call that is dropped is withdrawn.
//!
//! - Up to [`ConnectionOptions::handlers`] requests are handled concurrently, and one more for each
//!   open call: a handler that waits for a response does not block others.
//! - Notifications are handled one after the other, in order. While
//!   [`ConnectionOptions::notifications`] wait, reading stops. If the handler of a notification
//!   waits for a response then, that call ends with [`RequestError::Congested`].
//! - Messages are sent in order. Messages of a handler precede its response.
//! - The [`Context`] of a request reports its cancellation. The request has still to be answered.
//! - A handler that panics is the error of its request, and the connection goes on: see
//!   [`Diagnostic::HandlerPanicked`](crate::client::Diagnostic::HandlerPanicked).
//! - The connection of a client is shut down when the program has dropped its [`Sessions`], their
//!   [`Session`]s and peers, so that a program may leave with `?`.
//! - At the end of the stream, calls end. When all open requests are answered, the sink is closed
//!   and the future completes.
//! - An object with the handlers of both versions, [connected](connect_agent), speaks the version
//!   that the client selects.
//! - Methods that the version does not define arrive at `extension`, typed if a type exists: see
//!   [`Extension`].
//!
//! ```
//! use acp_types::client::{Prompt, TurnEnd};
//! use acp_types::connection::{
//!     ConnectionOptions, Context, Peer, RequestError, Result, async_trait, v1,
//! };
//! use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
//! use acp_types::v1::prompt_turn::{
//!     ContentChunk, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
//! };
//! use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse};
//! use acp_types::v1::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
//! use jsonrpc_core::{ErrorCode, ErrorObject, memory};
//!
//! /// Repeats its prompts.
//! struct Echo;
//!
//! #[async_trait]
//! impl v1::Agent for Echo {
//!     async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse> {
//!         Ok(InitializeResponse::new(ProtocolVersion::V1))
//!     }
//!
//!     async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse> {
//!         Ok(NewSessionResponse::new("only"))
//!     }
//!
//!     async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse> {
//!         for block in request.prompt {
//!             let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
//!             context.peer().notify(&SessionNotification::new(request.session_id.clone(), update)).await?;
//!         }
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     }
//! }
//!
//! /// Prints updates, and allows nothing.
//! struct Terminal;
//!
//! #[async_trait]
//! impl v1::Client for Terminal {
//!     async fn request_permission(
//!         &self,
//!         _: RequestPermissionRequest,
//!         _: Context,
//!     ) -> Result<RequestPermissionResponse> {
//!         Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no user is here"))
//!     }
//!
//!     async fn session_update(&self, notification: SessionNotification, _: Peer) {
//!         println!("{:?}", notification.update);
//!     }
//! }
//!
//! let ((reads, writes), (client_reads, client_writes)) = memory::duplex(8);
//! let (agent, _) = v1::connect_agent(Echo, reads, writes, ConnectionOptions::default());
//! let initialize = InitializeRequest::new(ProtocolVersion::V1);
//! let (client, sessions) =
//!     v1::connect_client(Terminal, client_reads, client_writes, initialize, ConnectionOptions::default());
//! let turn = async move {
//!     let session = sessions.open(NewSessionRequest::new("/tmp", [])).await?;
//!     let end = session.prompt(Prompt::v1(["Hello".into()])).await?;
//!     Ok::<_, RequestError>(end.value)
//! };
//! let (agent, client, end) = futures::executor::block_on(async { futures::join!(agent, client, turn) });
//! assert!(matches!(end?, TurnEnd::V1(end) if end.stop_reason == StopReason::EndTurn));
//! agent?;
//! client?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::agent;
use crate::client::{self, CallError, PromptError};
use crate::v1::initialization::ProtocolVersion;
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::{ErrorCode, ErrorObject};

mod both;
mod driver;
mod handler;
mod machine;
mod peer;
mod sessions;
mod shared;
mod side;
mod state;
#[cfg(feature = "tokio")]
mod stdio;
pub mod v1;
pub mod v2;

#[doc(no_inline)]
pub use async_trait::async_trait;
pub use both::{connect_agent, connect_local_agent};
pub use handler::{Context, Extension};
pub use peer::{Peer, PendingCall, PendingRawCall};
pub use sessions::{Session, Sessions};
#[cfg(feature = "tokio")]
pub use stdio::{framed, stdio};

/// The result of a handler: the response, or the error to respond with.
pub type Result<T, E = ErrorObject> = core::result::Result<T, E>;

/// Limits of a connection with handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionOptions {
    /// Open requests of the peer, handled or waiting; 1024 by default. Beyond it reading stops,
    /// unless a call of this side is open, since its response may be next; further requests are
    /// then refused.
    pub requests: usize,
    /// Open calls of this side; 1024 by default. Further calls fail.
    pub calls: usize,
    /// Concurrently handled requests, not counting those that wait for the peer; at least one; 64
    /// by default.
    pub handlers: usize,
    /// Notifications that wait to be handled; at least one; 1024 by default. Beyond it reading
    /// stops.
    pub notifications: usize,
    /// Messages that wait to be written; at least one; 64 by default. Beyond it senders wait.
    pub outgoing: usize,
}

impl ConnectionOptions {
    /// Creates the machine of an agent for these versions.
    fn agent(&self, versions: &[ProtocolVersion]) -> agent::Connection {
        let mut options = agent::Options::new(versions.iter().copied());
        options.limits.requests = self.requests;
        options.limits.calls = self.calls;
        // The driver stops reading before this limit.
        options.limits.replies = usize::MAX;
        agent::Connection::new(options)
    }

    /// Creates the machine of a client with these options.
    fn client(&self, mut options: client::Options) -> machine::Client {
        options.limits.requests = self.requests;
        options.limits.calls = self.calls;
        options.limits.replies = usize::MAX;
        options.call_timeout = Duration::MAX;
        options.turn_timeout = Duration::MAX;
        machine::Client::new(options)
    }
}

impl Default for ConnectionOptions {
    fn default() -> Self {
        Self { requests: 1024, calls: 1024, handlers: 64, notifications: 1024, outgoing: 64 }
    }
}

/// An error sending a message or making a call.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The call failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The prompt could not be sent.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The handler of a notification waited for a response, or for room to send, while
    /// [`ConnectionOptions::notifications`] notifications waited.
    #[error("too many notifications are waiting")]
    Congested,
}

/// Converts the error of a call within a handler to the handler's response: the error of the peer,
/// or an internal error.
impl From<RequestError> for ErrorObject {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Call(
                CallError::Answered(error) | CallError::AuthRequired { error, .. },
            ) => error,
            other => Self::new(ErrorCode::INTERNAL_ERROR, other.to_string()),
        }
    }
}
