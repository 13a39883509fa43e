//! Agents and clients as objects with async methods, driven by [`jsonrpc_core::driver`] on any runtime (feature `async`).
//!
//! A program implements [`v1::Agent`] or [`v1::Client`] (or those of [`v2`], a draft): a method for each request and
//! notification that its side may get, typed, most of them with a default. `connect` gives a future that runs the
//! connection and a [`Peer`] to speak to the other side with. Traits that begin with `Local` are for what is not `Send`.
//!
//! - Several requests are handled at the same time, also of several sessions, and each may ask the peer in turn: a
//!   handler that waits for an answer holds nobody up.
//! - Notifications are handled one after the other, in the order they came.
//! - A request that the peer takes back with `$/cancel_request` shows in its [`Context`]; `session/cancel` is a
//!   notification like others, which ends no handler by itself.
//! - Parameters are read as the schema's marks say ([`Mode::SpecLenient`](jsonrpc_core::wire::Mode)); what was done, and
//!   what could not be read at all, is told to `problem`.
//! - Methods that the version does not have arrive at `extension`, typed if you have types for them: see [`Extension`].
//!
//! Order, limits and the end of a connection are those of the [driver].
//!
//! ```
//! use acp_types::connection::{Context, Peer, v1};
//! use acp_types::v1::initialization::{InitializeRequest, InitializeResponse, ProtocolVersion};
//! use acp_types::v1::prompt_turn::{
//!     ContentChunk, PromptRequest, PromptResponse, SessionNotification, SessionUpdate, StopReason,
//! };
//! use acp_types::v1::session_setup::{NewSessionRequest, NewSessionResponse};
//! use acp_types::v1::tool_calls::{RequestPermissionRequest, RequestPermissionResponse};
//! use jsonrpc_core::driver::Options;
//! use jsonrpc_core::{CancelMethod, ErrorCode, ErrorObject, memory};
//!
//! /// Says what it was told.
//! struct Echo;
//!
//! #[async_trait::async_trait]
//! impl v1::Agent for Echo {
//!     async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse, ErrorObject> {
//!         Ok(InitializeResponse::new(ProtocolVersion::V1))
//!     }
//!
//!     async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, ErrorObject> {
//!         Ok(NewSessionResponse::new("only"))
//!     }
//!
//!     async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, ErrorObject> {
//!         for block in request.prompt {
//!             let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
//!             context.peer().notify(&SessionNotification::new(request.session_id.clone(), update)).await?;
//!         }
//!         Ok(PromptResponse::new(StopReason::EndTurn))
//!     }
//! }
//!
//! /// Prints what it is told, and allows nothing.
//! struct Terminal;
//!
//! #[async_trait::async_trait]
//! impl v1::Client for Terminal {
//!     async fn request_permission(
//!         &self,
//!         _: RequestPermissionRequest,
//!         _: Context,
//!     ) -> Result<RequestPermissionResponse, ErrorObject> {
//!         Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "nobody is here"))
//!     }
//!
//!     async fn session_update(&self, notification: SessionNotification, _: Peer) {
//!         println!("{:?}", notification.update);
//!     }
//! }
//!
//! let options = Options::new(CancelMethod::ACP);
//! let ((reads, writes), (client_reads, client_writes)) = memory::duplex(8);
//! let (agent, _) = v1::connect_agent(Echo, reads, writes, options.clone());
//! let (client, peer) = v1::connect_client(Terminal, client_reads, client_writes, options);
//! let turn = async {
//!     peer.request(&InitializeRequest::new(ProtocolVersion::V1)).await?;
//!     let session = peer.request(&NewSessionRequest::new("/tmp", [])).await?.session_id;
//!     let turn = peer.request(&PromptRequest::new(session, ["Hello".into()])).await?;
//!     peer.shut_down();
//!     Ok::<_, acp_types::connection::RequestError>(turn.stop_reason)
//! };
//! let (agent, client, stop_reason) = futures::executor::block_on(async { futures::join!(agent, client, turn) });
//! assert_eq!(stop_reason?, StopReason::EndTurn);
//! agent?;
//! client?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
use crate::dispatch::object;
use crate::methods::{NotificationParams, RequestParams};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Poll, ready};
use jsonrpc_core::driver::{self, Stray};
use jsonrpc_core::wire::{self, DecodeError, Diagnostic, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};
use serde::Serialize;
use serde_json::value::RawValue;

