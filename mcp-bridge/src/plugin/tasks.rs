//! Calls as tasks.
use super::host::{ActiveRun, PluginHost};
use super::journal::{AnswerOutcome, Outcome};
use super::notice::NoticeSink;
use super::session::{SessionRecord, SessionStatus};
use super::turn::{NewCall, Resumption, SessionError, Turn};
use crate::context::{Carriers, EncodeError};
use crate::mcp::base::ResultType;
use crate::mcp::tasks::{Task, TaskMembers, TaskStatus};
use crate::mcp::tools::{CallToolResult, TaskSupport};
use crate::server::input_requests;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use jsonrpc_core::wire::{Presence, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::Number;
use std::time::SystemTime;

/// A stored task that does not run yet. The client does not wait for it but polls its status.
///
/// A task is a session with a mark. It is kept in the session store, so that any program with the
/// store can report its status, accept answers, and continue it.
///
/// | session | status of the task |
/// |---|---|
/// | runs, or has all answers | `working` |
/// | waits for answers | `input_required`, with the open questions |
/// | completed, or its tool failed | `completed`, with the result |
/// | ended with a protocol error, expired or lost | `failed`, with the error |
/// | aborted | `cancelled` |
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
/// let call = NewCall { session_id: id, call_id: id, tool: "count", arguments, principal: "ada" , meta: None};
/// let started = host.start_task(call).await?;
/// // Send this to the client. The task continues to run.
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
    /// The status, to be sent to the client.
    pub task: Task,
}

/// A task as seen by a server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskView {
    /// The status, to be sent to the client.
    pub task: Task,
    /// Name of the tool.
    pub tool: String,
    /// Whether the task could continue but no program runs it: its answers have arrived, or the
    /// lease of another program that ran it has ended. [`PluginHost::resume`] continues it.
    pub is_idle: bool,
}

impl PluginHost {
    /// Returns whether calls of a tool can be tasks. Always [`TaskSupport::Forbidden`] if the
    /// client carries the sessions, because then the store has no record of them.
    pub fn task_support(&self, tool: &str) -> TaskSupport {
        let tool = self.find(tool).filter(|_| !self.is_stateless());
        tool.map_or(TaskSupport::Forbidden, |tool| tool.task_support().clone())
    }

    /// Stores a call as a task. [`run_task`](Self::run_task) runs it. The clock has to count from
    /// the Unix epoch, because clients receive the time of creation.
    ///
    /// # Errors
    /// Returns an error if the tool does not exist, does not support tasks, or the session cannot
    /// be stored.
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

    /// Runs a task until it waits or ends. The tool runs in this future.
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

    /// Returns the status of a task, for the result of `tasks/get` and for `notifications/tasks`.
    /// Contexts of questions are put into `carriers`.
    ///
    /// # Errors
    /// Returns an error if the task does not exist, belongs to another principal, cannot carry a
    /// context, or the store failed.
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

    /// Adds answers to a task, by key. Answers without an open question are ignored. Returns
    /// whether all questions are answered; [`resume`](Self::resume) then continues the task.
    ///
    /// # Errors
    /// Returns an error if the task does not exist, belongs to another principal, or the store
    /// failed.
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
                is_changed |=
                    record.journal.answer(key, outcome.clone()) == AnswerOutcome::Recorded;
            }
            let can_go_on = record.status.is_awaiting() && !record.journal.is_waiting();
            record.revision += 1;
            if !is_changed || self.store().save(&record).await? {
                return Ok(can_go_on);
            }
        }
        Err(SessionError::Contended)
    }

    /// Cancels a task. A task that has ended is unchanged. A program that runs the task notices the
    /// cancellation when it next stores the task.
    ///
    /// # Errors
    /// Returns an error if the task does not exist, belongs to another principal, or the store
    /// failed.
    pub async fn cancel_task(&self, id: &str, principal: &str) -> Result<(), SessionError> {
        self.load_task(id, principal).await?;
        self.abort(id, principal, "the client cancelled the task").await
    }

    /// Ends a task with a protocol error because it cannot continue.
    ///
    /// # Errors
    /// Returns an error if the task does not exist, belongs to another principal, or the store
    /// failed.
    pub async fn fail_task(
        &self,
        id: &str,
        principal: &str,
        error: ErrorObject,
    ) -> Result<(), SessionError> {
        self.load_task(id, principal).await?;
        self.end_with_error(id, principal, error).await
    }

    /// Returns the resumption of a task with all its answers.
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
        let mut task = Task::from(TaskMembers {
            task_id: record.id.clone(),
            status: status.clone(),
            created_at: timestamp(record.created),
            last_updated_at: timestamp(record.since),
        });
        task.status_message.clone_from(&record.reason);
        task.poll_interval_ms = Some(Number::from(millis(self.limits().poll).max(1)));
        // The task is kept at least this long, whatever its outcome.
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
        // The deadline passed and no sweep has run.
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
        let reason = record.reason.as_deref().unwrap_or("no answer in time");
        ErrorObject::new(ErrorCode::INTERNAL_ERROR, reason)
    })
}

/// Adds the `resultType` that is required since 2026-07-28.
fn typed(result: Raw) -> Raw {
    let Ok(mut given) = result.decode::<CallToolResult>() else { return result };
    given.result_type = Some(ResultType::Complete);
    Raw::from_value(&given).unwrap_or(result)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Formats a time as the protocol requires.
fn timestamp(since_1970: Duration) -> String {
    // The last second of the year 9999. Later times have no valid format.
    let latest = Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + since_1970.min(latest)).to_string()
}
