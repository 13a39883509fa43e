//! New, loaded, forked and closed sessions.
use super::{ResponseEffect, Tracker};
use crate::acp::tool_call::ToolEnd;
use crate::attribute::{Attributes, clip};
use crate::json::member;
use crate::keys::{self, link};
use jsonrpc_core::transcript::Direction;

impl Tracker {
    pub(super) fn on_new_session(&mut self, result: &str, attributes: &mut Attributes) {
        let Some(id) = member(result, "sessionId") else {
            self.counters.undecodable += 1;
            return;
        };
        attributes.set(keys::GEN_AI_CONVERSATION_ID, clip(&id));
        self.on_options(&id, result);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.begin();
        }
        self.sessions.set_active(&id, true);
    }

    /// Handles a session that was loaded or resumed.
    pub(super) fn on_loaded(&mut self, id: &str, result: &str) {
        self.on_options(id, result);
        if let Some(session) = self.sessions.get_mut(id) {
            session.resume();
        }
        self.sessions.set_active(id, true);
        self.start_unprompted(id);
    }

    /// Handles a fork: the new session starts with the state of its origin, to which the span
    /// belongs.
    pub(super) fn on_fork(&mut self, origin: &str, result: &str, attributes: &mut Attributes) {
        let Some(id) = member(result, "sessionId") else {
            self.counters.undecodable += 1;
            return;
        };
        attributes.set(keys::ACP_SESSION_FORK_ID, clip(&id));
        self.on_options(&id, result);
        let last_turn = self.sessions.get(origin).and_then(|origin| origin.last_turn);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.is_forming = false;
            attributes
                .set(keys::ACP_SESSION_REPLAYED_UPDATES, core::mem::take(&mut session.replayed));
            session.continue_from(last_turn, link::FORK);
        }
        self.sessions.set_active(&id, true);
    }

    /// Returns whether a session is being forked.
    pub(super) fn is_forking(&self) -> bool {
        let mut requests = self.requests.of(Direction::Sent);
        requests.any(|request| matches!(request.effect, ResponseEffect::ForkSession(_)))
    }

    pub(super) fn on_options(&mut self, id: &str, result: &str) {
        if let Some(session) = self.sessions.get_or_insert(id) {
            session.on_options(result);
        }
    }

    pub(super) fn on_session_ended(&mut self, id: &str) {
        self.sessions.set_active(id, false);
        let policy = &self.policy;
        let spans = &mut self.spans;
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.end_tools(policy, spans, ToolEnd::TurnEnd, |tool| tool.turn.is_none());
        if session.is_idle() {
            self.sessions.remove(id);
        }
    }
}
