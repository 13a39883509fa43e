//! Joining of deltas.
use crate::Metadata;
use crate::event::Event;
use alloc::string::String;
use core::mem;

/// The parts of a delta besides its target.
struct Parts<'a> {
    delta: &'a mut String,
    metadata: &'a mut Option<Metadata>,
    /// Whether joining loses nothing but the timestamp.
    is_plain: bool,
}

fn parts(event: &mut Event) -> Option<Parts<'_>> {
    macro_rules! parts {
        ($event:expr) => {
            Parts {
                is_plain: $event.raw_event.is_none() && $event.extra.is_empty(),
                delta: &mut $event.delta,
                metadata: &mut $event.metadata,
            }
        };
    }
    match event {
        Event::TextMessageContent(event) => Some(parts!(event)),
        Event::ReasoningMessageContent(event) => Some(parts!(event)),
        Event::ToolCallArgs(event) => Some(parts!(event)),
        _ => None,
    }
}

/// Returns whether two events are deltas of the same target.
fn go_together(first: &Event, next: &Event) -> bool {
    let same = match (first, next) {
        (Event::TextMessageContent(first), Event::TextMessageContent(next)) => {
            first.message_id == next.message_id
        }
        (Event::ReasoningMessageContent(first), Event::ReasoningMessageContent(next)) => {
            first.message_id == next.message_id
        }
        (Event::ToolCallArgs(first), Event::ToolCallArgs(next)) => {
            first.tool_call_id == next.tool_call_id
        }
        _ => false,
    };
    let owner = next.subagent_run_id();
    same && (owner.is_none() || owner == first.subagent_run_id())
}

/// Joins a delta to an earlier one, if only its timestamp is lost.
pub(super) fn join(first: &mut Event, next: &mut Event) -> bool {
    if !go_together(first, next) {
        return false;
    }
    let (Some(first), Some(next)) = (parts(first), parts(next)) else { return false };
    if !first.is_plain || !next.is_plain {
        return false;
    }
    first.delta.push_str(next.delta);
    if let Some(metadata) = mem::take(next.metadata) {
        let merged = first.metadata.get_or_insert_default();
        metadata.iter().for_each(|(name, value)| merged.insert(name, value.clone()));
    }
    true
}
