//! What the page of a chat is told of tools that ask, and what it answers; and the same as an interrupt of AG-UI.
use super::ask::Ask;
use super::turn::{SessionError, Turn};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::elicitation::{ElicitRequestParams, ElicitResult};
use crate::tool_events::{CallStatus, CallUpdate, result_text};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{object, open_enum, open_union};

open_enum! {
    /// Why a session cannot go on.
    pub enum PluginSessionErrorCode {
        /// There is no such session any more, or it is not the caller's.
        SessionNotFound = "SESSION_NOT_FOUND",
        /// Somebody ended it.
        SessionAborted = "SESSION_ABORTED",
        /// Something else.
        InternalError = "INTERNAL_ERROR",
    }
}

open_union! {
    /// What a page is told.
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::plugin::{PluginEvent, PluginSessionErrorCode};
    ///
    /// let text = r#"{"type":"plugin_session_error","sessionId":"9c41","callId":"call_1","error":"SESSION_NOT_FOUND","message":"gone"}"#;
    /// let event: PluginEvent = wire::decode(text)?;
    /// let PluginEvent::SessionError(error) = &event else { panic!("an error") };
    /// assert_eq!(error.error, PluginSessionErrorCode::SessionNotFound);
    /// assert_eq!(serde_json::to_string(&event)?, text);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum PluginEvent by "type" {
        /// A tool asks the user.
        ElicitRequest(PluginElicitRequestEvent) = "plugin_elicit_request",
        /// A session cannot go on.
        SessionError(PluginSessionErrorEvent) = "plugin_session_error",
    }
}

object! {
    /// A tool asks the user.
    pub struct PluginElicitRequestEvent {
        /// The session.
        session_id: String = "sessionId",
        /// The call, as the model has it.
        call_id: String = "callId",
        /// The tool.
        tool_name: String = "toolName",
        /// The question, among all of them.
        elicit_id: String = "elicitId",
        /// The question, within the session.
        key: String = "key",
        /// The question, for people to read.
        message: String = "message",
        /// The form of the answer; it may carry a [context](crate::context).
        schema: Raw = "schema",
    }
}

object! {
    /// A session cannot go on.
    pub struct PluginSessionErrorEvent {
        /// The session.
        session_id: String = "sessionId",
        /// The call, as the model has it.
        call_id: String = "callId",
        /// Why.
        error: PluginSessionErrorCode = "error",
        /// Why, for people to read.
        message: String = "message",
    }
}

object! {
    /// What a page adds to a request.
    pub struct PluginRequestExtensions {}
    optional {
        /// Its answers.
        plugin_elicit_responses: Vec<PluginElicitResponse> = "pluginElicitResponses",
        /// A session that it ends. It comes before the answers.
        plugin_abort: PluginAbort = "pluginAbort",
    }
}

object! {
    /// An answer.
    pub struct PluginElicitResponse {
        /// The session.
        session_id: String = "sessionId",
        /// The call, as the model has it.
        call_id: String = "callId",
        /// The question, among all of them.
        elicit_id: String = "elicitId",
        /// What the user did.
        result: ElicitResult = "result",
    }
}

object! {
    /// Ends a session.
    pub struct PluginAbort {
        /// The session.
        session_id: String = "sessionId",
    }
    optional {
        /// Why.
        reason: String = "reason",
    }
}

object! {
    /// The question as an interrupt of AG-UI, to which the crate of that protocol has the whole type.
    ///
    /// Spec: [`Interrupt`, 1.0](https://ag-ui.com/spec/1.0/schema#interrupt)
    pub struct PluginInterrupt {
        /// What the answer names: the question, among all of them.
        id: String = "id",
        /// `input_required`.
        reason: String = "reason",
        /// The question, for people to read.
        message: String = "message",
        /// The call, as the model has it.
        tool_call_id: String = "toolCallId",
        /// The form of the answer.
        response_schema: Raw = "responseSchema",
    }
    optional {
        /// The context, under its [name](crate::context::NAME).
        metadata: Extra = "metadata",
    }
}

impl PluginElicitRequestEvent {
    /// The event of a question; nothing for a request to the model.
    pub fn of(ask: &Ask, session_id: &str, call_id: &str, tool_name: &str) -> Option<Self> {
        let ServerRequest::Elicit(params) = &ask.request else { return None };
        let ElicitRequestParams::Form(form) = &**params else { return None };
        let (elicit_id, schema) = (elicit_id(session_id, &ask.key), form.requested_schema.clone());
        let (key, message) = (ask.key.as_str(), form.message.as_str());
        Some(Self::new(session_id, call_id, tool_name, elicit_id, key, message, schema))
    }
}

impl PluginInterrupt {
    /// The interrupt of a question, with its context beside the form; nothing for a request to the model.
    pub fn of(ask: &Ask, session_id: &str, call_id: &str) -> Option<Self> {
        let event = PluginElicitRequestEvent::of(ask, session_id, call_id, "")?;
        let (id, reason) = (event.elicit_id, "input_required");
        let mut interrupt = Self::new(id, reason, event.message, call_id, event.schema);
        interrupt.metadata =
            ask.context.as_ref().filter(|context| !context.is_empty()).map(|context| {
                let mut metadata = Extra::new();
                metadata.insert(crate::context::NAME, context.as_raw().clone());
                metadata
            });
        Some(interrupt)
    }
}

/// What a chat page hears of a call, for [`ToolEvents`](crate::tool_events::ToolEvents).
///
/// | the turn | the call |
/// |---|---|
/// | asks, or is taken | runs |
/// | is done | is done, or has failed if the result says so; the result is its output |
/// | is an error | has failed; the error is its output |
pub fn call_update<'a>(
    call_id: &'a str,
    tool: &'a str,
    arguments: Option<&'a Raw>,
    turn: &Result<Turn, SessionError>,
) -> CallUpdate<'a> {
    let mut update = CallUpdate::new(call_id);
    (update.name, update.input) = (Some(tool), arguments);
    let (status, output) = match turn {
        Ok(Turn::Asks { .. } | Turn::Taken) => (CallStatus::InProgress, None),
        Ok(Turn::Done(result)) => {
            let has_failed = result.is_error == Some(true);
            let status = if has_failed { CallStatus::Failed } else { CallStatus::Completed };
            (status, Some(result_text(result)))
        }
        Err(error) => (CallStatus::Failed, Some(error.to_string())),
    };
    (update.status, update.output) = (status, output.map(Cow::Owned));
    update
}

impl PluginSessionErrorEvent {
    /// The event of an error.
    pub fn of(error: &SessionError, session_id: &str, call_id: &str) -> Self {
        Self::new(session_id, call_id, error.code(), error.to_string())
    }
}

impl PluginElicitResponse {
    /// The key of the question within its session; nothing if the question is another session's.
    pub fn key(&self) -> Option<&str> {
        self.elicit_id.strip_prefix(&*self.session_id)?.strip_prefix(":elicit:")
    }
}

fn elicit_id(session_id: &str, key: &str) -> String {
    format!("{session_id}:elicit:{key}")
}
