//! The connection to one server, which is opened again when it ends.
use crate::address::{AddressError, ServerAddress, SignInOptions};
use acp_types::v1::session_setup::McpServer;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::auth::AuthError;
use mcp_bridge::client::{CallError, CallParams, ServerDescription};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::subscriptions::ServerChange;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge_http::{CallEvent, McpClient, OpenCall, OpenPage};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

mod connection;

/// Number of changes that a relay may be behind.
const MAX_CHANGES: usize = 256;

/// Maximum number of resources of one server that are watched.
const MAX_WATCHED: usize = 1024;

/// Options of a [`ToolServer`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Name and version of the program.
    pub client_info: Implementation,
    /// Whether the server may send requests to a model.
    pub can_sample: bool,
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
            can_sample: true,
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
    /// Changes of lists and resources, for relays.
    changes: broadcast::Sender<ServerChange>,
    /// Resources with subscriptions, and the number of those.
    watched: watch::Sender<BTreeMap<String, usize>>,
    /// Ends the time between two attempts.
    wake: Notify,
    /// Ends the connection.
    signed_out: Notify,
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
    /// Number of connections so far.
    connections: u64,
    /// Number of failed attempts to connect.
    failures: u64,
    /// Why the last attempt has failed, or its connection has ended.
    failure: Option<String>,
}

impl State {
    fn client(&self) -> Option<&Arc<McpClient>> {
        self.client.as_ref().filter(|client| !client.is_closed())
    }
}

