//! Answers of users, calls and questions of tools, and changes of settings.
use super::Conversation;
use super::active::{ActiveRun, Stage};
use super::output::{Notice, QuestionKey};
use super::requests::Requester;
use crate::frontend_tool::{CallError, Completion, NewCall, ToolResult};
use crate::{Answer, AnswerError, PermissionAnswer};
use acp_types::v1::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationAction,
    ElicitationFormMode, ElicitationMode, ElicitationSchema, ElicitationScope,
    ElicitationSessionScope,
};
use acp_types::v1::tool_calls::ToolCallId;
use acp_types::v2::terminals::{TerminalOutputChunk, TerminalUpdate};
use agui_types::id::ToolCallId as PageCallId;
use alloc::string::String;
use core::time::Duration;
use jsonrpc_core::wire::{Extra, Meta};
use serde::{Deserialize, Serialize};

/// An answer that arrives outside of a run's input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum UserAnswer {
    /// The answer to a permission request.
    Permission(PermissionAnswer),
    /// The answer to an elicitation.
    Elicitation(ElicitationAction),
    /// Dismisses a permission request or an elicitation.
    Cancelled,
}

/// A question of a program's tool to the user of the thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolQuestion {
    /// Name of the tool.
    pub tool: String,
    /// The agent's id of the call, if known. Otherwise the last announced call of the tool counts.
    pub agent_id: Option<ToolCallId>,
    /// Text of the question.
    pub message: String,
    /// Schema of the answer.
    pub schema: ElicitationSchema,
    /// `_meta` of the elicitation.
    pub meta: Option<Meta>,
}

impl ToolQuestion {
    /// Creates a question without the id of a call.
    pub fn new(
        tool: impl Into<String>,
        message: impl Into<String>,
        schema: ElicitationSchema,
    ) -> Self {
        let tool = tool.into();
        let message = message.into();
        Self { tool, agent_id: None, message, schema, meta: None }
    }
}

/// An error of a question or of a change of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The thread has no session.
    #[error("the thread has no session")]
    NoSession,
    /// Too many questions or changes are open.
    #[error("too many questions or changes are open")]
    TooMany,
}

impl Conversation {
    /// Handles a user's answer to an interrupt, or to a question in the stream.
    ///
    /// # Errors
    /// The answer is refused. The question remains open.
    pub fn handle_answer(
        &mut self,
        interrupt_id: &str,
        answer: UserAnswer,
        now: Duration,
    ) -> Result<(), AnswerError> {
        self.begin_input(now);
        let translator = &mut self.translator;
        let answered = match answer {
            UserAnswer::Permission(answer) => translator.answer_permission(interrupt_id, answer),
            UserAnswer::Elicitation(action) => translator.answer_elicitation(interrupt_id, action),
            UserAnswer::Cancelled => {
                match translator.answer_permission(interrupt_id, PermissionAnswer::Cancelled) {
                    Err(AnswerError::Kind) => {
                        let cancel = ElicitationAction::Cancel(Extra::new());
                        translator.answer_elicitation(interrupt_id, cancel)
                    }
                    answered => answered,
                }
            }
        };
        self.advance();
        answered
    }

    /// Handles the agent's call of a page tool. [`Notice::ToolAnswered`] follows, once.
    ///
    /// # Errors
    /// The call is refused: the agent gets the error, and no notice follows. A call of a session
    /// that is not open yet is refused, because it would end the run before its prompt is sent.
    pub fn handle_tool_call(
        &mut self,
        call: NewCall,
        now: Duration,
    ) -> Result<PageCallId, CallError> {
        self.begin_input(now);
        let is_opening = |active: &ActiveRun| matches!(active.stage, Stage::Opening { .. });
        if self.active.as_ref().is_some_and(is_opening) {
            return Err(CallError::NoActiveRun);
        }
        self.handle_attempt_succeeded();
        let taken = self.page.machine.handle_call(call, self.now);
        self.advance();
        taken
    }

    /// Handles the withdrawal of a call by the agent. No notice follows.
    pub fn handle_tool_withdrawn(&mut self, call_id: &PageCallId, now: Duration) {
        self.begin_input(now);
        self.page.machine.handle_withdrawn(call_id);
        self.advance();
    }

    /// Handles the result of a page tool that arrives outside of a run's input.
    pub fn handle_tool_result(
        &mut self,
        call_id: &PageCallId,
        result: ToolResult,
        now: Duration,
    ) -> Completion {
        self.begin_input(now);
        let completion = self.page.machine.complete(call_id, result, self.now);
        self.advance();
        completion
    }

    /// Handles a question of a program's tool like those of the agent. [`Notice::QuestionAnswered`]
    /// follows, once.
    ///
    /// # Errors
    /// There is no session, or too many questions are open.
    pub fn handle_question(
        &mut self,
        question: ToolQuestion,
        now: Duration,
    ) -> Result<QuestionKey, QuestionError> {
        self.begin_input(now);
        let session = self.session.as_ref().ok_or(QuestionError::NoSession)?;
        if self.requests.questions() >= self.options.max_questions {
            return Err(QuestionError::TooMany);
        }
        let mut scope = ElicitationSessionScope::new(session.id.clone());
        scope.tool_call_id = question.agent_id.or_else(|| self.requests.call_of(&question.tool));
        let form = ElicitationFormMode::new(question.schema, ElicitationScope::Session(scope));
        let mode = ElicitationMode::Form(form.into());
        let mut request = CreateElicitationRequest::new(question.message, mode);
        request.meta = question.meta;
        self.handle_attempt_succeeded();
        let key = QuestionKey(self.next_key());
        let id = self.requests.insert(Requester::Tool(key));
        self.translator.handle_elicitation_request(id, request);
        self.advance();
        Ok(key)
    }

    /// Handles the withdrawal of a question by its tool.
    pub fn handle_question_withdrawn(&mut self, key: QuestionKey, now: Duration) {
        self.begin_input(now);
        if let Some(id) = self.requests.find(Requester::Tool(key)) {
            self.translator.handle_request_withdrawn(&id);
        }
        self.advance();
    }

    /// Handles the completion of an elicitation by URL.
    pub fn handle_elicitation_complete(
        &mut self,
        complete: &CompleteElicitationNotification,
        now: Duration,
    ) {
        self.begin_input(now);
        self.translator.handle_elicitation_complete(complete);
        self.advance();
    }

    /// Handles the state of a terminal that the program runs for the session.
    pub fn handle_terminal_update(&mut self, update: TerminalUpdate, now: Duration) {
        self.begin_input(now);
        if let Some(session) = &self.session {
            self.translator.handle_terminal_update(&session.id, update);
        }
        self.advance();
    }

    /// Handles output of a terminal that the program runs for the session.
    pub fn handle_terminal_output(&mut self, chunk: TerminalOutputChunk, now: Duration) {
        self.begin_input(now);
        if let Some(session) = &self.session {
            self.translator.handle_terminal_output(&session.id, chunk);
        }
        self.advance();
    }

    pub(super) fn answer_question(&mut self, key: QuestionKey, answer: Answer) {
        let action = match answer {
            Answer::Elicitation(answer) => answer.action,
            _ => ElicitationAction::Cancel(Extra::new()),
        };
        self.notices.push_back(Notice::QuestionAnswered(key, action));
    }

    pub(super) fn next_key(&mut self) -> u64 {
        self.keys += 1;
        self.keys
    }
}
