//! The agent's plan.
use crate::ids;
use crate::json::{self, Members};
use crate::state::Kind;
use crate::translator::Translator;
use acp_types::v1::agent_plan::{Plan, PlanId, PlanUpdateContent};
use acp_types::v1::session_setup::SessionId;
use alloc::format;
use alloc::string::String;
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
        self.project_plan(&plan.entries);
        if !self.session.changes(Kind::Plan, &value.clone().into_raw()) {
            return;
        }
        self.show_plan(format!("{}plan-{session}", ids::ACTIVITY), value);
    }

    /// Takes in one of several plans.
    pub(crate) fn plan_update(&mut self, session: &SessionId, plan: &PlanUpdateContent) {
        let Some(id) = plan.plan_id() else {
            return self.custom("acp.unknown", json::bounded(plan, self.options.limits.value));
        };
        let limit = self.options.limits.value;
        let value = Members::new().with("planId", &id);
        let value = match plan {
            PlanUpdateContent::Items(items) => {
                value.with("entries", &json::bounded(&items.entries, limit))
            }
            PlanUpdateContent::File(file) => value.with("uri", &json::bounded(&file.uri, limit)),
            PlanUpdateContent::Markdown(text) => {
                value.with("markdown", &json::bounded(&text.content, limit))
            }
            other => value.with("plan", &json::bounded(other, limit)),
        };
        self.show_one_plan(session, &id, value);
    }

    /// Takes in that one of several plans is gone.
    pub(crate) fn plan_removed(&mut self, session: &SessionId, id: &PlanId) {
        let value = Members::new().with("planId", id).with("removed", &true);
        self.show_one_plan(session, id, value);
    }

    fn show_one_plan(&mut self, session: &SessionId, id: &PlanId, value: Members) {
        let print = json::fingerprint(&[value.clone().into_raw().as_str()]);
        if self.session.changes_plan(id.as_str(), print) {
            self.show_plan(format!("{}plan-{session}-{id}", ids::ACTIVITY), value);
        }
    }

    fn show_plan(&mut self, id: String, value: Members) {
        if self.is_modern() {
            self.activity(id, "PLAN", value);
        } else {
            self.custom("acp.plan", value.into_raw());
        }
    }
}
