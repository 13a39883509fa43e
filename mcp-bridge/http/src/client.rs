//! A client for servers of both generations, over HTTP or pipes.
use crate::call_event::CallEvent;
use crate::exchange::Link;
use crate::sign_in::SignIn;
use crate::transport::{Http, Pipes, Transport};
use crate::transport_event::TransportEvent;
use crate::upstream::{CALL_EVENTS, Command, NewRequest, Upstream};
use async_trait::async_trait;
use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt};
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::{
    CallError, CallParams, ClientOptions, ConnectError, ListedTools, ServerDescription,
    UpstreamCall,
};
use mcp_bridge::mcp::dispatch::{ClientRequest, ServerRequest};
use mcp_bridge::mcp::subscriptions::{ServerChange, SubscriptionFilter};
use mcp_bridge::mcp::tools::CallToolResult;
use mcp_bridge::server::Needs;
use std::sync::Arc;
use std::{fmt, io};
use tokio::sync::{broadcast, mpsc, oneshot};

/// Number of changes that a reader may be behind. A reader that is further behind is notified by an
/// error.
const MAX_CHANGES: usize = 256;

/// Answers requests of servers.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Answers an elicitation, a sampling request, or a request for roots, with the result of its
    /// method.
    ///
    /// # Errors
    /// Returns an error if there is no answer. A server since 2026-07-28 receives it as a
    /// cancellation.
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject>;
}

/// A client connected to one server. Dropping it ends the session and all calls.
pub struct McpClient {
    server: ServerDescription,
    commands: mpsc::Sender<Command>,
    handler: Arc<dyn Handler>,
    changes: broadcast::Receiver<ServerChange>,
}

impl fmt::Debug for McpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpClient").field("server", &self.server).finish_non_exhaustive()
    }
}

impl McpClient {
    /// Connects to the server at `url`. `handler` has to answer the requests that `options` permit.
    /// `sign_in` is used when the server requires authorization.
    ///
    /// # Errors
    /// Returns an error if the server cannot be used.
    pub async fn connect(
        http: reqwest::Client,
        url: &str,
        options: ClientOptions,
        handler: Arc<dyn Handler>,
        sign_in: Option<Arc<SignIn>>,
    ) -> Result<Self, ConnectError> {
        let link = Link { http, url: url.to_owned(), sign_in };
        let transport =
            |transport_events| Transport::Http(Box::new(Http::new(link, transport_events)));
        Self::start(options, handler, transport).await
    }

