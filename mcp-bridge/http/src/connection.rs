//! State of one client: a session up to 2025-11-25, a single request since then.
use crate::endpoint_options::EndpointOptions;
use crate::service::{CallContext, RequestContext, Service};
use crate::stream::{ExpiredEvents, MessageStream, Reader};
use futures::FutureExt;
use jsonrpc_core::wire::{self, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, Kind, Message, RequestId};
use mcp_bridge::mcp::base::Era;
use mcp_bridge::mcp::cancellation::CancelledNotificationParams;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::tasks::Task;
use mcp_bridge::server::{
    CallId, CallOutcome, OutgoingMessage, ReceivedMessage, Server, ServerEvent, ToolCall,
};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Maximum number of ended streams of a session that are kept for readers that return.
const MAX_ENDED_STREAMS: usize = 64;

/// Number of the stream for messages without a request.
const STANDALONE: u64 = 0;

/// A principal at an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Client {
    pub(crate) principal: String,
    pub(crate) address: Option<IpAddr>,
}

/// State of one client.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) era: Era,
    service: Arc<dyn Service>,
    options: Arc<EndpointOptions>,
    began: Instant,
    me: Weak<Self>,
    state: Mutex<State>,
}

struct State {
    server: Server,
    /// Streams of requests without a response.
    open: BTreeMap<RequestId, Arc<MessageStream>>,
    standalone: Arc<MessageStream>,
    /// Ended streams, oldest first.
    ended: VecDeque<Arc<MessageStream>>,
    next_stream: u64,
    calls: BTreeMap<CallId, OpenCall>,
    /// Requests that are no calls, without a response.
    requests: BTreeMap<RequestId, AbortHandle>,
    timer: Option<(Duration, AbortHandle)>,
    /// Time of the last message of the client.
    received: Instant,
    /// Time of the last activity of the client, which includes readers.
    used: Instant,
}

/// A call without a response.
struct OpenCall {
    request: RequestId,
    task: AbortHandle,
    /// State of the service while the call waits for answers.
    request_state: Option<String>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("client", &self.client)
            .field("era", &self.era)
            .finish_non_exhaustive()
    }
}

/// The id of a request is already in use.
#[derive(Debug)]
pub(crate) struct IdInUse;

