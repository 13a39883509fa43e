//! The task of a connection: opens the transport when it is needed, moves bytes, and ends it.
use crate::hub::link::{Input, Link};
use crate::hub::records;
use crate::hub::state::{SharedHub, State, Unavailable};
use crate::telemetry::{Telemetry, Watch};
use acp_types::client::{self, CloseReason, Purpose};
use acp_types::v1::error::AUTH_REQUIRED;
use acp_types::v1::tool_calls::RequestPermissionOutcome;
use agui_bridge::{Failure, PermissionAnswer, PermissionDecision};
use futures::FutureExt;
use futures::future::BoxFuture;
use host::permissions::{Decision, RULE_ACTION, RULE_INDEX, Rules, Watcher};
use host::transport::{Address, ConnectError, Transport};
use host::workspace::{Access, Host};
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{ErrorObject, PeekedMessage, peek};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Transport of an agent, and the capabilities of its client.
#[derive(Clone, Debug)]
pub struct AgentSetup {
    /// Where the agent is.
    pub address: Address,
    /// The `initialize` request, and times.
    pub client: client::Options,
    /// The authentication method to use once connected.
    pub authenticate: Option<String>,
    /// What the agent may do on this machine.
    pub access: Option<Access>,
    /// Rules that answer its permission requests.
    pub rules: Rules,
    /// How long its process may take to exit once its input has ended.
    pub exit_grace: Duration,
    /// Whether the agent is not started to probe it.
    pub is_optional: bool,
    /// Where spans and metrics go.
    pub telemetry: Telemetry,
}

/// The task of a connection.
pub(crate) struct Task {
    shared: Arc<SharedHub>,
    agent: AgentSetup,
    removed: mpsc::UnboundedSender<String>,
    stage: Stage,
}

