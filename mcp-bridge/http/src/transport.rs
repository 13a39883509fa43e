//! Transports of a client: Streamable HTTP, or the pipes of a process.
use crate::exchange::{Exchange, Link};
use crate::transport_event::TransportEvent;
use futures::future::Shared;
use futures::{FutureExt, Stream, StreamExt};
use jsonrpc_core::framing::Lines;
use jsonrpc_core::{Kind, Message, MessageBuf, RequestId};
use mcp_bridge::client::UpstreamCall;
use mcp_bridge::http::{PROTOCOL_VERSION, SESSION_ID, headers_of};
use mcp_bridge::mcp::base::{Era, ProtocolVersion};
use mcp_bridge::mcp::tools::Tool;
use reqwest::RequestBuilder;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

/// Maximum time to wait for the standalone stream to open.
const LISTENING: Duration = Duration::from_secs(1);

/// Time limit for requests without a response.
const PATIENCE: Duration = Duration::from_secs(30);

/// The way to a server.
pub(crate) enum Transport {
    Http(Box<Http>),
    Pipes(Pipes),
}

impl Transport {
    /// Sends a message, which belongs to a call or to none.
    ///
    /// # Errors
    /// The connection has ended.
    pub(crate) async fn send(
        &mut self,
        message: &MessageBuf,
        call: Option<UpstreamCall>,
        era: Option<Era>,
    ) -> io::Result<()> {
        match self {
            Self::Http(http) => {
                http.send(message, call, era).await;
                Ok(())
            }
            Self::Pipes(pipes) => {
                let mut line = Vec::new();
                message.as_message().to_line(&mut line);
                (pipes.send)(line)
            }
        }
    }

    /// Returns the time that the user has spent in sign-ins.
    pub(crate) fn waited(&self) -> Duration {
        match self {
            Self::Http(http) => http.link.waited(),
            Self::Pipes(_) => Duration::ZERO,
        }
    }

    /// Handles the end of the handshake.
    pub(crate) fn handle_ready(&mut self, version: &ProtocolVersion) {
        if let Self::Http(http) = self {
            http.version = HeaderValue::from_str(version.as_str()).ok();
        }
    }

    /// Opens the standalone stream of a session, up to 2025-11-25.
    pub(crate) async fn listen(&mut self) {
        if let Self::Http(http) = self {
            http.listen().await;
        }
    }

    /// Handles the id of a session.
    pub(crate) fn handle_session(&mut self, session: HeaderValue) {
        if let Self::Http(http) = self {
            http.session = Some(session);
        }
    }

    /// Handles the tools of the server. Their calls may need headers.
    pub(crate) fn handle_tools(&mut self, tools: &[Tool]) {
        if let Self::Http(http) = self {
            http.tools = tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect();
        }
    }

    /// Ends the session of a server up to 2025-11-25.
    pub(crate) async fn end(&mut self) {
        if let Self::Http(http) = self {
            http.end_session().await;
        }
    }

    /// Returns whether the tools of the server need headers that can be written.
    pub(crate) fn has_headers(&self) -> bool {
        matches!(self, Self::Http(_))
    }
}

/// Pipes to a process: a sender of lines, and a task that reads.
pub(crate) struct Pipes {
    send: Box<dyn FnMut(Vec<u8>) -> io::Result<()> + Send>,
    reader: AbortHandle,
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Pipes {
    /// Reads lines from `incoming` until it ends.
    pub(crate) fn new<B: AsRef<[u8]> + Send>(
        incoming: impl Stream<Item = io::Result<B>> + Send + 'static,
        send: impl FnMut(Vec<u8>) -> io::Result<()> + Send + 'static,
        transport_events: mpsc::Sender<TransportEvent>,
    ) -> Self {
        let reader = tokio::spawn(async move {
            let mut incoming = Box::pin(incoming);
            let mut lines = Lines::default();
            while let Some(Ok(bytes)) = incoming.next().await {
                lines.push(bytes.as_ref());
                let mut read = Vec::new();
                while let Some(line) = lines.next() {
                    read.push(match line {
                        Ok(line) => TransportEvent::Line(line.to_owned(), None),
                        Err(error) => TransportEvent::BadLine(error),
                    });
                }
                for line in read {
                    if transport_events.send(line).await.is_err() {
                        return;
                    }
                }
            }
            let _ended = transport_events.send(TransportEvent::Closed).await;
        });
        Self { send: Box::new(send), reader: reader.abort_handle() }
    }
}

/// Streamable HTTP.
pub(crate) struct Http {
    link: Arc<Link>,
    transport_events: mpsc::Sender<TransportEvent>,
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    tools: BTreeMap<String, Tool>,
    /// HTTP requests in progress.
    requests: BTreeMap<RequestId, AbortHandle>,
    /// Ends with the last change of the level of log messages, on which later requests depend.
    level: Option<Shared<oneshot::Receiver<()>>>,
    /// Reader of the standalone stream of a session.
    listener: Option<AbortHandle>,
}

impl Drop for Http {
    fn drop(&mut self) {
        self.requests.values().chain(&self.listener).for_each(AbortHandle::abort);
    }
}

impl Http {
    pub(crate) fn new(link: Link, transport_events: mpsc::Sender<TransportEvent>) -> Self {
        Self {
            link: Arc::new(link),
            transport_events,
            session: None,
            version: None,
            tools: BTreeMap::new(),
            requests: BTreeMap::new(),
            level: None,
            listener: None,
        }
    }