mod side;
pub mod v1;
pub mod v2;

/// The other side of a connection, to speak to. Clones speak on the same connection, from any thread, also from inside
/// handlers.
#[derive(Clone, Debug)]
pub struct Peer(driver::Client);

impl Peer {
    /// Asks, and waits for the answer. There is no deadline: wrap it in the timer of your runtime, and what is dropped is
    /// taken back with `$/cancel_request`.
    ///
    /// # Errors
    /// The peer answered with an error or with what is no result of the method, or no answer can come any more.
    pub async fn request<P: RequestParams + Serialize>(
        &self,
        params: &P,
    ) -> Result<P::Response, RequestError> {
        self.send(params).await?.await
    }

    /// Asks; the answer is to be awaited.
    ///
    /// # Errors
    /// As for [`driver::Client::send_request`], or the parameters cannot be written.
    pub async fn send<P: RequestParams + Serialize>(
        &self,
        params: &P,
    ) -> Result<Reply<P>, RequestError> {
        let params = Raw::from_value(params).map_err(RequestError::Encode)?;
        let reply = self.0.send_request(P::METHOD, params.as_ref()).await?;
        Ok(Reply { reply, of: PhantomData })
    }

    /// Tells.
    ///
    /// # Errors
    /// As for [`driver::Client::notify`], or the parameters cannot be written.
    pub async fn notify<P: NotificationParams + Serialize>(
        &self,
        params: &P,
    ) -> Result<(), RequestError> {
        let params = Raw::from_value(params).map_err(RequestError::Encode)?;
        Ok(self.0.notify(P::METHOD, params.as_ref()).await?)
    }

    /// Waits until the notifications are handled that came before now: behind the answer to a prompt, for example, those
    /// of its turn.
    pub async fn caught_up(&self) {
        self.0.caught_up().await;
    }

    /// Ends the connection as soon as nothing is open on it; see [`driver::Client::shut_down`].
    pub fn shut_down(&self) {
        self.0.shut_down();
    }

    /// The same without types: for methods that are known by name only.
    pub fn untyped(&self) -> &driver::Client {
        &self.0
    }
}

impl From<driver::Client> for Peer {
    fn from(client: driver::Client) -> Self {
        Self(client)
    }
}

/// A request that has been sent: a future of its result. Dropped before that it is taken back.
#[derive(Debug)]
#[must_use = "dropping it takes the request back"]
pub struct Reply<P> {
    reply: driver::Reply,
    of: PhantomData<fn() -> P>,
}

impl<P> Reply<P> {
    /// The id of the request.
    pub fn id(&self) -> &RequestId {
        self.reply.id()
    }

    /// Takes the request back, once, and goes on waiting: the peer still answers, perhaps with what it has done so far.
    pub fn cancel(&self) {
        self.reply.cancel();
    }
}

impl<P: RequestParams> Future for Reply<P> {
    type Output = Result<P::Response, RequestError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut core::task::Context<'_>) -> Poll<Self::Output> {
        let outcome = ready!(Pin::new(&mut self.reply).poll(task));
        Poll::Ready(outcome.map_err(RequestError::from).and_then(|result| {
            // Some say `null` where there is nothing to say.
            result.decode().or_else(|error| match result.as_str() {
                "null" => wire::decode("{}").map_err(|_| RequestError::Decode(error)),
                _ => Err(RequestError::Decode(error)),
            })
        }))
    }
}

/// A message of ours could not be sent, or a request of ours got no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer answered with an error, or the connection does not go on.
    #[error(transparent)]
    Connection(#[from] driver::RequestError),
    /// The answer is not a result of the method.
    #[error("the answer is wrong: {0}")]
    Decode(#[source] DecodeError),
    /// The parameters have no JSON form.
    #[error("the parameters cannot be written")]
    Encode(#[source] serde_json::Error),
}

/// What a handler answers that needed the other side and got nothing: the peer's own error, or an internal one.
impl From<RequestError> for ErrorObject {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Connection(driver::RequestError::Answered(error)) => error,
            other => Self::new(ErrorCode::INTERNAL_ERROR, other.to_string()),
        }
    }
}

