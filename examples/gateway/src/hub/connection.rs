//! The hub of an agent behind a lock, and its inputs.
use crate::hub::health::Health;
use crate::hub::new_run::{NewRun, Reply};
use crate::hub::records;
use crate::hub::state::{LOST, SharedHub};
use crate::hub::task::{AgentSetup, Task};
use crate::hub::thread::ThreadState;
use crate::tools::FromServer;
use agui_bridge::AnswerError;
use agui_bridge::CancelReason;
use agui_bridge::conversation::{
    Conversation, RememberedSession, SessionSettings, Setting, SettingError, UserAnswer,
};
use agui_bridge::frontend_tool::{Completion, ToolResult};
use agui_bridge::hub::{Hub, HubOptions, HubRefused};
use agui_types::id::{RunId, ToolCallId};
use agui_types::tool::Tool;
use host::transport::Address;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Maximum number of requests that wait for the session of a thread.
const MAX_PREPARING: usize = 32;

/// A connection to an ACP agent, opened when it is needed.
#[derive(Debug)]
pub struct AgentConnection {
    pub(crate) shared: Arc<SharedHub>,
    pub(crate) address: Address,
    pub(crate) is_optional: bool,
    pub(crate) health: Mutex<Health>,
    ending: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl AgentConnection {
    /// Starts the task of an agent. `removed` receives the names of threads that ended without a
    /// request.
    pub fn new(
        agent: AgentSetup,
        options: HubOptions,
        removed: mpsc::UnboundedSender<String>,
    ) -> Self {
        let shared =
            SharedHub::new(Hub::new(options), agent.client.clone(), agent.authenticate.clone());
        let shared = Arc::new(shared);
        let ending = CancellationToken::new();
        let address = agent.address.clone();
        let is_optional = agent.is_optional;
        let task = Task::new(shared.clone(), agent, removed);
        let task = tokio::spawn(task.serve(ending.clone()));
        let health = Mutex::default();
        let task = Mutex::new(Some(task));
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
        let now = self.shared.now();
        while let Some(event) = state.hub.poll_run() {
            state.handle_run_event(&event, now);
        }
        state.threads.remove(thread);
        state.hub.remove_thread(thread, now);
        drop(state);
        self.shared.wake.notify_one();
    }

    /// Reports the present session of a thread to the receiver of its [state](ThreadState::new).
    pub fn report_session(&self, thread: &str) {
        self.shared.lock().report_session(thread);
    }

    /// Returns whether a thread has a session to continue.
    pub fn has_session(&self, thread: &str) -> bool {
        let state = self.shared.lock();
        let remembered = state.hub.conversation(thread).and_then(Conversation::remembered);
        remembered.is_some_and(|remembered| remembered.session_id().is_some())
    }

    /// Returns the present session of a thread, with which another one continues it.
    pub fn remembered(&self, thread: &str) -> Option<RememberedSession> {
        self.shared.lock().hub.conversation(thread)?.remembered().cloned()
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

    /// Opens the session of a thread before its first run, for a page with these tools. Returns the
    /// reason if the agent opens none.
    pub async fn prepare(&self, thread: &str, tools: &[Tool]) -> Result<(), String> {
        // An agent that is ending is followed by another one.
        self.initialized().await.map_err(|unavailable| unavailable.to_string())?;
        let (reply, prepared) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            let now = self.shared.now();
            let waiting = state.threads.get_mut(thread).ok_or_else(|| LOST.to_owned())?;
            waiting.prepared.retain(|reply| !reply.is_closed());
            if waiting.prepared.len() >= MAX_PREPARING {
                return Err(format!("{MAX_PREPARING} requests wait for the session already"));
            }
            waiting.prepared.push(reply);
            state.hub.with_conversation(thread, now, |it| it.handle_preparation(tools, now));
        }
        self.shared.wake.notify_one();
        prepared.await.unwrap_or_else(|_| Err(LOST.to_owned()))
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

#[cfg(test)]
mod tests;
