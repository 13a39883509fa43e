//! The agent's plan.
use crate::ids;
use crate::json::{self, Members};
use crate::state::Kind;
use crate::translator::Translator;
use acp_types::v1::agent_plan::Plan;
use acp_types::v1::session_setup::SessionId;
use alloc::format;
use alloc::vec::Vec;

impl Translator {
    pub(crate) fn plan(&mut self, session: &SessionId, plan: &Plan) {
        let entry = |entry: &acp_types::v1::agent_plan::PlanEntry| {
            Members::new()
                .with("content", &entry.content)
                .with("priority", &entry.priority)
                .with("status", &entry.status)
                .into_raw()
        };
        let entries: Vec<_> = plan.entries.iter().map(entry).collect();
        let value =
            Members::new().with("entries", &json::bounded(&entries, self.options.limits.value));
        if !self.session.changes(Kind::Plan, &value.clone().into_raw()) {
            return;
        }
        if self.is_modern() {
            self.activity(format!("{}plan-{session}", ids::ACTIVITY), "PLAN", value);
        } else {
            self.custom("acp.plan", value.into_raw());
        }
    }
}
