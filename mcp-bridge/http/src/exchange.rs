//! A request to a server until its response, across interruptions of the stream.
use crate::event_stream::{EventStream, MAX_EVENT};
use crate::failure::failure;
use crate::sign_in::SignIn;
use crate::transport_event::TransportEvent;
use futures::StreamExt;
use jsonrpc_core::{ErrorCode, ErrorObject, Kind, Message, RequestId, peek};
use mcp_bridge::client::UpstreamCall;
use mcp_bridge::http::SESSION_ID;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Maximum number of consecutive reconnections without a message.
const MAX_ATTEMPTS: usize = 5;

/// Default delay before a reconnection.
const RETRY: Duration = Duration::from_secs(1);

/// Address of the server, and the sign-in there.
pub(crate) struct Link {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) sign_in: Option<Arc<SignIn>>,
}

impl Link {
    /// Sends a request. Signs in if the server requires it.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response, String> {
        match &self.sign_in {
            Some(sign_in) => sign_in.send(request).await,
            None => request.send().await.map_err(failure),
        }
    }

    /// Returns the time spent in sign-ins.
    pub(crate) fn waited(&self) -> Duration {
        self.sign_in.as_ref().map(|sign_in| sign_in.waited()).unwrap_or_default()
    }
}

/// A request without a response.
pub(crate) struct Exchange {
    pub(crate) link: Arc<Link>,
    /// `None` for the stream of messages without a request.
    pub(crate) id: Option<RequestId>,
    pub(crate) call: Option<UpstreamCall>,
    pub(crate) headers: HeaderMap,
    /// Whether streams can be resumed.
    pub(crate) is_old: bool,
    pub(crate) transport_events: mpsc::Sender<TransportEvent>,
}

impl Exchange {
    pub(crate) async fn run(self, request: RequestBuilder) {
        let mut is_lost = false;
        let problem = match self.link.send(request).await {
            Ok(response) => {
                let has_session = self.headers.contains_key(SESSION_ID);
                is_lost = has_session && response.status() == StatusCode::NOT_FOUND;
                self.read(response).await.err()
            }
            Err(problem) => Some(problem),
        };
        // No response will arrive. The client has to be notified.
        if let (Some(problem), Some(id)) = (problem, &self.id) {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, problem);
            let mut line = Vec::new();
            let response = jsonrpc_core::Response::new(id.clone(), Err(error));
            Message::from(response).to_line(&mut line);
            self.take(String::from_utf8_lossy(&line).into_owned()).await;
        }
        if is_lost {
            let _ended = self.transport_events.send(TransportEvent::Closed).await;
        }
    }

    /// Reads the stream of messages without a request.
    pub(crate) async fn listen(self, opened: oneshot::Sender<()>) {
        let response = self.get(None).await;
        drop(opened);
        if let Some(response) = response
            && let Err(problem) = self.follow(response).await
        {
            tracing::debug!(problem, "the standalone stream ended");
        }
    }

    /// Opens or resumes a stream.
    async fn get(&self, last: Option<&str>) -> Option<Response> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert("last-event-id", last);
        }
        let request = self.link.http.get(&self.link.url).headers(headers);
        let response = self.link.send(request).await.ok()?;
        response.status().is_success().then_some(response)
    }

    /// Reads an HTTP response until the response to the request.
    async fn read(&self, response: Response) -> Result<(), String> {
        let status = response.status();
        if let Some(session) = response.headers().get(SESSION_ID) {
            let _ended = self.transport_events.send(TransportEvent::Session(session.clone())).await;
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return self.follow(response).await;
        }
        let body = body(response).await?;
        match self.answers(&body) {
            true => {
                self.take(body).await;
                Ok(())
            }
            false => Err(format!("unexpected status {status}")),
        }
    }

    /// Reads a stream, and reconnects when it is interrupted.
    async fn follow(&self, response: Response) -> Result<(), String> {
        let mut response = Some(response);
        let mut last = None::<String>;
        let mut retry = RETRY;
        let mut attempts = 0;
        while attempts < MAX_ATTEMPTS {
            let Some(opened) = response.take() else {
                if !self.is_old || (last.is_none() && self.id.is_some()) {
                    break;
                }
                attempts += 1;
                tokio::time::sleep(retry).await;
                response = self.get(last.as_deref()).await;
                continue;
            };
            let mut events = EventStream::default();
            let mut chunks = opened.bytes_stream();
            while let Some(Ok(chunk)) = chunks.next().await {
                let read = events.push(&chunk).map_err(|_| "event too large".to_owned())?;
                retry = events.retry.unwrap_or(retry);
                for event in read {
                    last = event.id.or(last);
                    if event.data.is_empty() {
                        continue;
                    }
                    attempts = 0;
                    let is_last = self.answers(&event.data);
                    self.take(event.data).await;
                    if is_last {
                        return Ok(());
                    }
                }
            }
        }
        Err("the stream ended before the response".to_owned())
    }

    /// Returns whether a line is the response to the request.
    fn answers(&self, line: &str) -> bool {
        let peeked = peek(line.as_bytes()).ok();
        peeked.is_some_and(|peeked| {
            matches!(peeked.kind(), Kind::Response) && peeked.request_id() == self.id
        })
    }

    async fn take(&self, line: String) {
        let _ended = self.transport_events.send(TransportEvent::Line(line, self.call)).await;
    }
}

/// Reads a body within the limit of an event.
async fn body(response: Response) -> Result<String, String> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk.map_err(failure)?);
        if body.len() > MAX_EVENT {
            return Err(format!("a response of more than {MAX_EVENT} bytes"));
        }
    }
    String::from_utf8(body).map_err(|_| "a response that is not UTF-8".to_owned())
}
