//! One connection to a server: the task that keeps it, and the calls that use it.
use super::{ServerOptions, Unavailable};
use crate::fair_queue::Place;
use crate::tools::sources::address::{OpenConnection, ServerAddress, explain};
use mcp_bridge::client::{CallError, ClientOptions, ServerDescription};
use mcp_bridge::mcp::capabilities::{
    ClientCapabilities, ElicitationCapability, ListChangedCapability, SamplingCapability,
};
use mcp_bridge::mcp::subscriptions::{ServerChange, SubscriptionFilter};
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge_http::McpClient;
use std::collections::BTreeMap;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast, watch};
use tokio::task::AbortHandle;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout};

/// Number of changes that a relay may be behind.
const MAX_CHANGES: usize = 256;

/// Maximum number of resources of one connection that are watched.
const MAX_WATCHED: usize = 1024;

/// Time before the second attempt to connect. It doubles with each attempt.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Maximum time between attempts. A connection that lasted longer counts as a success.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// A connection to a server. It is closed and opened again, and its subscriptions last.
pub(super) struct Connection {
    pub(super) name: String,
    pub(super) address: Arc<ServerAddress>,
    options: ServerOptions,
    /// Whether it is opened again when it ends. Otherwise a call opens it, and it is closed when it
    /// is unused.
    is_kept: bool,
    pub(super) state: watch::Sender<State>,
    /// Changes of lists and resources, for relays.
    changes: broadcast::Sender<ServerChange>,
    /// Resources with subscriptions, and the number of those.
    watched: watch::Sender<BTreeMap<String, usize>>,
    /// Ends the time between two attempts.
    pub(super) wake: Notify,
    task: Mutex<Option<AbortHandle>>,
}

/// What is known of a connection, and of the server.
#[derive(Clone, Default)]
pub(super) struct State {
    client: Option<Arc<McpClient>>,
    /// The server in its last connection.
    pub(super) description: Option<ServerDescription>,
    pub(super) tools: Arc<[Tool]>,
    /// Number of changes of the tools.
    pub(super) changes: u64,
    /// Number of connections so far.
    connections: u64,
    /// Number of failed attempts to connect.
    pub(super) failures: u64,
    /// Why the last attempt has failed, or its connection has ended.
    pub(super) failure: Option<String>,
    /// Number of times that the connection was ended on purpose.
    ends: u64,
    /// Number of tasks of the connection so far. Only the last one changes the state.
    tasks: u64,
    /// Whether the last task opens or keeps the connection.
    is_running: bool,
    /// Number of calls that use the connection.
    leases: usize,
    /// When the last call began or ended.
    used: Option<Instant>,
}

impl State {
    pub(super) fn client(&self) -> Option<&Arc<McpClient>> {
        self.client.as_ref().filter(|client| !client.is_closed())
    }

    fn close(&mut self) {
        self.client = None;
        self.is_running = false;
    }
}

/// The use of a connection by a call. The connection is not closed in favour of another user.
pub(super) struct Lease {
    connection: Arc<Connection>,
    /// The turn of its user on a shared connection.
    _place: Option<Place>,
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("server", &self.connection.name).finish_non_exhaustive()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.connection.state.send_modify(|state| {
            state.leases -= 1;
            state.used = Some(Instant::now());
        });
    }
}

impl Lease {
    /// Uses a connection that [runs](Connection::start).
    pub(super) fn new(connection: Arc<Connection>) -> Self {
        connection.state.send_modify(|state| {
            state.leases += 1;
            state.used = Some(Instant::now());
        });
        Self { connection, _place: None }
    }

    pub(super) fn with_place(mut self, place: Place) -> Self {
        self._place = Some(place);
        self
    }

    pub(super) fn call_time(&self) -> Duration {
        self.connection.options.call_time
    }

