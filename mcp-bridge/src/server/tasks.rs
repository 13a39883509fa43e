//! Calls that continue as tasks, by the extension `io.modelcontextprotocol/tasks`.
//!
//! The server does not store tasks. Requests about tasks are passed on as
//! [`ServerEvent::Request`](super::ServerEvent) after the capabilities of the client were checked.
use super::ask::missing_capability_error;
use super::requests::not_found;
use super::subscriptions::subscription;
use super::{AskError, CallId, ClosedCall, Server, ToolCall};
use crate::mcp::base::Era;
use crate::mcp::capabilities::ClientCapabilities;
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::tasks::{EXTENSION, Task, declare, is_declared};
use crate::mcp::tools::CallToolOutcome;
use alloc::boxed::Box;
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;

impl ToolCall {
    /// Returns whether the client accepts a task as the result: it uses 2026-07-28 or later and
    /// declared the extension.
    pub fn takes_task(&self) -> bool {
        self.version.era() != Some(Era::Legacy)
            && is_declared(self.capabilities.extensions.as_ref())
    }
}

impl super::ServerOptions {
    /// Declares support for tasks. The caller then has to answer the requests about them.
    pub fn offer_tasks(&mut self) {
        declare(&mut self.capabilities.extensions);
    }
}

impl Server {
    /// Maximum number of tasks in one subscription.
    pub const MAX_TASKS_LISTENED: usize = 256;

    /// Ends a call with a task. The client polls the task from now on, so the task has to be stored
    /// before.
    ///
    /// # Errors
    /// Returns an error if the call has ended, or its client [does not support
    /// tasks](ToolCall::takes_task). The call is unchanged.
    pub fn create_task(&mut self, call: CallId, task: Task) -> Result<(), AskError> {
        let open = self.calls.get(&call).ok_or(ClosedCall)?;
        if !open.call.takes_task() {
            let required = Box::new(tasks_capability());
            return Err(AskError::Capability { key: EXTENSION.into(), required });
        }
        let request = open.request.clone();
        self.calls.remove(&call);
        self.answer_with(&request, &CallToolOutcome::Task(Box::new(task)));
        Ok(())
    }

    /// Notifies subscribers of the status of a task. The caller has already checked that the
    /// clients may access it.
    pub fn notify_task(&mut self, task: &Task) {
        let listeners = self.subscriptions.listeners.iter().filter(|(_, filter)| {
            filter.task_ids.iter().flatten().any(|listened| *listened == task.task_id)
        });
        let listeners: Vec<_> = listeners.map(|(id, _)| id.clone()).collect();
        for id in listeners {
            let mut params = task.clone();
            params.result_type = None;
            params.meta = Some(subscription(&id));
            self.notify("notifications/tasks", &params, Some(id));
        }
    }

    pub(super) fn offers_tasks(&self) -> bool {
        is_declared(self.options.capabilities.extensions.as_ref())
    }

    /// Checks that the capabilities of a client permit a request about tasks.
    pub(super) fn check_task_request(
        &self,
        request: &ClientRequest,
        capabilities: &ClientCapabilities,
    ) -> Result<(), ErrorObject> {
        if !self.offers_tasks() {
            return Err(not_found(request.method()));
        }
        if !is_declared(capabilities.extensions.as_ref()) {
            return Err(tasks_required());
        }
        Ok(())
    }
}

/// Returns the error for a call that requires a task, if the client does not support tasks.
pub fn tasks_required() -> ErrorObject {
    missing_capability_error(&tasks_capability())
}

fn tasks_capability() -> ClientCapabilities {
    let mut required = ClientCapabilities::new();
    declare(&mut required.extensions);
    required
}
