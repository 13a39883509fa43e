//! Questions to the user: forms, and pages to go to.
use crate::json::{self, Members};
use crate::question::{About, AnswerError, Settlement};
use crate::translator::{Translator, acp_metadata};
use acp_types::v1::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationAcceptAction,
    ElicitationAction, ElicitationMode as Mode, ElicitationSchema, ElicitationScope,
};
use acp_types::v1::tool_calls::ToolCallId;
use agui_types::interrupt::Interrupt;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{self, Extra, Meta, Raw};
use serde::{Deserialize, Serialize};

mod form;

/// Who answers elicitations.
///
/// Spec: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation) (ACP v1)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ElicitationMode {
    /// Nobody: they are declined at once. The stream tells it, as `CUSTOM` `acp.elicitation`.
    #[default]
    Decline,
    /// A person, as [`PermissionMode::Interrupt`](crate::PermissionMode::Interrupt).
    Interrupt,
    /// A person: the stream asks with `CUSTOM` `acp.elicitation.requested`, and stays open until
    /// [`Translator::answer_elicitation`] is called.
    InStream,
}

/// What an elicitation asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Elicitation {
    pub(crate) message: String,
    mode: Mode,
    pub(crate) call: Option<ToolCallId>,
    /// What the request has in its `_meta`.
    #[serde(default)]
    meta: Option<Meta>,
}

impl Elicitation {
    /// The action that an answer to an interrupt stands for; nothing where it stands for none.
    ///
    /// | payload | action |
    /// |---|---|
    /// | `{"action":"accept","content":{…}}`, `{"content":{…}}` | accept, with the content |
    /// | `{"action":"decline"}`, `{"action":"cancel"}` | that |
    /// | of a form: any other object | accept, with it as the content |
    /// | of a page: nothing, `true`, `{}` | accept |
    ///
    /// A form that has a field `action` or `content` itself wants its content in `content` beside an `action`.
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

    /// Checks the content that a form was filled in with.
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

    fn describe(&self, value: Members, limit: usize) -> Members {
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
}

impl Translator {
    /// Takes in an `elicitation/create`. The answer comes out of [`poll_response`](Self::poll_response): at once, after
    /// [`answer_elicitation`](Self::answer_elicitation), or with the run that [resumes](Self::begin_run); when the turn
    /// ends first, it is `cancel`.
    ///
    /// What the request has in its `_meta` is in the interrupt's `metadata`, and in the `metadata` of the event.
    ///
    /// What asks in a mode that this version does not know, and what asks while there is no turn, is cancelled.
    pub fn handle_elicitation_request(
        &mut self,
        request_id: RequestId,
        request: CreateElicitationRequest,
    ) {
        self.heard();
        let CreateElicitationRequest { message, mode, meta, .. } = request;
        let scope = match &mode {
            Mode::Form(form) => Some(&form.scope),
            Mode::Url(page) => Some(&page.scope),
            _ => None,
        };
        let call = match scope {
            Some(ElicitationScope::Session(session)) => {
                let lane = self.subagents.lane(&session.session_id);
                session.tool_call_id.as_ref().map(|id| self.calls.key(&lane, id))
            }
            _ => None,
        };
        let message = json::cut(message, self.options.limits.message);
        let known = mode.is_known();
        let elicitation = About::Elicitation(Box::new(Elicitation { message, mode, call, meta }));
        let policy = match self.options.elicitation {
            _ if !known => Some(elicitation.cancelled()),
            ElicitationMode::Decline => {
                Some(Settlement::Elicitation(ElicitationAction::Decline(Extra::new())))
            }
            ElicitationMode::Interrupt | ElicitationMode::InStream => None,
        };
        self.ask(request_id, elicitation, policy);
    }

    /// Takes in an `elicitation/complete`: what a page asked is done. The stream tells, as `CUSTOM`
    /// `acp.elicitation.completed`; the request is accepted, unless it had its answer.
    pub fn handle_elicitation_complete(&mut self, notification: &CompleteElicitationNotification) {
        self.heard();
        let id = &notification.elicitation_id;
        if let Some(number) = self.questions.number_of(|about| {
            matches!(about, About::Elicitation(elicitation)
                if matches!(&elicitation.mode, Mode::Url(page) if page.elicitation_id == *id))
        }) {
            let accept = ElicitationAction::Accept(ElicitationAcceptAction::new());
            self.answer(number, &Settlement::Elicitation(accept));
        }
        if self.run.is_some() {
            let id = json::head(id.as_str(), self.options.limits.message);
            let value = Members::new().with("elicitationId", id);
            self.custom("acp.elicitation.completed", value.into_raw());
        }
    }

    /// Answers an elicitation. The response comes out of [`poll_response`](Self::poll_response).
    ///
    /// One that the run was interrupted for can be answered here as well; the client's answer to it is then left out.
    ///
    /// # Errors
    /// Nothing was asked under `interrupt_id`, it was answered before, or the content does not fit the form: a required
    /// field is missing, or a value is not of its field's type, length, range or choices. Patterns and formats are not
    /// checked.
    pub fn answer_elicitation(
        &mut self,
        interrupt_id: &str,
        action: ElicitationAction,
    ) -> Result<(), AnswerError> {
        match self.open_question(interrupt_id)? {
            (_, About::Permission(_)) => Err(AnswerError::Kind),
            (number, About::Elicitation(elicitation)) => {
                elicitation.check(&action)?;
                self.answer(number, &Settlement::Elicitation(action));
                Ok(())
            }
        }
    }

    pub(crate) fn elicitation_value(&self, value: Members, elicitation: &Elicitation) -> Members {
        let subject = elicitation.call.as_ref().and_then(|call| self.subject(call));
        let value = value
            .with_some("toolCallId", subject.map(|subject| subject.id).as_ref())
            .with("message", &elicitation.message)
            .with_some("metadata", elicitation.meta.as_ref());
        elicitation.describe(value, self.options.limits.value)
    }

    pub(crate) fn elicitation_interrupt(&self, id: String, elicitation: &Elicitation) -> Interrupt {
        let reason = if elicitation.schema().is_some() { "input_required" } else { "confirmation" };
        let mut interrupt = Interrupt::new(id, reason);
        interrupt.message = Some(elicitation.message.clone());
        let subject = elicitation.call.as_ref().and_then(|call| self.subject(call));
        interrupt.tool_call_id = subject.map(|subject| subject.id.clone());
        let schema = elicitation.schema().map(json::raw).and_then(|schema| schema.decode().ok());
        interrupt.response_schema = schema;
        let acp = match &elicitation.mode {
            Mode::Url(_) => elicitation.describe(Members::new(), self.options.limits.value),
            _ => Members::new().with("mode", elicitation.mode.tag()),
        };
        let meta = elicitation.meta.as_ref();
        let mut metadata: Extra =
            meta.and_then(|meta| wire::decode(meta.as_str()).ok()).unwrap_or_default();
        for (name, value) in acp_metadata(acp).iter() {
            metadata.insert(name, value.clone());
        }
        interrupt.metadata = Some(metadata);
        interrupt
    }
}
