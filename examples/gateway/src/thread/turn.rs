//! The agent's turn: the prompt that begins it, what comes from the agent, and how it is stopped.
use super::wait::Answered;
use super::{Session, SessionScope, Stage, Thread};
use crate::agent::{Agent, FromAgent, Trouble};
use acp_host::terminals::TerminalEvent;
use acp_types::v1::content::ContentBlock;
use acp_types::v1::error::RESOURCE_NOT_FOUND;
use acp_types::v1::prompt_turn::PromptRequest;
use acp_types::v1::tool_calls::{RequestPermissionOutcome, RequestPermissionResponse};
use agui_bridge::frontend_tool::Whose;
use agui_bridge::input::{Forwarded, Plan, Prompt, SessionStep};
use agui_bridge::{Answer, Failure};
use futures::FutureExt;
use jsonrpc_core::wire::{Extra, Meta, Raw};
use jsonrpc_core::{ErrorObject, RequestId};
use semconv_map::trace_context::TraceContext;
use std::sync::Arc;
use tokio::time::Instant;

/// A turn that an input asks for.
#[derive(Clone)]
pub(super) struct Asked {
    prompt: Prompt,
    /// Whether the session that there is, is of another conversation.
    in_new_session: bool,
    /// Whether the user knows why.
    is_expected: bool,
    forwarded: Forwarded,
}

impl Asked {
    /// The turn of a plan, if that has one.
    pub(super) fn of(plan: Plan) -> Option<Self> {
        for pointer in &plan.forwarded.left_out {
            tracing::debug!(pointer, "a property that is not taken");
        }
        Some(Self {
            prompt: plan.prompt?,
            in_new_session: matches!(plan.session, SessionStep::New { .. }),
            is_expected: plan.diverged.is_some(),
            forwarded: plan.forwarded,
        })
    }
}

impl Thread {
    /// Sends a prompt, in a new session where there is none for it.
    pub(super) fn begin_turn(&mut self, agent: Arc<Agent>, asked: Asked) {
        if asked.in_new_session {
            // The end of the one that there is closes it.
            self.forget_session();
            self.session = None;
        }
        if self.session.is_some() {
            return self.prompt(asked);
        }
        let is_of_turn = self.input_rules.session == SessionScope::Turn;
        if !asked.in_new_session || asked.prompt.unseen > 0 && !asked.is_expected && !is_of_turn {
            self.translator.handle_new_session();
        }
        let (opener, cwd) = (agent.clone(), self.cwd.clone());
        let given = self.page.give(&agent, &self.tools);
        let run = self.span();
        let session = async move { opener.new_session(&cwd, given, run).await }.boxed();
        self.stage(Stage::Opening { agent, session, asked });
    }

    /// The span of the run that is going on.
    fn span(&self) -> Option<TraceContext> {
        self.active.as_ref()?.span.clone()
    }

    pub(super) fn stage(&mut self, stage: Stage) {
        if let Some(active) = &mut self.active {
            active.stage = stage;
        }
    }

    /// The agent has a session, or not.
    pub(super) fn opened(&mut self, answer: Answered) {
        let Answered { agent, session, asked } = answer;
        match session {
            Ok(opened) => {
                self.session = Some(Session::new(agent, opened));
                self.prompt(asked);
            }
            Err(trouble) => self.trouble(trouble),
        }
    }

    fn prompt(&mut self, asked: Asked) {
        let Some(session) = &self.session else { return };
        let Asked { mut prompt, forwarded, .. } = asked;
        session.set(&forwarded);
        let tools = self.tools.iter().filter_map(|tool| Raw::from_value(tool).ok());
        session.agent.offer_contextual(&session.id, tools.collect());
        let late = self.page.late().into_iter().map(ContentBlock::from);
        prompt.blocks.splice(..0, late);
        let mut request = PromptRequest::new(session.id.clone(), prompt.blocks);
        request.meta = Raw::from_value(&forwarded.meta).ok().map(Meta::from);
        request.meta.take_if(|_| forwarded.meta.is_empty());
        match session.agent.prompt(&request, self.span()) {
            Ok(()) => {
                self.remember();
                self.stage(Stage::Working);
            }
            Err(trouble) => self.trouble(trouble),
        }
    }

