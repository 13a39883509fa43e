//! The hub of an agent behind a lock, and its inputs.
use crate::hub::health::Health;
use crate::hub::login::{CallReply, Variables};
use crate::hub::records;
use crate::hub::task::{AgentSetup, Task};
use crate::hub::thread::{OpenRun, ThreadState};
use crate::store::{LiveLog, RunLog};
use crate::tools::FromServer;
use acp_types::client::{self, Call, CallKey, Initialized};
use acp_types::v1::authentication::AuthenticateRequest;
use agui_bridge::CancelReason;
use agui_bridge::conversation::{
    Accepted, Conversation, RunRequest, SessionSettings, Setting, SettingError, ToolQuestion,
    UserAnswer,
};
use agui_bridge::frontend_tool::{Completion, ToolResult};
use agui_bridge::hub::{Hub, HubOptions, HubRefused};
use agui_bridge::{AnswerError, Failure};
use agui_types::id::{RunId, ToolCallId};
use agui_types::run_log;
use host::transport::Address;
use semconv_map::trace_context::TraceContext;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, SetOnce, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The beginning of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunStart {
    /// The run has begun.
    Begun,
    /// No run begins: this earlier run had the same input or the same answers.
    Again(RunId),
}

/// Takes the beginning of a run.
pub type Reply = oneshot::Sender<Result<RunStart, HubRefused>>;

/// A run to start.
#[derive(Debug)]
pub struct NewRun {
    /// The input, with the earlier messages that it leaves out.
    pub run: RunRequest,
    /// The log that its events go to.
    pub log: Arc<RunLog>,
    /// Its span, if it is traced.
    pub span: Option<TraceContext>,
    /// The reason for which the run is to end, once there is one. One that there is before the run begins keeps its prompt
    /// from the agent; a later one is to be passed to [`AgentConnection::cancel`] as well.
    pub cancel: Arc<SetOnce<CancelReason>>,
}

/// A caller that waits for the agent's answer to `initialize`.
pub(crate) type Waiting = oneshot::Sender<Result<Box<Initialized>, Unavailable>>;

/// The agent cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{1}")]
pub struct Unavailable(
    /// The kind of failure.
    pub Failure,
    /// The message for the user.
    pub String,
);

/// A connection to an ACP agent, opened when it is needed.
#[derive(Debug)]
pub struct AgentConnection {
    pub(crate) shared: Arc<Shared>,
    pub(crate) address: Address,
    pub(crate) is_optional: bool,
    pub(crate) health: Mutex<Health>,
    ending: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

/// What the task shares with requests and readers.
#[derive(Debug)]
pub(crate) struct Shared {
    /// While an agent writes without pauses, the task takes the lock again as soon as it has released it. This lock is passed on
    /// to a waiting reader within a millisecond, so that readers keep up.
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

impl AgentConnection {
    /// Starts the task of an agent. `removed` receives the names of threads that ended without a request.
    pub fn new(
        agent: AgentSetup,
        options: HubOptions,
        removed: mpsc::UnboundedSender<String>,
    ) -> Self {
        let state = State {
            hub: Hub::new(options),
            client: agent.client.clone(),
            authenticate: agent.authenticate.clone(),
            threads: BTreeMap::new(),
            waiting: Vec::new(),
            waiting_for_next: Vec::new(),
            calls: BTreeMap::new(),
            variables: Variables::default(),
            is_wanted: false,
            is_open: false,
            postponed: None,
        };
        let state = parking_lot::Mutex::new(state);
        let wake = Notify::new();
        let began = Instant::now();
        let shared = Arc::new(Shared { state, wake, began });
        let ending = CancellationToken::new();
        let (address, is_optional) = (agent.address.clone(), agent.is_optional);
        let task = Task::new(shared.clone(), agent, removed);
        let task = tokio::spawn(task.serve(ending.clone()));
        let (health, task) = (Mutex::default(), Mutex::new(Some(task)));
        Self { shared, address, is_optional, health, ending, task }
    }

    /// Returns whether a thread is open.
    pub fn has_thread(&self, name: &str) -> bool {
        self.shared.lock().threads.contains_key(name)
    }

    /// Adds a thread. Returns `false` if it is open.
    pub fn open_thread(
        &self,
        name: &str,
        conversation: Conversation,
        thread: ThreadState,
    ) -> Result<bool, HubRefused> {
        let mut state = self.shared.lock();
        if state.threads.contains_key(name) {
            return Ok(false);
        }
        state.hub.insert_thread(name, conversation, self.shared.now())?;
        state.threads.insert(name.to_owned(), thread);
        Ok(true)
    }

    /// Starts a run of a thread. `reply` is answered when it has begun, or is refused.
    pub fn start(&self, thread: &str, run: NewRun, reply: Reply) {
        self.shared.lock().start_or_postpone(&self.shared, thread, run, reply);
        self.shared.wake.notify_one();
    }

    /// Cancels a run.
    pub fn cancel(&self, thread: &str, run_id: &RunId, reason: CancelReason) {
        self.shared.with(|hub, now| hub.handle_cancel(thread, run_id, reason, now));
    }