    async fn send(&mut self, message: &MessageBuf, call: Option<UpstreamCall>, era: Option<Era>) {
        if let Some(request) = cancelled(message) {
            // A request that waits for another one stays unsent.
            if let Some(task) = self.requests.remove(&request) {
                task.abort();
            }
            if era == Some(Era::Modern) {
                return;
            }
        }
        let builder = self.request(message);
        let link = Arc::clone(&self.link);
        let headers = self.session_headers();
        let is_old = era != Some(Era::Modern);
        let id = message.id().filter(|_| matches!(message.kind(), Kind::Request)).cloned();
        match id {
            Some(id) => {
                let transport_events = self.transport_events.clone();
                let exchange = Exchange {
                    link,
                    id: Some(id.clone()),
                    call,
                    headers,
                    is_old,
                    transport_events,
                };
                let earlier = self.level.clone();
                let mut end = None;
                let builder = match message.method() == Some("logging/setLevel") {
                    true => {
                        let (sender, ended) = oneshot::channel::<()>();
                        end = Some(sender);
                        self.level = Some(ended.shared());
                        builder.timeout(PATIENCE)
                    }
                    false => builder,
                };
                let task = tokio::spawn(async move {
                    if let Some(earlier) = earlier {
                        // The sender is dropped at the end.
                        let _ended = earlier.await;
                    }
                    exchange.run(builder).await;
                    drop(end);
                });
                self.requests.retain(|_, task| !task.is_finished());
                self.requests.insert(id, task.abort_handle());
            }
            // Sent in order, because later messages may depend on them.
            None => {
                if let Err(error) = self.link.send(builder.timeout(PATIENCE)).await {
                    tracing::debug!(error, "failed to send a message");
                }
            }
        }
    }

    /// Opens the standalone stream, up to 2025-11-25. Servers may send requests in it, but need not
    /// offer it.
    async fn listen(&mut self) {
        if self.session.is_none() {
            return;
        }
        let link = Arc::clone(&self.link);
        let headers = self.session_headers();
        let transport_events = self.transport_events.clone();
        let id = None;
        let call = None;
        let is_old = true;
        let (opened, is_open) = oneshot::channel();
        let exchange = Exchange { link, id, call, headers, is_old, transport_events };
        self.listener = Some(tokio::spawn(exchange.listen(opened)).abort_handle());
        // Requests that are sent before the stream is open may be lost.
        let _not_waited_for = tokio::time::timeout(LISTENING, is_open).await;
    }

    /// Creates the HTTP request of a message.
    fn request(&self, message: &MessageBuf) -> RequestBuilder {
        let mut line = Vec::new();
        message.as_message().to_line(&mut line);
        let mut headers = self.session_headers();
        if let Message::Request(request) = message.as_message() {
            let tool = called(&request).and_then(|name| self.tools.get(&name));
            // Tools with invalid keywords are not in the list.
            for (name, value) in headers_of(&request, tool).unwrap_or_default() {
                let name = HeaderName::try_from(name.as_ref());
                if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                    headers.insert(name, value);
                }
            }
        }
        self.link.http.post(&self.link.url).headers(headers).body(line)
    }

    fn session_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
        for (name, value) in [(SESSION_ID, &self.session), (PROTOCOL_VERSION, &self.version)] {
            if let (Ok(name), Some(value)) = (HeaderName::try_from(name), value) {
                headers.insert(name, value.clone());
            }
        }
        headers
    }

    async fn end_session(&self) {
        if self.session.is_some() {
            let request = self.link.http.delete(&self.link.url).headers(self.session_headers());
            if let Err(error) = self.link.send(request.timeout(PATIENCE)).await {
                tracing::debug!(error, "failed to end the session");
            }
        }
    }
}

/// Returns the id of the request that a message cancels. Since 2026-07-28, the end of its stream
/// does so.
fn cancelled(message: &MessageBuf) -> Option<RequestId> {
    let is_cancel = message.method() == Some("notifications/cancelled");
    let Message::Notification(notification) = message.as_message() else { return None };
    let params = notification.params.filter(|_| is_cancel)?;
    let params: mcp_bridge::mcp::cancellation::CancelledNotificationParams =
        jsonrpc_core::wire::decode(params.get()).ok()?;
    params.request_id
}

/// Returns the tool that a request calls.
fn called(request: &jsonrpc_core::Request<'_>) -> Option<String> {
    let params = request.params.filter(|_| request.method == "tools/call")?;
    let params: mcp_bridge::mcp::tools::CallToolRequestParams =
        jsonrpc_core::wire::decode(params.get()).ok()?;
    Some(params.name)
}