/// What belongs to a request of theirs.
#[derive(Clone, Debug)]
pub struct Context {
    context: driver::Context,
    peer: Peer,
}

impl Context {
    /// Who asked.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Whether the request was taken back. It has to be answered nevertheless, with
    /// [`ErrorCode::REQUEST_CANCELLED`] where the method has no other answer for that.
    pub fn is_cancelled(&self) -> bool {
        self.context.is_cancelled()
    }

    /// Waits until the request is taken back, or the connection is gone. It may never be.
    pub async fn cancelled(&self) {
        self.context.cancelled().await;
    }
}

impl From<driver::Context> for Context {
    fn from(context: driver::Context) -> Self {
        Self { peer: Peer(context.client().clone()), context }
    }
}

/// A request or notification of a method that the version does not have.
///
/// Methods of your own become types with [`RequestParams`] and [`NotificationParams`], and are read as such:
///
/// ```
/// use acp_types::connection::Extension;
/// use acp_types::methods::RequestParams;
/// use jsonrpc_core::object;
/// use jsonrpc_core::wire::Raw;
///
/// object! {
///     /// Asks how long the agent has been there.
///     pub struct UptimeRequest {}
/// }
/// object! {
///     /// How long.
///     pub struct UptimeResponse {
///         /// In seconds.
///         seconds: u64 = "seconds",
///     }
/// }
/// impl RequestParams for UptimeRequest {
///     const METHOD: &'static str = "_example.com/uptime";
///     const RESPONSE: &'static str = "UptimeResponse";
///     type Response = UptimeResponse;
/// }
///
/// # let request = Extension::new("_example.com/uptime", None);
/// // In `extension` of an agent:
/// if let Some(asked) = request.request::<UptimeRequest>() {
///     let UptimeRequest { .. } = asked?;
///     let answer = Extension::answer::<UptimeRequest>(&UptimeResponse::new(7_u64))?;
///     assert_eq!(answer.as_str(), r#"{"seconds":7}"#);
/// }
/// # Ok::<(), jsonrpc_core::ErrorObject>(())
/// ```
#[derive(Clone, Debug)]
pub struct Extension {
    method: String,
    params: Option<Raw>,
}

impl Extension {
    /// What came.
    pub fn new(method: &str, params: Option<&RawValue>) -> Self {
        Self { method: method.to_owned(), params: params.map(Raw::from) }
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters as they came.
    pub fn params(&self) -> Option<&Raw> {
        self.params.as_ref()
    }

    /// The parameters of a request, if it is one of `P`; absent ones and `null` as an empty object.
    ///
    /// # Errors
    /// It is one of `P`, and these are not its parameters: what to answer.
    pub fn request<P: RequestParams + serde::de::DeserializeOwned>(
        &self,
    ) -> Option<Result<P, ErrorObject>> {
        self.read(P::METHOD).map(|read| {
            read.map_err(|error| ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string()))
        })
    }

    /// The parameters of a notification, if it is one of `P`; absent ones and `null` as an empty object.
    ///
    /// # Errors
    /// It is one of `P`, and these are not its parameters.
    pub fn notification<P: NotificationParams + serde::de::DeserializeOwned>(
        &self,
    ) -> Option<Result<P, DecodeError>> {
        self.read(P::METHOD)
    }

    /// A result of `P`, as `extension` gives it.
    ///
    /// # Errors
    /// It has no JSON form.
    pub fn answer<P: RequestParams>(result: &P::Response) -> Result<Raw, ErrorObject> {
        side::answer(result)
    }

    fn read<T: serde::de::DeserializeOwned>(&self, method: &str) -> Option<Result<T, DecodeError>> {
        let params = self.params.as_ref().map(AsRef::as_ref);
        (self.method == method).then(|| wire::decode(object(params)))
    }
}

/// Something that was taken differently from how it came, or not at all.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Problem<'a> {
    /// Parts of parameters could not be read, and the schema says what to take instead.
    Lenient {
        /// Of which method.
        method: &'static str,
        /// What was done.
        diagnostics: &'a [Diagnostic],
    },
    /// The parameters of a notification could not be read, so it was passed over.
    Undecodable {
        /// Of which method.
        method: &'static str,
        /// Why.
        error: &'a ErrorObject,
    },
    /// It reached nobody.
    Stray(Stray<'a>),
}
