//! Extraction of values outside of the protocol.
use super::Tracker;
use crate::acp::members::Members;
use crate::acp::prompt_turn::Money;

impl Tracker {
    /// Selects the extractors of the agent.
    pub(super) fn set_agent(&mut self) {
        self.active = self.policy.extractors.of_agent(self.peers.agent_name());
        // Extractors that read each update also read those with text.
        self.interest.texts = self.policy.records_content() || self.active.reads_updates;
        self.quiet.forget();
    }

    /// Applies the extractors of the agent to a notification within a turn.
    pub(super) fn learn(&mut self, members: &Members<'_>, method: &str, params: &str) {
        if method == "session/update" && !self.active.reads_updates {
            return;
        }
        let Some(id) = members.session() else { return };
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let Some(turn) = session.turns.first_mut() else { return };
        turn.values.read_notification(&self.active, method, params);
        if let Some((cost, true)) = turn.values.cost {
            let cost = Money::of_unnamed(cost);
            turn.on_cost(cost.clone());
            session.cost = Some(cost);
        }
    }
}
