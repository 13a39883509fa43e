//! Coalescing of deltas that wait to be sent.
use crate::Metadata;
use crate::event::Event;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

/// Joins successive deltas of one message or call while they wait to be sent.
///
/// Models produce text in pieces of a few letters. A forwarder can delay such a piece until it has something else to
/// send: pass each event to [`handle`](Self::handle), and call [`flush`](Self::flush) when the peer accepts more or a
/// short delay has passed. The result breaks no rule that the stream keeps, and produces the same messages.
///
/// At most one delta is held back, of at most [`MAX_DELTA_BYTES`](Self::MAX_DELTA_BYTES) once joined. Deltas with a
/// `rawEvent`, a different owner or unknown members are not joined. The metadata of joined deltas is merged, and the
/// first timestamp is kept.
///
/// ```
/// use agui_types::compact::Coalescer;
/// use agui_types::event::{Event, TextMessageContentEvent, TextMessageEndEvent};
///
/// let (mut coalescer, mut out) = (Coalescer::default(), Vec::new());
/// coalescer.handle(TextMessageContentEvent::new("m", "Hel").into(), &mut out);
/// coalescer.handle(TextMessageContentEvent::new("m", "lo").into(), &mut out);
/// assert!(out.is_empty());
/// coalescer.handle(TextMessageEndEvent::new("m").into(), &mut out);
/// assert_eq!(out, [TextMessageContentEvent::new("m", "Hello").into(), Event::from(TextMessageEndEvent::new("m"))]);
/// assert_eq!(coalescer.flush(), None);
/// ```
///
/// Spec: [Open, content, close, 1.0](https://ag-ui.com/spec/1.0/basic/patterns/streaming#open-content-close)
#[derive(Clone, Debug, Default)]
pub struct Coalescer {
    held: Option<Event>,
}

impl Coalescer {
    /// Largest size of a joined delta, in bytes.
    pub const MAX_DELTA_BYTES: usize = 64 * 1024;

    /// Handles the next event. Appends to `out` the events that are due.
    pub fn handle(&mut self, mut event: Event, out: &mut Vec<Event>) {
        if let Some(held) = &mut self.held
            && join(held, &mut event, Self::MAX_DELTA_BYTES)
        {
            return;
        }
        out.extend(self.held.take());
        if parts(&mut event).is_some() {
            self.held = Some(event);
        } else {
            out.push(event);
        }
    }

    /// Returns the delta that is held back.
    pub fn flush(&mut self) -> Option<Event> {
        self.held.take()
    }
}

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

/// Joins a delta to an earlier one, if only its timestamp is lost and the sum has at most `limit` bytes.
pub(super) fn join(first: &mut Event, next: &mut Event, limit: usize) -> bool {
    if !go_together(first, next) {
        return false;
    }
    let (Some(first), Some(next)) = (parts(first), parts(next)) else { return false };
    if !first.is_plain || !next.is_plain || first.delta.len() + next.delta.len() > limit {
        return false;
    }
    first.delta.push_str(next.delta);
    if let Some(metadata) = mem::take(next.metadata) {
        let merged = first.metadata.get_or_insert_default();
        metadata.iter().for_each(|(name, value)| merged.insert(name, value.clone()));
    }
    true
}
