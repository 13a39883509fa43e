//! One server: the connection that lists its tools, which is opened again when it ends, and those
//! of its users.
use crate::tools::sources::address::{AddressError, ServerAddress, SignInOptions};
use acp_types::v1::session_setup::McpServer;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::auth::AuthError;
use mcp_bridge::client::{CallError, CallParams, ServerDescription};
use mcp_bridge::mcp::capabilities::Implementation;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::subscriptions::ServerChange;
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge_http::{CallEvent, OpenCall, OpenPage};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;

mod connection;
mod users;

use connection::{Connection, Lease, State};
use users::Users;

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
    /// Time for a tool to answer. It starts again with each progress notification, and when the
    /// user has answered.
    pub call_time: Duration,
    /// Time for a process to exit after the end of its input.
    pub exit_grace: Duration,
    /// Whether all users share one connection. Otherwise each user has a process or a session of
    /// their own; the first has the one that lists the tools. On a shared connection, a question
    /// that names no call is refused, as by
    /// [`ClientOptions::is_shared`](mcp_bridge::client::ClientOptions::is_shared).
    pub is_shared: bool,
    /// Maximum number of open calls of one user on a shared connection. Further ones wait.
    pub max_shared_calls: usize,
    /// Maximum number of connections of users, besides that of the first. An unused one is closed
    /// in favour of another.
    pub max_connections: usize,
    /// Time after which an unused connection of a user, other than the first, is closed.
    pub idle_time: Duration,
}

impl ServerOptions {
    /// Default of [`max_shared_calls`](Self::max_shared_calls).
    pub const DEFAULT_MAX_SHARED_CALLS: usize = 16;

    /// Default of [`max_connections`](Self::max_connections).
    pub const DEFAULT_MAX_CONNECTIONS: usize = 32;

    /// Default of [`idle_time`](Self::idle_time).
    pub const DEFAULT_IDLE_TIME: Duration = Duration::from_secs(10 * 60);

    /// Creates options for a program of this name and version, with the defaults of the times.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            client_info: Implementation::new(name, version),
            can_sample: true,
            secrets: Vec::new(),
            start_time: Duration::from_secs(60),
            call_time: Duration::from_secs(30 * 60),
            exit_grace: Duration::from_secs(4),
            is_shared: false,
            max_shared_calls: Self::DEFAULT_MAX_SHARED_CALLS,
            max_connections: Self::DEFAULT_MAX_CONNECTIONS,
            idle_time: Self::DEFAULT_IDLE_TIME,
        }
    }
}

