//! The connection to one server, which is opened again when it ends.
use crate::address::{AddressError, Connected, ServerAddress, explain};
use acp_types::v1::session_setup::McpServer;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::{CallError, CallParams, ClientOptions, ServerDescription};
use mcp_bridge::mcp::capabilities::{
    ClientCapabilities, ElicitationCapability, Implementation, SamplingCapability,
};
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge_http::{CallEvent, McpClient, OpenCall};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

/// Time before the second attempt to connect. It doubles with each attempt.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Maximum time between attempts. A connection that lasted longer counts as a success.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Options of a [`ToolServer`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Name and version of the program.
    pub client_info: Implementation,
    /// Variables that a process does not inherit.
    pub secrets: Vec<String>,
    /// Time for the server to start and to list its tools.
    pub start_time: Duration,
    /// Time for a tool to answer. It starts again with each progress notification, and when the user has answered.
    pub call_time: Duration,
    /// Time for a process to exit after the end of its input.
    pub exit_grace: Duration,
}

impl ServerOptions {
    /// Creates options for a program of this name and version, with the defaults of the times.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            client_info: Implementation::new(name, version),
            secrets: Vec::new(),
            start_time: Duration::from_secs(60),
            call_time: Duration::from_secs(30 * 60),
            exit_grace: Duration::from_secs(4),
        }
    }
}

/// A server, and the task that keeps the connection to it. Dropping it ends both.
pub struct ToolServer {
    shared: Arc<Shared>,
    task: AbortHandle,
}

struct Shared {
    name: String,
    address: ServerAddress,
    options: ServerOptions,
    state: watch::Sender<State>,
    /// Ends the time between two attempts.
    wake: Notify,
}

/// What is known of a server.
#[derive(Clone, Default)]
struct State {
    client: Option<Arc<McpClient>>,
    /// The server in its last connection.
    description: Option<ServerDescription>,
    tools: Arc<[Tool]>,
    /// Number of changes of the tools.
    changes: u64,
    /// Number of failed attempts to connect, and the last error.
    failures: u64,
    error: String,
}

impl State {
    fn client(&self) -> Option<&Arc<McpClient>> {
        self.client.as_ref().filter(|client| !client.is_closed())
    }
}

/// A server cannot be used at the moment.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the MCP server `{server}` is not available: {reason}")]
pub struct Unavailable {
    server: String,
    reason: String,
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may contain secrets.
        f.debug_struct("ToolServer").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl Drop for ToolServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ToolServer {
    /// Connects to a server in the background.
    ///
    /// # Errors
    /// Returns an error if the transport is not supported or a header is invalid.
    pub fn start(server: &McpServer, options: ServerOptions) -> Result<Self, AddressError> {
        let name = match server {
            McpServer::Stdio(stdio) => &stdio.name,
            McpServer::Http(http) => &http.name,
            _ => return Err(AddressError::Transport),
        };
        let shared = Arc::new(Shared {
            name: name.clone(),
            address: ServerAddress::new(server, options.secrets.clone())?,
            options,
            state: watch::Sender::default(),
            wake: Notify::new(),
        });
        let task = tokio::spawn(shared.clone().keep_connected()).abort_handle();
        Ok(Self { shared, task })
    }

    /// Returns the name of the server in the settings.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Returns the tools. Without a connection, those of the last one are returned.
    pub fn tools(&self) -> Arc<[Tool]> {
        self.shared.state.borrow().tools.clone()
    }

    /// Returns the number of changes of the tools so far.
    pub fn changes(&self) -> u64 {
        self.shared.state.borrow().changes
    }

    /// Returns the properties of the server in its last connection, if there was one.
    pub fn description(&self) -> Option<ServerDescription> {
        self.shared.state.borrow().description.clone()
    }

    /// Waits until the number of changes differs from `changes`.
    pub async fn changed(&self, changes: u64) {
        let mut state = self.shared.state.subscribe();
        // This side holds the sender, so the wait ends only with its condition.
        let _ = state.wait_for(|state| state.changes != changes).await;
    }

    /// Waits until the tools are known, or the first attempt to connect has failed.
    pub async fn ready(&self) {
        let mut state = self.shared.state.subscribe();
        let is_ready = |state: &State| state.description.is_some() || state.failures > 0;
        let _ = state.wait_for(is_ready).await;
    }

    /// Waits for the connection. Without one, an attempt is made at once.
    ///
    /// # Errors
    /// Returns an error if the attempt fails.
    pub async fn connected(&self) -> Result<Arc<McpClient>, Unavailable> {
        let mut state = self.shared.state.subscribe();
        let failures = {
            let state = state.borrow();
            if let Some(client) = state.client() {
                return Ok(client.clone());
            }
            state.failures
        };
        self.shared.wake.notify_one();
        let reached = |state: &State| state.client().is_some() || state.failures > failures;
        let unavailable = |reason: &str| Unavailable {
            server: self.shared.name.clone(),
            reason: reason.to_owned(),
        };
        let state = state.wait_for(reached).await.map_err(|_| unavailable("it has ended"))?;
        state.client().cloned().ok_or_else(|| unavailable(&state.error))
    }

    /// Starts a call of a tool, by its name on the server.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached.
    pub async fn open(&self, params: CallParams) -> Result<ServerCall, Unavailable> {
        let client = self.connected().await?;
        let call = client.open(params).await.map_err(|error| Unavailable {
            server: self.shared.name.clone(),
            reason: error.to_string(),
        })?;
        Ok(ServerCall { call, time: self.shared.options.call_time })
    }
}

/// A call in progress. Dropping it cancels the call, unless it has ended.
#[derive(Debug)]
pub struct ServerCall {
    call: OpenCall,
    time: Duration,
}

impl ServerCall {
    /// Waits for the next event. Only the time of this wait counts towards the time limit of the tool.
    pub async fn next(&mut self) -> CallEvent {
        let event = timeout(self.time, self.call.next()).await;
        event.unwrap_or(CallEvent::Ended(Err(CallError::Silent)))
    }

