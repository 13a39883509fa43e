//! Tools that ask, on a server of either generation.
use super::context::Notice;
use super::host::PluginHost;
use super::journal::Outcome;
use super::tool::failed;
use super::turn::{NewCall, NoticeSink, Resumption, SessionError, Turn};
use crate::context::Carriers;
use crate::mcp::logging::LoggingMessageNotificationParams;
use crate::mcp::progress::ProgressNotificationParams;
use crate::server::{AskError, CallId, CallNotOpen, Needs, Server, ToolCall};
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::Number;

impl PluginHost {
    /// Runs a call of a server, the first time and again. `session_id` identifies the session of a first call; it must be hard
    /// to guess. `notices` receives what the tool reports; [`tell`] passes it to the client. The outcome is for [`reply`].
    ///
    /// # Errors
    /// As [`call`](Self::call) and [`resume`](Self::resume).
    pub async fn handle(
        &self,
        call: &ToolCall,
        session_id: &str,
        principal: &str,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        if let Some(resumption) = resumption(call, principal) {
            return self.resume(resumption, notices).await;
        }
        let (tool, arguments) = (call.name.as_str(), call.arguments.clone());
        let call_id = session_id;
        let call = NewCall { session_id, call_id, tool, arguments, principal };
        self.call(call, notices).await
    }
}

/// A call of a server that goes on; nothing for one that begins.
pub fn resumption<'a>(call: &'a ToolCall, principal: &'a str) -> Option<Resumption<'a>> {
    let state = call.request_state.as_deref()?;
    let answers = call.responses.iter().map(|(key, response)| {
        let outcome = match response {
            Ok(result) => Outcome::Value(result.clone()),
            Err(error) => Outcome::Error(error.message.to_string()),
        };
        (key.clone(), outcome)
    });
    let (tool, arguments) = (call.name.as_str(), Some(&call.arguments));
    Some(Resumption { state, tool, arguments, principal, answers: answers.collect() })
}

/// Tells the client of a call what its tool tells, if the client wants to hear of that. Progress that is not a number is not
/// told.
///
/// # Errors
/// The call has ended.
pub fn tell(server: &mut Server, call: CallId, notice: &Notice) -> Result<(), CallNotOpen> {
    match notice {
        Notice::Log { level, data } => {
            let params = LoggingMessageNotificationParams::new(level.clone(), data.clone());
            server.log(call, &params)
        }
        Notice::Progress { progress, total, message } => {
            let Some(progress) = Number::from_f64(*progress) else { return Ok(()) };
            server.progress(call, |token| {
                let mut params = ProgressNotificationParams::new(token, progress.clone());
                params.total = total.and_then(Number::from_f64);
                params.message.clone_from(message);
                params
            })
        }
    }
}

/// Answers a call of a server with what came of it. A context goes where this client reads it.
///
/// What the client is asked ends at `deadline` at the latest, where the server asks itself.
///
/// # Errors
/// The call has ended.
pub fn reply(
    server: &mut Server,
    call: &ToolCall,
    turn: Result<Turn, SessionError>,
    deadline: Option<Duration>,
) -> Result<(), CallNotOpen> {
    let (state, asks) = match turn {
        Ok(Turn::Done(result)) => return server.finish(call.id, result),
        Ok(Turn::Taken) => {
            return server.finish(call.id, failed("the call is being answered already"));
        }
        Ok(Turn::Asks { state, asks }) => (state, asks),
        Err(error @ (SessionError::UnknownTool(_) | SessionError::OtherArguments)) => {
            let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string());
            return server.fail(call.id, error);
        }
        Err(SessionError::Protocol(error)) => return server.fail(call.id, error),
        Err(error) => return server.finish(call.id, failed(&error.to_string())),
    };
    let carriers = Carriers::for_peer(&call.capabilities);
    let requests = asks.iter().map(|ask| Ok((ask.key.clone(), ask.to_request(carriers)?)));
    let requests: Result<alloc::vec::Vec<_>, crate::context::EncodeError> = requests.collect();
    let mut needs = match requests {
        Ok(requests) => Needs::new(requests),
        Err(error) => return server.finish(call.id, failed(&error.to_string())),
    };
    needs.request_state = Some(state);
    match server.ask(call.id, needs, deadline) {
        Ok(()) => Ok(()),
        Err(AskError::NotOpen(error)) => Err(error),
        Err(error) => match error.error_object() {
            Some(error) => server.fail(call.id, error),
            None => server.finish(call.id, failed(&error.to_string())),
        },
    }
}
