//! Elicitations: forms, and URLs to visit.
use crate::answer_error::AnswerError;
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::outbox::acp_metadata;
use crate::tool_call::ToolCalls;
use acp_types::v1::elicitation::{
    CreateElicitationRequest, ElicitationAcceptAction, ElicitationAction, ElicitationId,
    ElicitationMode as Mode, ElicitationSchema, ElicitationScope,
};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::tool_calls::ToolCallId;
use agui_types::interrupt::Interrupt;
use alloc::collections::BTreeMap;
use alloc::string::String;
use jsonrpc_core::wire::{self, Extra, Meta, Raw};
use serde::{Deserialize, Serialize};

mod form;

/// The handling of elicitations.
///
/// Spec: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation) (ACP v1)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ElicitationMode {
    /// Declined at once. The stream shows it as `CUSTOM` `acp.elicitation`.
    #[default]
    Decline,
    /// Answered by the user, as with
    /// [`PermissionMode::Interrupt`](crate::PermissionMode::Interrupt).
    Interrupt,
    /// Answered by the user: the stream has `CUSTOM` `acp.elicitation.requested`, and stays open
    /// until [`Translator::answer_elicitation`](crate::Translator::answer_elicitation) is called.
    InStream,
}

/// An elicitation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Elicitation {
    message: String,
    mode: Mode,
    call: Option<ToolCallId>,
    /// `_meta` of the request.
    #[serde(default)]
    meta: Option<Meta>,
}

/// Returns the session and the tool call of an elicitation.
pub(crate) fn scope(request: &CreateElicitationRequest) -> Option<(&SessionId, &ToolCallId)> {
    let scope = match &request.mode {
        Mode::Form(form) => &form.scope,
        Mode::Url(page) => &page.scope,
        _ => return None,
    };
    match scope {
        ElicitationScope::Session(session) => {
            Some((&session.session_id, session.tool_call_id.as_ref()?))
        }
        _ => None,
    }
}

impl Elicitation {
    /// Creates an elicitation for the call with this [key](ToolCalls::key).
    pub(crate) fn new(
        request: CreateElicitationRequest,
        call: Option<ToolCallId>,
        limits: &Limits,
    ) -> Self {
        let CreateElicitationRequest { message, mode, meta, .. } = request;
        Self { message: json::cut(message, limits.message), mode, call, meta }
    }

    /// Returns the key of its call.
    pub(crate) fn call(&self) -> Option<&ToolCallId> {
        self.call.as_ref()
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns whether its mode is known.
    pub(crate) fn is_known(&self) -> bool {
        self.mode.is_known()
    }

    /// Returns whether it requests a visit of a URL under this id.
    pub(crate) fn is_page(&self, id: &ElicitationId) -> bool {
        matches!(&self.mode, Mode::Url(page) if page.elicitation_id == *id)
    }

    /// Returns the action that the answer to an interrupt expresses, if any.
    ///
    /// | payload | action |
    /// |---|---|
    /// | `{"action":"accept","content":{…}}`, `{"content":{…}}` | accept, with the content |
    /// | `{"action":"decline"}`, `{"action":"cancel"}` | this action |
    /// | for a form: any other object | accept, with the object as content |
    /// | for a URL: none, `true`, `{}` | accept |
    ///
    /// For a form that has a field `action` or `content`, put the content into `content` and add an
    /// `action`.
    pub(crate) fn action(&self, payload: Option<&Raw>) -> Option<ElicitationAction> {
        let accept = |content: Option<&Raw>| {
            let mut accept = ElicitationAcceptAction::new();
            if let Some(content) = content {
                accept.content = Some(content.decode::<BTreeMap<_, _>>().ok()?);
            }
            Some(ElicitationAction::Accept(accept))
        };
        let Some(payload) = payload.filter(|payload| payload.as_str() != "true") else {
            return if self.schema().is_some() { None } else { accept(None) };
        };
        let members: Extra = payload.as_str().starts_with('{').then(|| payload.decode().ok())??;
        let text = |name: &str| members.get(name).and_then(|value| value.decode::<String>().ok());
        match (text("action").as_deref(), members.get("content")) {
            (Some("accept"), content) => accept(content),
            (Some("decline"), None) => Some(ElicitationAction::Decline(Extra::new())),
            (Some("cancel"), None) => Some(ElicitationAction::Cancel(Extra::new())),
            (None, Some(content)) if members.len() == 1 && content.as_str().starts_with('{') => {
                accept(Some(content))
            }
            _ if self.schema().is_some() => accept(Some(payload)),
            _ => members.is_empty().then(|| accept(None))?,
        }
    }

    /// Checks the content of a form.
    pub(crate) fn check(&self, action: &ElicitationAction) -> Result<(), AnswerError> {
        match (action, self.schema()) {
            (ElicitationAction::Accept(accept), Some(schema)) => {
                form::check(schema, accept.content.as_ref().unwrap_or(const { &BTreeMap::new() }))
            }
            _ => Ok(()),
        }
    }

    fn schema(&self) -> Option<&ElicitationSchema> {
        match &self.mode {
            Mode::Form(form) => Some(&form.requested_schema),
            _ => None,
        }
    }

    fn describe_mode(&self, value: Members, limit: usize) -> Members {
        let value = value.with("mode", self.mode.tag());
        match &self.mode {
            Mode::Form(form) => {
                value.with("requestedSchema", &json::bounded(&form.requested_schema, limit))
            }
            Mode::Url(page) => {
                value.with("elicitationId", &page.elicitation_id).with("url", &page.url)
            }
            _ => value,
        }
    }

    /// Adds the elicitation to the value of an event.
    pub(crate) fn describe(&self, value: Members, calls: &ToolCalls, limits: &Limits) -> Members {
        let value = value
            .with_some("toolCallId", self.call.as_ref().and_then(|call| calls.id(call)).as_ref())
            .with("message", &self.message)
            .with_some("metadata", self.meta.as_ref());
        self.describe_mode(value, limits.value)
    }

    /// Returns the elicitation as an interrupt.
    pub(crate) fn interrupt(&self, id: String, calls: &ToolCalls, limits: &Limits) -> Interrupt {
        let reason = if self.schema().is_some() { "input_required" } else { "confirmation" };
        let mut interrupt = Interrupt::new(id, reason);
        interrupt.message = Some(self.message.clone());
        interrupt.tool_call_id = self.call.as_ref().and_then(|call| calls.id(call)).cloned();
        let schema = self.schema().map(json::raw).and_then(|schema| schema.decode().ok());
        interrupt.response_schema = schema;
        let acp = match &self.mode {
            Mode::Url(_) => self.describe_mode(Members::new(), limits.value),
            _ => Members::new().with("mode", self.mode.tag()),
        };
        let meta = self.meta.as_ref();
        let mut metadata: Extra =
            meta.and_then(|meta| wire::decode(meta.as_str()).ok()).unwrap_or_default();
        for (name, value) in acp_metadata(acp).iter() {
            metadata.insert(name, value.clone());
        }
        interrupt.metadata = Some(metadata);
        interrupt
    }
}
