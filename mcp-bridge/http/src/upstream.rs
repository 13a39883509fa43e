//! The background task of a client: exchanges messages with the server over its transport.
use crate::call_event::CallEvent;
use crate::transport::Transport;
use crate::transport_event::TransportEvent;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::{
    BadTool, CallError, CallParams, Client, ClientEvent, ClientOptions, ConnectError, ListedTools,
    SendRequestError, ServerDescription, UpstreamCall,
};
use mcp_bridge::http::param_headers;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::subscriptions::{ServerChange, SubscriptionFilter};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Free places in the queue of a call below which progress and log messages are dropped. The
/// questions and the end of a call always fit, because the number of questions of a call is
/// limited.
const RESERVED: usize = 32;

/// Number of events that a call may be behind.
pub(crate) const CALL_EVENTS: usize = 2 * RESERVED;

/// Time after which a subscription that has ended is opened again. It doubles with each attempt.
const SUBSCRIBE_AGAIN: Duration = Duration::from_secs(1);

/// Maximum time between attempts to open a subscription again.
const MAX_SUBSCRIBE_AGAIN: Duration = Duration::from_secs(60);

/// A command to the background task.
#[derive(Debug)]
pub(crate) enum Command {
    List(oneshot::Sender<Result<ListedTools, CallError>>),
    /// Starts a call or another request; its events go to the sender.
    Open(
        Box<NewRequest>,
        mpsc::Sender<CallEvent>,
        oneshot::Sender<Result<UpstreamCall, CallError>>,
    ),
    Answer(UpstreamCall, Vec<(String, Result<Raw, ErrorObject>)>),
    /// Replaces the changes that the server reports.
    Subscribe(SubscriptionFilter),
}

/// What a command starts.
#[derive(Debug)]
pub(crate) enum NewRequest {
    Call(CallParams),
    Request(ClientRequest),
}

/// The receiver of a call.
struct CallReceiver {
    events: mpsc::Sender<CallEvent>,
    /// Detects that the receiver was dropped.
    watch: AbortHandle,
}

impl Drop for CallReceiver {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

/// State of the background task.
pub(crate) struct Upstream {
    transport: Transport,
    client: Client,
    transport_events: mpsc::Sender<TransportEvent>,
    news: mpsc::Receiver<TransportEvent>,
    lists: Vec<oneshot::Sender<Result<ListedTools, CallError>>>,
    calls: BTreeMap<UpstreamCall, CallReceiver>,
    changes: broadcast::Sender<ServerChange>,
    subscription: Subscription,
    began: Instant,
    /// Name that the server states, for the log.
    claimed_name: Option<String>,
}

/// The changes that the server reports.
#[derive(Default)]
struct Subscription {
    filter: SubscriptionFilter,
    /// Number of ends since the subscription was open. Changes may have been missed then.
    ends: u32,
    /// When a lost subscription is opened again.
    due: Option<Instant>,
}

impl Upstream {
    /// Creates the task. `transport` is made with the sender of its events.
    pub(crate) fn new(
        options: ClientOptions,
        changes: broadcast::Sender<ServerChange>,
        transport: impl FnOnce(mpsc::Sender<TransportEvent>) -> Transport,
    ) -> Self {
        let (transport_events, news) = mpsc::channel(64);
        Self {
            transport: transport(transport_events.clone()),
            client: Client::new(options),
            transport_events,
            news,
            lists: Vec::new(),
            calls: BTreeMap::new(),
            changes,
            subscription: Subscription::default(),
            began: Instant::now(),
            claimed_name: None,
        }
    }

