//! Events that inform a chat page about questions of tools, the answers of the page, and the
//! equivalent AG-UI interrupt.
use super::ask::Ask;
use super::turn::{PluginSessionErrorCode, SessionError};
use crate::mcp::dispatch::ServerRequest;
use crate::mcp::elicitation::{ElicitRequestParams, ElicitResult};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{object, open_union};

open_union! {
    /// An event for a chat page.
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
        /// A tool asks the user a question.
        ElicitRequest(PluginElicitRequestEvent) = "plugin_elicit_request",
        /// A session cannot continue.
        SessionError(PluginSessionErrorEvent) = "plugin_session_error",
    }
}

object! {
    /// A question of a tool to the user.
    pub struct PluginElicitRequestEvent {
        /// Id of the session.
        session_id: String = "sessionId",
        /// Id of the tool call, as used by the model.
        call_id: String = "callId",
        /// Name of the tool.
        tool_name: String = "toolName",
        /// Globally unique id of the question.
        elicit_id: String = "elicitId",
        /// Key of the question within the session.
        key: String = "key",
        /// The message for the user.
        message: String = "message",
        /// Schema of the answer. It may carry a [context](crate::context).
        schema: Raw = "schema",
    }
}

object! {
    /// A session that cannot continue.
    pub struct PluginSessionErrorEvent {
        /// Id of the session.
        session_id: String = "sessionId",
        /// Id of the tool call, as used by the model.
        call_id: String = "callId",
        /// The error code.
        error: PluginSessionErrorCode = "error",
        /// Human-readable description.
        message: String = "message",
    }
}

object! {
    /// Members that a page adds to a request.
    pub struct PluginRequestExtensions {}
    optional {
        /// Answers to questions.
        plugin_elicit_responses: Vec<PluginElicitResponse> = "pluginElicitResponses",
        /// A session to abort. Handled before the answers.
        plugin_abort: PluginAbort = "pluginAbort",
    }
}

object! {
    /// An answer to a question.
    pub struct PluginElicitResponse {
        /// Id of the session.
        session_id: String = "sessionId",
        /// Id of the tool call, as used by the model.
        call_id: String = "callId",
        /// Globally unique id of the question.
        elicit_id: String = "elicitId",
        /// The user's response.
        result: ElicitResult = "result",
    }
}

object! {
    /// A request to abort a session.
    pub struct PluginAbort {
        /// Id of the session.
        session_id: String = "sessionId",
    }
    optional {
        /// Human-readable reason.
        reason: String = "reason",
    }
}

object! {
    /// A question as an AG-UI interrupt. The complete type is part of the crate `agui-types`.
    ///
    /// Spec: [`Interrupt`, 1.0](https://ag-ui.com/spec/1.0/schema#interrupt)
    pub struct PluginInterrupt {
        /// Globally unique id of the question, which the answer refers to.
        id: String = "id",
        /// `input_required`.
        reason: String = "reason",
        /// The message for the user.
        message: String = "message",
        /// Id of the tool call, as used by the model.
        tool_call_id: String = "toolCallId",
        /// Schema of the answer.
        response_schema: Raw = "responseSchema",
    }
    optional {
        /// The context, under its [name](crate::context::NAME).
        metadata: Extra = "metadata",
    }
}

/// Schema of the answer to a question by URL.
const EMPTY_FORM: &str = r#"{"type":"object","properties":{}}"#;

impl PluginElicitRequestEvent {
    /// Creates the event of a question. A question by URL has the URL in its message and an empty
    /// form. Returns `None` for a request to the model or the client, and for a question in an
    /// unknown mode.
    pub fn of(ask: &Ask, session_id: &str, call_id: &str, tool_name: &str) -> Option<Self> {
        let ServerRequest::Elicit(params) = &ask.request else { return None };
        let (message, schema) = match &**params {
            ElicitRequestParams::Form(form) => {
                (form.message.clone(), form.requested_schema.clone())
            }
            ElicitRequestParams::Url(url) => {
                (format!("{}\n{}", url.message, url.url), Raw::from_text(EMPTY_FORM).ok()?)
            }
            ElicitRequestParams::Unknown(_) => return None,
        };
        let elicit_id = elicit_id(session_id, &ask.key);
        let key = ask.key.as_str();
        Some(Self::new(session_id, call_id, tool_name, elicit_id, key, message, schema))
    }
}

impl PluginInterrupt {
    /// Creates the interrupt of a question, with its context as metadata. Returns `None` where
    /// [`PluginElicitRequestEvent::of`] does.
    pub fn of(ask: &Ask, session_id: &str, call_id: &str) -> Option<Self> {
        let event = PluginElicitRequestEvent::of(ask, session_id, call_id, "")?;
        let id = event.elicit_id;
        let reason = "input_required";
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

impl PluginSessionErrorEvent {
    /// Creates the event of an error.
    pub fn of(error: &SessionError, session_id: &str, call_id: &str) -> Self {
        Self::new(session_id, call_id, error.code(), error.to_string())
    }
}

impl PluginElicitResponse {
    /// Returns the key of the question within its session, or `None` if it belongs to another
    /// session.
    pub fn key(&self) -> Option<&str> {
        self.elicit_id.strip_prefix(&*self.session_id)?.strip_prefix(":elicit:")
    }
}

fn elicit_id(session_id: &str, key: &str) -> String {
    format!("{session_id}:elicit:{key}")
}
