//! Calls that go on by themselves: an experiment of 2025-11-25, and the extension `io.modelcontextprotocol/tasks`.
//!
//! The two are not the same on the wire. Where they share a type, its members say which of them has them.
//!
//! Spec: [Tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks) (2025-11-25),
//! [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks) (draft of 2026-08-21)
use super::base::ResultType;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorObject, member_union, object, open_enum};
use serde_json::Number;

/// The name of the extension among the `extensions` of the capabilities.
///
/// Spec: [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks)
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether the extension is among those that a peer declares. What is among the experiments of 2025-11-25 is not.
pub(crate) fn is_declared(extensions: Option<&Extra>) -> bool {
    extensions.is_some_and(|extensions| extensions.get(EXTENSION).is_some())
}

/// Declares the extension, without settings.
pub(crate) fn declare(extensions: &mut Option<Extra>) {
    if let Ok(settings) = Raw::from_text("{}") {
        extensions.get_or_insert_default().insert(EXTENSION, settings);
    }
}

object! {
    /// Asks for a task instead of a result. In 2025-11-25 only.
    ///
    /// Spec: [`TaskMetadata`](https://modelcontextprotocol.io/specification/2025-11-25/schema#taskmetadata)
    pub struct TaskMetadata {}
    optional {
        /// How long to keep it, in milliseconds.
        ttl: Number = "ttl",
    }
}

object! {
    /// A task: how it stands, and with `tasks/get` of the extension what came of it.
    ///
    /// In the extension it lies flat in a result or in the params of `notifications/tasks`.
    ///
    /// Spec: [`Task`](https://modelcontextprotocol.io/specification/2025-11-25/schema#task), and `DetailedTask` of
    /// [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks)
    pub struct Task {
        /// Names it.
        task_id: String = "taskId",
        /// How it stands.
        status: TaskStatus = "status",
        /// When it began, ISO 8601.
        created_at: String = "createdAt",
        /// When it changed last, ISO 8601.
        last_updated_at: String = "lastUpdatedAt",
    }
    optional {
        /// What is going on, for people to read.
        status_message: String = "statusMessage",
        /// How long to wait between two questions, in milliseconds. In the extension.
        poll_interval_ms: Number = "pollIntervalMs",
        /// How long to wait between two questions, in milliseconds. In 2025-11-25.
        poll_interval: Number = "pollInterval",
        /// What it needs, by key: each an [`InputRequest`](super::mrtr::InputRequest). In the extension, while the
        /// status is `input_required`.
        input_requests: Extra = "inputRequests",
        /// What came of it, as the request's result. In the extension, when it is `completed`.
        result: Raw = "result",
        /// Why it failed. In the extension, when it is `failed`.
        error: ErrorObject = "error",
        /// `complete` in the answer to `tasks/get`. In the extension.
        result_type: ResultType = "resultType",
    }
    patch {
        /// How long it is kept after it began, in milliseconds; `null` for ever. In the extension, required there.
        ttl_ms: Number = "ttlMs",
        /// How long it is kept after it began, in milliseconds; `null` for ever. In 2025-11-25, required there.
        ttl: Number = "ttl",
    }
    and "_meta"
}

open_enum! {
    /// How a task stands.
    ///
    /// Spec: [`TaskStatus`](https://modelcontextprotocol.io/specification/2025-11-25/schema#taskstatus)
    pub enum TaskStatus {
        /// It goes on.
        Working = "working",
        /// It waits for the client.
        InputRequired = "input_required",
        /// It is done.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether it stays so.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

object! {
    /// A task was made instead of a result. In 2025-11-25 only; the extension answers with the [`Task`] itself.
    ///
    /// Spec: [`CreateTaskResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#createtaskresult)
    pub struct CreateTaskResult {
        /// The task.
        task: Task = "task",
    }
    and "_meta"
}

object! {
    /// The params of `tasks/get`, `tasks/result` and `tasks/cancel`.
    ///
    /// Spec: [`GetTaskRequest`](https://modelcontextprotocol.io/specification/2025-11-25/schema#gettaskrequest)
    pub struct TaskRequestParams {
        /// Which one.
        task_id: String = "taskId",
    }
    and "_meta"
}

object! {
    /// The params of `tasks/update`: answers to what a task needs. In the extension.
    ///
    /// Spec: `UpdateTaskRequest` of [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks)
    pub struct UpdateTaskRequestParams {
        /// Which one.
        task_id: String = "taskId",
        /// The answers by key, each the result of the request that is under this key.
        input_responses: Extra = "inputResponses",
    }
    and "_meta"
}

object! {
    /// The answer to `tasks/list`. In 2025-11-25 only.
    ///
    /// Spec: [`ListTasksResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#listtasksresult)
    pub struct ListTasksResult {
        /// The tasks.
        tasks: Vec<Task> = "tasks",
    }
    optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
    }
    and "_meta"
}

member_union! {
    /// The answer to `tasks/cancel`: the task in 2025-11-25, nothing in the extension.
    ///
    /// Spec: [`CancelTaskResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#canceltaskresult)
    pub enum CancelTaskResult {
        /// How the task stands.
        Task(Box<Task>) has "taskId",
    }
}
