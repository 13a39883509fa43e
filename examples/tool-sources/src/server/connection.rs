//! The task that keeps the connection to a server.
use super::Shared;
use crate::address::{Connected, explain};
use mcp_bridge::client::{CallError, ClientOptions, ServerDescription};
use mcp_bridge::mcp::capabilities::{
    ClientCapabilities, ElicitationCapability, ListChangedCapability, SamplingCapability,
};
use mcp_bridge::mcp::subscriptions::{ServerChange, SubscriptionFilter};
use mcp_bridge::mcp::tools::Tool;
use mcp_bridge_http::McpClient;
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout};

/// Time before the second attempt to connect. It doubles with each attempt.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Maximum time between attempts. A connection that lasted longer counts as a success.
const MAX_WAIT: Duration = Duration::from_secs(60);

impl Shared {
    pub(super) async fn keep_connected(self: Arc<Self>) {
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
        let is_first = self.state.borrow().connections == 0;
        self.state.send_modify(|state| {
            state.client = Some(client.clone());
            state.connections += 1;
            state.failure = None;
        });
        if !is_first {
            self.report_all(client.server());
        }
        tracing::info!(server = self.name, "connected to an MCP server");
        let is_signed_out = tokio::select! {
            () = client.closed() => false,
            () = self.follow(&client) => false,
            () = self.signed_out.notified() => true,
        };
        self.state.send_modify(|state| state.client = None);
        // The process exits after the end of its input, which the last owner of the client closes.
        drop(client);
        let reason = explain("the connection has ended".to_owned(), process).await;
        if !is_signed_out {
            self.state.send_modify(|state| state.failure = Some(reason.clone()));
        }
        reason
    }

    /// Connects, and publishes the tools.
    async fn connect(&self) -> Result<Connected, String> {
        let mut capabilities = ClientCapabilities::new();
        capabilities.elicitation = Some(ElicitationCapability::new());
        capabilities.sampling = self.options.can_sample.then(SamplingCapability::new);
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
                    let (server, tool) = (&self.name, &bad.name);
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

    /// Reports the changes of the server, and retrieves the tool list again when it changes. Returns if the server does not
    /// answer.
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

/// Returns the changes to subscribe to: those that the server reports, and of the resources that are watched.
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
