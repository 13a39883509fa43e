//! Accumulation of changes: the state of an item is the single change that would create it.
use crate::v2::compaction::CompactionUpdate;
use crate::v2::session_cursors::CursorUpdate;
use crate::v2::session_list::SessionInfoUpdate;
use crate::v2::subagents::{SessionMessage, SubagentUpdate};
use crate::v2::terminals::TerminalUpdate;
use crate::v2::tool_calls::ToolCallUpdate;
use jsonrpc_core::wire::{Extra, Meta, Presence, Raw};

/// Absence keeps the value, `null` clears it, and a value replaces it.
pub(super) fn patch<T: Clone>(current: &mut Presence<T>, change: &Presence<T>) {
    match change {
        Presence::Absent => {}
        Presence::Null => *current = Presence::Absent,
        Presence::Value(value) => *current = Presence::Value(value.clone()),
    }
}

/// A patch by key, in which `null` removes a key. A value that is not an object counts as absent.
pub(super) fn patch_meta(current: &mut Presence<Meta>, change: &Presence<Meta>) {
    let members = |meta: &Meta| Raw::from(AsRef::as_ref(meta)).decode::<Extra>().ok();
    match change {
        Presence::Absent => {}
        Presence::Null => *current = Presence::Absent,
        Presence::Value(change) => {
            let Some(change) = members(change) else { return };
            let before = current.value().and_then(members).unwrap_or_default();
            let mut after = Extra::new();
            for (key, value) in before.iter().chain(change.iter()) {
                after.insert(key, value.clone());
            }
            let mut without_nulls = Extra::new();
            for (key, value) in after.iter().filter(|(_, value)| value.as_str() != "null") {
                without_nulls.insert(key, value.clone());
            }
            if let Ok(meta) = Raw::from_value(&without_nulls) {
                *current = Presence::Value(Meta::from(meta));
            }
        }
    }
}

/// Unknown members are replaced individually.
fn patch_extra(current: &mut Extra, change: &Extra) {
    change.iter().for_each(|(name, value)| current.insert(name, value.clone()));
}

/// Applies a change to an accumulated change of the same kind.
pub(super) trait Patch {
    fn patch(&mut self, change: &Self);
}

macro_rules! patches {
    ($($Type:ident { $($member:ident),* })*) => { $(
        impl Patch for $Type {
            fn patch(&mut self, change: &Self) {
                $( patch(&mut self.$member, &change.$member); )*
                patch_meta(&mut self.meta, &change.meta);
                patch_extra(&mut self.extra, &change.extra);
            }
        }
    )* };
}

patches! {
    ToolCallUpdate { name, title, kind, status, locations, raw_input, raw_output, capabilities }
    TerminalUpdate { command, cwd, exit_status, size, capabilities }
    SessionInfoUpdate { title, updated_at }
    CompactionUpdate { status, summary, error }
    CursorUpdate { capabilities }
    SubagentUpdate { title, description, capabilities, state, cwd, additional_directories }
    SessionMessage {
        sender_session_id, recipient_session_id, sender_message_id, recipient_message_id, content
    }
}