    /// Waits for the connection. Without one, an attempt is made at once.
    ///
    /// # Errors
    /// Returns an error if the attempt fails.
    pub(super) async fn client(&self) -> Result<Arc<McpClient>, Unavailable> {
        let connection = &self.connection;
        let mut state = connection.state.subscribe();
        let failures = {
            let state = state.borrow();
            if let Some(client) = state.client() {
                return Ok(client.clone());
            }
            state.failures
        };
        connection.wake.notify_one();
        let reached = |state: &State| {
            state.client().is_some() || state.failures > failures || !state.is_running
        };
        let state = state.wait_for(reached).await;
        let state = state.map_err(|_| connection.unavailable("it has ended"))?;
        let reason = state.failure.as_deref().unwrap_or("it has ended");
        state.client().cloned().ok_or_else(|| connection.unavailable(reason))
    }
}

impl Connection {
    /// Creates a connection that is not open.
    pub(super) fn new(
        name: String,
        address: Arc<ServerAddress>,
        options: ServerOptions,
        is_kept: bool,
    ) -> Arc<Self> {
        Arc::new(Self {
            name,
            address,
            options,
            is_kept,
            state: watch::Sender::default(),
            changes: broadcast::Sender::new(MAX_CHANGES),
            watched: watch::Sender::default(),
            wake: Notify::new(),
            task: Mutex::default(),
        })
    }

    pub(super) fn unavailable(&self, reason: &str) -> Unavailable {
        Unavailable { server: self.name.clone(), reason: reason.to_owned() }
    }

    /// Returns the options of the server.
    pub(super) fn options(&self) -> &ServerOptions {
        &self.options
    }