    /// Processes commands and events until the client is dropped or the connection ends.
    pub(crate) async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        ready: oneshot::Sender<Result<ServerDescription, ConnectError>>,
    ) {
        let mut ready = Some(ready);
        self.client.start(self.now());
        let mut is_open = self.send_all(None).await;
        while is_open {
            let due = self.client.poll_timeout();
            let due = due.map(|due| self.began + self.transport.waited() + due);
            let due = due.into_iter().chain(self.subscription.due).min();
            let due = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => is_open = self.command(command).await,
                    None => break,
                },
                // This side holds a sender, so the channel stays open.
                Some(event) = self.news.recv() => is_open = self.handle_transport(event),
                () = due => {
                    self.client.handle_timeout(self.now());
                    self.subscribe_again();
                }
            }
            is_open &= self.handle_events(&mut ready).await;
            is_open &= self.send_all(None).await;
        }
        // Closed first, so that a caller that learns of the end does not use the connection again.
        commands.close();
        self.client.handle_close();
        self.handle_events(&mut ready).await;
        self.transport.end().await;
    }

    /// Returns the time since the start, without sign-ins.
    fn now(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.transport.waited())
    }

    /// Handles a command. Returns whether the connection is open, as the other methods do.
    async fn command(&mut self, command: Command) -> bool {
        match command {
            Command::List(reply) => {
                self.lists.push(reply);
                if self.client.list_tools().is_err() {
                    self.listed(&Err(CallError::Silent));
                }
                true
            }
            Command::Open(opening, events, reply) => {
                let opened = match *opening {
                    NewRequest::Call(params) => self.client.call(params),
                    NewRequest::Request(request) => self.client.request(&request),
                };
                match opened {
                    Ok(call) => {
                        self.calls.insert(call, self.watch(call, events));
                        let _gone = reply.send(Ok(call));
                        self.send_all(Some(call)).await
                    }
                    Err(error) => {
                        let _gone = reply.send(Err(not_sent(error)));
                        true
                    }
                }
            }
            Command::Answer(call, answers) => {
                // An error means that the call has ended.
                let _ended = self.client.answer(call, answers);
                self.send_all(Some(call)).await
            }
            Command::Subscribe(filter) => {
                // An error means that the connection has ended.
                let _ended = self.client.subscribe(filter.clone());
                self.subscription.filter = filter;
                true
            }
        }
    }

    /// Opens a lost subscription again, when it is time.
    fn subscribe_again(&mut self) {
        if self.subscription.due.take_if(|due| *due <= Instant::now()).is_some() {
            // An error means that the connection has ended.
            let _ended = self.client.subscribe(self.subscription.filter.clone());
        }
    }

    /// Reports every change that may have been missed.
    fn report_all(&mut self) {
        self.subscription.ends = 0;
        let filter = &self.subscription.filter;
        let lists = [
            (filter.tools_list_changed, ServerChange::Tools),
            (filter.prompts_list_changed, ServerChange::Prompts),
            (filter.resources_list_changed, ServerChange::Resources),
        ];
        let lists = lists.into_iter().filter(|(wanted, _)| *wanted == Some(true));
        let lists = lists.map(|(_, change)| change);
        let resources = filter.resource_subscriptions.iter().flatten().cloned();
        for change in lists.chain(resources.map(ServerChange::Resource)) {
            let _unread = self.changes.send(change);
        }
    }

    /// Registers the receiver of a call. The call is cancelled when the receiver is dropped.
    fn watch(&self, call: UpstreamCall, events: mpsc::Sender<CallEvent>) -> CallReceiver {
        let transport_events = self.transport_events.clone();
        let watched = events.clone();
        let watch = tokio::spawn(async move {
            watched.closed().await;
            let _ended = transport_events.send(TransportEvent::Abandoned(call)).await;
        });
        CallReceiver { events, watch: watch.abort_handle() }
    }

    fn handle_transport(&mut self, event: TransportEvent) -> bool {
        match event {
            TransportEvent::Abandoned(call) => {
                let _ended = self.client.cancel(call);
                self.calls.remove(&call);
            }
            TransportEvent::Line(line, related) => self.client.handle_line(Ok(&line), related),
            TransportEvent::BadLine(error) => self.client.handle_line(Err(error), None),
            TransportEvent::Session(session) => self.transport.handle_session(session),
            TransportEvent::Closed => return false,
        }
        true
    }

    async fn handle_events(
        &mut self,
        ready: &mut Option<oneshot::Sender<Result<ServerDescription, ConnectError>>>,
    ) -> bool {
        let mut is_open = true;
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Ready(server) = &event {
                self.transport.handle_ready(&server.version);
                is_open &= self.send_all(None).await;
                self.transport.listen().await;
            }
            self.event(event, ready);
        }
        is_open
    }

    fn event(
        &mut self,
        event: ClientEvent,
        ready: &mut Option<oneshot::Sender<Result<ServerDescription, ConnectError>>>,
    ) {
        match event {
            ClientEvent::Ready(server) => {
                self.claimed_name = server.server_info.as_ref().map(|info| info.name.clone());
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
                let list = if self.transport.has_headers() { with_headers(*list) } else { *list };
                self.transport.handle_tools(&list.tools);
                self.listed(&Ok(list));
            }
            ClientEvent::ToolsFailed(error) => self.listed(&Err(error)),
            ClientEvent::Changed(change) => {
                let _unread = self.changes.send(change);
            }
            ClientEvent::Subscribed if self.subscription.ends > 0 => self.report_all(),
            ClientEvent::SubscriptionEnded { was_open, error } => {
                tracing::debug!(was_open, ?error, "a subscription has ended");
                // A server that never had a subscription is not asked again.
                let Subscription { ends, due, .. } = &mut self.subscription;
                if was_open || *ends > 0 {
                    let wait = SUBSCRIBE_AGAIN.saturating_mul(2_u32.saturating_pow(*ends));
                    *due = Some(Instant::now() + wait.min(MAX_SUBSCRIBE_AGAIN));
                    *ends = ends.saturating_add(1);
                }
            }
            ClientEvent::Answered { call, result } => {
                self.notify(call, CallEvent::Answered(result));
                self.calls.remove(&call);
            }
            ClientEvent::Done { call, result } => self.ended(call, Ok(*result)),
            ClientEvent::Failed { call, error } => self.ended(call, Err(error)),
            ClientEvent::Needs { call, needs } => self.notify(call, CallEvent::Needs(needs)),
            ClientEvent::Withdrawn { call, key } => self.notify(call, CallEvent::Withdrawn(key)),
            ClientEvent::Progress { call, params } => {
                self.notify_if_read(call, CallEvent::Progress(params));
            }
            ClientEvent::Log { call: Some(call), params } => {
                self.notify_if_read(call, CallEvent::Log(params));
            }
            ClientEvent::Unassigned { method, open_calls } => {
                let server = self.claimed_name.as_deref().unwrap_or_default();
                tracing::warn!(
                    server,
                    method,
                    open_calls,
                    "a request that belongs to no call is refused"
                );
            }
            other => tracing::debug!(?other, "nothing to do"),
        }
    }

    /// Passes an event that is dropped if the receiver is behind.
    fn notify_if_read(&self, call: UpstreamCall, event: CallEvent) {
        let has_room = |waiting: &&CallReceiver| waiting.events.capacity() > RESERVED;
        if self.calls.get(&call).filter(has_room).is_some() {
            self.notify(call, event);
        }
    }

    fn notify(&self, call: UpstreamCall, event: CallEvent) {
        if let Some(waiting) = self.calls.get(&call) {
            // The receiver is gone, which another event reports.
            let _gone = waiting.events.try_send(event);
        }
    }

    fn listed(&mut self, outcome: &Result<ListedTools, CallError>) {
        for reply in self.lists.drain(..) {
            let _gone = reply.send(outcome.clone());
        }
    }

    fn ended(
        &mut self,
        call: UpstreamCall,
        outcome: Result<mcp_bridge::mcp::tools::CallToolResult, CallError>,
    ) {
        self.notify(call, CallEvent::Ended(outcome.map(Box::new)));
        self.calls.remove(&call);
    }

    /// Sends the messages of the client, for a call or without one.
    async fn send_all(&mut self, call: Option<UpstreamCall>) -> bool {
        while let Some(message) = self.client.poll_outgoing() {
            if let Err(error) = self.transport.send(&message, call, self.client.era()).await {
                tracing::debug!(%error, "the server does not read");
                return false;
            }
        }
        true
    }
}

fn not_sent(error: SendRequestError) -> CallError {
    match error {
        SendRequestError::Version => {
            CallError::Refused(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, error.to_string()))
        }
        _ => CallError::Silent,
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
