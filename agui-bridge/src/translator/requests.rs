//! Requests of the agent for user input, and their answers.
use super::Translator;
use crate::answer_error::AnswerError;
use crate::elicitation::{self, Elicitation};
use crate::json::{self, Members};
use crate::permission::{Operation, Permission, PermissionAnswer, PermissionDecision};
use crate::questions::{About, Response, Settlement};
use crate::tool_call::{CallDescription, Change, ToolCalls};
use crate::update::Update;
use acp_types::v1::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationAcceptAction,
    ElicitationAction,
};
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionId, RequestPermissionRequest, ToolCallId,
};
use acp_types::v2::elicitation::CreateElicitationRequest as CreateElicitationRequestV2;
use acp_types::v2::permissions::{
    RequestPermissionRequest as RequestPermissionRequestV2, RequestPermissionSubject,
};
use acp_types::v2::prompt_lifecycle::{
    SessionUpdate as SessionUpdateV2, UpdateSessionNotification,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;

impl Translator {
    /// Handles `session/request_permission`. [`poll_response`](Self::poll_response) returns the
    /// answer: at once, after [`answer_permission`](Self::answer_permission), or with the run that
    /// [resumes](Self::begin_run). If the turn ends first, the answer is `cancelled`.
    ///
    /// Options that share an id are left out, with a `CUSTOM` `acp.notice`.
    ///
    /// The tool call in the request counts as an update of that call. While the run is interrupted,
    /// the question waits for the next one. Without a turn the user cannot answer, and the answer
    /// is that of [`Policy::reject_all`](crate::Policy::reject_all). The same applies to an
    /// interrupt before the session of the run is open, since the agent has no prompt to continue
    /// with.
    pub fn handle_permission_request(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequest,
    ) {
        self.handle_permission(request_id, request, None);
    }

    /// As [`handle_permission_request`](Self::handle_permission_request), for a request that the
    /// program may have decided.
    pub(crate) fn handle_permission(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequest,
        decision: Option<PermissionDecision>,
    ) {
        self.runs.note_activity();
        self.prolong_own_turn();
        let RequestPermissionRequest { session_id, tool_call, options, .. } = request;
        let change = Change::from(tool_call.clone());
        let update = SessionUpdate::ToolCallUpdate(Box::new(tool_call));
        let update = Update::V1(SessionNotification::new(session_id, update));
        let (key, operation) = self.describe_call(&request_id, change, update);
        let options = self.distinct(options);
        let permission = Permission::new(operation, options).of_call(Some(key));
        self.ask_permission(request_id, permission, decision);
    }

    /// Handles `session/request_permission` of ACP v2, as
    /// [`handle_permission_request`](Self::handle_permission_request).
    pub fn handle_permission_request_v2(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequestV2,
    ) {
        self.handle_permission_v2(request_id, request, None);
    }

    /// As [`handle_permission`](Self::handle_permission), for ACP v2.
    pub(crate) fn handle_permission_v2(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequestV2,
        decision: Option<PermissionDecision>,
    ) {
        self.runs.note_activity();
        self.prolong_own_turn();
        let session = request.session_id.as_str();
        let (call, operation) = match request.subject.as_deref() {
            Some(RequestPermissionSubject::ToolCall(subject)) => {
                let change = Change::from((*subject.tool_call).clone());
                let update = SessionUpdateV2::ToolCallUpdate(subject.tool_call.clone());
                let update = UpdateSessionNotification::new(session, update);
                let update = Update::V2(Box::new(update));
                let (key, operation) = self.describe_call(&request_id, change, update);
                (Some(key), operation)
            }
            subject => {
                let related = match subject {
                    Some(RequestPermissionSubject::Command(command)) => {
                        command.tool_call_id.as_ref()
                    }
                    _ => None,
                };
                let lane = self.subagents.lane(session);
                let key = related.map(|id| ToolCalls::key(lane, &id.as_str().into()));
                // The user does not decide on a call that has ended.
                let key = key.filter(|key| !self.calls.is_over(key));
                (key, Operation::of_subject(subject))
            }
        };
        let RequestPermissionRequestV2 { title, description, options, .. } = request;
        let options = self.distinct(options);
        let limits = &self.basis.options.limits;
        let permission = Permission::new(operation, options).of_call(call).with_question(
            title,
            description,
            limits,
        );
        self.ask_permission(request_id, permission, decision);
    }

    /// Handles the call of a permission request, also as an `update`. Returns its key and its
    /// members.
    fn describe_call(
        &mut self,
        request_id: &RequestId,
        change: Change,
        update: Update,
    ) -> (ToolCallId, Operation) {
        let limits = self.basis.options.limits;
        let session = update.session().into_owned();
        let key = ToolCalls::key(self.subagents.lane(&session), &change.id);
        let description = CallDescription::of(&change, &limits);
        if self.runs.is_open() {
            let lane = self.begin_lane(&session);
            self.change_call(&lane, change.asking());
        } else {
            let update = Update::Asked(request_id.clone(), Box::new(update));
            self.waiting.push(update, &limits);
        }
        (key, Operation::Call(description))
    }

    /// Leaves out options that share an id: an answer could mean either.
    fn distinct(&mut self, mut options: Vec<PermissionOption>) -> Vec<PermissionOption> {
        let mut counts: BTreeMap<PermissionOptionId, usize> = BTreeMap::new();
        for option in &options {
            *counts.entry(option.option_id.clone()).or_default() += 1;
        }
        let count = options.len();
        options.retain(|option| counts.get(&option.option_id) == Some(&1));
        if options.len() < count && self.runs.is_open() {
            let title = "The agent offers several options with the same id. They are left out.";
            self.outbox.warn(&self.basis.root(), title, "");
        }
        options
    }

    fn ask_permission(
        &mut self,
        request_id: RequestId,
        mut permission: Permission,
        decision: Option<PermissionDecision>,
    ) {
        let decision = decision.map(|decision| match decision {
            PermissionDecision::Answer(answer) if !permission.offers(&answer) => {
                PermissionDecision::Answer(PermissionAnswer::Cancelled)
            }
            decision => decision,
        });
        // Without a run, the stream does not have the call yet.
        if self.runs.is_open() {
            permission.find_call(&self.calls, &self.basis.options.limits);
        }
        self.ask(request_id, About::Permission(Box::new(permission)), decision);
    }

    /// Handles `elicitation/create`. [`poll_response`](Self::poll_response) returns the answer: at
    /// once, after [`answer_elicitation`](Self::answer_elicitation), or with the run that
    /// [resumes](Self::begin_run). If the turn ends first, the answer is `cancel`.
    ///
    /// The request's `_meta` becomes part of the `metadata` of the interrupt or event.
    ///
    /// Requests of an unknown mode, and requests without a turn, are cancelled.
    pub fn handle_elicitation_request(
        &mut self,
        request_id: RequestId,
        request: CreateElicitationRequest,
    ) {
        self.runs.note_activity();
        let call = elicitation::scope(&request)
            .map(|(session, id)| ToolCalls::key(self.subagents.lane(session.as_str()), id));
        let elicitation = Elicitation::new(request, call, &self.basis.options.limits);
        self.ask(request_id, About::Elicitation(Box::new(elicitation)), None);
    }

    /// Handles `elicitation/create` of ACP v2, as
    /// [`handle_elicitation_request`](Self::handle_elicitation_request).
    pub fn handle_elicitation_request_v2(
        &mut self,
        request_id: RequestId,
        request: CreateElicitationRequestV2,
    ) {
        self.handle_elicitation_request(request_id, request.into());
    }

    /// Handles `elicitation/complete`: the user has visited the URL. The stream shows it as
    /// `CUSTOM` `acp.elicitation.completed`. The request is accepted, unless it is already
    /// answered.
    pub fn handle_elicitation_complete(&mut self, notification: &CompleteElicitationNotification) {
        self.runs.note_activity();
        let id = &notification.elicitation_id;
        let accept = ElicitationAction::Accept(ElicitationAcceptAction::new());
        let (questions, mut desk) = self.questions();
        questions.complete(&mut desk, |elicitation| elicitation.is_page(id), accept);
        if self.runs.is_open() {
            let frame = self.basis.root();
            let id = json::head(id.as_str(), frame.limits.message);
            let value = Members::new().with("elicitationId", id);
            self.outbox.custom(&frame, "acp.elicitation.completed", value.into_raw());
        }
    }

    /// Handles `$/cancel_request` of the agent: the request is answered `cancelled`, unless it is
    /// already answered.
    pub fn handle_request_withdrawn(&mut self, request_id: &RequestId) {
        let (questions, mut desk) = self.questions();
        questions.withdraw(&mut desk, request_id);
    }

    /// Answers a permission request. [`poll_response`](Self::poll_response) returns the response.
    ///
    /// It also answers a request for which the run was interrupted; the client's answer to the
    /// interrupt is then dropped.
    ///
    /// # Errors
    /// No permission request has the id, it is already answered, or it does not offer the option.
    pub fn answer_permission(
        &mut self,
        interrupt_id: &str,
        answer: PermissionAnswer,
    ) -> Result<(), AnswerError> {
        match self.open_question(interrupt_id)? {
            (_, About::Elicitation(_)) => Err(AnswerError::Kind),
            (_, About::Permission(permission)) if !permission.offers(&answer) => {
                Err(AnswerError::Option)
            }
            (number, About::Permission(_)) => {
                self.answer(number, &Settlement::Permission(answer));
                Ok(())
            }
        }
    }

    /// Answers an elicitation. [`poll_response`](Self::poll_response) returns the response.
    ///
    /// It also answers a request for which the run was interrupted; the client's answer to the
    /// interrupt is then dropped.
    ///
    /// # Errors
    /// No elicitation has the id, it is already answered, or the content does not match the form: a
    /// required field is missing, or a value violates its field's type, length, range or choices.
    /// Patterns and formats are not checked.
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

    /// Returns the next response for the agent, if any.
    pub fn poll_response(&mut self) -> Option<Response> {
        self.questions.poll_response()
    }

    /// Records whether the session of the open run is being opened. Questions do not interrupt the
    /// run then.
    pub(crate) fn set_opening(&mut self, is_opening: bool) {
        self.runs.set_opening(is_opening);
    }

    fn ask(&mut self, request_id: RequestId, about: About, decision: Option<PermissionDecision>) {
        let (questions, mut desk) = self.questions();
        questions.ask(&mut desk, request_id, about, decision);
        self.suspend_if_due();
    }

    fn open_question(&self, interrupt_id: &str) -> Result<(u64, &About), AnswerError> {
        let number = self.questions.number(interrupt_id).ok_or(AnswerError::Unknown)?;
        let about = self.questions.about(number).ok_or(AnswerError::Answered)?;
        Ok((number, about))
    }

    fn answer(&mut self, number: u64, settlement: &Settlement) {
        let (questions, mut desk) = self.questions();
        questions.answer(&mut desk, number, settlement);
        self.note_activity();
    }
}
