//! Outcome of a tool call.
use super::{AskError, CallId, ClosedCall, Needs, Server};
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::tasks::Task;
use crate::mcp::tools::CallToolResult;
use alloc::boxed::Box;
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::ErrorObject;

/// Outcome of a tool call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallOutcome {
    /// The result.
    Done(Box<CallToolResult>),
    /// The call needs input. The tool is called again with the answers.
    Needs(Needs),
    /// The call continues as a task, which the client polls. See
    /// [`ToolCall::takes_task`](super::ToolCall::takes_task).
    Task(Box<Task>),
    /// A protocol error, which the model does not receive.
    Failed(ErrorObject),
}

impl From<CallToolResult> for CallOutcome {
    fn from(result: CallToolResult) -> Self {
        Self::Done(Box::new(result))
    }
}

impl CallOutcome {
    /// Creates an error result for the model.
    pub fn failed(problem: &str) -> Self {
        let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(problem))]);
        result.is_error = Some(true);
        result.into()
    }
}

impl Server {
    /// Ends a call with its outcome. Requests to a client up to 2025-11-25 expire at `deadline`.
    /// The call fails if its client cannot be asked or does not support tasks.
    ///
    /// # Errors
    /// Returns an error if the call has ended.
    pub fn complete(
        &mut self,
        call: CallId,
        outcome: CallOutcome,
        deadline: Option<Duration>,
    ) -> Result<(), ClosedCall> {
        let taken = match outcome {
            CallOutcome::Done(result) => return self.finish(call, *result),
            CallOutcome::Failed(error) => return self.fail(call, error),
            CallOutcome::Needs(needs) => self.ask(call, needs, deadline),
            CallOutcome::Task(task) => self.create_task(call, *task),
        };
        match taken {
            Ok(()) => Ok(()),
            Err(AskError::NotOpen(error)) => Err(error),
            Err(error) => {
                let failed = || CallOutcome::failed(&error.to_string());
                let failed = error.error_object().map_or_else(failed, CallOutcome::Failed);
                self.complete(call, failed, None)
            }
        }
    }
}