impl Connection {
    pub(crate) fn new(
        service: Arc<dyn Service>,
        options: Arc<EndpointOptions>,
        client: Client,
        era: Era,
    ) -> Arc<Self> {
        let server = Server::new(service.options(&client.principal));
        let state = State {
            server,
            open: BTreeMap::new(),
            standalone: Arc::new(MessageStream::new(STANDALONE)),
            ended: VecDeque::new(),
            next_stream: STANDALONE + 1,
            calls: BTreeMap::new(),
            requests: BTreeMap::new(),
            timer: None,
            received: Instant::now(),
            used: Instant::now(),
        };
        let state = Mutex::new(state);
        let began = Instant::now();
        Arc::new_cyclic(|me| {
            let me = me.clone();
            Self { client, era, service, options, began, me, state }
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Handles a message. For a request, returns the stream of its messages.
    ///
    /// # Errors
    /// Returns an error if the id is in use.
    pub(crate) fn take(
        &self,
        received: ReceivedMessage<'_>,
    ) -> Result<Option<Arc<MessageStream>>, IdInUse> {
        let mut state = self.state();
        let now = Instant::now();
        state.received = now;
        state.used = now;
        let message = received.message();
        let request = matches!(message.kind(), Kind::Request).then(|| message.id().cloned());
        let request = request.flatten();
        let cancelled = cancelled(message);
        let stream = match &request {
            Some(id) if state.open.contains_key(id) => return Err(IdInUse),
            Some(id) => {
                let stream = Arc::new(MessageStream::new(state.next_stream));
                state.next_stream += 1;
                state.open.insert(id.clone(), Arc::clone(&stream));
                Some(stream)
            }
            None => None,
        };
        state.server.handle_message(received);
        self.pump(&mut state, request.as_ref());
        // The stream of a cancelled call ends after the cancellations of its questions.
        if let Some(id) = cancelled {
            if let Some(task) = state.requests.remove(&id) {
                task.abort();
            }
            if let Some(stream) = state.open.remove(&id) {
                stream.finish();
            }
        }
        Ok(stream)
    }

    /// Runs a function on the server and processes the resulting events.
    pub(crate) fn with_server<T>(&self, with: impl FnOnce(&mut Server) -> T) -> T {
        let mut state = self.state();
        let result = with(&mut state.server);
        self.pump(&mut state, None);
        result
    }

    /// Processes the events of the server. `request` is the last request that was handled.
    fn pump(&self, state: &mut State, request: Option<&RequestId>) {
        while let Some(event) = state.server.poll_event() {
            match event {
                ServerEvent::Call(call) => self.call(state, *call, request),
                ServerEvent::Cancelled(id) => {
                    if let Some(call) = state.calls.remove(&id) {
                        call.task.abort();
                        self.abandon(call.request_state);
                    }
                }
                ServerEvent::Request { id, request, .. } => self.request(state, id, *request),
                ServerEvent::Subscribed(uri) => self.service.subscribed(&uri),
                ServerEvent::Unsubscribed(uri) => self.service.unsubscribed(&uri),
                other => tracing::debug!(?other, "nothing to do"),
            }
        }
        while let Some(outgoing) = state.server.poll_outgoing() {
            state.send(&outgoing);
        }
        self.schedule(state);
    }

    /// Starts or continues a call.
    fn call(&self, state: &mut State, call: ToolCall, request: Option<&RequestId>) {
        let Some(connection) = self.me.upgrade() else { return };
        let id = call.id;
        let request = state.calls.get(&id).map(|call| &call.request).or(request).cloned();
        let Some(request) = request else { return };
        let task = tokio::spawn(async move {
            let context = CallContext { connection: Arc::clone(&connection), call: id };
            let answer = AssertUnwindSafe(connection.service.call(&call, &context)).catch_unwind();
            let answer = answer.await.unwrap_or_else(|_| CallOutcome::Failed(internal()));
            connection.answer(&call, answer);
        });
        let task = task.abort_handle();
        state.calls.insert(id, OpenCall { request, task, request_state: None });
    }

    /// Notifies the service that a waiting call will not receive answers.
    fn abandon(&self, request_state: Option<String>) {
        let (Some(request_state), Some(connection)) = (request_state, self.me.upgrade()) else {
            return;
        };
        tokio::spawn(async move {
            connection.service.abandoned(&request_state, &connection.client.principal).await;
        });
    }

    /// Ends a call with its outcome.
    fn answer(&self, call: &ToolCall, outcome: CallOutcome) {
        let deadline = self.options.question_time.map(|time| self.now().saturating_add(time));
        let request_state = match &outcome {
            CallOutcome::Needs(needs) => needs.request_state.clone(),
            _ => None,
        };
        let mut state = self.state();
        let answered = state.server.complete(call.id, outcome, deadline);
        if answered.is_err() {
            tracing::debug!(tool = call.name, "the call has already ended");
        }
        match state.server.is_open(call.id) {
            true => {
                if let Some(open) = state.calls.get_mut(&call.id) {
                    open.request_state = request_state;
                }
            }
            false => drop(state.calls.remove(&call.id)),
        }
        self.pump(&mut state, None);
    }

    /// Answers a request that is not about tools.
    fn request(&self, state: &mut State, id: RequestId, request: ClientRequest) {
        let Some(connection) = self.me.upgrade() else { return };
        let key = id.clone();
        // The lock of the state is held, so that the task is registered before it ends.
        let task = tokio::spawn(async move {
            let principal = connection.client.principal.clone();
            let era = connection.era;
            let context = RequestContext { principal, era };
            let outcome = AssertUnwindSafe(connection.service.request(&request, &context));
            let outcome = outcome.catch_unwind().await.unwrap_or_else(|_| Err(internal()));
            connection.state().requests.remove(&id);
            connection.with_server(|server| {
                // An error means that the request was cancelled.
                let _not_open = server.respond(&id, outcome.as_ref().map_err(Clone::clone));
            });
        });
        state.requests.insert(key, task.abort_handle());
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Schedules the expiry of questions.
    fn schedule(&self, state: &mut State) {
        let due = state.server.poll_timeout();
        if due == state.timer.as_ref().map(|(due, _)| *due) {
            return;
        }
        if let Some((_, task)) = state.timer.take() {
            task.abort();
        }
        let Some(due) = due else { return };
        let me = self.me.clone();
        let at = self.began + due;
        let task = tokio::spawn(async move {
            tokio::time::sleep_until(at).await;
            let Some(connection) = me.upgrade() else { return };
            let mut state = connection.state();
            state.timer = None;
            state.server.handle_timeout(connection.now());
            connection.pump(&mut state, None);
        });
        state.timer = Some((due, task.abort_handle()));
    }

    /// Replaces the tools by those of the service, and notifies the client.
    pub(crate) fn tools_changed(&self) {
        let tools = self.service.options(&self.client.principal).tools;
        self.with_server(|server| server.set_tools(tools));
    }

    /// Notifies a subscribed client of the status of a task.
    pub(crate) fn notify_task(&self, task: &Task) {
        self.with_server(|server| server.notify_task(task));
    }

    /// Disconnects the reader of a call's stream. Another reader may connect.
    pub(crate) fn end_stream_of(&self, call: CallId) {
        let state = self.state();
        let request = state.calls.get(&call).map(|call| &call.request);
        let stream = request.and_then(|request| state.open.get(request));
        if let (Some(stream), Era::Legacy) = (stream, self.era) {
            stream.detach();
        }
    }

    /// Returns a reader of the messages without a request.
    pub(crate) fn listen(&self) -> Result<Reader, ExpiredEvents> {
        let state = self.state();
        state.standalone.read(None)
    }

    /// Returns a reader of the messages after an event id.
    ///
    /// # Errors
    /// Returns an error if the event does not exist or is no longer kept.
    pub(crate) fn resume(&self, event: &str) -> Result<Reader, ExpiredEvents> {
        let (stream, after) = event.split_once('-').ok_or(ExpiredEvents)?;
        let (Ok(stream), Ok(after)) = (stream.parse::<u64>(), after.parse()) else {
            return Err(ExpiredEvents);
        };
        let state = self.state();
        let all = state.open.values().chain(&state.ended).chain([&state.standalone]);
        let found = all.into_iter().find(|it| it.number == stream).ok_or(ExpiredEvents)?;
        found.read(Some(after))
    }

    /// Records activity of the client.
    pub(crate) fn touch(&self) {
        self.state().used = Instant::now();
    }

    /// Returns the time since the last activity.
    pub(crate) fn idle(&self) -> Duration {
        self.state().used.elapsed()
    }

    /// Returns the time since the last message of the client, unless a call or another request is
    /// open.
    pub(crate) fn unused_for(&self) -> Option<Duration> {
        let state = self.state();
        let is_unused = state.calls.is_empty() && state.requests.is_empty();
        is_unused.then(|| state.received.elapsed())
    }

    /// Ends all calls and streams.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.server.end_subscriptions();
        state.server.handle_close();
        std::mem::take(&mut state.requests).values().for_each(AbortHandle::abort);
        self.pump(&mut state, None);
        while let Some((_, stream)) = state.open.pop_first() {
            stream.finish();
        }
        state.standalone.finish();
    }
}

impl State {
    /// Appends a message to its stream.
    fn send(&mut self, outgoing: &OutgoingMessage) {
        let mut line = Vec::new();
        outgoing.message.as_message().to_line(&mut line);
        // JSON is valid UTF-8.
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let is_response = matches!(outgoing.message.kind(), Kind::Response);
        let related = outgoing.related.as_ref();
        match related.and_then(|id| self.open.get(id).map(|stream| (id, Arc::clone(stream)))) {
            Some((id, stream)) => {
                stream.push(line, is_response);
                if is_response {
                    self.open.remove(id);
                    self.keep_ended(stream);
                }
            }
            // The request has ended, so the message has no reader.
            None if related.is_some() => {}
            None => self.standalone.push(line, false),
        }
    }

    fn keep_ended(&mut self, stream: Arc<MessageStream>) {
        self.ended.push_back(stream);
        if self.ended.len() > MAX_ENDED_STREAMS {
            self.ended.pop_front();
        }
    }
}

/// Closes a connection when it is dropped, because the client has disconnected.
#[derive(Debug)]
pub(crate) struct EndOnDrop(pub(crate) Arc<Connection>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Returns the id of the request that a message cancels.
fn cancelled(message: &Message<'_>) -> Option<RequestId> {
    let Message::Notification(notification) = message else { return None };
    let params =
        notification.params.filter(|_| notification.method == "notifications/cancelled")?;
    wire::decode::<CancelledNotificationParams>(params.get()).ok()?.request_id
}

fn internal() -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, "the server failed")
}

/// Returns an error response as text, for use without a connection.
pub(crate) fn error_text(id: Option<&RequestId>, error: &ErrorObject) -> String {
    #[derive(serde::Serialize)]
    struct Reply<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RequestId>,
        error: &'a ErrorObject,
    }
    let reply = Raw::from_value(&Reply { jsonrpc: "2.0", id, error });
    reply.map(|reply| reply.as_str().to_owned()).unwrap_or_default()
}
