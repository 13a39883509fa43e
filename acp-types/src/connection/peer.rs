//! The other side of a connection, as handlers speak to it.
use super::RequestError;
use super::machine::Done;
use super::shared::Link;
use crate::client::{Call, CallError, line, notification};
use crate::dispatch::object;
use crate::methods::{NotificationParams, RequestParams};
use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::future::{Future, poll_fn};
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context as Task, Poll, ready};
use jsonrpc_core::Notification;
use jsonrpc_core::wire::{self, Raw};
use serde::Serialize;
use serde_json::value::RawValue;

/// The other side of a connection, to speak to. Clones speak on the same connection, from any thread, also from inside
/// handlers.
#[derive(Clone, Debug)]
pub struct Peer(Arc<dyn Link>);

impl Peer {
    pub(super) fn new(link: Arc<impl Link + 'static>) -> Self {
        Self(link)
    }

    /// Makes a call, and waits for the answer. There is no deadline: a call that is dropped is withdrawn.
    ///
    /// # Errors
    /// The peer answered with an error or with what is no result of the method, or no answer can come.
    pub async fn request<P: RequestParams + Serialize>(
        &self,
        params: &P,
    ) -> Result<P::Response, RequestError> {
        self.send(params).await?.await
    }

    /// Makes a call; the answer is to be awaited.
    ///
    /// # Errors
    /// Too many calls are open, the connection is closed, or the parameters have no JSON form.
    pub async fn send<P: RequestParams + Serialize>(
        &self,
        params: &P,
    ) -> Result<PendingCall<P>, RequestError> {
        let answer = self.send_call(Call::new(params)).await?;
        Ok(PendingCall { answer, of: PhantomData })
    }

    /// As [`send`](Self::send), for a method that is known by name only.
    ///
    /// # Errors
    /// As of `send`.
    pub async fn send_raw(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &RawValue,
    ) -> Result<PendingRawCall, RequestError> {
        self.send_call(Call::raw(method, Raw::from(params))).await
    }

    async fn send_call(&self, call: Call) -> Result<PendingRawCall, RequestError> {
        let mut call = Some(call);
        let call = poll_fn(|task| self.0.poll_call(&mut call, task)).await?;
        Ok(PendingRawCall { link: self.0.clone(), call, is_done: false })
    }

    /// Sends a notification; waits while [`Options::outgoing`](super::Options::outgoing) messages wait to be written.
    ///
    /// # Errors
    /// The connection is closed, or the parameters have no JSON form.
    pub async fn notify<P: NotificationParams + Serialize>(
        &self,
        params: &P,
    ) -> Result<(), RequestError> {
        let mut text = notification(params)?;
        poll_fn(|task| self.0.poll_notify(&mut text, task)).await
    }

    /// As [`notify`](Self::notify), for a method that is known by name only.
    ///
    /// # Errors
    /// The connection is closed.
    pub async fn notify_raw(&self, method: &str, params: &RawValue) -> Result<(), RequestError> {
        let mut text = line(Notification::new(method, params));
        poll_fn(|task| self.0.poll_notify(&mut text, task)).await
    }

    /// Waits until the notifications are handled that came before now: behind the end of a turn, for example, its updates.
    pub async fn caught_up(&self) {
        let mark = self.0.mark();
        poll_fn(|task| self.0.poll_handled(mark, task)).await;
    }

    /// Ends the connection as soon as nothing is open on it: requests that come from now on are refused, those that are open
    /// are answered, on both sides, and what waits is written. Then the sink is closed, and the driver ends when the
    /// stream has. To end at once, drop the driver.
    pub fn shut_down(&self) {
        self.0.shut_down();
    }
}

/// A call that has been sent: a future of its result. A call that is dropped before is withdrawn.
#[derive(Debug)]
#[must_use = "a call that is dropped is withdrawn"]
pub struct PendingCall<P> {
    answer: PendingRawCall,
    of: PhantomData<fn() -> P>,
}

impl<P> PendingCall<P> {
    /// Withdraws the call, once, and goes on waiting: the peer still answers, perhaps with what it has done so far.
    pub fn withdraw(&self) {
        self.answer.withdraw();
    }
}

impl<P: RequestParams> Future for PendingCall<P> {
    type Output = Result<P::Response, RequestError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.answer).poll(task))?;
        // Some answer `null` where there is no result.
        let decoded = wire::decode(object(Some(result.as_ref())));
        Poll::Ready(decoded.map_err(|error| CallError::Invalid(error).into()))
    }
}

/// As [`PendingCall`], of a method that is known by name only.
#[derive(Debug)]
#[must_use = "a call that is dropped is withdrawn"]
pub struct PendingRawCall {
    link: Arc<dyn Link>,
    call: u64,
    is_done: bool,
}

impl PendingRawCall {
    /// Withdraws the call, once, and goes on waiting.
    pub fn withdraw(&self) {
        self.link.withdraw(self.call);
    }
}

impl Future for PendingRawCall {
    type Output = Result<Raw, RequestError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        let end = ready!(self.link.poll_end(self.call, task));
        self.is_done = true;
        Poll::Ready(match end? {
            Done::Result(result) => Ok(result),
            Done::Opened(_) | Done::Turn(_) => Err(RequestError::Call(CallError::Released)),
        })
    }
}

impl Drop for PendingRawCall {
    fn drop(&mut self) {
        if !self.is_done {
            self.link.forget(self.call);
        }
    }
}
