//! Plans of a turn: the number of their entries.
use crate::attribute::Attributes;
use crate::keys;
use alloc::borrow::Cow;
use core::fmt;
use jsonrpc_core::wire;
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

/// Returns the attributes of a `plan`, `plan_update` or `plan_removed`; `None` if it cannot be
/// decoded. A plan of another kind has none.
pub(super) fn attributes(kind: &str, update: &str) -> Option<Attributes> {
    let entries = match kind {
        "plan" => Some(wire::decode_serde::<List>(update).ok()?.entries),
        "plan_update" => wire::decode_serde::<PlanUpdate>(update).ok()?.plan.entries,
        _ => Some(EntryCount::default()),
    };
    let mut attributes = Attributes::default();
    if let Some(EntryCount { entries, completed }) = entries {
        attributes.set(keys::ACP_PLAN_ENTRIES, entries);
        attributes.set(keys::ACP_PLAN_COMPLETED, completed);
    }
    Some(attributes)
}

/// The decoded part of a plan. Invalid entries decode as an empty list.
#[derive(Deserialize)]
struct Plan {
    entries: Option<EntryCount>,
}

#[derive(Deserialize)]
struct List {
    entries: EntryCount,
}

#[derive(Deserialize)]
struct PlanUpdate {
    plan: Plan,
}

/// Number of entries of a plan.
#[derive(Default)]
struct EntryCount {
    entries: i64,
    completed: i64,
}

impl<'de> Deserialize<'de> for EntryCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = EntryCount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the entries of a plan")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<EntryCount, A::Error> {
        let mut counted = EntryCount::default();
        while let Some(entry) = entries.next_element::<Entry<'_>>()? {
            counted.entries += 1;
            counted.completed += i64::from(entry.status == "completed");
        }
        Ok(counted)
    }
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
}
