//! Calls that go on as tasks, by the extension `io.modelcontextprotocol/tasks`.
//!
//! The tasks themselves are whoever's who does the calls: their requests come as [`ServerEvent::Request`](super::ServerEvent),
//! once it is sure that the client may make them.
use super::ask::missing_capability_error;
use super::requests::{not_found, subscription};
use super::{AskError, CallId, CallNotOpen, Server, ToolCall};
use crate::mcp::base::Era;
use crate::mcp::capabilities::ClientCapabilities;
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::tasks::{EXTENSION, Task, declare, is_declared};
use crate::mcp::tools::CallToolOutcome;
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;

/// What a request that stays open hears of.
#[derive(Debug)]
pub(super) struct Listener {
    /// Whether tools are among it.
    pub(super) wants_tools: bool,
    /// These tasks are.
    pub(super) tasks: BTreeSet<String>,
}

impl ToolCall {
    /// Whether the client takes a task instead of a result: it is of 2026-07-28 or later, and knows of them.
    pub fn takes_task(&self) -> bool {
        self.version.era() != Some(Era::Legacy)
            && is_declared(self.capabilities.extensions.as_ref())
    }
}

impl super::ServerOptions {
    /// Says that calls may be tasks. Whoever says so answers the requests about them.
    pub fn offer_tasks(&mut self) {
        declare(&mut self.capabilities.extensions);
    }
}

impl Server {
    /// The most tasks that one request hears of.
    pub const MAX_TASKS_LISTENED: usize = 256;

    /// Ends a call with a task, which the client asks about from now on. Whoever knows its name has to be able to ask: it has to
    /// be kept before.
    ///
    /// # Errors
    /// The call has ended, or its client [knows nothing of tasks](ToolCall::takes_task); the call is as it was.
    pub fn create_task(&mut self, call: CallId, task: Task) -> Result<(), AskError> {
        let open = self.calls.get(&call).ok_or(CallNotOpen)?;
        if !open.call.takes_task() {
            let required = Box::new(tasks_capability());
            return Err(AskError::Capability { key: EXTENSION.into(), required });
        }
        let request = open.request.clone();
        self.calls.remove(&call);
        self.answer_with(&request, &CallToolOutcome::Task(Box::new(task)));
        Ok(())
    }

    /// Tells those who want to hear of it how a task stands. Whether it is theirs has to be known before.
    pub fn task_changed(&mut self, task: &Task) {
        let listeners =
            self.listeners.iter().filter(|(_, listener)| listener.tasks.contains(&task.task_id));
        let listeners: Vec<_> = listeners.map(|(id, _)| id.clone()).collect();
        for id in listeners {
            let mut params = task.clone();
            (params.result_type, params.meta) = (None, Some(subscription(&id)));
            self.notify("notifications/tasks", &params, Some(id));
        }
    }

    pub(super) fn offers_tasks(&self) -> bool {
        is_declared(self.options.capabilities.extensions.as_ref())
    }

    /// Whether a client that declared this may ask about tasks here.
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

/// The error for a call that can only be a task, of a client that knows nothing of tasks.
pub fn tasks_required() -> ErrorObject {
    missing_capability_error(&tasks_capability())
}

fn tasks_capability() -> ClientCapabilities {
    let mut required = ClientCapabilities::new();
    declare(&mut required.extensions);
    required
}
