//! Arguments of handlers besides typed parameters: request contexts and extensions.
use super::Peer;
use crate::dispatch::object;
use crate::methods::{NotificationParams, RequestParams};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::future::pending;
use futures::FutureExt;
use futures::channel::oneshot::Receiver;
use futures::future::Shared;
use jsonrpc_core::wire::{self, DecodeError, Raw, Wire};
use jsonrpc_core::{ErrorCode, ErrorObject, RequestId};
use serde_json::value::RawValue;

/// The context of a request of the peer.
///
/// ```
/// use acp_types::connection::{Context, Result};
/// use acp_types::v1::prompt_turn::{PromptRequest, PromptResponse, StopReason};
/// use futures::future::{Either, select};
/// use std::pin::pin;
///
/// # async fn work(_: PromptRequest) {}
/// /// The handler of a prompt, which stops when the client cancels the turn.
/// async fn prompt(request: PromptRequest, context: Context) -> Result<PromptResponse> {
///     let reason = match select(pin!(work(request)), pin!(context.cancelled())).await {
///         Either::Left(_) => StopReason::EndTurn,
///         Either::Right(_) => StopReason::Cancelled,
///     };
///     Ok(PromptResponse::new(reason))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    request_id: RequestId,
    peer: Peer,
    cancelled: Shared<Receiver<()>>,
}

impl Context {
    pub(super) fn new(request_id: RequestId, peer: Peer, cancelled: Receiver<()>) -> Self {
        Self { request_id, peer, cancelled: cancelled.shared() }
    }

    /// Returns the id of the request, which elicitations outside of sessions refer to.
    pub fn request_id(&self) -> &RequestId {
        &self.request_id
    }

    /// Returns the side that sent the request.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Returns whether the request is cancelled, by `$/cancel_request` or, for a prompt, by
    /// `session/cancel`. It has still to be answered, with [`ErrorCode::REQUEST_CANCELLED`] if the
    /// method has no other answer for that.
    pub fn is_cancelled(&self) -> bool {
        // Without a value, the request was answered before.
        matches!(self.cancelled.clone().now_or_never(), Some(Ok(())))
    }

    /// Waits until the request is cancelled or the connection is closed.
    pub async fn cancelled(&self) {
        if self.cancelled.clone().await.is_err() {
            pending::<()>().await;
        }
    }
}

/// A request or notification of a method that the version does not define.
///
/// Define types for your own methods with [`RequestParams`] and [`NotificationParams`], and decode
/// them:
///
/// ```
/// use acp_types::connection::Extension;
/// use acp_types::methods::RequestParams;
/// use jsonrpc_core::object;
/// use jsonrpc_core::wire::Raw;
///
/// object! {
///     /// Requests the uptime of the agent.
///     pub struct UptimeRequest {}
/// }
/// object! {
///     /// The uptime of the agent.
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
///     let answer = Extension::answer::<UptimeRequest>(&UptimeResponse::new(7_u64));
///     assert_eq!(answer.as_str(), r#"{"seconds":7}"#);
/// }
/// # Ok::<(), jsonrpc_core::ErrorObject>(())
/// ```
#[derive(Clone, Debug)]
pub struct Extension {
    pub(super) method: String,
    pub(super) params: Option<Raw>,
}

impl Extension {
    /// Creates an extension message.
    pub fn new(method: &str, params: Option<&RawValue>) -> Self {
        Self { method: method.to_owned(), params: params.map(Raw::from) }
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the parameters, verbatim.
    pub fn params(&self) -> Option<&Raw> {
        self.params.as_ref()
    }

    /// Decodes the parameters as those of the request `P`; `None` for another method. Absent
    /// parameters and `null` count as an empty object.
    ///
    /// # Errors
    /// The method is that of `P`, but the parameters are invalid. The error is the response to
    /// send.
    pub fn request<P: RequestParams + Wire>(&self) -> Option<Result<P, ErrorObject>> {
        self.read(P::METHOD).map(|read| {
            read.map_err(|error| ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string()))
        })
    }

    /// Decodes the parameters as those of the notification `P`; `None` for another method. Absent
    /// parameters and `null` count as an empty object.
    ///
    /// # Errors
    /// The method is that of `P`, but the parameters are invalid.
    pub fn notification<P: NotificationParams + Wire>(&self) -> Option<Result<P, DecodeError>> {
        self.read(P::METHOD)
    }

    /// Encodes a result of `P`, as returned by `extension`.
    pub fn answer<P: RequestParams>(result: &P::Response) -> Raw {
        Raw::of(result)
    }

    fn read<T: Wire>(&self, method: &str) -> Option<Result<T, DecodeError>> {
        let params = self.params.as_ref().map(AsRef::as_ref);
        (self.method == method).then(|| wire::decode(object(params)))
    }
}
