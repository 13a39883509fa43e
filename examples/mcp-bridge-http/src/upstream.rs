//! The background task of a client: exchanges messages with the server over HTTP.
use crate::client::Handler;
use crate::exchange::{Exchange, Link};
use crate::sign_in::SignIn;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, Kind, Message, MessageBuf, RequestId};
use mcp_bridge::client::{
    BadTool, CallError, CallParams, Client, ClientEvent, ClientOptions, ConnectError, ListedTools,
    ServerDescription, UpstreamCall,
};
use mcp_bridge::http::{PROTOCOL_VERSION, SESSION_ID, headers_of, param_headers};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::tools::{CallToolResult, Tool};
use mcp_bridge::server::Needs;
use reqwest::RequestBuilder;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Maximum time to wait for the standalone stream to open.
const LISTENING: Duration = Duration::from_secs(1);

/// Time limit for requests without a response.
const PATIENCE: Duration = Duration::from_secs(30);

/// A command to the background task.
#[derive(Debug)]
pub(crate) enum Command {
    List(oneshot::Sender<Result<ListedTools, CallError>>),
    Call(Box<CallParams>, oneshot::Sender<Result<CallToolResult, CallError>>),
}

/// An event of the background task.
#[derive(Debug)]
pub(crate) enum Happened {
    /// The handler has answered.
    Answer(UpstreamCall, Vec<(String, Result<Raw, ErrorObject>)>),
    /// The future of a call was dropped.
    Abandoned(UpstreamCall),
    /// A message was received, in the response of a request of a call.
    Line(String, Option<UpstreamCall>),
    /// The server has started a session.
    Session(HeaderValue),
}

/// The caller of a tool.
struct Waiting {
    reply: oneshot::Sender<Result<CallToolResult, CallError>>,
    /// Detects that the caller was dropped.
    watch: AbortHandle,
}

/// State of the background task.
pub(crate) struct Upstream {
    link: Arc<Link>,
    client: Client,
    handler: Arc<dyn Handler>,
    happened: mpsc::Sender<Happened>,
    news: mpsc::Receiver<Happened>,
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    tools: BTreeMap<String, Tool>,
    lists: Vec<oneshot::Sender<Result<ListedTools, CallError>>>,
    calls: BTreeMap<UpstreamCall, Waiting>,
    /// HTTP requests in progress.
    requests: BTreeMap<RequestId, AbortHandle>,
    /// Reader of the standalone stream of a session.
    listener: Option<AbortHandle>,
    began: Instant,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let watches = self.calls.values().map(|waiting| &waiting.watch);
        let all = watches.chain(self.requests.values()).chain(&self.listener);
        all.for_each(AbortHandle::abort);
    }
}

impl Upstream {
    pub(crate) fn new(
        http: reqwest::Client,
        url: &str,
        options: ClientOptions,
        handler: Arc<dyn Handler>,
        sign_in: Option<Arc<SignIn>>,
    ) -> Self {
        let (happened, news) = mpsc::channel(64);
        Self {
            link: Arc::new(Link { http, url: url.to_owned(), sign_in }),
            client: Client::new(options),
            handler,
            happened,
            news,
            session: None,
            version: None,
            tools: BTreeMap::new(),
            lists: Vec::new(),
            calls: BTreeMap::new(),
            requests: BTreeMap::new(),
            listener: None,
            began: Instant::now(),
        }
    }

