use super::cancel::Cancel;
use super::replies::{Outcome, Place};
use super::shared::Shared;
use crate::wire::Raw;
use crate::{ErrorObject, LineError, RequestId};
use alloc::sync::Arc;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context as Task, Poll};
use serde::Serialize;
use serde_json::value::RawValue;

/// The sending side of a connection. Clones send on the same connection, from any thread, also from inside handlers.
///
/// Messages leave in the order they were sent: what one task sent before it sent another thing, or before its handler
/// answered, is not overtaken by that. All of it stands still unless the [driver](super::Driver) is polled.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) shared: Arc<Shared>,
}

impl Client {
    /// Sends a notification; waits while [`Options::outgoing`](super::Options::outgoing) messages wait to be written.
    ///
    /// # Errors
    /// [`RequestError::Closed`], or [`RequestError::Congested`] where a notification is handled.
    pub async fn notify<'a>(
        &self,
        method: &str,
        params: impl Into<Option<&'a RawValue>>,
    ) -> Result<(), RequestError> {
        self.notify_text(method, params.into().map(|params| params.get().as_bytes())).await
    }

    /// As [`notify`](Self::notify), with params that are written into the message at once: without a copy, and without
    /// memory for a [`Raw`] of them.
    ///
    /// # Errors
    /// As for `notify`, and [`RequestError::Unwritten`].
    pub async fn notify_value<T: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &T,
    ) -> Result<(), RequestError> {
        let text = self.shared.write(params)?;
        let sent = self.notify_text(method, Some(&text)).await;
        self.shared.give_back(text);
        sent
    }

    async fn notify_text(&self, method: &str, params: Option<&[u8]>) -> Result<(), RequestError> {
        poll_fn(|task| self.shared.poll_notify(method, params, task)).await
    }

    /// Sends a request, and waits for what comes of it. It has no deadline: wrap it in the timer of your runtime, and
    /// what is dropped is taken back, as [`Reply`] says.
    ///
    /// # Errors
    /// The peer answered with an error, or no result can come any more.
    pub async fn request<'a>(
        &self,
        method: &str,
        params: impl Into<Option<&'a RawValue>>,
    ) -> Result<Raw, RequestError> {
        self.send_request(method, params).await?.await
    }

    /// As [`request`](Self::request), with params that are written as by [`notify_value`](Self::notify_value).
    ///
    /// # Errors
    /// As for `request`, and [`RequestError::Unwritten`].
    pub async fn request_value<T: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &T,
    ) -> Result<Raw, RequestError> {
        self.send_request_value(method, params).await?.await
    }

    /// Sends a request, as soon as there is room as for [`notify`](Self::notify); what comes of it is to be awaited.
    ///
    /// # Errors
    /// [`RequestError::Full`], [`RequestError::Closed`], or [`RequestError::Congested`] where a notification is handled.
    pub async fn send_request<'a>(
        &self,
        method: &str,
        params: impl Into<Option<&'a RawValue>>,
    ) -> Result<Reply, RequestError> {
        self.request_text(method, params.into().map(|params| params.get().as_bytes())).await
    }

    /// As [`send_request`](Self::send_request), with params that are written as by [`notify_value`](Self::notify_value).
    ///
    /// # Errors
    /// As for `send_request`, and [`RequestError::Unwritten`].
    pub async fn send_request_value<T: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &T,
    ) -> Result<Reply, RequestError> {
        let text = self.shared.write(params)?;
        let sent = self.request_text(method, Some(&text)).await;
        self.shared.give_back(text);
        sent
    }

    async fn request_text(
        &self,
        method: &str,
        params: Option<&[u8]>,
    ) -> Result<Reply, RequestError> {
        let (id, place) = poll_fn(|task| self.shared.poll_request(method, params, task)).await?;
        Ok(Reply { id, place, is_done: false, shared: Arc::clone(&self.shared) })
    }

    /// Waits until the notifications are handled that came before now.
    ///
    /// A response may be there while notifications that came before it still wait for their turn: if it had to wait for
    /// them, one of them could wait for it. Whoever needs them handled first waits here, behind the response.
    pub async fn caught_up(&self) {
        let mark = self.shared.mark();
        poll_fn(|task| self.shared.lock().poll_handled(mark, task)).await;
    }

    /// Ends the connection as soon as nothing is open on it: requests that come from now on are refused, those that are
    /// open are answered, on both sides, and what waits to be written is written. More may be sent until then. Then the
    /// sink is closed, and the [driver](super::Driver) ends when the peer has closed its side too. To end at once, drop
    /// the driver.
    pub fn shut_down(&self) {
        self.shared.shut_down();
    }
}

/// A request of ours that has been sent: a future of what comes of it.
///
/// Dropped before that it is taken back: the peer is told with the protocol's own notification, and a response that
/// comes nevertheless is a [`Stray`](super::Stray).
#[derive(Debug)]
#[must_use = "dropping it takes the request back"]
pub struct Reply {
    id: RequestId,
    place: Place,
    is_done: bool,
    shared: Arc<Shared>,
}

impl Reply {
    /// The id of the request.
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Takes the request back, once, and goes on waiting: the peer still answers, perhaps with what it has done so far.
    pub fn cancel(&self) {
        self.shared.cancel(&self.id);
    }
}

impl Future for Reply {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Outcome> {
        if self.is_done {
            return Poll::Ready(Err(RequestError::Closed));
        }
        let outcome = self.shared.lock().replies.poll(self.place, task);
        self.is_done = outcome.is_ready();
        outcome
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.is_done {
            self.shared.forget(&self.id, self.place);
        }
    }
}

/// A message of ours could not be sent, or a request of ours got no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The peer answered with an error.
    #[error(transparent)]
    Answered(#[from] ErrorObject),
    /// The peer answered with what is no message.
    #[error("the answer cannot be read")]
    Malformed(#[source] LineError),
    /// The params have no JSON form: a map whose keys are not strings, or their `Serialize` failed.
    #[error("the params cannot be written")]
    Unwritten(#[source] serde_json::Error),
    /// As many requests of ours are open as [`Limits::ours`](crate::Limits::ours) allows.
    #[error("too many open requests")]
    Full,
    /// The connection is closed, or nothing comes from it any more.
    #[error("connection closed")]
    Closed,
    /// The handling of a notification waited for an answer or for room to send, while as many notifications waited for
    /// it as [`Options::notifications`](super::Options::notifications) allows.
    #[error("too many notifications wait")]
    Congested,
}

/// What belongs to a request of theirs, for its handler.
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) client: Client,
    pub(super) cancel: Arc<Cancel>,
}

impl Context {
    /// The connection that the request came on.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the request was taken back. It has to be answered nevertheless;
    /// [`ErrorCode::REQUEST_CANCELLED`](crate::ErrorCode::REQUEST_CANCELLED) is for that.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }

    /// Waits until the request is taken back, or the driver is gone. It may never be.
    pub async fn cancelled(&self) {
        poll_fn(|task| self.cancel.poll(task)).await;
    }
}
