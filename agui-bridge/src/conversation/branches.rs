//! A thread that branches off from another one.
use super::Conversation;
use super::remembered::RememberedSession;
use super::runs::RunRequest;
use super::session::AgentState;
use crate::input::{Plan, SessionMemory, SessionScope};
use acp_types::v1::session_setup::SessionId;
use agui_types::input::RunAgentInput;

/// What the first turn of a branch continues.
pub(super) struct Branch {
    /// The memory of the other thread's session, for the fork.
    pub(super) memory: SessionMemory,
    /// The session of the other thread.
    pub(super) source: SessionId,
}

impl Conversation {
    /// Returns the session that a run without a session may begin in a fork of. That is tried once.
    fn branch_source<'a>(&self, request: &'a RunRequest) -> Option<&'a RememberedSession> {
        let is_first = !self.has_branched && !self.has_conversation();
        request.branch_of.as_deref().filter(|_| is_first)
    }

    /// Returns the plan of the first turn of a branch, if its session is a fork.
    pub(super) fn plan_branch(
        &self,
        request: &RunRequest,
        whole: &RunAgentInput,
    ) -> Option<(Plan, Branch)> {
        let source = self.branch_source(request)?;
        let is_of_turn = self.options.rules.session == SessionScope::Turn;
        let AgentState::Connected(features) = &self.agent else { return None };
        if is_of_turn || !features.fork {
            return None;
        }
        let memory = source.memory().branch(&self.memory, &whole.messages);
        let plan = memory.plan_branch(whole, &self.rules(), &self.prompt_capabilities())?;
        let source = source.session_id()?.clone();
        Some((plan, Branch { memory, source }))
    }

    /// Handles that the first turn of a branch begins, in a fork or in another session. The
    /// settings of the other thread count.
    pub(super) fn begin_branch(&mut self, request: &RunRequest, is_fork: bool) {
        let Some(source) = self.branch_source(request) else { return };
        if !matches!(self.agent, AgentState::Connected(_)) {
            return;
        }
        self.settings.restore(source.settings());
        self.has_branched = true;
        if self.session.is_some() && !is_fork {
            self.restore_settings();
        }
    }
}