    /// Processes commands and events until the client is dropped.
    pub(crate) async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        ready: oneshot::Sender<Result<ServerDescription, ConnectError>>,
    ) {
        let mut ready = Some(ready);
        self.client.start(self.now());
        self.send_all(None).await;
        loop {
            let due = self.client.poll_timeout();
            let due = due.map(|due| self.began + self.link.waited() + due);
            let due = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.command(command).await,
                    None => break,
                },
                // This side holds a sender, so the channel stays open.
                Some(happened) = self.news.recv() => self.happened(happened).await,
                () = due => self.client.handle_timeout(self.now()),
            }
            while let Some(event) = self.client.poll_event() {
                if let ClientEvent::Ready(server) = &event {
                    self.version = HeaderValue::from_str(server.version.as_str()).ok();
                    self.send_all(None).await;
                    self.listen().await;
                }
                self.event(event, &mut ready);
            }
            self.send_all(None).await;
        }
        self.end_session().await;
    }

    /// Returns the time since the start, without sign-ins.
    fn now(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.link.waited())
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::List(reply) => {
                self.lists.push(reply);
                if self.client.list_tools().is_err() {
                    self.listed(&Err(CallError::Silent));
                }
            }
            Command::Call(params, reply) => match self.client.call(*params) {
                Ok(call) => {
                    let waiting = self.watch(call, reply);
                    self.calls.insert(call, waiting);
                    self.send_all(Some(call)).await;
                }
                Err(_) => {
                    let _gone = reply.send(Err(CallError::Silent));
                }
            },
        }
    }

    /// Registers the caller of a call. The call is cancelled when the caller is dropped.
    fn watch(
        &self,
        call: UpstreamCall,
        mut caller: oneshot::Sender<Result<CallToolResult, CallError>>,
    ) -> Waiting {
        let (reply, result) = oneshot::channel();
        let happened = self.happened.clone();
        let watch = tokio::spawn(async move {
            tokio::select! {
                () = caller.closed() => {
                    let _ended = happened.send(Happened::Abandoned(call)).await;
                }
                result = result => {
                    let _gone = caller.send(result.unwrap_or(Err(CallError::Silent)));
                }
            }
        });
        Waiting { reply, watch: watch.abort_handle() }
    }

    async fn happened(&mut self, happened: Happened) {
        match happened {
            Happened::Answer(call, answers) => {
                // An error means that the call has ended.
                let _ended = self.client.answer(call, answers);
                self.send_all(Some(call)).await;
            }
            Happened::Abandoned(call) => {
                let _ended = self.client.cancel(call);
                self.calls.remove(&call);
            }
            Happened::Line(line, related) => self.client.handle_line(Ok(&line), related),
            Happened::Session(session) => self.session = Some(session),
        }
    }

    fn event(
        &mut self,
        event: ClientEvent,
        ready: &mut Option<oneshot::Sender<Result<ServerDescription, ConnectError>>>,
    ) {
        match event {
            ClientEvent::Ready(server) => {
                if let Some(ready) = ready.take() {
                    let _gone = ready.send(Ok(*server));
                }
            }
            ClientEvent::Unusable(error) => {
                if let Some(ready) = ready.take() {
                    let _gone = ready.send(Err(error));
                }
            }
            ClientEvent::Tools(list) => {
                let list = with_headers(*list);
                let tools = list.tools.iter().map(|tool| (tool.name.clone(), tool.clone()));
                self.tools = tools.collect();
                self.listed(&Ok(list));
            }
            ClientEvent::ToolsFailed(error) => self.listed(&Err(error)),
            ClientEvent::Done { call, result } => self.ended(call, Ok(*result)),
            ClientEvent::Failed { call, error } => self.ended(call, Err(error)),
            ClientEvent::Needs { call, needs } => self.needs(call, needs),
            other => tracing::debug!(?other, "nothing to do"),
        }
    }

    /// Opens the standalone stream, up to 2025-11-25. Servers may send requests in it, but need not offer it.
    async fn listen(&mut self) {
        if self.session.is_none() {
            return;
        }
        let (link, headers) = (Arc::clone(&self.link), self.session_headers());
        let happened = self.happened.clone();
        let (id, call, is_old) = (None, None, true);
        let (opened, is_open) = oneshot::channel();
        let exchange = Exchange { link, id, call, headers, is_old, happened };
        self.listener = Some(tokio::spawn(exchange.listen(opened)).abort_handle());
        // Requests that are sent before the stream is open may be lost.
        let _not_waited_for = tokio::time::timeout(LISTENING, is_open).await;
    }

    fn listed(&mut self, outcome: &Result<ListedTools, CallError>) {
        for reply in self.lists.drain(..) {
            let _gone = reply.send(outcome.clone());
        }
    }

    fn ended(&mut self, call: UpstreamCall, outcome: Result<CallToolResult, CallError>) {
        if let Some(waiting) = self.calls.remove(&call) {
            let _gone = waiting.reply.send(outcome);
        }
    }

    /// Passes requests for input to the handler.
    fn needs(&self, call: UpstreamCall, needs: Needs) {
        let (handler, happened) = (Arc::clone(&self.handler), self.happened.clone());
        tokio::spawn(async move {
            let mut answers = Vec::new();
            for (key, request) in needs.requests {
                answers.push((key, handler.answer(&request).await));
            }
            let _ended = happened.send(Happened::Answer(call, answers)).await;
        });
    }

    /// Sends the messages of the client, for a call or without one.
    async fn send_all(&mut self, call: Option<UpstreamCall>) {
        while let Some(message) = self.client.poll_outgoing() {
            if let Some(request) = self.closes(&message) {
                if let Some(task) = self.requests.remove(&request) {
                    task.abort();
                }
                continue;
            }
            let builder = self.request(&message);
            let (link, headers) = (Arc::clone(&self.link), self.session_headers());
            let is_old = self.client.era() != Some(Era::Modern);
            let id = message.id().filter(|_| matches!(message.kind(), Kind::Request)).cloned();
            match id {
                Some(id) => {
                    let happened = self.happened.clone();
                    let exchange =
                        Exchange { link, id: Some(id.clone()), call, headers, is_old, happened };
                    let task = tokio::spawn(exchange.run(builder));
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
    }

    /// Returns the id of the request that a message cancels, if that is done by closing its stream.
    fn closes(&self, message: &MessageBuf) -> Option<RequestId> {
        let is_new = self.client.era() == Some(Era::Modern);
        let is_cancel = message.method() == Some("notifications/cancelled");
        let Message::Notification(notification) = message.as_message() else { return None };
        let params = notification.params.filter(|_| is_new && is_cancel)?;
        let params: mcp_bridge::mcp::cancellation::CancelledNotificationParams =
            jsonrpc_core::wire::decode(params.get()).ok()?;
        params.request_id
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

    /// Ends the session of a server up to 2025-11-25.
    async fn end_session(&self) {
        if self.session.is_some() {
            let request = self.link.http.delete(&self.link.url).headers(self.session_headers());
            if let Err(error) = self.link.send(request.timeout(PATIENCE)).await {
                tracing::debug!(error, "failed to end the session");
            }
        }
    }
}

/// Moves tools with invalid header keywords to the bad tools.
fn with_headers(mut list: ListedTools) -> ListedTools {
    let tools = std::mem::take(&mut list.tools);
    for (index, tool) in tools.into_iter().enumerate() {
        match (param_headers(&tool), Raw::from_value(&tool)) {
            (Err(error), Ok(raw)) => {
                tracing::warn!(tool = tool.name, %error, "left out a tool with an invalid header keyword");
                list.bad.push(BadTool::new(index, Some(tool.name), error.to_string(), raw));
            }
            _ => list.tools.push(tool),
        }
    }
    list
}

/// Returns the tool that a request calls.
fn called(request: &jsonrpc_core::Request<'_>) -> Option<String> {
    let params = request.params.filter(|_| request.method == "tools/call")?;
    let params: mcp_bridge::mcp::tools::CallToolRequestParams =
        jsonrpc_core::wire::decode(params.get()).ok()?;
    Some(params.name)
}
