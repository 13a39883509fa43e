//! Calls that are tasks.
use super::host::{ActiveRun, PluginHost};
use super::journal::{Answered, Outcome};
use super::session::{SessionRecord, SessionStatus};
use super::turn::{NewCall, NoticeSink, Resumption, SessionError, Turn};
use crate::context::{Carriers, EncodeError};
use crate::mcp::base::ResultType;
use crate::mcp::tasks::{Task, TaskStatus};
use crate::mcp::tools::{CallToolResult, TaskSupport};
use crate::server::input_requests;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Presence, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::Number;
use std::time::SystemTime;

/// A task that is kept, and has not begun to run: the client does not wait for it, but asks how it stands.
///
/// A task is a session that says so. It is kept where sessions are, so that any program with the store can tell how it stands,
/// take answers, and go on with it.
///
/// | the session | the task |
/// |---|---|
/// | runs, or has all answers | `working` |
/// | waits for answers | `input_required`, with what is still open |
/// | is done, or its tool failed | `completed`, with the result |
/// | ended with an error of the protocol, expired or was lost | `failed`, with the error |
/// | was aborted | `cancelled` |
///
/// Spec: [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks) (draft of 2026-08-21)
///
/// ```
/// use core::time::Duration;
/// use jsonrpc_core::wire::Raw;
/// use mcp_bridge::context::Carriers;
/// use mcp_bridge::mcp::tasks::TaskStatus;
/// use mcp_bridge::mcp::tools::TaskSupport;
/// use mcp_bridge::plugin::{
///     MemoryStore, NewCall, NoElicitations, PluginContext, PluginHost, PluginTool, SuspendPolicy,
/// };
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use std::sync::Arc;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Count {
///     to: u32,
/// }
///
/// let count = PluginTool::builder("count", "1")
///     .task_support(TaskSupport::Optional)
///     .elicits::<NoElicitations>()
///     .execute(|count: Count, _: PluginContext<NoElicitations>| async move { Ok((1..=count.to).sum::<u32>()) })?;
/// let (store, clock) = (Arc::new(MemoryStore::default()), Arc::new(|| Duration::from_secs(1_800_000_000)));
/// let host = PluginHost::new([count], SuspendPolicy::Replay, store, "7f3a", clock);
/// # futures::executor::block_on(async {
/// let (id, arguments) = ("9c41", Raw::from_text(r#"{"to":4}"#)?);
/// let call = NewCall { session_id: id, call_id: id, tool: "count", arguments, principal: "ada" };
/// let started = host.start_task(call).await?;
/// // This goes to the client, and the task runs on.
/// assert_eq!((&started.task.status, &*started.task.created_at), (&TaskStatus::Working, "2027-01-15T08:00:00.000Z"));
/// host.run_task(started, None).await?;
///
/// let view = host.task(id, "ada", Carriers::ALL).await?;
/// assert_eq!(view.task.status, TaskStatus::Completed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StartedTask {
    record: SessionRecord,
    active: ActiveRun,
    /// How it stands, to tell the client.
    pub task: Task,
}

/// How a task stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskView {
    /// For the client.
    pub task: Task,
    /// The tool.
    pub tool: String,
    /// Whether the task could go on, and no program runs it: its answers are there, or the lease of its runner has ended.
    /// [`PluginHost::resume`] goes on with it.
    pub is_idle: bool,
}

impl PluginHost {
    /// Whether calls of a tool can be tasks. None can where the client carries the sessions: nothing is kept of them.
    pub fn task_support(&self, tool: &str) -> TaskSupport {
        let tool = self.find(tool).filter(|_| !self.is_stateless());
        tool.map_or(TaskSupport::Forbidden, |tool| tool.task_support().clone())
    }

    /// Keeps a call as a task, which [`run_task`](Self::run_task) runs. What the clock tells has to be counted from the
    /// beginning of 1970: clients are told when a task began.
    ///
    /// # Errors
    /// There is no such tool, its calls cannot be tasks, or the session cannot be kept.
    pub async fn start_task(&self, call: NewCall<'_>) -> Result<StartedTask, SessionError> {
        if self.task_support(call.tool) == TaskSupport::Forbidden {
            return Err(SessionError::NoTask(call.tool.into()));
        }
        let mut record = self.record(call)?;
        record.is_task = true;
        self.store().create(&record).await?;
        let mut task = self.to_task(&record, Carriers::NONE)?;
        task.result_type = None;
        let active = self.activate(&record, true);
        Ok(StartedTask { record, active, task })
    }

    /// Runs a task until it waits or is over. The tool runs in this future.
    ///
    /// # Errors
    /// As for [`call`](Self::call).
    pub async fn run_task(
        &self,
        started: StartedTask,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        self.begin(started.record, started.active, notices).await
    }

    /// How a task stands: the answer to `tasks/get`, and what `notifications/tasks` tells. Contexts of questions go into
    /// `carriers`.
    ///
    /// # Errors
    /// There is no such task, or it is not this principal's; a context does not fit in; the store failed.
    pub async fn task(
        &self,
        id: &str,
        principal: &str,
        carriers: Carriers,
    ) -> Result<TaskView, SessionError> {
        let record = self.load_task(id, principal).await?;
        let task = self.to_task(&record, carriers)?;
        let is_left = record.status == SessionStatus::Running
            && self.now() >= record.deadline
            && record.owner != self.owner();
        let is_answered = record.status.is_awaiting() && !record.journal.is_waiting();
        Ok(TaskView { task, tool: record.tool, is_idle: is_left || is_answered })
    }

