//! A stream of messages as an HTTP response.
use crate::connection::{Connection, EndOnDrop};
use crate::stream::Reader;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Reconnection time sent to clients.
const RETRY: Duration = Duration::from_secs(1);

/// A stream of messages for one reader.
pub(crate) struct Sse {
    pub(crate) reader: Reader,
    pub(crate) connection: Arc<Connection>,
    /// Interval of keep-alive comments.
    pub(crate) keep_alive: Duration,
    /// Whether events have ids, with which a client can resume the stream.
    pub(crate) is_resumable: bool,
    /// Whether the stream starts with an event that has only an id.
    pub(crate) is_primed: bool,
    /// A message that was already read from the stream.
    pub(crate) first: Option<Arc<str>>,
    /// Ends the request when the reader disconnects.
    pub(crate) end: Option<EndOnDrop>,
}

impl Sse {
    pub(crate) fn into_response(self) -> Response {
        let events = stream::unfold(self, |mut sse| async move {
            let event = sse.next().await?;
            Some((Ok::<_, Infallible>(event), sse))
        });
        let mut response = Body::from_stream(events).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }

    async fn next(&mut self) -> Option<String> {
        if std::mem::take(&mut self.is_primed) {
            let id = self.reader.event_id();
            let retry = RETRY.as_millis();
            return Some(format!("id: {id}\nretry: {retry}\ndata: \n\n"));
        }
        if let Some(first) = self.first.take() {
            return Some(self.event(&first));
        }
        match timeout(self.keep_alive, self.reader.next()).await {
            Ok(Some(message)) => Some(self.event(&message)),
            Ok(None) => {
                // An answered request can no longer be cancelled.
                self.end = None;
                None
            }
            Err(_) => {
                self.connection.touch();
                Some(":\n\n".to_owned())
            }
        }
    }

    /// Formats the message that was read last as an event.
    fn event(&self, message: &str) -> String {
        match self.is_resumable {
            true => format!("event: message\nid: {}\ndata: {message}\n\n", self.reader.event_id()),
            false => format!("event: message\ndata: {message}\n\n"),
        }
    }
}