/// Whether a server can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerStatus {
    /// The first attempt to connect is in progress, or the first one after a user signed in or out.
    Connecting,
    /// There is a connection.
    Ready,
    /// The server has rejected a request that only a sign-in of a user permits, for this reason.
    NeedsSignIn(String),
    /// The last attempt to connect has failed, or the connection has ended, for this reason.
    Unavailable(String),
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
    /// Connects to a server in the background. `sign_in` is used if a server over HTTP requires it.
    ///
    /// # Errors
    /// Returns an error if the transport is not supported, or a header or an address is invalid.
    pub fn start(
        server: &McpServer,
        options: ServerOptions,
        sign_in: Option<SignInOptions>,
    ) -> Result<Self, AddressError> {
        let name = match server {
            McpServer::Stdio(stdio) => &stdio.name,
            McpServer::Http(http) => &http.name,
            _ => return Err(AddressError::Transport),
        };
        let shared = Arc::new(Shared {
            name: name.clone(),
            address: ServerAddress::new(server, options.secrets.clone(), sign_in)?,
            options,
            state: watch::Sender::default(),
            changes: broadcast::Sender::new(MAX_CHANGES),
            watched: watch::Sender::default(),
            wake: Notify::new(),
            signed_out: Notify::new(),
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

    /// Returns the changes from now on: of the lists, and of resources that are [watched](Self::watch_resource). After an
    /// interruption, all of them are reported as changed.
    pub fn subscribe(&self) -> broadcast::Receiver<ServerChange> {
        self.shared.changes.subscribe()
    }

    /// Subscribes to changes of a resource, until the result is dropped. Returns `None` if too many resources are watched.
    pub fn watch_resource(&self, uri: &str) -> Option<WatchedResource> {
        let mut is_watched = false;
        self.shared.watched.send_if_modified(|watched| {
            is_watched = watched.contains_key(uri) || watched.len() < MAX_WATCHED;
            if !is_watched {
                return false;
            }
            let count = watched.entry(uri.to_owned()).or_default();
            *count += 1;
            *count == 1
        });
        let (shared, uri) = (self.shared.clone(), uri.to_owned());
        is_watched.then(|| WatchedResource { shared, uri })
    }

    /// Returns whether the server can be used.
    pub fn status(&self) -> ServerStatus {
        if let Some(error) = self.shared.address.sign_in().and_then(|it| it.user_error()) {
            return ServerStatus::NeedsSignIn(error.to_string());
        }
        let state = self.shared.state.borrow();
        match (state.client(), &state.failure) {
            (Some(_), _) => ServerStatus::Ready,
            (None, Some(reason)) => ServerStatus::Unavailable(reason.clone()),
            (None, None) => ServerStatus::Connecting,
        }
    }

    /// Begins a sign-in, and returns the page that the user has to open. It redirects to `redirect_uri`. `None` if no user is
    /// needed.
    ///
    /// # Errors
    /// Returns an error if the authorization server cannot be used, or the server has no sign-in.
    pub async fn begin_sign_in(&self, redirect_uri: &str) -> Result<Option<OpenPage>, AuthError> {
        let sign_in = self.shared.address.sign_in().ok_or(AuthError::OtherSignIn)?;
        let page = sign_in.begin(redirect_uri).await?;
        if page.is_none() {
            self.connect_again();
        }
        Ok(page)
    }

    /// Ends a sign-in with the URL that the page redirected to and the secret of the browser, and connects.
    ///
    /// # Errors
    /// Returns an error if the sign-in was rejected, or the redirect belongs to another one or comes from another browser.
    pub async fn finish_sign_in(&self, redirect: &str, browser: &str) -> Result<(), AuthError> {
        let sign_in = self.shared.address.sign_in().ok_or(AuthError::OtherSignIn)?;
        sign_in.finish(redirect, browser).await?;
        self.connect_again();
        Ok(())
    }

    /// Ends the wait for the next attempt, after a sign-in that removes the cause of a failure.
    fn connect_again(&self) {
        self.shared.state.send_modify(|state| state.failure = None);
        self.shared.wake.notify_one();
    }

    /// Removes the credentials, and ends the connection. Returns whether the authorization server has revoked them.
    ///
    /// # Errors
    /// Returns an error if the credentials are removed, but the authorization server did not answer.
    pub async fn sign_out(&self) -> Result<bool, AuthError> {
        let sign_in = self.shared.address.sign_in().ok_or(AuthError::OtherSignIn)?;
        let outcome = sign_in.sign_out().await;
        self.shared.signed_out.notify_waiters();
        self.shared.wake.notify_one();
        outcome
    }

    /// Returns whether a user can sign out.
    pub fn is_signed_in(&self) -> bool {
        self.shared.address.sign_in().is_some_and(|it| it.has_credentials())
    }

    /// Returns whether users can sign in at the server.
    pub fn has_sign_in(&self) -> bool {
        self.shared.address.sign_in().is_some()
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
        let reason = state.failure.as_deref().unwrap_or("it has ended");
        state.client().cloned().ok_or_else(|| unavailable(reason))
    }

    /// Starts a call of a tool, by its name on the server.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached.
    pub async fn open(&self, params: CallParams) -> Result<ServerCall, Unavailable> {
        self.opened(self.connected().await?.open(params).await)
    }

    /// Starts a request that is no call of a tool, such as `resources/read`.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, or its version does not define the method.
    pub async fn request(&self, request: ClientRequest) -> Result<ServerCall, Unavailable> {
        self.opened(self.connected().await?.open_request(request).await)
    }

    fn opened(&self, call: Result<OpenCall, CallError>) -> Result<ServerCall, Unavailable> {
        let call = call.map_err(|error| Unavailable {
            server: self.shared.name.clone(),
            reason: error.to_string(),
        })?;
        Ok(ServerCall { call, time: self.shared.options.call_time })
    }
}

/// A subscription to the changes of a resource. Dropping it ends the subscription.
pub struct WatchedResource {
    shared: Arc<Shared>,
    uri: String,
}

impl fmt::Debug for WatchedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedResource").field("uri", &self.uri).finish_non_exhaustive()
    }
}

impl Drop for WatchedResource {
    fn drop(&mut self) {
        self.shared.watched.send_if_modified(|watched| {
            let Some(count) = watched.get_mut(&self.uri) else { return false };
            *count -= 1;
            let is_last = *count == 0;
            if is_last {
                watched.remove(&self.uri);
            }
            is_last
        });
    }
}

/// A call or another request in progress. Dropping it cancels the call, unless it has ended.
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