    /// Something came from the agent.
    pub(super) fn hear(&mut self, heard: Option<FromAgent>) {
        let now = self.began.elapsed();
        if let None | Some(FromAgent::PromptEnded(_) | FromAgent::Gone(_)) = heard {
            self.page.machine().handle_turn_end();
            self.page.drive(&mut self.translator);
        }
        match heard {
            Some(FromAgent::Update(update)) => {
                self.questions.note(&update.update);
                if let Some(session) = &mut self.session {
                    session.note(&update.update);
                }
                if self.page.machine().handle_update(&update, now) == Whose::Agent {
                    self.translator.handle_notification(update);
                }
            }
            Some(FromAgent::PermissionRequest(id, request)) => {
                match self.page.machine().handle_permission_request(&request, now) {
                    Some(outcome) => self.allow(id, outcome),
                    None => self.translator.handle_permission_request(id, request),
                }
            }
            Some(FromAgent::ContextualCall(call)) => self.page.hear_contextual(call, now),
            Some(FromAgent::ElicitationRequest(id, request)) => {
                self.translator.handle_elicitation_request(id, *request);
            }
            Some(FromAgent::ElicitationComplete(complete)) => {
                self.translator.handle_elicitation_complete(&complete);
            }
            Some(FromAgent::Terminal(shown)) => self.show_terminal(shown),
            Some(FromAgent::Withdrawn(id)) => self.translator.handle_request_withdrawn(&id),
            Some(FromAgent::PromptEnded(Ok(response))) => {
                self.translator.handle_prompt_response(Ok(response));
            }
            Some(FromAgent::PromptEnded(Err(Trouble::Failed(failure, why)))) => {
                if failure == Failure::AgentExited {
                    // Another process of it may load the session.
                    self.session = None;
                } else {
                    self.leave_session();
                }
                self.fail(failure, &why);
            }
            Some(FromAgent::PromptEnded(Err(Trouble::Refused(error)))) if lost_session(&error) => {
                self.forget_session();
                self.drop_session();
                self.trouble(Trouble::Refused(error));
            }
            Some(FromAgent::PromptEnded(Err(trouble))) => self.trouble(trouble),
            Some(FromAgent::Gone(why)) => {
                self.session = None;
                self.fail(Failure::AgentExited, &why);
            }
            None => {
                self.session = None;
                self.fail(Failure::AgentExited, "The connection to the agent is gone.");
            }
        }
    }

    fn show_terminal(&mut self, shown: TerminalEvent) {
        let Some(session) = &self.session else { return };
        match shown {
            TerminalEvent::Update(update) => {
                self.translator.handle_terminal_update(&session.id, *update);
            }
            TerminalEvent::Output(chunk) => {
                self.translator.handle_terminal_output(&session.id, chunk);
            }
        }
    }

    /// Answers a permission request that is about a tool of the page's: the page asks its user itself.
    fn allow(&self, id: RequestId, outcome: RequestPermissionOutcome) {
        let response = Answer::Permission(RequestPermissionResponse::new(outcome));
        if let Some(session) = &self.session
            && let Err(trouble) = session.agent.answer(id, &response)
        {
            tracing::debug!(?trouble, "an answer that the agent does not get");
        }
    }

    pub(super) fn trouble(&mut self, trouble: Trouble) {
        match trouble {
            Trouble::Refused(error) => self.translator.handle_prompt_response(Err(error)),
            Trouble::Failed(failure, message) => self.translator.handle_failure(failure, &message),
        }
    }

    pub(super) fn fail(&mut self, failure: Failure, message: &str) {
        self.translator.handle_failure(failure, message);
        self.flush();
    }

    /// The client wants the run to stop, or is gone.
    pub(super) fn stop(&mut self) {
        self.translator.handle_cancel();
        self.page.machine().handle_cancel();
        let opening = self
            .active
            .as_ref()
            .is_some_and(|active| matches!(active.stage, Stage::Opening { .. }));
        if opening {
            return self.translator.handle_stopped();
        }
        self.flush();
        match self.session.as_ref().map(|session| session.agent.cancel(&session.id)) {
            Some(Ok(())) => self.stage(Stage::Stopping(Instant::now() + self.rules.cancel_grace)),
            Some(Err(trouble)) => self.trouble(trouble),
            None => self.translator.handle_stopped(),
        }
    }

    /// The agent does not stop.
    pub(super) fn give_up(&mut self) {
        tracing::warn!("the agent does not stop; leaving its session");
        self.page.machine().handle_turn_end();
        self.forget_session();
        self.drop_session();
        self.translator.handle_stopped();
    }

    /// Leaves a session in which the agent may still be working: what comes from it is not for the next run.
    pub(super) fn leave_session(&mut self) {
        self.page.machine().handle_turn_end();
        self.cancel_turn();
        self.forget_session();
        self.drop_session();
    }

    pub(super) fn cancel_turn(&self) {
        if let Some(session) = &self.session
            && let Err(trouble) = session.agent.cancel(&session.id)
        {
            tracing::debug!(?trouble, "the agent does not hear that it may stop");
        }
    }
}

/// Whether the agent says that it does not know the session: the next run needs another.
fn lost_session(error: &ErrorObject) -> bool {
    let data = error.data.as_ref().and_then(|data| data.decode::<Extra>().ok());
    error.code == RESOURCE_NOT_FOUND && data.is_some_and(|data| data.get("sessionId").is_some())
}
