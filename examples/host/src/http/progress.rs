//! Streams of HTTP/2 without a progress of the response end, and other streams of the connection
//! continue.
//!
//! The window of a stream is below the socket. A client with a window of zero answers pings and
//! reads the socket, so that neither pings nor the time limit of writes notice it.
use axum::body::{Body, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::rt::Executor;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// Largest part of a body that is sent at once. A client that takes it within the limit makes
/// progress.
const MAX_PART: usize = 16 * 1024;

tokio::task_local! {
    /// Whether the stream of this task has data that the client has to take before further data is
    /// requested.
    static IS_WAITING: watch::Sender<bool>;
}

/// Runs the streams of a connection, each with a time limit for the client to take a part of the
/// response.
#[derive(Clone, Debug)]
pub(crate) struct Streams(pub(crate) Duration);

impl<F> Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        let limit = self.0;
        let (is_waiting, changes) = watch::channel(false);
        tokio::spawn(async move {
            tokio::select! {
                _ = IS_WAITING.scope(is_waiting, stream) => {}
                () = standstill(changes, limit) => tracing::debug!("a client takes no response"),
            }
        });
    }
}

/// Returns when the client was waited for during the whole limit.
async fn standstill(mut is_waiting: watch::Receiver<bool>, limit: Duration) {
    loop {
        if is_waiting.wait_for(|is_waiting| *is_waiting).await.is_err() {
            // The stream has ended; its task ends with it.
            return std::future::pending().await;
        }
        tokio::select! {
            () = sleep(limit) => return,
            _ = is_waiting.changed() => {}
        }
    }
}

/// Observes the body of a response in the task of its stream.
pub(crate) fn observed(body: Body) -> Body {
    match IS_WAITING.try_with(watch::Sender::clone) {
        Ok(is_waiting) => {
            is_waiting.send_replace(true);
            Body::new(ResponseBody { body, rest: Bytes::new(), is_waiting })
        }
        Err(_) => body,
    }
}

/// A body that is observed. Its protocol requests a part when the client has taken the one before.
struct ResponseBody {
    body: Body,
    /// The part of the last frame that was not sent.
    rest: Bytes,
    is_waiting: watch::Sender<bool>,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            let polled = Pin::new(&mut self.body).poll_frame(cx);
            let Poll::Ready(Some(Ok(frame))) = polled else {
                self.is_waiting.send_replace(false);
                return polled;
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => {
                    self.is_waiting.send_replace(false);
                    return Poll::Ready(Some(Ok(trailers)));
                }
            }
        }
        let length = self.rest.len().min(MAX_PART);
        let part = self.rest.split_to(length);
        self.is_waiting.send_replace(true);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.body.size_hint();
        let rest = self.rest.len() as u64;
        let lower = hint.lower().saturating_add(rest);
        match hint.upper() {
            // The upper bound first: it has to be at least the lower one.
            Some(upper) => {
                hint.set_upper(upper.saturating_add(rest));
                hint.set_lower(lower);
            }
            None => hint.set_lower(lower),
        }
        hint
    }
}
