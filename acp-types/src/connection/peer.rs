//! The other side of a connection, as seen by handlers.
use super::RequestError;
use super::machine::Done;
use super::shared::{Link, Program};
use super::state::{End, ended};
use crate::client::{Call, CallError};
use crate::dispatch::object;
use crate::endpoint::{line, notification};
use crate::methods::{NotificationParams, RequestParams};
use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context as Task, Poll, ready};
use futures::FutureExt;
use futures::channel::oneshot::Receiver;
use futures::future::FusedFuture;
use jsonrpc_core::Notification;
use jsonrpc_core::wire::{self, Raw};
use serde_json::value::RawValue;

/// The other side of a connection. Clones share the connection, and may be used from any thread and
/// from handlers.
///
/// ```
/// use acp_types::connection::{Peer, Result};
/// use acp_types::v1::session_setup::SessionId;
/// use acp_types::v1::tool_calls::{
///     PermissionOption, PermissionOptionKind, RequestPermissionRequest, ToolCallUpdate,
/// };
///
/// /// Requests the user's permission for a tool call.
/// async fn is_permitted(peer: &Peer, session: SessionId) -> Result<bool> {
///     let allow = PermissionOption::new("once", "Allow once", PermissionOptionKind::AllowOnce);
///     let call = ToolCallUpdate::new("call-1");
///     let response = peer.request(&RequestPermissionRequest::new(session, call, [allow])).await?;
///     Ok(response.outcome.option_id().is_some())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Peer {
    link: Arc<dyn Link>,
    /// The program of a client, which has the connection as long as it has this.
    _program: Option<Arc<Program>>,
}

impl Peer {
    pub(super) fn new(link: Arc<impl Link + 'static>) -> Self {
        Self { link, _program: None }
    }

    pub(super) fn of_program(link: Arc<impl Link + 'static>, program: Arc<Program>) -> Self {
        Self { link, _program: Some(program) }
    }

    /// Makes a call, and waits for the response. There is no deadline; a call that is dropped is
    /// withdrawn.
    ///
    /// # Errors
    /// The peer returned an error or an invalid result, or no response can arrive.
    pub async fn request<P: RequestParams>(&self, params: &P) -> Result<P::Response, RequestError> {
        self.send(params).await?.await
    }

    /// Makes a call. Await the returned future for the response.
    ///
    /// # Errors
    /// The connection is closed, or [congested](RequestError::Congested). Too many open calls are
    /// an error of the returned future.
    pub async fn send<P: RequestParams>(&self, params: &P) -> Result<PendingCall<P>, RequestError> {
        let answer = self.send_call(Call::new(params)).await?;
        Ok(PendingCall { answer, of: PhantomData })
    }

    /// As [`send`](Self::send), by method name.
    ///
    /// # Errors
    /// As for `send`.
    pub async fn send_raw(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &RawValue,
    ) -> Result<PendingRawCall, RequestError> {
        self.send_call(Call::raw(method, Raw::from(params))).await
    }

    async fn send_call(&self, call: Call) -> Result<PendingRawCall, RequestError> {
        let mut call = Some(call);
        let (call, end) = poll_fn(|task| self.link.poll_call(&mut call, task)).await?;
        Ok(PendingRawCall { link: self.link.clone(), call, end })
    }

    /// Sends a notification. Waits while [`outgoing`](super::ConnectionOptions::outgoing) messages
    /// wait to be written.
    ///
    /// # Errors
    /// The connection is closed or [congested](RequestError::Congested), or, of a client, not
    /// initialized.
    pub async fn notify<P: NotificationParams>(&self, params: &P) -> Result<(), RequestError> {
        let mut text = notification(params);
        poll_fn(|task| self.link.poll_notify(&mut text, task)).await
    }

    /// As [`notify`](Self::notify), by method name.
    ///
    /// # Errors
    /// As for `notify`.
    pub async fn notify_raw(&self, method: &str, params: &RawValue) -> Result<(), RequestError> {
        let mut text = line(Notification::new(method, params));
        poll_fn(|task| self.link.poll_notify(&mut text, task)).await
    }

    /// Waits until all notifications received so far are handled, for example the updates of an
    /// ended turn.
    pub async fn caught_up(&self) {
        let mark = self.link.mark();
        poll_fn(|task| self.link.poll_handled(mark, task)).await;
    }

    /// Shuts the connection down gracefully: further requests are refused, open requests of both
    /// sides are answered, and waiting messages are written. Then the sink is closed, and the
    /// driver ends with the stream. To end at once, drop the driver.
    pub fn shut_down(&self) {
        self.link.shut_down();
    }
}

/// A call that was sent: a future of its result. Dropping it withdraws the call.
#[derive(Debug)]
#[must_use = "a call that is dropped is withdrawn"]
pub struct PendingCall<P> {
    answer: PendingRawCall,
    of: PhantomData<fn() -> P>,
}

impl<P> PendingCall<P> {
    /// Withdraws the call, once, and continues to wait: the peer still responds, possibly with a
    /// partial result.
    pub fn withdraw(&self) {
        self.answer.withdraw();
    }
}

impl<P: RequestParams> Future for PendingCall<P> {
    type Output = Result<P::Response, RequestError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.answer).poll(task))?;
        // Some peers answer `null` instead of an empty result.
        let decoded = wire::decode(object(Some(result.as_ref())));
        Poll::Ready(decoded.map_err(|error| CallError::Invalid(error).into()))
    }
}

/// As [`PendingCall`], by method name.
#[derive(Debug)]
#[must_use = "a call that is dropped is withdrawn"]
pub struct PendingRawCall {
    link: Arc<dyn Link>,
    call: u64,
    end: Receiver<End>,
}

impl PendingRawCall {
    /// Withdraws the call, once, and continues to wait.
    pub fn withdraw(&self) {
        self.link.withdraw(self.call);
    }
}

impl Future for PendingRawCall {
    type Output = Result<Raw, RequestError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        Poll::Ready(match ended(ready!(self.end.poll_unpin(task)))? {
            Done::Result(result) => Ok(result),
            Done::Opened(_) | Done::Turn(_) => Err(RequestError::Call(CallError::Released)),
        })
    }
}

impl Drop for PendingRawCall {
    fn drop(&mut self) {
        if !self.end.is_terminated() {
            self.link.forget(self.call);
        }
    }
}
