//! Tasks: requests that continue in the background. Experimental in 2025-11-25, later the extension
//! `io.modelcontextprotocol/tasks`.
//!
//! The two definitions differ on the wire. Members of shared types state which of them defines the
//! member.
//!
//! Spec: [Tasks](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks)
//! (2025-11-25), [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks) (draft of
//! 2026-08-21)
use super::base::ResultType;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorObject, member_union, object, open_enum};
use serde_json::Number;

/// Name of the extension in the `extensions` of the capabilities.
///
/// Spec: [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks)
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Returns whether `extensions` contains the extension. The experimental capability of 2025-11-25
/// does not count.
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
    /// Requests a task instead of a result. In 2025-11-25 only.
    ///
    /// Spec: [`TaskMetadata`](https://modelcontextprotocol.io/specification/2025-11-25/schema#taskmetadata)
    pub struct TaskMetadata {}
    optional {
        /// Requested lifetime of the task, in milliseconds.
        ttl: Number = "ttl",
    }
}

object! {
    /// A task and its status. In a `tasks/get` result of the extension it also contains the
    /// outcome.
    ///
    /// In the extension, its members are part of a result or of the params of
    /// `notifications/tasks`.
    ///
    /// Spec: [`Task`](https://modelcontextprotocol.io/specification/2025-11-25/schema#task), and
    /// `DetailedTask` of [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks)
    pub struct Task by name {
        /// Id of the task.
        task_id: String = "taskId",
        /// Current status.
        status: TaskStatus = "status",
        /// Time of creation, ISO 8601.
        created_at: String = "createdAt",
        /// Time of the last change, ISO 8601.
        last_updated_at: String = "lastUpdatedAt",
    }
    optional {
        /// Human-readable status.
        status_message: String = "statusMessage",
        /// Suggested interval between polls, in milliseconds. In the extension.
        poll_interval_ms: Number = "pollIntervalMs",
        /// Suggested interval between polls, in milliseconds. In 2025-11-25.
        poll_interval: Number = "pollInterval",
        /// Requested input by key, each an [`InputRequest`](super::mrtr::InputRequest). In the
        /// extension, while the status is `input_required`.
        input_requests: Extra = "inputRequests",
        /// Result of the request. In the extension, if the status is `completed`.
        result: Raw = "result",
        /// The error. In the extension, if the status is `failed`.
        error: ErrorObject = "error",
        /// `complete` in the result of `tasks/get`. In the extension.
        result_type: ResultType = "resultType",
    }
    patch {
        /// Lifetime since creation, in milliseconds; `null` means unlimited. Required in the
        /// extension.
        ttl_ms: Number = "ttlMs",
        /// Lifetime since creation, in milliseconds; `null` means unlimited. Required in
        /// 2025-11-25.
        ttl: Number = "ttl",
    }
    and "_meta"
}

open_enum! {
    /// Status of a task.
    ///
    /// Spec: [`TaskStatus`](https://modelcontextprotocol.io/specification/2025-11-25/schema#taskstatus)
    pub enum TaskStatus {
        /// The task is running.
        Working = "working",
        /// The task waits for input from the client.
        InputRequired = "input_required",
        /// The task completed.
        Completed = "completed",
        /// The task failed.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns whether the status is final.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

object! {
    /// The result of a request that created a task. In 2025-11-25 only; the extension returns the
    /// [`Task`] itself.
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
    #[doc(alias("tasks/get", "tasks/result", "tasks/cancel"))]
    pub struct TaskRequestParams {
        /// Id of the task.
        task_id: String = "taskId",
    }
    and "_meta"
}

object! {
    /// The params of `tasks/update`: responses to the input requests of a task. In the extension.
    ///
    /// Spec: `UpdateTaskRequest` of [ext-tasks](https://github.com/modelcontextprotocol/ext-tasks)
    #[doc(alias = "tasks/update")]
    pub struct UpdateTaskRequestParams {
        /// Id of the task.
        task_id: String = "taskId",
        /// The responses by key, each the result of the request with the same key.
        input_responses: Extra = "inputResponses",
    }
    and "_meta"
}

object! {
    /// The result of `tasks/list`. In 2025-11-25 only.
    ///
    /// Spec: [`ListTasksResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#listtasksresult)
    #[doc(alias = "tasks/list")]
    pub struct ListTasksResult {
        /// The tasks.
        tasks: Vec<Task> = "tasks",
    }
    optional {
        /// Cursor of the next page. Absent on the last page.
        next_cursor: String = "nextCursor",
    }
    and "_meta"
}

member_union! {
    /// The result of `tasks/cancel`: the task in 2025-11-25, an empty result in the extension.
    ///
    /// Spec: [`CancelTaskResult`](https://modelcontextprotocol.io/specification/2025-11-25/schema#canceltaskresult)
    #[doc(alias = "tasks/cancel")]
    pub enum CancelTaskResult {
        /// The cancelled task.
        Task(Box<Task>) has "taskId",
    }
}
