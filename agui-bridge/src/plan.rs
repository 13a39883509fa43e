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
use serde::{Deserialize, Serialize};

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
        let entries = plan.entries.iter().map(Entry::of);
        let mut value = Members::new();
        value.set("entries", json::list(entries, size_of(&plan.entries), frame.limits.value));
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
                let mut value = value;
                let size = size_of(&items.entries);
                value.set("entries", json::list(items.entries.iter(), size, limit));
                value
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

/// An entry of a plan without further members.
#[derive(Serialize)]
struct Entry<'a> {
    content: &'a str,
    priority: &'a str,
    status: &'a str,
}

impl<'a> Entry<'a> {
    fn of(entry: &'a PlanEntry) -> Self {
        let priority = entry.priority.as_str();
        let status = entry.status.as_str();
        Self { content: &entry.content, priority, status }
    }
}

/// Returns the size of entries as JSON, without escapes and further members.
fn size_of(entries: &[PlanEntry]) -> usize {
    const MEMBERS: usize = r#"{"content":"","priority":"","status":""},"#.len();
    let entries = entries.iter().map(Entry::of);
    let sizes = entries.map(|it| it.content.len() + it.priority.len() + it.status.len() + MEMBERS);
    sizes.sum::<usize>() + 1
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