    /// Adds answers to a task, by key. Answers without an open question are ignored. Returns whether all questions are
    /// answered; [`resume`](Self::resume) then goes on with the task.
    ///
    /// # Errors
    /// There is no such task, or it is not this principal's; the store failed.
    pub async fn answer_task(
        &self,
        id: &str,
        principal: &str,
        answers: &[(String, Outcome)],
    ) -> Result<bool, SessionError> {
        for _ in 0..Self::MAX_ATTEMPTS {
            let mut record = self.load_task(id, principal).await?;
            if record.status.is_over()
                || (record.status.is_awaiting() && self.now() >= record.deadline)
            {
                return Ok(false);
            }
            let mut is_changed = false;
            for (key, outcome) in answers {
                is_changed |= record.journal.answer(key, outcome.clone()) == Answered::Recorded;
            }
            let can_go_on = record.status.is_awaiting() && !record.journal.is_waiting();
            record.revision += 1;
            if !is_changed || self.store().save(&record).await? {
                return Ok(can_go_on);
            }
        }
        Err(SessionError::Contended)
    }

    /// Cancels a task. One that is over stays as it is. A program that runs it notices when it next keeps something of it.
    ///
    /// # Errors
    /// There is no such task, or it is not this principal's; the store failed.
    pub async fn cancel_task(&self, id: &str, principal: &str) -> Result<(), SessionError> {
        self.load_task(id, principal).await?;
        self.abort(id, principal, "the client cancelled it").await
    }

    /// Ends a task with an error of the protocol: what runs it cannot go on.
    ///
    /// # Errors
    /// There is no such task, or it is not this principal's; the store failed.
    pub async fn fail_task(
        &self,
        id: &str,
        principal: &str,
        error: ErrorObject,
    ) -> Result<(), SessionError> {
        self.load_task(id, principal).await?;
        self.end_with_error(id, principal, error).await
    }

    /// What goes on with a task whose answers are there.
    pub fn task_resumption<'a>(id: &'a str, tool: &'a str, principal: &'a str) -> Resumption<'a> {
        Resumption { state: id, tool, arguments: None, principal, answers: Vec::new() }
    }

    async fn load_task(&self, id: &str, principal: &str) -> Result<SessionRecord, SessionError> {
        let record = self.store().load(id).await?;
        let is_theirs = |it: &SessionRecord| it.is_task && it.principal == principal;
        record.filter(is_theirs).ok_or(SessionError::NotFound)
    }

    fn to_task(&self, record: &SessionRecord, carriers: Carriers) -> Result<Task, SessionError> {
        let status = status_of(record, self.now());
        let (created, since) = (timestamp(record.created), timestamp(record.since));
        let mut task = Task::new(&*record.id, status.clone(), created, since);
        task.status_message.clone_from(&record.reason);
        task.poll_interval_ms = Some(Number::from(millis(self.limits().poll).max(1)));
        // So long it is kept at the least, whatever becomes of it.
        let until = if record.status.is_over() { record.since } else { self.now() };
        let kept = until.saturating_sub(record.created).saturating_add(self.limits().kept);
        task.ttl_ms = Presence::Value(Number::from(millis(kept)));
        task.result_type = Some(ResultType::Complete);
        match status {
            TaskStatus::InputRequired => {
                let open: Vec<_> = record.journal.open().map(|(key, _)| key).collect();
                let asks = record.asks.iter().filter(|ask| open.contains(&&*ask.key));
                let requests = asks.map(|ask| Ok((ask.key.clone(), ask.to_request(carriers)?)));
                let requests: Result<Vec<_>, EncodeError> = requests.collect();
                let requests = requests.map_err(|error| SessionError::Failed(error.to_string()))?;
                task.input_requests = Some(input_requests(requests));
            }
            TaskStatus::Completed => task.result = record.result.clone().map(typed),
            TaskStatus::Failed => task.error = Some(error_of(record)),
            _ => {}
        }
        Ok(task)
    }
}

fn status_of(record: &SessionRecord, now: Duration) -> TaskStatus {
    match record.status {
        // The deadline passed without a sweep.
        status if status.is_awaiting() && now >= record.deadline => TaskStatus::Failed,
        status if status.is_awaiting() && record.journal.is_waiting() => TaskStatus::InputRequired,
        SessionStatus::Running | SessionStatus::AwaitingElicit | SessionStatus::AwaitingSample => {
            TaskStatus::Working
        }
        SessionStatus::Completed | SessionStatus::Failed if record.result.is_some() => {
            TaskStatus::Completed
        }
        SessionStatus::Aborted => TaskStatus::Cancelled,
        _ => TaskStatus::Failed,
    }
}

fn error_of(record: &SessionRecord) -> ErrorObject {
    record.error.clone().unwrap_or_else(|| {
        let reason = record.reason.as_deref().unwrap_or("no answer came in time");
        ErrorObject::new(ErrorCode::INTERNAL_ERROR, reason)
    })
}

/// A result as it is from 2026-07-28 on.
fn typed(result: Raw) -> Raw {
    let Ok(mut given) = result.decode::<CallToolResult>() else { return result };
    given.result_type = Some(ResultType::Complete);
    Raw::from_value(&given).unwrap_or(result)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A time as the protocol writes it.
fn timestamp(since_1970: Duration) -> String {
    // The last second that has four digits of a year: a clock beyond it is none.
    let latest = Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + since_1970.min(latest)).to_string()
}
