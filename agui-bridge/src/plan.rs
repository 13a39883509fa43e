//! The agent's plans.
use crate::frame::Frame;
use crate::ids;
use crate::json::{self, Members};
use crate::outbox::Outbox;
use acp_types::v1::agent_plan::{Plan, PlanEntry, PlanId, PlanUpdateContent};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize, Serializer};

/// Largest number of distinguished plans.
const MAX_PLANS: usize = 256;

/// Fingerprints of the plans shown in the open run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Plans {
    /// The plan without an id.
    only: Option<u64>,
    /// Plans by their ids.
    named: BTreeMap<String, u64>,
}

impl Plans {
    /// Handles the plan of an agent with a single plan.
    pub(crate) fn handle_plan(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        session: &str,
        plan: &Plan,
    ) {
        let entries = json::bounded(&Entries(&plan.entries), frame.limits.value);
        let mut value = Members::new();
        value.set("entries", entries);
        let print = Some(fingerprint(&value));
        if core::mem::replace(&mut self.only, print) != print {
            show(frame, out, format!("{}plan-{session}", ids::ACTIVITY), value);
        }
    }

    /// Handles one of several plans.
    pub(crate) fn handle_update(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        session: &str,
        plan: &PlanUpdateContent,
    ) {
        let limit = frame.limits.value;
        let Some(id) = plan.plan_id() else {
            return out.custom(frame, "acp.unknown", json::bounded(plan, limit));
        };
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
        self.show_named(frame, out, session, &id, value);
    }

    /// Handles the removal of one of several plans.
    pub(crate) fn handle_removed(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        session: &str,
        id: &PlanId,
    ) {
        let value = Members::new().with("planId", id).with("removed", &true);
        self.show_named(frame, out, session, id, value);
    }

    fn show_named(
        &mut self,
        frame: &Frame<'_>,
        out: &mut Outbox,
        session: &str,
        id: &PlanId,
        value: Members,
    ) {
        if self.named.len() >= MAX_PLANS && !self.named.contains_key(id.as_str()) {
            self.named.pop_first();
        }
        let print = fingerprint(&value);
        if self.named.insert(id.as_str().to_owned(), print) != Some(print) {
            show(frame, out, format!("{}plan-{session}-{id}", ids::ACTIVITY), value);
        }
    }
}

/// The entries of a plan without further members, written one by one.
struct Entries<'a>(&'a [PlanEntry]);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = |entry: &PlanEntry| {
            Members::new()
                .with("content", &entry.content)
                .with("priority", &entry.priority)
                .with("status", &entry.status)
                .into_raw()
        };
        serializer.collect_seq(self.0.iter().map(entry))
    }
}

fn fingerprint(value: &Members) -> u64 {
    let texts: Vec<_> = value.iter().flat_map(|(name, value)| [name, value.as_str()]).collect();
    json::fingerprint(&texts)
}

fn show(frame: &Frame<'_>, out: &mut Outbox, id: String, value: Members) {
    if frame.is_modern {
        out.activity(frame, id, "PLAN", value);
    } else {
        out.custom(frame, "acp.plan", value.into_raw());
    }
}