    /// Starts the task of the connection.
    pub(super) fn start(self: &Arc<Self>) {
        let mut number = 0;
        self.state.send_modify(|state| {
            state.close();
            state.tasks += 1;
            state.is_running = true;
            number = state.tasks;
        });
        let connection = self.clone();
        let task = if self.is_kept {
            tokio::spawn(async move { connection.keep_connected(number).await })
        } else {
            tokio::spawn(async move {
                let reason = connection.serve(number).await;
                let server = &connection.name;
                tracing::debug!(server, reason, "the connection of a user has ended");
            })
        };
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.abort_handle());
    }

    /// Returns whether a task opens or keeps the connection.
    pub(super) fn is_running(&self) -> bool {
        let state = self.state.borrow();
        let is_closed = state.client.as_ref().is_some_and(|client| client.is_closed());
        state.is_running && (self.is_kept || !is_closed)
    }

    /// Returns whether the connection runs, or has calls or subscribers.
    pub(super) fn is_in_use(&self) -> bool {
        self.is_running()
            || self.state.borrow().leases > 0
            || self.changes.receiver_count() > 0
            || !self.watched.borrow().is_empty()
    }

    /// Returns when the connection was last used, if it has no calls now.
    pub(super) fn unused_since(&self) -> Option<Instant> {
        let state = self.state.borrow();
        state.used.filter(|_| state.leases == 0)
    }

    /// Ends the connection.
    pub(super) fn end(&self) {
        self.state.send_modify(|state| {
            state.ends += 1;
            if !self.is_kept {
                state.close();
            }
        });
        self.wake.notify_one();
    }

    /// Ends the task of the connection.
    pub(super) fn abort(&self) {
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            task.abort();
        }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<ServerChange> {
        self.changes.subscribe()
    }

    /// Subscribes to changes of a resource. Returns whether there is room.
    pub(super) fn watch(&self, uri: &str) -> bool {
        let mut is_watched = false;
        self.watched.send_if_modified(|watched| {
            is_watched = watched.contains_key(uri) || watched.len() < MAX_WATCHED;
            if !is_watched {
                return false;
            }
            let count = watched.entry(uri.to_owned()).or_default();
            *count += 1;
            *count == 1
        });
        is_watched
    }

    /// Ends a subscription to changes of a resource.
    pub(super) fn unwatch(&self, uri: &str) {
        self.watched.send_if_modified(|watched| {
            let Some(count) = watched.get_mut(uri) else { return false };
            *count -= 1;
            let is_last = *count == 0;
            if is_last {
                watched.remove(uri);
            }
            is_last
        });
    }

    async fn keep_connected(&self, task: u64) {
        let mut wait = FIRST_WAIT;
        loop {
            let began = Instant::now();
            let reason = self.serve(task).await;
            tracing::warn!(server = self.name, reason, "no connection to an MCP server");
            wait = if began.elapsed() > MAX_WAIT { FIRST_WAIT } else { wait };
            tokio::select! {
                () = sleep(wait) => {}
                () = self.wake.notified() => {}
            }
            wait = MAX_WAIT.min(wait * 2);
        }
    }

    /// Changes the state, unless a later task has replaced this one.
    fn modify(&self, task: u64, modify: impl FnOnce(&mut State)) {
        self.state.send_if_modified(|state| {
            let is_current = state.tasks == task;
            if is_current {
                modify(state);
            }
            is_current
        });
    }

    /// Serves one connection until its end. Returns the reason of the end.
    async fn serve(&self, task: u64) -> String {
        let mut ended = self.state.subscribe();
        let ends = ended.borrow_and_update().ends;
        let is_over =
            move |state: &State| state.ends != ends || !state.is_running || state.tasks != task;
        let mut is_ended = pin!(async move {
            let _gone = ended.wait_for(is_over).await;
        });
        let start_time = self.options.start_time;
        let connected = tokio::select! {
            connected = timeout(start_time, self.connect()) => connected,
            () = is_ended.as_mut(), if !self.is_kept => return "it is not used".to_owned(),
        };
        let connected = match connected {
            Ok(Ok(connected)) => connected,
            Ok(Err(reason)) => return self.failed(task, reason),
            Err(_) => {
                let seconds = start_time.as_secs_f64();
                return self.failed(task, format!("no answer within {seconds} seconds"));
            }
        };
        let OpenConnection { client, process } = connected;
        let client = Arc::new(client);
        let is_first = self.state.borrow().connections == 0;
        self.modify(task, |state| {
            // The end may be requested already.
            state.client = state.is_running.then(|| client.clone());
            state.connections += 1;
            state.failure = None;
        });
        if !is_first {
            self.report_all(client.server());
        }
        tracing::info!(server = self.name, "connected to an MCP server");
        let is_intended = tokio::select! {
            () = client.closed() => false,
            () = self.follow(&client) => false,
            () = is_ended => true,
            () = self.unused(task), if !self.is_kept => true,
        };
        let failure = "the connection has ended";
        self.modify(task, |state| {
            state.client = None;
            if !self.is_kept {
                state.is_running = false;
                state.failure = (!is_intended).then(|| failure.to_owned());
            }
        });
        // The process exits after the end of its input, which the last owner of the client closes.
        drop(client);
        let reason = explain(failure.to_owned(), process).await;
        if !is_intended {
            self.modify(task, |state| state.failure = Some(reason.clone()));
        }
        reason
    }

    /// Closes the connection when it has had no calls for a time, unless resources are watched.
    async fn unused(&self, task: u64) {
        let mut state = self.state.subscribe();
        loop {
            let used = state.borrow_and_update().used;
            let is_used = state.wait_for(|state| state.leases > 0 || state.used != used);
            let is_used = timeout(self.options.idle_time, is_used).await.is_ok();
            if is_used {
                let _gone = state.wait_for(|state| state.leases == 0).await;
                continue;
            }
            if !self.watched.borrow().is_empty() {
                continue;
            }
            let mut is_closed = false;
            self.modify(task, |state| {
                is_closed = state.leases == 0;
                if is_closed {
                    state.close();
                }
            });
            if is_closed {
                return;
            }
        }
    }

    /// Connects, and publishes the tools.
    async fn connect(&self) -> Result<OpenConnection, String> {
        let mut capabilities = ClientCapabilities::new();
        capabilities.elicitation = Some(ElicitationCapability::new());
        capabilities.sampling = self.options.can_sample.then(SamplingCapability::new);
        let mut options = ClientOptions::new(self.options.client_info.clone(), capabilities);
        options.is_shared = self.options.is_shared;
        let connected = self.address.connect(options, self.options.exit_grace).await?;
        if let Err(error) = self.list(&connected.client).await {
            let OpenConnection { client, process } = connected;
            drop(client);
            return Err(explain(format!("it does not list its tools: {error}"), process).await);
        }
        Ok(connected)
    }

    fn failed(&self, task: u64, reason: String) -> String {
        self.modify(task, |state| {
            state.is_running = self.is_kept;
            state.failures += 1;
            state.failure = Some(reason.clone());
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
                    let server = &self.name;
                    let tool = &bad.name;
                    tracing::warn!(server, ?tool, error = bad.error, "left out a tool");
                }
                list.tools.into()
            }
        };
        let mut is_new = false;
        self.state.send_modify(|state| {
            is_new = state.tools != tools;
            state.changes += u64::from(is_new);
            state.tools = tools;
            state.description = Some(server.clone());
        });
        if is_new {
            self.report(ServerChange::Tools);
        }
        Ok(())
    }

    fn report(&self, change: ServerChange) {
        // Without relays there are no readers.
        let _unread = self.changes.send(change);
    }

    /// Reports the changes of the server, and retrieves the tool list again when it changes.
    /// Returns if the server does not answer.
    async fn follow(&self, client: &McpClient) {
        let mut watched = self.watched.subscribe();
        let filter = || filter(client.server(), &self.watched.borrow());
        let Ok(mut changes) = client.subscribe(filter()).await else { return pending().await };
        // Changes between the first list and the subscription are not reported.
        let tells = filter().tools_list_changed.is_some();
        if tells && self.list_again(client).await.is_err() {
            return;
        }
        loop {
            let change = tokio::select! {
                change = changes.recv() => change,
                // This side holds the sender, so there is no error.
                Ok(()) = watched.changed() => {
                    // An error means that the connection has ended, which the caller finds out.
                    let _ended = client.subscribe(filter()).await;
                    continue;
                }
            };
            let is_lagging = matches!(change, Err(RecvError::Lagged(_)));
            match change {
                Ok(ServerChange::Tools) | Err(RecvError::Lagged(_)) => {
                    if self.list_again(client).await.is_err() {
                        return;
                    }
                }
                Ok(other) => self.report(other),
                Err(RecvError::Closed) => return pending().await,
            }
            if is_lagging {
                self.report_all(client.server());
            }
        }
    }

    /// Retrieves the tool list again.
    ///
    /// # Errors
    /// The server does not answer.
    async fn list_again(&self, client: &McpClient) -> Result<(), Elapsed> {
        if let Err(error) = timeout(self.options.start_time, self.list(client)).await? {
            tracing::warn!(server = self.name, %error, "the tools cannot be listed");
        }
        Ok(())
    }

    /// Reports everything that may have changed, besides the tools.
    fn report_all(&self, server: &ServerDescription) {
        if server.capabilities.prompts.is_some() {
            self.report(ServerChange::Prompts);
        }
        if server.capabilities.resources.is_some() {
            self.report(ServerChange::Resources);
        }
        let watched: Vec<_> = self.watched.borrow().keys().cloned().collect();
        watched.into_iter().for_each(|uri| self.report(ServerChange::Resource(uri)));
    }
}

/// Returns the changes to subscribe to: those that the server reports, and of the resources that
/// are watched.
fn filter(server: &ServerDescription, watched: &BTreeMap<String, usize>) -> SubscriptionFilter {
    let offered = &server.capabilities;
    let listed = |list: Option<&ListChangedCapability>| {
        list.and_then(|it| it.list_changed).filter(|reported| *reported)
    };
    let resources = offered.resources.as_ref();
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = listed(offered.tools.as_ref());
    filter.prompts_list_changed = listed(offered.prompts.as_ref());
    filter.resources_list_changed =
        resources.and_then(|it| it.list_changed).filter(|reported| *reported);
    if resources.is_some_and(|it| it.subscribe == Some(true)) {
        filter.resource_subscriptions = Some(watched.keys().cloned().collect());
    }
    filter
}