/// A server, and the tasks that keep the connections to it. Dropping it ends them.
pub struct ToolServer {
    users: Users,
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
        f.debug_struct("ToolServer").field("name", &self.name()).finish_non_exhaustive()
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
        let address = ServerAddress::new(server, options.secrets.clone(), sign_in)?;
        Ok(Self { users: Users::start(name.clone(), Arc::new(address), options) })
    }

    /// Returns the connection that lists the tools.
    fn first(&self) -> &Connection {
        self.users.first()
    }

    /// Returns the name of the server in the settings.
    pub fn name(&self) -> &str {
        &self.first().name
    }

    /// Returns the tools. Without a connection, those of the last one are returned.
    pub fn tools(&self) -> Arc<[Tool]> {
        self.first().state.borrow().tools.clone()
    }

    /// Returns the number of changes of the tools so far.
    pub fn changes(&self) -> u64 {
        self.first().state.borrow().changes
    }

    /// Returns the properties of the server in its last connection, if there was one.
    pub fn description(&self) -> Option<ServerDescription> {
        self.first().state.borrow().description.clone()
    }

    /// Returns the changes from now on: of the lists, and of resources that the user
    /// [watches](Self::watch_resource). After an interruption, all of them are reported as changed.
    pub fn subscribe(&self, user: &str) -> ServerChanges {
        self.users.subscribe(user)
    }

    /// Subscribes a user to changes of a resource, until the result is dropped. Returns `None` if
    /// too many resources are watched.
    pub fn watch_resource(&self, user: &str, uri: &str) -> Option<WatchedResource> {
        self.users.watch(user, uri)
    }

    /// Returns whether the server can be used.
    pub fn status(&self) -> ServerStatus {
        if let Some(error) = self.first().address.sign_in().and_then(|it| it.user_error()) {
            return ServerStatus::NeedsSignIn(error.to_string());
        }
        let state = self.first().state.borrow();
        match (state.client(), &state.failure) {
            (Some(_), _) => ServerStatus::Ready,
            (None, Some(reason)) => ServerStatus::Unavailable(reason.clone()),
            (None, None) => ServerStatus::Connecting,
        }
    }

    /// Begins a sign-in, and returns the page that the user has to open. It redirects to
    /// `redirect_uri`. `None` if no user is needed.
    ///
    /// # Errors
    /// Returns an error if the authorization server cannot be used, or the server has no sign-in.
    pub async fn begin_sign_in(&self, redirect_uri: &str) -> Result<Option<OpenPage>, AuthError> {
        let sign_in = self.first().address.sign_in().ok_or(AuthError::OtherSignIn)?;
        let page = sign_in.begin(redirect_uri).await?;
        if page.is_none() {
            self.connect_again();
        }
        Ok(page)
    }

    /// Ends a sign-in with the URL that the page redirected to and the secret of the browser, and
    /// connects.
    ///
    /// # Errors
    /// Returns an error if the sign-in was rejected, or the redirect belongs to another one or
    /// comes from another browser.
    pub async fn finish_sign_in(&self, redirect: &str, browser: &str) -> Result<(), AuthError> {
        let sign_in = self.first().address.sign_in().ok_or(AuthError::OtherSignIn)?;
        sign_in.finish(redirect, browser).await?;
        self.connect_again();
        Ok(())
    }

    /// Ends the wait for the next attempt, after a sign-in that removes the cause of a failure.
    fn connect_again(&self) {
        self.first().state.send_modify(|state| state.failure = None);
        self.first().wake.notify_one();
    }

    /// Removes the credentials, and ends the connections. Returns whether the authorization server
    /// has revoked them.
    ///
    /// # Errors
    /// Returns an error if the credentials are removed, but the authorization server did not
    /// answer.
    pub async fn sign_out(&self) -> Result<bool, AuthError> {
        let sign_in = self.first().address.sign_in().ok_or(AuthError::OtherSignIn)?;
        let outcome = sign_in.sign_out().await;
        self.users.end_all();
        outcome
    }

    /// Returns whether a user can sign out.
    pub fn is_signed_in(&self) -> bool {
        self.first().address.sign_in().is_some_and(|it| it.has_credentials())
    }

    /// Returns whether users can sign in at the server.
    pub fn has_sign_in(&self) -> bool {
        self.first().address.sign_in().is_some()
    }

    /// Waits until the tools are known, or the first attempt to connect has failed.
    pub async fn ready(&self) {
        let mut state = self.first().state.subscribe();
        let is_ready = |state: &State| state.description.is_some() || state.failures > 0;
        let _ = state.wait_for(is_ready).await;
    }

    /// Waits for the connection that lists the tools. Without one, an attempt is made at once.
    ///
    /// # Errors
    /// Returns an error if the attempt fails.
    pub async fn connected(&self) -> Result<(), Unavailable> {
        self.users.lease_first().client().await.map(drop)
    }

    /// Starts a call of a tool for a user, by its name on the server.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, or too many users have calls.
    pub async fn open(&self, user: &str, params: CallParams) -> Result<ServerCall, Unavailable> {
        let lease = self.users.enter(user).await?;
        let call = lease.client().await?.open(params).await;
        self.opened(call, lease)
    }

    /// Starts a request for a user that is no call of a tool, such as `resources/read`.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, its version does not define the method, or
    /// too many users have calls.
    pub async fn request(
        &self,
        user: &str,
        request: ClientRequest,
    ) -> Result<ServerCall, Unavailable> {
        let lease = self.users.enter(user).await?;
        let call = lease.client().await?.open_request(request).await;
        self.opened(call, lease)
    }

    fn opened(
        &self,
        call: Result<OpenCall, CallError>,
        lease: Lease,
    ) -> Result<ServerCall, Unavailable> {
        let call = call.map_err(|error| Unavailable {
            server: self.name().to_owned(),
            reason: error.to_string(),
        })?;
        Ok(ServerCall { call, time: lease.call_time(), _lease: lease })
    }
}

/// Changes of a server for one user.
#[derive(Debug)]
pub struct ServerChanges {
    /// Those of the connection of the user.
    own: broadcast::Receiver<ServerChange>,
    /// Those of the connection that lists the tools, if it is another one.
    lists: Option<broadcast::Receiver<ServerChange>>,
}

impl ServerChanges {
    /// Waits for the next change. The future can be dropped without losing one.
    ///
    /// # Errors
    /// Returns an error if changes were missed, or the server is no longer used.
    pub async fn recv(&mut self) -> Result<ServerChange, RecvError> {
        let Some(lists) = &mut self.lists else { return self.own.recv().await };
        loop {
            let change = tokio::select! {
                change = self.own.recv() => return change,
                change = lists.recv() => change?,
            };
            // The resources of that connection belong to another user.
            if !matches!(change, ServerChange::Resource(_)) {
                return Ok(change);
            }
        }
    }
}

/// A subscription to the changes of a resource. Dropping it ends the subscription.
pub struct WatchedResource {
    connection: Arc<Connection>,
    uri: String,
}

impl fmt::Debug for WatchedResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedResource").field("uri", &self.uri).finish_non_exhaustive()
    }
}

impl Drop for WatchedResource {
    fn drop(&mut self) {
        self.connection.unwatch(&self.uri);
    }
}

/// A call or another request in progress. Dropping it cancels the call, unless it has ended.
#[derive(Debug)]
pub struct ServerCall {
    call: OpenCall,
    time: Duration,
    /// Keeps the connection.
    _lease: Lease,
}

impl ServerCall {
    /// Waits for the next event. Only the time of this wait counts towards the time limit of the
    /// tool.
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
