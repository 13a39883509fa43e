//! Tools that ask, on a server of either generation.
use super::host::{NewCall, PluginHost, Resumption, SessionError, Turn};
use super::journal::Outcome;
use super::tool::failed;
use crate::context::Carriers;
use crate::server::{AskError, CallNotOpen, Needs, Server, ToolCall};
use alloc::string::ToString;
use core::time::Duration;
use jsonrpc_core::{ErrorCode, ErrorObject};

impl PluginHost {
    /// Does a call of a server, the first time and again. `session_id` names the session if it is the first time; nobody can
    /// guess it. The answer is for [`reply`].
    ///
    /// # Errors
    /// As [`call`](Self::call) and [`resume`](Self::resume).
    pub async fn handle(
        &self,
        call: &ToolCall,
        session_id: &str,
        principal: &str,
    ) -> Result<Turn, SessionError> {
        let tool = call.name.as_str();
        let Some(state) = &call.request_state else {
            let arguments = call.arguments.clone();
            let call_id = session_id;
            return self.call(NewCall { session_id, call_id, tool, arguments, principal }).await;
        };
        let answers = call.responses.iter().map(|(key, response)| {
            let outcome = match response {
                Ok(result) => Outcome::Value(result.clone()),
                Err(error) => Outcome::Error(error.message.to_string()),
            };
            (key.clone(), outcome)
        });
        let arguments = Some(&call.arguments);
        let answers = answers.collect();
        self.resume(Resumption { state, tool, arguments, principal, answers }).await
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
