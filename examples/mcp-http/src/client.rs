//! A client over HTTP, of servers of both generations.
use crate::upstream::{Command, Upstream};
use async_trait::async_trait;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::{
    CallError, CallParams, ClientOptions, ConnectError, ServerDescription, ToolList,
};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::mcp::tools::CallToolResult;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Answers what servers ask.
#[async_trait]
pub trait Handler: Send + Sync + 'static {
    /// Answers a question to the user, a request to the model, or one for the roots, with the result of its method.
    ///
    /// # Errors
    /// There is no answer. A server from 2026-07-28 on is told that the user turned away.
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject>;
}

/// A client of one server. It ends when it is dropped, and all of its calls with it.
#[derive(Debug)]
pub struct HttpClient {
    server: ServerDescription,
    commands: mpsc::Sender<Command>,
}

impl HttpClient {
    /// Finds out what the server at `url` is. What `options` declare has to be answered by `handler`.
    ///
    /// # Errors
    /// The server cannot be used.
    pub async fn connect(
        http: reqwest::Client,
        url: &str,
        options: ClientOptions,
        handler: Arc<dyn Handler>,
    ) -> Result<Self, ConnectError> {
        let (commands, queue) = mpsc::channel(64);
        let (ready, is_ready) = oneshot::channel();
        let upstream = Upstream::new(http, url, options, handler);
        tokio::spawn(upstream.run(queue, ready));
        let server = is_ready.await.unwrap_or(Err(ConnectError::Silent))?;
        Ok(Self { server, commands })
    }

    /// What the server says of itself.
    pub fn server(&self) -> &ServerDescription {
        &self.server
    }

    /// The tools of the server. Those whose headers cannot be written are among the bad ones.
    ///
    /// # Errors
    /// The server gives no list.
    pub async fn tools(&self) -> Result<ToolList, CallError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::List(reply)).await?;
        answer.await.unwrap_or(Err(CallError::Silent))
    }

    /// Calls a tool. If the future is dropped, the call is cancelled.
    ///
    /// # Errors
    /// The call gives no result.
    pub async fn call(&self, params: CallParams) -> Result<CallToolResult, CallError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Call(Box::new(params), reply)).await?;
        answer.await.unwrap_or(Err(CallError::Silent))
    }

    async fn send(&self, command: Command) -> Result<(), CallError> {
        self.commands.send(command).await.map_err(|_| CallError::Silent)
    }
}
