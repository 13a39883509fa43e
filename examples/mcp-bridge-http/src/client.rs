//! An HTTP client for servers of both generations.
use crate::sign_in::SignIn;
use crate::upstream::{Command, Upstream};
use async_trait::async_trait;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::{
    CallError, CallParams, ClientOptions, ConnectError, ListedTools, ServerDescription,
};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::tools::CallToolResult;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Answers requests of servers.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Answers an elicitation, a sampling request, or a request for roots, with the result of its method.
    ///
    /// # Errors
    /// Returns an error if there is no answer. A server since 2026-07-28 receives it as a cancellation.
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject>;
}

/// A client connected to one server. Dropping it ends the session and all calls.
#[derive(Debug)]
pub struct HttpClient {
    server: ServerDescription,
    commands: mpsc::Sender<Command>,
}

impl HttpClient {
    /// Connects to the server at `url`. `handler` has to answer the requests that `options` permit. `sign_in` is used when
    /// the server requires authorization.
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
        let (commands, queue) = mpsc::channel(64);
        let (ready, is_ready) = oneshot::channel();
        let upstream = Upstream::new(http, url, options, handler, sign_in);
        tokio::spawn(upstream.run(queue, ready));
        let server = is_ready.await.unwrap_or(Err(ConnectError::Silent))?;
        Ok(Self { server, commands })
    }

    /// Returns the properties of the server.
    pub fn server(&self) -> &ServerDescription {
        &self.server
    }

    /// Retrieves the tool list. Tools with invalid `x-mcp-header` keywords are reported as bad.
    ///
    /// # Errors
    /// Returns an error if the list cannot be retrieved.
    pub async fn tools(&self) -> Result<ListedTools, CallError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::List(reply)).await?;
        answer.await.unwrap_or(Err(CallError::Silent))
    }

    /// Calls a tool. Dropping the future cancels the call.
    ///
    /// # Errors
    /// Returns an error if the call has no result.
    pub async fn call(&self, params: CallParams) -> Result<CallToolResult, CallError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Call(Box::new(params), reply)).await?;
        answer.await.unwrap_or(Err(CallError::Silent))
    }

    async fn send(&self, command: Command) -> Result<(), CallError> {
        self.commands.send(command).await.map_err(|_| CallError::Silent)
    }
}
