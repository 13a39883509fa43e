//! The hub behind a lock, and the state of the program for it: what requests and the task share.
use crate::hub::new_run::{NewRun, Reply, RunStart};
use crate::hub::records;
use crate::hub::thread::{OpenRun, ThreadState};
use crate::hub::variables::Variables;
use crate::tools::FromServer;
use acp_types::client::{
    self, AgentResponse, Call, CallError, CallKey, Initialization, ReceivedValue,
};
use acp_types::v1::authentication::AuthenticateRequest;
use agui_bridge::conversation::Acceptance;
use agui_bridge::hub::Hub;
use agui_bridge::{CancelReason, Failure};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// Receives the end of a call of the program.
pub(crate) type CallReply = oneshot::Sender<Result<Box<ReceivedValue<AgentResponse>>, CallError>>;

/// A caller that waits for the agent's answer to `initialize`.
pub(crate) type Waiting = oneshot::Sender<Result<Box<Initialization>, Unavailable>>;

/// The agent cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{1}")]
pub struct Unavailable(
    /// The kind of failure.
    pub Failure,
    /// The message for the user.
    pub String,
);

/// What the task shares with requests.
#[derive(Debug)]
pub(crate) struct SharedHub {
    /// While an agent writes without pauses, the task takes the lock again as soon as it has
    /// released it. This lock is passed on to a waiting request within a millisecond.
    state: parking_lot::Mutex<State>,
    /// Wakes the task.
    pub(crate) wake: Notify,
    pub(crate) began: Instant,
}

/// The hub, and the state of the program for it.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) hub: Hub,
    pub(crate) client: client::Options,
    /// The authentication method to use once connected.
    pub(crate) authenticate: Option<String>,
    pub(crate) threads: BTreeMap<String, ThreadState>,
    /// Callers that wait for the agent's answer to `initialize`.
    pub(crate) waiting: Vec<Waiting>,
    /// Callers that wait for the agent that follows one that is ending.
    pub(crate) waiting_for_next: Vec<Waiting>,
    /// Open calls of the program.
    pub(crate) calls: BTreeMap<CallKey, CallReply>,
    /// Variables that are set for the agent.
    pub(crate) variables: Variables,
    /// Whether a transport is to be opened.
    pub(crate) is_wanted: bool,
    /// Whether a transport is open.
    pub(crate) is_open: bool,
    /// Runs that wait for the end of an old connection; `None` unless one is ending.
    pub(crate) postponed: Option<Vec<(String, NewRun, Reply)>>,
}

/// The message for requests of an ended connection.
pub(crate) const LOST: &str = "the connection to the agent is gone";

impl SharedHub {
    /// Creates the state of an agent that is not connected.
    pub(crate) fn new(hub: Hub, client: client::Options, authenticate: Option<String>) -> Self {
        let state = State {
            hub,
            client,
            authenticate,
            threads: BTreeMap::new(),
            waiting: Vec::new(),
            waiting_for_next: Vec::new(),
            calls: BTreeMap::new(),
            variables: Variables::default(),
            is_wanted: false,
            is_open: false,
            postponed: None,
        };
        Self { state: parking_lot::Mutex::new(state), wake: Notify::new(), began: Instant::now() }
    }

    pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Gives the hub an input, and wakes the task.
    pub(crate) fn with<T>(&self, handle: impl FnOnce(&mut Hub, Duration) -> T) -> T {
        let handled = handle(&mut self.lock().hub, self.now());
        self.wake.notify_one();
        handled
    }
}

impl State {
    /// Returns whether an agent is ending, after which the next one may start.
    pub(crate) fn is_ending(&self) -> bool {
        self.postponed.is_some() || self.is_open && !self.hub.is_connected()
    }

    /// Begins a connection, unless there is one.
    pub(crate) fn connect(&mut self, now: Duration) {
        if !self.hub.is_connected() {
            let client = self.client.clone();
            match &self.authenticate {
                Some(method) => {
                    let login = Call::new(&AuthenticateRequest::new(method.as_str()));
                    self.hub.connect_with_login(client, login, now);
                }
                None => self.hub.connect(client, now),
            }
            self.is_wanted = true;
        }
    }

    pub(crate) fn start_or_postpone(
        &mut self,
        shared: &SharedHub,
        thread: &str,
        run: NewRun,
        reply: Reply,
    ) {
        if self.is_ending() {
            // The task is about to end the transport of the connection that the hub has closed.
            self.postponed.get_or_insert_default();
        }
        match &mut self.postponed {
            Some(postponed) => postponed.push((thread.to_owned(), run, reply)),
            None => self.start(shared, thread, run, reply),
        }
    }

    pub(crate) fn start(&mut self, shared: &SharedHub, thread: &str, run: NewRun, reply: Reply) {
        let now = shared.now();
        if reply.is_closed() {
            return;
        }
        self.connect(now);
        let NewRun { mut run, log, span, cancel } = run;
        run.cancel = cancel.get().copied();
        let run_id = run.input.run_id.clone();
        records::run_started(thread, &run.input);
        let reply = match self.hub.handle_run(thread, run, now) {
            Ok(Acceptance::Queued) => Some(reply),
            Ok(Acceptance::Again(run_id)) => {
                records::run_ended_as(thread, run_id.as_str(), "repeated");
                let _gone = reply.send(Ok(RunStart::Again(run_id)));
                return;
            }
            Ok(_) => {
                if reply.send(Ok(RunStart::Begun)).is_err() {
                    // The client is gone, and the run will never have a reader.
                    self.hub.handle_cancel(thread, &run_id, CancelReason::NoReader, now);
                }
                None
            }
            Err(refused) => {
                records::run_ended_as(thread, run_id.as_str(), "refused");
                let _gone = reply.send(Err(refused));
                return;
            }
        };
        if let Some(state) = self.threads.get_mut(thread) {
            if state.runs.is_empty() {
                // Its session is opened for this run.
                state.span.clone_from(&span);
            }
            state.runs.insert(run_id, OpenRun { log, reply, span });
        }
    }

    pub(crate) fn handle_page(&mut self, thread: &str, event: FromServer, now: Duration) {
        let Some(state) = self.threads.get_mut(thread) else { return };
        match event {
            FromServer::Call { key, call, context, reply } => {
                let called =
                    self.hub.with_conversation(thread, now, |it| it.handle_tool_call(call, now));
                match called {
                    Some(Ok(id)) => state.wait_for_call(id, key, reply, context),
                    Some(Err(error)) => drop(reply.send((error.to_string(), true))),
                    None => {}
                }
            }
            FromServer::Ask { key, question, reply } => {
                let asked = self
                    .hub
                    .with_conversation(thread, now, |it| it.handle_question(*question, now));
                // A question that is not taken has no answer, which drops the sender.
                if let Some(Ok(question)) = asked {
                    state.questions.insert(question, (key, reply));
                }
            }
            FromServer::Span(reply) => drop(reply.send(state.span.clone())),
            FromServer::Withdrawn(key) => {
                let (calls, questions) = state.withdraw(key);
                self.hub.with_conversation(thread, now, |it| {
                    calls.iter().for_each(|call| it.handle_tool_withdrawn(call, now));
                    questions.iter().for_each(|key| it.handle_question_withdrawn(*key, now));
                });
            }
        }
    }
}