    /// Leaves a thread that has another owner now.
    pub fn remove(&self, thread: &str) {
        let mut state = self.shared.lock();
        if let Some(removed) = state.threads.remove(thread) {
            for (run_id, run) in removed.runs {
                if let Some(log) = state.hub.log(thread, &run_id) {
                    run.log.settle(log.clone());
                }
            }
        }
        state.hub.remove_thread(thread, self.shared.now());
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Reports the present session of a thread to the receiver of its [state](ThreadState::new).
    pub fn report_session(&self, thread: &str) {
        self.shared.lock().report_session(thread);
    }

    /// Forgets the log of a run.
    pub fn forget(&self, thread: &str, run_id: &RunId) {
        self.shared.lock().hub.forget_run(thread, run_id);
    }

    /// Answers a question of the agent.
    pub fn answer(
        &self,
        thread: &str,
        interrupt_id: &str,
        answer: UserAnswer,
    ) -> Result<(), AnswerError> {
        let answered = self.shared.with(|hub, now| {
            hub.with_conversation(thread, now, |it| it.handle_answer(interrupt_id, answer, now))
        });
        answered.unwrap_or(Err(AnswerError::Unknown))
    }

    /// Takes the result of a call of the page's tools.
    pub fn tool_result(
        &self,
        thread: &str,
        call: &ToolCallId,
        result: ToolResult,
    ) -> Option<Completion> {
        self.shared.with(|hub, now| {
            hub.with_conversation(thread, now, |it| it.handle_tool_result(call, result, now))
        })
    }

    /// Returns what a user may set in the session of a thread.
    pub fn settings(&self, thread: &str) -> Option<SessionSettings> {
        self.shared.lock().hub.conversation(thread)?.session_settings().cloned()
    }

    /// Changes a setting of the session of a thread. Returns `None` if it has no session.
    pub async fn set(&self, thread: &str, setting: Setting) -> Option<Result<(), SettingError>> {
        let (reply, ended) = oneshot::channel();
        records::set(thread, &setting);
        {
            let mut state = self.shared.lock();
            let now = self.shared.now();
            let key =
                state.hub.with_conversation(thread, now, |it| it.handle_setting(setting, now));
            let key = key?.ok()?;
            state.threads.get_mut(thread)?.settings.insert(key, reply);
        }
        self.shared.wake.notify_one();
        Some(ended.await.unwrap_or_else(|_| Err(SettingError::Failed(LOST.to_owned()))))
    }

    /// Handles an event of the MCP server of a thread.
    pub fn handle_page(&self, thread: &str, event: FromServer) {
        self.shared.lock().handle_page(thread, event, self.shared.now());
        self.shared.wake.notify_one();
    }

    /// Ends all runs, then the agent.
    pub async fn shut_down(&self) {
        self.ending.cancel();
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the task of a connection has failed");
        }
    }
}

/// The message for requests of an ended connection.
pub(crate) const LOST: &str = "the connection to the agent is gone";

impl Shared {
    pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, State> {
        self.state.lock()
    }

    pub(crate) fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Gives the hub an input, and wakes the task.
    fn with<T>(&self, handle: impl FnOnce(&mut Hub, Duration) -> T) -> T {
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

    fn start_or_postpone(&mut self, shared: &Arc<Shared>, thread: &str, run: NewRun, reply: Reply) {
        if self.is_ending() {
            // The task is about to end the transport of the connection that the hub has closed.
            self.postponed.get_or_insert_default();
        }
        match &mut self.postponed {
            Some(postponed) => postponed.push((thread.to_owned(), run, reply)),
            None => self.start(shared, thread, run, reply),
        }
    }

    pub(crate) fn start(&mut self, shared: &Arc<Shared>, thread: &str, run: NewRun, reply: Reply) {
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
            Ok(Accepted::Queued) => Some(reply),
            Ok(Accepted::Again(run_id)) => {
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
        let live =
            HubLog { shared: shared.clone(), thread: thread.to_owned(), run: run_id.clone() };
        log.set_live(Arc::new(live));
        if let Some(state) = self.threads.get_mut(thread) {
            if state.runs.is_empty() {
                // Its session is opened for this run.
                state.span.clone_from(&span);
            }
            state.runs.insert(run_id, OpenRun { log, reply, span });
        }
    }

    fn handle_page(&mut self, thread: &str, event: FromServer, now: Duration) {
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
                let crate::tools::ToolQuestion { tool, agent_id, message, schema, meta } =
                    *question;
                let mut question = ToolQuestion::new(tool, message, schema);
                (question.agent_id, question.meta) = (agent_id, meta);
                let asked =
                    self.hub.with_conversation(thread, now, |it| it.handle_question(question, now));
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

/// The log of a run in the hub.
#[derive(Debug)]
struct HubLog {
    shared: Arc<Shared>,
    thread: String,
    run: RunId,
}

impl LiveLog for HubLog {
    fn read(&self, read: &mut dyn FnMut(&run_log::RunLog)) {
        if let Some(log) = self.shared.lock().hub.log(&self.thread, &self.run) {
            read(log);
        }
    }
}

#[cfg(test)]
mod tests;
