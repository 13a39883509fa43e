//! Ends of tool calls, their progress and their log messages.
use super::{CallId, ClosedCall, Server, adapt};
use crate::mcp::base::Era;
use crate::mcp::logging::{LoggingLevel, LoggingMessageNotificationParams};
use crate::mcp::progress::ProgressNotificationParams;
use crate::mcp::tools::CallToolResult;
use jsonrpc_core::{ErrorObject, RequestId};

impl Server {
    /// Ends a call with a result.
    ///
    /// Content that the version of the client does not support is removed: up to 2025-11-25,
    /// structured content that is not an object.
    ///
    /// # Errors
    /// Returns an error if the call has ended.
    pub fn finish(&mut self, call: CallId, result: CallToolResult) -> Result<(), ClosedCall> {
        let open = self.calls.remove(&call).ok_or(ClosedCall)?;
        let result = adapt::result_for(result, &open.call.version);
        self.answer_with(&open.request, &result);
        Ok(())
    }

    /// Ends a call with a protocol error. To report a failure of the tool to the model,
    /// [finish](Self::finish) the call with an `isError` result instead.
    ///
    /// # Errors
    /// Returns an error if the call has ended.
    pub fn fail(&mut self, call: CallId, error: ErrorObject) -> Result<(), ClosedCall> {
        self.withdraw_questions(call);
        let open = self.calls.remove(&call).ok_or(ClosedCall)?;
        self.answer(&open.request, Err(error));
        Ok(())
    }

    /// Sends the progress of a call, if the client requested it. `progress` has to increase.
    ///
    /// # Errors
    /// Returns an error if the call has ended.
    pub fn progress(
        &mut self,
        call: CallId,
        mut params: impl FnMut(RequestId) -> ProgressNotificationParams,
    ) -> Result<(), ClosedCall> {
        let open = self.calls.get(&call).ok_or(ClosedCall)?;
        let Some(token) = open.call.progress_token.clone() else { return Ok(()) };
        let related = open.request.clone();
        self.notify("notifications/progress", &params(token), Some(related));
        Ok(())
    }

    /// Sends a log message of a call, if the client requested its level: in the `_meta` of the call
    /// since 2026-07-28, with `logging/setLevel` before. Clients before 2026-07-28 that set no
    /// level receive all messages.
    ///
    /// # Errors
    /// Returns an error if the call has ended.
    pub fn log(
        &mut self,
        call: CallId,
        params: &LoggingMessageNotificationParams,
    ) -> Result<(), ClosedCall> {
        let open = self.calls.get(&call).ok_or(ClosedCall)?;
        let least = match (open.call.version.era(), &self.session) {
            (Some(Era::Legacy), Some(session)) => {
                session.log_level.clone().or(Some(LoggingLevel::Debug))
            }
            _ => open.call.log_level.clone(),
        };
        let related = open.request.clone();
        if least.is_some_and(|least| params.level >= least) {
            self.notify("notifications/message", params, Some(related));
        }
        Ok(())
    }

    /// Returns whether a call is open.
    pub fn is_open(&self, call: CallId) -> bool {
        self.calls.contains_key(&call)
    }

    /// Returns the number of open calls.
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }
}
