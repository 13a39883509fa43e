//! AG-UI interrupts as ACP requests, and their answers.
use super::{AcpAgent, Output, Question, QuestionAnswer, given_up};
use crate::json::{self, Members};
use acp_types::v1::elicitation::{
    CreateElicitationRequest, ElicitationAction, ElicitationFormMode, ElicitationMode,
    ElicitationSchema, ElicitationScope, ElicitationSessionScope,
};
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionRequest,
    ToolCallId, ToolCallUpdate,
};
use agui_types::id::InterruptId;
use agui_types::interrupt::{Interrupt, ResumeEntry, ResumeStatus};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

/// A question that was asked, and the meaning of its answers.
#[derive(Clone, Debug)]
pub(super) enum PendingQuestion {
    /// The payload of each option; `None` cancels the interrupt.
    Permission(BTreeMap<PermissionOptionId, Option<Raw>>),
    Form,
}

/// Option ids if the agent names none.
const YES: &str = "yes";
const NO: &str = "no";

impl PendingQuestion {
    /// Returns the answer for the agent.
    pub(super) fn resume(&self, question: &InterruptId, answer: &QuestionAnswer) -> ResumeEntry {
        let payload = match (self, answer) {
            (Self::Permission(options), QuestionAnswer::Permission(outcome)) => {
                outcome.option_id().and_then(|id| options.get(id)).cloned().flatten()
            }
            (Self::Form, QuestionAnswer::Elicitation(ElicitationAction::Accept(accept))) => {
                Some(match &accept.content {
                    Some(content) => json::raw(content),
                    None => json::raw(&Extra::new()),
                })
            }
            _ => None,
        };
        let Some(payload) = payload else { return given_up(question) };
        let mut entry = ResumeEntry::new(question.clone(), ResumeStatus::Resolved);
        entry.payload = Some(payload);
        entry
    }
}

impl AcpAgent {
    /// Asks the questions of an interrupted run.
    ///
    /// | interrupt | question | payload of the answer |
    /// |---|---|---|
    /// | schema with `optionId` | permission, with the options of `metadata.acp`, else of the schema | `{"optionId":…}` |
    /// | schema with `approved` | permission: yes, no | `{"approved":…}` |
    /// | schema with other members | elicitation if the client supports forms; otherwise cancelled | the content |
    /// | tool call without a schema | permission: yes, no | `true`, `false` |
    /// | any other | permission: yes, no | `true`; "no" cancels |
    pub(super) fn ask(&mut self, interrupts: &[Interrupt]) {
        for interrupt in interrupts {
            let pending = match options(interrupt) {
                Some((options, payloads)) => {
                    let request = self.permission(interrupt, options);
                    Some((
                        Question::Permission(Box::new(request)),
                        PendingQuestion::Permission(payloads),
                    ))
                }
                None => self
                    .form(interrupt)
                    .map(|form| (Question::Elicitation(form), PendingQuestion::Form)),
            };
            let Some(turn) = self.turn.as_mut() else { return };
            match pending {
                Some(_) if turn.questions.contains_key(&interrupt.id) => {
                    self.lose("RUN_FINISHED", "two interrupts have the same id");
                }
                Some((question, pending)) => {
                    turn.questions.insert(interrupt.id.clone(), pending);
                    self.outputs.push_back(Output::Ask(interrupt.id.clone(), question));
                }
                None => {
                    turn.answers.push(given_up(&interrupt.id));
                    self.lose(
                        "RUN_FINISHED",
                        "the editor does not support forms: the question is cancelled",
                    );
                }
            }
        }
        if self.turn.as_ref().is_some_and(|turn| turn.questions.is_empty()) {
            self.begin_run();
        }
    }

