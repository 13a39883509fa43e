//! Serves tools that ask on a [`Server`], for clients of either generation.
use super::host::PluginHost;
use super::journal::Outcome;
use super::notice::{Notice, NoticeSink};
use super::turn::{NewCall, Resumption, SessionError, Turn};
use crate::context::{Carriers, EncodeError};
use crate::mcp::logging::LoggingMessageNotificationParams;
use crate::mcp::progress::ProgressNotificationParams;
use crate::server::{CallId, CallOutcome, ClosedCall, Needs, Server, ToolCall};
use alloc::string::ToString;
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, Extra, Meta};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde_json::Number;

impl PluginHost {
    /// Runs a call of a server, for the first time or again.
    ///
    /// `session_id` identifies the session of a new call and has to be unpredictable. `notices`
    /// receives log messages and progress; [`send_notice`] passes them to the client. [`outcome`]
    /// converts the result for [`Server::complete`].
    ///
    /// # Errors
    /// As for [`call`](Self::call) and [`resume`](Self::resume).
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
        self.call(NewCall::of(call, session_id, principal), notices).await
    }
}

impl<'a> NewCall<'a> {
    /// Creates the call that a server received. The id of the session is also that of the call.
    pub fn of(call: &'a ToolCall, session_id: &'a str, principal: &'a str) -> Self {
        let tool = call.name.as_str();
        let arguments = call.arguments.clone();
        let meta = call.meta.as_ref().and_then(for_tool);
        Self { session_id, call_id: session_id, tool, arguments, principal, meta }
    }
}

/// Returns the members of a `_meta` that the protocol does not define. The others are specific to
/// one request.
fn for_tool(meta: &Meta) -> Option<Meta> {
    let members: Extra = wire::decode(meta.as_str()).ok()?;
    let is_own = |key: &str| key.starts_with("io.modelcontextprotocol/") || key == "progressToken";
    let mut kept = Meta::new();
    let mut others = members.iter().filter(|(key, _)| !is_own(key)).peekable();
    others.peek()?;
    others.for_each(|(key, value)| kept.insert(key, value.clone()));
    Some(kept)
}

/// Returns the resumption that a call of a server represents, or `None` for a new call.
pub fn resumption<'a>(call: &'a ToolCall, principal: &'a str) -> Option<Resumption<'a>> {
    let state = call.request_state.as_deref()?;
    let answers = call.responses.iter().map(|(key, response)| {
        let outcome = match response {
            Ok(result) => Outcome::Value(result.clone()),
            Err(error) => Outcome::Error(error.message.to_string()),
        };
        (key.clone(), outcome)
    });
    let tool = call.name.as_str();
    let arguments = Some(&call.arguments);
    Some(Resumption { state, tool, arguments, principal, answers: answers.collect() })
}

/// Sends a notice of a tool to the client of the call, if the client requested it. Non-finite
/// progress is dropped.
///
/// # Errors
/// Returns an error if the call has ended.
pub fn send_notice(server: &mut Server, call: CallId, notice: &Notice) -> Result<(), ClosedCall> {
    match notice {
        Notice::Log { level, logger, data } => {
            let mut params = LoggingMessageNotificationParams::new(level.clone(), data.clone());
            params.logger.clone_from(logger);
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

/// Returns the outcome of a call of a server. Contexts of questions are put into the carriers that
/// the client supports.
pub fn outcome(call: &ToolCall, turn: Result<Turn, SessionError>) -> CallOutcome {
    let (state, asks) = match turn {
        Ok(Turn::Done(result)) => return result.into(),
        Ok(Turn::Taken) => return CallOutcome::failed("another request already runs the call"),
        Ok(Turn::Asks { state, asks }) => (state, asks),
        Err(error @ (SessionError::UnknownTool(_) | SessionError::OtherArguments)) => {
            let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string());
            return CallOutcome::Failed(error);
        }
        Err(SessionError::Protocol(error)) => return CallOutcome::Failed(error),
        Err(error) => return CallOutcome::failed(&error.to_string()),
    };
    let carriers = Carriers::for_peer(&call.capabilities);
    let requests = asks.iter().map(|ask| Ok((ask.key.clone(), ask.to_request(carriers)?)));
    match requests.collect::<Result<Vec<_>, EncodeError>>() {
        Ok(requests) => {
            let mut needs = Needs::new(requests);
            needs.request_state = Some(state);
            CallOutcome::Needs(needs)
        }
        Err(error) => CallOutcome::failed(&error.to_string()),
    }
}