    /// Connects to a server on the pipes of a process: `incoming` are the bytes of its stdout, and
    /// `send` takes lines for its stdin, without waiting. An error of either ends the connection.
    ///
    /// # Errors
    /// Returns an error if the server cannot be used.
    pub async fn connect_pipes<B: AsRef<[u8]> + Send>(
        incoming: impl Stream<Item = io::Result<B>> + Send + 'static,
        send: impl FnMut(Vec<u8>) -> io::Result<()> + Send + 'static,
        options: ClientOptions,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, ConnectError> {
        let transport =
            |transport_events| Transport::Pipes(Pipes::new(incoming, send, transport_events));
        Self::start(options, handler, transport).await
    }

    async fn start(
        options: ClientOptions,
        handler: Arc<dyn Handler>,
        transport: impl FnOnce(mpsc::Sender<TransportEvent>) -> Transport,
    ) -> Result<Self, ConnectError> {
        let (commands, queue) = mpsc::channel(64);
        let (ready, is_ready) = oneshot::channel();
        let (changed, changes) = broadcast::channel(MAX_CHANGES);
        tokio::spawn(Upstream::new(options, changed, transport).run(queue, ready));
        let server = is_ready.await.unwrap_or(Err(ConnectError::Silent))?;
        Ok(Self { server, commands, handler, changes })
    }

    /// Returns the properties of the server.
    pub fn server(&self) -> &ServerDescription {
        &self.server
    }

    /// Retrieves the tool list. Tools with `x-mcp-header` keywords that are invalid are reported as
    /// bad over HTTP.
    ///
    /// # Errors
    /// Returns an error if the list cannot be retrieved.
    pub async fn tools(&self) -> Result<ListedTools, CallError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::List(reply)).await?;
        answer.await.unwrap_or(Err(CallError::Silent))
    }

    /// Replaces the changes that the server reports, and returns them. If the server ends the
    /// subscription, it is opened again, and everything that it covers is reported as changed.
    ///
    /// # Errors
    /// Returns an error if the connection has ended.
    pub async fn subscribe(
        &self,
        filter: SubscriptionFilter,
    ) -> Result<broadcast::Receiver<ServerChange>, CallError> {
        let changes = self.changes.resubscribe();
        self.send(Command::Subscribe(filter)).await?;
        Ok(changes)
    }

    /// Returns whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.commands.is_closed()
    }

    /// Waits for the end of the connection: of the process, or of the session of a server up to
    /// 2025-11-25.
    pub async fn closed(&self) {
        self.commands.closed().await;
    }

    /// Calls a tool. Requests of the server are answered by the [`Handler`]. Dropping the future
    /// cancels the call.
    ///
    /// # Errors
    /// Returns an error if the call has no result.
    pub async fn call(&self, params: CallParams) -> Result<CallToolResult, CallError> {
        match self.end_of(self.open(params).await?).await {
            CallEvent::Ended(outcome) => outcome.map(|result| *result),
            _ => Err(CallError::Silent),
        }
    }

    /// Sends a request that is no tool call, such as `resources/read`, and returns its result as
    /// received. [`ServerResult`](mcp_bridge::mcp::dispatch::ServerResult) decodes it. Otherwise
    /// like [`call`](Self::call).
    ///
    /// # Errors
    /// Returns an error if the request has no result, or the version of the server does not define
    /// the method.
    pub async fn request(&self, request: ClientRequest) -> Result<Raw, CallError> {
        match self.end_of(self.open_request(request).await?).await {
            CallEvent::Answered(result) => Ok(result),
            CallEvent::Ended(Err(error)) => Err(error),
            _ => Err(CallError::Silent),
        }
    }

    /// Answers the requests of the server during a call, and returns its last event.
    async fn end_of(&self, mut call: OpenCall) -> CallEvent {
        let mut answers = FuturesUnordered::new();
        loop {
            tokio::select! {
                event = call.next() => match event {
                    CallEvent::Needs(needs) => answers.push(self.answer(needs)),
                    CallEvent::Withdrawn(_) | CallEvent::Progress(_) | CallEvent::Log(_) => {}
                    CallEvent::Answered(_) | CallEvent::Ended(_) => return event,
                },
                Some(answered) = answers.next() => call.answer(answered).await,
            }
        }
    }

    async fn answer(&self, needs: Needs) -> Vec<(String, Result<Raw, ErrorObject>)> {
        let mut answers = Vec::new();
        for (key, request) in needs.requests {
            let answer = self.handler.answer(&request).await;
            answers.push((key, answer));
        }
        answers
    }

    /// Starts a call of a tool. The caller answers the requests of the server.
    ///
    /// # Errors
    /// Returns an error if the call cannot be sent.
    pub async fn open(&self, params: CallParams) -> Result<OpenCall, CallError> {
        self.begin(NewRequest::Call(params)).await
    }

    /// Starts a request that is no tool call. The caller answers the requests of the server.
    ///
    /// # Errors
    /// Returns an error if the request cannot be sent, or the version of the server does not define
    /// the method.
    pub async fn open_request(&self, request: ClientRequest) -> Result<OpenCall, CallError> {
        self.begin(NewRequest::Request(request)).await
    }

    async fn begin(&self, opening: NewRequest) -> Result<OpenCall, CallError> {
        let (sender, events) = mpsc::channel(CALL_EVENTS);
        let (reply, opened) = oneshot::channel();
        self.send(Command::Open(Box::new(opening), sender, reply)).await?;
        let call = opened.await.unwrap_or(Err(CallError::Silent))?;
        Ok(OpenCall { call, commands: self.commands.clone(), events })
    }

    async fn send(&self, command: Command) -> Result<(), CallError> {
        self.commands.send(command).await.map_err(|_| CallError::Silent)
    }
}

/// A call or another request in progress. Dropping it cancels the call, unless it has ended.
#[derive(Debug)]
pub struct OpenCall {
    call: UpstreamCall,
    commands: mpsc::Sender<Command>,
    events: mpsc::Receiver<CallEvent>,
}

impl OpenCall {
    /// Waits for the next event. The future can be dropped without losing one.
    pub async fn next(&mut self) -> CallEvent {
        self.events.recv().await.unwrap_or(CallEvent::Ended(Err(CallError::Silent)))
    }

    /// Answers requests of the server. All requests of one event are answered at once: a server
    /// since 2026-07-28 is called again with the answers. The call is unchanged if it has ended.
    pub async fn answer(&self, answers: Vec<(String, Result<Raw, ErrorObject>)>) {
        let _ended = self.commands.send(Command::Answer(self.call, answers)).await;
    }
}