    fn permission(
        &self,
        interrupt: &Interrupt,
        options: Vec<PermissionOption>,
    ) -> RequestPermissionRequest {
        let call: ToolCallId = match &interrupt.tool_call_id {
            Some(id) => id.as_str().into(),
            None => format!("interrupt-{}", interrupt.id).into(),
        };
        let mut call = ToolCallUpdate::new(call);
        let title = match (&interrupt.message, &interrupt.tool_call_id) {
            (Some(message), _) => Some(message.clone()),
            // A call has a title; a question without a call needs a text.
            (None, Some(_)) => None,
            (None, None) => Some(interrupt.reason.clone()),
        };
        call.title = title.map(Into::into).unwrap_or_default();
        RequestPermissionRequest::new(self.session_id.clone(), call, options)
    }

    fn form(&self, interrupt: &Interrupt) -> Option<CreateElicitationRequest> {
        self.options.client.elicitation.as_ref()?.form.as_ref()?;
        let schema: ElicitationSchema =
            json::raw(interrupt.response_schema.as_ref()?).decode().ok()?;
        let mut session = ElicitationSessionScope::new(self.session_id.clone());
        session.tool_call_id = interrupt.tool_call_id.as_ref().map(|id| id.as_str().into());
        let mode = ElicitationFormMode::new(schema, ElicitationScope::Session(session));
        let message = interrupt.message.clone().unwrap_or_else(|| interrupt.reason.clone());
        Some(CreateElicitationRequest::new(message, ElicitationMode::Form(Box::new(mode))))
    }
}

type Options = (Vec<PermissionOption>, BTreeMap<PermissionOptionId, Option<Raw>>);

/// Returns the options of an interrupt, or `None` for a form.
fn options(interrupt: &Interrupt) -> Option<Options> {
    let schema = interrupt.response_schema.as_ref();
    let properties = schema.and_then(|schema| schema.get("properties"));
    let properties = properties.and_then(|properties| properties.decode::<Extra>().ok());
    let properties = properties.unwrap_or_default();
    if let Some(option_id) = properties.get("optionId") {
        let options = named_options(interrupt).unwrap_or_else(|| listed_options(option_id));
        let payload = |option: &PermissionOption| {
            let payload = Members::new().with("optionId", &option.option_id).into_raw();
            (option.option_id.clone(), Some(payload))
        };
        let payloads = options.iter().map(payload).collect();
        return Some((options, payloads));
    }
    if properties.get("approved").is_some() {
        let payload = |approved: bool| Some(Members::new().with("approved", &approved).into_raw());
        return Some(yes_or_no(payload(true), payload(false)));
    }
    if !properties.is_empty() {
        return None;
    }
    let no = interrupt.tool_call_id.is_some().then(|| json::raw(&false));
    Some(yes_or_no(Some(json::raw(&true)), no))
}

fn yes_or_no(yes: Option<Raw>, no: Option<Raw>) -> Options {
    let options = Vec::from([
        PermissionOption::new(YES, "Yes", PermissionOptionKind::AllowOnce),
        PermissionOption::new(NO, "No", PermissionOptionKind::RejectOnce),
    ]);
    (options, BTreeMap::from([(YES.into(), yes), (NO.into(), no)]))
}

/// Returns the options that an ACP agent offered.
fn named_options(interrupt: &Interrupt) -> Option<Vec<PermissionOption>> {
    let acp: Extra = interrupt.metadata.as_ref()?.get("acp")?.decode().ok()?;
    let options: Vec<PermissionOption> = acp.get("options")?.decode().ok()?;
    Some(options).filter(|options| !options.is_empty())
}

/// Returns the options that a schema lists. Their kinds are derived from their ids.
fn listed_options(option_id: &Raw) -> Vec<PermissionOption> {
    let schema: Extra = option_id.decode().unwrap_or_default();
    let ids = schema.get("enum").and_then(|ids| ids.decode::<Vec<String>>().ok());
    let option = |id: String| {
        let refuses = ["reject", "deny", "no", "cancel", "decline"];
        let kind = if refuses.iter().any(|word| id.to_ascii_lowercase().starts_with(word)) {
            PermissionOptionKind::RejectOnce
        } else {
            PermissionOptionKind::AllowOnce
        };
        PermissionOption::new(id.to_owned(), id, kind)
    };
    ids.unwrap_or_default().into_iter().map(option).collect()
}