/// The stage of the transport.
enum Stage {
    Idle,
    Dialling(BoxFuture<'static, Result<Transport, ConnectError>>),
    Open(Box<Link>),
    /// The transport is ending, for this reason.
    Ending(BoxFuture<'static, String>),
}

/// What the task waits for.
enum News {
    Woken,
    Dialled(Result<Transport, ConnectError>),
    Input(Input),
    Ended(String),
    Shutdown,
}

impl Task {
    pub(crate) fn new(
        shared: Arc<SharedHub>,
        agent: AgentSetup,
        removed: mpsc::UnboundedSender<String>,
    ) -> Self {
        Self { shared, agent, removed, stage: Stage::Idle }
    }

    pub(crate) async fn serve(mut self, ending: CancellationToken) {
        loop {
            let timeout = self.flush();
            match self.news(timeout, &ending).await {
                News::Woken => self.shared.lock().hub.handle_timeout(self.shared.now()),
                News::Dialled(dialled) => self.handle_dialled(dialled),
                News::Input(Input::Exited) => self.read_last_words().await,
                News::Input(input) => self.handle_input(input),
                News::Ended(why) => self.handle_ended(&why),
                News::Shutdown => return self.shut_down().await,
            }
        }
    }

    async fn news(&mut self, timeout: Option<Duration>, ending: &CancellationToken) -> News {
        let until = timeout.map(|timeout| self.shared.began + timeout);
        let timer = async {
            match until {
                Some(until) => sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        let stage = async {
            match &mut self.stage {
                Stage::Idle => std::future::pending().await,
                Stage::Dialling(dialling) => News::Dialled(dialling.await),
                Stage::Open(link) => News::Input(link.next().await),
                Stage::Ending(ending) => News::Ended(ending.await),
            }
        };
        tokio::select! {
            biased;
            () = ending.cancelled() => News::Shutdown,
            () = self.shared.wake.notified() => News::Woken,
            news = stage => news,
            () = timer => News::Woken,
        }
    }

    /// Moves what the hub has to its receivers. Returns the next deadline.
    fn flush(&mut self) -> Option<Duration> {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        if matches!(self.stage, Stage::Idle) && std::mem::take(&mut state.is_wanted) {
            let mut address = self.agent.address.clone();
            let grace = self.agent.exit_grace;
            state.variables.set(&mut address);
            self.stage = Stage::Dialling(async move { address.connect(grace).await }.boxed());
        }
        let link = match &mut self.stage {
            Stage::Open(link) => Some(&mut **link),
            _ => None,
        };
        let mut failed = None;
        match link {
            None => state.handle_events(shared.now(), None, &self.removed),
            Some(link) => {
                state.handle_events(shared.now(), Some(link), &self.removed);
                failed = state.transmit(link).err();
                let excess = link.waste.excess();
                if let Some(why) = &excess {
                    tracing::warn!("{why}");
                }
                failed = failed.or(excess);
            }
        }
        // The hub has closed the connection: an error of the agent, or one of its own login.
        let is_over = !state.hub.is_connected() && matches!(self.stage, Stage::Open(_));
        let timeout = state.hub.poll_timeout();
        drop(state);
        if let Some(why) = failed.or(is_over.then(|| "the gateway has closed it".to_owned())) {
            self.close(why);
        }
        timeout
    }

    fn handle_dialled(&mut self, dialled: Result<Transport, ConnectError>) {
        self.stage = Stage::Idle;
        match dialled {
            Ok(transport) => {
                let host = Host::new(self.agent.access.clone());
                let watch = self.agent.telemetry.watch(self.agent.address.kind());
                let rules = Watcher::new(self.agent.rules.clone());
                self.stage = Stage::Open(Box::new(Link::new(transport, host, watch, rules)));
                self.shared.lock().is_open = true;
            }
            Err(ConnectError::Denied(why)) => {
                self.lose(Err(ErrorObject::new(AUTH_REQUIRED, why)));
            }
            Err(error) => self.lose(Ok((Failure::AgentUnavailable, error.to_string()))),
        }
    }

    fn handle_input(&mut self, input: Input) {
        let Stage::Open(link) = &mut self.stage else { return };
        match input {
            Input::Bytes(bytes) => {
                link.waste.count_bytes(&bytes);
                link.lines.push(&bytes);
                read_lines(&self.shared, link);
            }
            Input::Host(event) => {
                self.shared.lock().handle_host(self.shared.now(), link, event);
            }
            Input::Closed(why) => self.close(why),
            Input::Exited => {}
        }
    }

    /// Reads what an agent that has exited wrote before.
    async fn read_last_words(&mut self) {
        let since = Instant::now();
        while let Stage::Open(link) = &mut self.stage {
            let input = link.last_words(since).await;
            self.handle_input(input);
            self.flush();
        }
    }

    /// Begins the end of the transport. Runs fail when it has ended; new ones wait for that.
    fn close(&mut self, why: String) {
        if let Stage::Open(mut link) = std::mem::replace(&mut self.stage, Stage::Idle) {
            link.lines.finish();
            read_lines(&self.shared, &mut link);
            let mut state = self.shared.lock();
            state.is_open = false;
            state.postponed.get_or_insert_default();
            let is_started = state.hub.initialized().is_some();
            let variables = (!is_started).then(|| state.variables.clone());
            drop(state);
            self.stage = Stage::Ending(link.end(why, variables).boxed());
        }
    }

    fn handle_ended(&mut self, why: &str) {
        self.stage = Stage::Idle;
        let has_started = self.shared.lock().hub.initialized().is_some();
        self.lose(Ok(if has_started {
            (Failure::AgentExited, why.to_owned())
        } else {
            (Failure::AgentUnavailable, format!("the agent does not start: {why}"))
        }));
    }

    /// Ends the connection of the hub: its runs fail, and postponed ones start.
    fn lose(&mut self, why: Result<(Failure, String), ErrorObject>) {
        let mut state = self.shared.lock();
        let now = self.shared.now();
        let (failure, message) = match &why {
            Ok((failure, message)) => (*failure, message.clone()),
            Err(error) => (Failure::AgentUnavailable, error.message.to_string()),
        };
        match why {
            Ok((failure, message)) => state.hub.handle_unavailable(failure, &message, now),
            Err(error) => state.hub.handle_denied(&error, now),
        }
        state.hub.handle_closed(CloseReason::AgentClosed(message.clone()), now);
        state.is_wanted = false;
        for waiting in std::mem::take(&mut state.waiting) {
            let _gone = waiting.send(Err(Unavailable(failure, message.clone())));
        }
        for (thread, run, reply) in state.postponed.take().into_iter().flatten() {
            state.start(&self.shared, &thread, run, reply);
        }
        let waiting = std::mem::take(&mut state.waiting_for_next);
        if !waiting.is_empty() {
            state.connect(now);
            state.waiting.extend(waiting);
        }
    }

    /// Ends all runs, then the agent.
    async fn shut_down(mut self) {
        {
            let mut state = self.shared.lock();
            let now = self.shared.now();
            let threads: Vec<_> = state.hub.threads().map(str::to_owned).collect();
            for thread in threads {
                state.hub.with_conversation(&thread, now, |it| {
                    it.handle_failure(Failure::GatewayShutdown, "The gateway is ending.", now);
                });
            }
            state.postponed = None;
            state.waiting.clear();
            state.waiting_for_next.clear();
            state.calls.clear();
        }
        self.flush();
        match self.stage {
            Stage::Open(mut link) => {
                if let Some(watch) = &mut link.watch {
                    watch.leave();
                }
                link.end("the gateway is ending".to_owned(), None).await;
            }
            Stage::Ending(ending) => {
                ending.await;
            }
            Stage::Idle | Stage::Dialling(_) => {}
        }
        // Runs that wait for the agent learn that they do not begin.
        self.shared.lock().threads.clear();
    }
}

impl State {
    /// Sends the lines of the hub.
    fn transmit(&mut self, link: &mut Link) -> Result<(), String> {
        while let Some(transmit) = self.hub.poll_transmit() {
            let thread = match transmit.purpose {
                Purpose::Session(session) | Purpose::Prompt(session, _) => {
                    self.hub.thread_of(session)
                }
                _ => None,
            };
            let span = thread.and_then(|thread| self.threads.get(thread)?.span.clone());
            link.send(transmit.line, span.as_ref())?;
        }
        Ok(())
    }
}

/// Gives the hub the lines that were read. Telemetry, rules and the hub share one peek at a line. A
/// command that a rule rejects is answered here.
fn read_lines(shared: &SharedHub, link: &mut Link) {
    let mut state = shared.lock();
    let now = shared.now();
    let mut refusals = Vec::new();
    let Link { lines, strays, watch, rules, .. } = link;
    while let Some(line) = lines.next() {
        let Ok(text) = line else {
            rules.handle_lost_line();
            state.hub.handle_line(line, now);
            continue;
        };
        strays.handle_line(text, &state.variables);
        let text = &*state.variables.hide_in_error(text);
        let line = Ok(text);
        let mut watch = watch.as_mut().filter(|watch| !watch.is_quiet(text.as_bytes()));
        let peeked = (watch.is_some() || !rules.is_idle()).then(|| peek(text.as_bytes()));
        let Some(Ok(peeked)) = peeked else {
            if let Some(watch) = watch {
                watch.receive_invalid(text.as_bytes());
            }
            state.hub.handle_line(line, now);
            continue;
        };
        if let Some(watch) = &mut watch {
            watch.receive(&peeked);
        }
        let Some(decision) = rules.handle_line(Direction::Received, &peeked) else {
            state.hub.handle_peeked(&peeked, now);
            continue;
        };
        record(&decision, &peeked, watch);
        let response = || peeked.id().and_then(|id| decision.response(id));
        match decision.is_of_terminal().then(response) {
            None => state.hub.handle_decided(&peeked, hub_decision(&decision), now),
            Some(None) => state.hub.handle_peeked(&peeked, now),
            Some(Some(line)) => refusals.push(line + "\n"),
        }
    }
    drop(state);
    for line in refusals {
        if let Err(why) = link.send(line.into_bytes(), None) {
            tracing::debug!(why, "the refusal of a command is not sent");
        }
    }
}

/// Records the decision of a rule in the logs and on the span of the request.
fn record(decision: &Decision, request: &PeekedMessage<'_>, watch: Option<&mut Watch>) {
    tracing::info!(target: "permission_rules", "{decision}");
    let session = request.param(&["sessionId"]).unwrap_or_default().trim_matches('"');
    records::decided(session, decision.rule(), decision.action().as_str());
    if let (Some(watch), Some(id)) = (watch, request.request_id()) {
        let rule = i64::try_from(decision.rule()).unwrap_or(i64::MAX);
        watch.annotate(&id, RULE_INDEX, rule);
        watch.annotate(&id, RULE_ACTION, decision.action().as_str());
    }
}

fn hub_decision(decision: &Decision) -> PermissionDecision {
    match decision.outcome() {
        None => PermissionDecision::Ask,
        Some(RequestPermissionOutcome::Selected(selected)) => {
            let answer = PermissionAnswer::Selected(selected.option_id.clone());
            PermissionDecision::Answer(answer)
        }
        Some(_) => PermissionDecision::Answer(PermissionAnswer::Cancelled),
    }
}