    /// Waits for the next event while the user is asked, which has no time limit.
    pub async fn next_while_asking(&mut self) -> CallEvent {
        self.call.next().await
    }

    /// Answers all requests of one event.
    pub async fn answer(&self, answers: Vec<(String, Result<Raw, ErrorObject>)>) {
        self.call.answer(answers).await;
    }
}

impl Shared {
    async fn keep_connected(self: Arc<Self>) {
        let mut wait = FIRST_WAIT;
        loop {
            let began = Instant::now();
            let reason = self.serve().await;
            tracing::warn!(server = self.name, reason, "no connection to an MCP server");
            wait = if began.elapsed() > MAX_WAIT { FIRST_WAIT } else { wait };
            tokio::select! {
                () = sleep(wait) => {}
                () = self.wake.notified() => {}
            }
            wait = MAX_WAIT.min(wait * 2);
        }
    }

    /// Serves one connection until its end. Returns the reason of the end.
    async fn serve(&self) -> String {
        let start_time = self.options.start_time;
        let connected = match timeout(start_time, self.connect()).await {
            Ok(Ok(connected)) => connected,
            Ok(Err(reason)) => return self.failed(reason),
            Err(_) => {
                let seconds = start_time.as_secs_f64();
                return self.failed(format!("no answer within {seconds} seconds"));
            }
        };
        let Connected { client, process } = connected;
        let client = Arc::new(client);
        self.state.send_modify(|state| state.client = Some(client.clone()));
        tracing::info!(server = self.name, "connected to an MCP server");
        tokio::select! {
            () = client.closed() => {}
            () = self.follow(&client) => {}
        }
        self.state.send_modify(|state| state.client = None);
        // The process exits after the end of its input, which the last owner of the client closes.
        drop(client);
        explain("the connection has ended".to_owned(), process).await
    }

    /// Connects, and publishes the tools.
    async fn connect(&self) -> Result<Connected, String> {
        let mut capabilities = ClientCapabilities::new();
        capabilities.elicitation = Some(ElicitationCapability::new());
        capabilities.sampling = Some(SamplingCapability::new());
        let options = ClientOptions::new(self.options.client_info.clone(), capabilities);
        let connected = self.address.connect(options, self.options.exit_grace).await?;
        if let Err(error) = self.list(&connected.client).await {
            let Connected { client, process } = connected;
            drop(client);
            return Err(explain(format!("it does not list its tools: {error}"), process).await);
        }
        Ok(connected)
    }

    fn failed(&self, reason: String) -> String {
        self.state.send_modify(|state| {
            state.failures += 1;
            state.error.clone_from(&reason);
        });
        reason
    }

    /// Retrieves the tool list, if the server has one.
    async fn list(&self, client: &McpClient) -> Result<(), CallError> {
        let server = client.server();
        let tools: Arc<[Tool]> = match server.capabilities.tools {
            None => Arc::from([]),
            Some(_) => {
                let list = client.tools().await?;
                for bad in &list.bad {
                    let (server, tool) = (&self.name, &bad.name);
                    tracing::warn!(server, ?tool, error = bad.error, "left out a tool");
                }
                list.tools.into()
            }
        };
        self.state.send_modify(|state| {
            state.changes += u64::from(state.tools != tools);
            state.tools = tools;
            state.description = Some(server.clone());
        });
        Ok(())
    }

    /// Retrieves the tool list again when it changes. Returns if the server does not answer.
    async fn follow(&self, client: &McpClient) {
        let tools = client.server().capabilities.tools.as_ref();
        let tells = tools.is_some_and(|tools| tools.list_changed == Some(true));
        let changes = if tells { client.subscribe_to_tools().await.ok() } else { None };
        let Some(mut changes) = changes else { return std::future::pending().await };
        // Changes between the first list and the subscription are not reported.
        changes.mark_changed();
        while changes.changed().await.is_ok() {
            match timeout(self.options.start_time, self.list(client)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(server = self.name, %error, "the tools cannot be listed");
                }
                Err(_) => return,
            }
        }
    }
}
