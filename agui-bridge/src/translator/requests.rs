//! Requests of the agent for user input, and their answers.
use super::Translator;
use crate::answer_error::AnswerError;
use crate::elicitation::{self, Elicitation};
use crate::json::{self, Members};
use crate::permission::{Permission, PermissionAnswer, PermissionDecision};
use crate::questions::{About, Response, Settlement};
use crate::tool_call::{Change, ToolCalls};
use crate::update::Update;
use acp_types::v1::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationAcceptAction,
    ElicitationAction,
};
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{RequestPermissionRequest, ToolCallId};
use acp_types::v2::elicitation::CreateElicitationRequest as CreateElicitationRequestV2;
use acp_types::v2::permissions::{
    RequestPermissionRequest as RequestPermissionRequestV2, RequestPermissionSubject,
};
use acp_types::v2::prompt_lifecycle::{
    SessionUpdate as SessionUpdateV2, UpdateSessionNotification,
};
use alloc::boxed::Box;
use jsonrpc_core::RequestId;

impl Translator {
    /// Handles `session/request_permission`. [`poll_response`](Self::poll_response) returns the answer: at once, after
    /// [`answer_permission`](Self::answer_permission), or with the run that [resumes](Self::begin_run). If the turn
    /// ends first, the answer is `cancelled`.
    ///
    /// The tool call in the request counts as an update of that call. While the run is interrupted, the question waits
    /// for the next one. Without a turn the user cannot answer, and the answer is that of
    /// [`Policy::reject_all`](crate::Policy::reject_all). The same applies to an interrupt before the session of the run
    /// is open, since the agent has no prompt to continue with.
    pub fn handle_permission_request(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequest,
    ) {
        self.handle_permission(request_id, request, None);
    }

    /// As [`handle_permission_request`](Self::handle_permission_request), for a request that the program may have decided.
    pub(crate) fn handle_permission(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequest,
        decision: Option<PermissionDecision>,
    ) {
        self.runs.note_activity();
        let RequestPermissionRequest { session_id, tool_call, options, .. } = request;
        let lane = self.subagents.lane(session_id.as_str());
        let call = ToolCalls::key(lane, &tool_call.tool_call_id);
        self.prolong_own_turn();
        if self.runs.is_open() {
            let lane = self.begin_lane(session_id.as_str());
            self.change_call(&lane, Change::from(tool_call).asking());
        } else {
            let update = SessionUpdate::ToolCallUpdate(Box::new(tool_call));
            let update = SessionNotification::new(session_id, update);
            self.waiting.push(Update::V1(update), &self.basis.options.limits);
        }
        let permission = Permission::new(Some(call), None, options);
        self.ask(request_id, About::Permission(permission), decision);
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
        let call = match request.subject.as_deref() {
            Some(RequestPermissionSubject::ToolCall(subject)) => {
                let update = (*subject.tool_call).clone();
                let id = ToolCallId::from(update.tool_call_id.as_str());
                if self.runs.is_open() {
                    let lane = self.begin_lane(session);
                    self.change_call(&lane, Change::from(update).asking());
                } else {
                    let update = SessionUpdateV2::ToolCallUpdate(Box::new(update));
                    let update = UpdateSessionNotification::new(session, update);
                    self.waiting.push(Update::V2(Box::new(update)), &self.basis.options.limits);
                }
                Some(id)
            }
            Some(RequestPermissionSubject::Command(command)) => {
                command.tool_call_id.as_ref().map(|id| ToolCallId::from(id.as_str()))
            }
            _ => None,
        };
        let lane = self.subagents.lane(session);
        let call = call.map(|id| ToolCalls::key(lane, &id));
        let title = Some(json::cut(request.title, self.basis.options.limits.message));
        let permission = Permission::new(call, title, request.options);
        self.ask(request_id, About::Permission(permission), decision);
    }

    /// Handles `elicitation/create`. [`poll_response`](Self::poll_response) returns the answer: at once, after
    /// [`answer_elicitation`](Self::answer_elicitation), or with the run that [resumes](Self::begin_run). If the turn
    /// ends first, the answer is `cancel`.
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

    /// Handles `elicitation/create` of ACP v2, as [`handle_elicitation_request`](Self::handle_elicitation_request).
    pub fn handle_elicitation_request_v2(
        &mut self,
        request_id: RequestId,
        request: CreateElicitationRequestV2,
    ) {
        self.handle_elicitation_request(request_id, request.into());
    }

    /// Handles `elicitation/complete`: the user has visited the URL. The stream shows it as `CUSTOM`
    /// `acp.elicitation.completed`. The request is accepted, unless it is already answered.
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

    /// Handles `$/cancel_request` of the agent: the request is answered `cancelled`, unless it is already answered.
    pub fn handle_request_withdrawn(&mut self, request_id: &RequestId) {
        let (questions, mut desk) = self.questions();
        questions.withdraw(&mut desk, request_id);
    }

    /// Answers a permission request. [`poll_response`](Self::poll_response) returns the response.
    ///
    /// It also answers a request for which the run was interrupted; the client's answer to the interrupt is then
    /// dropped.
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
    /// It also answers a request for which the run was interrupted; the client's answer to the interrupt is then
    /// dropped.
    ///
    /// # Errors
    /// No elicitation has the id, it is already answered, or the content does not match the form: a required field is
    /// missing, or a value violates its field's type, length, range or choices. Patterns and formats are not checked.
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

    /// Records whether the session of the open run is being opened. Questions do not interrupt the run then.
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
