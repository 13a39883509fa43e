use crate::Metadata;
use crate::event::Event;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

/// Joins deltas of one message or call that follow one another, while nobody takes them.
///
/// Models give words in pieces of a few letters. Whoever forwards them can hold a piece back until there is something
/// to be sent anyway: hand it every event, and [`flush`](Self::flush) when the peer can take more, or when a moment has
/// passed. What it gives breaks no rule that the stream does not break, and makes the same messages.
///
/// Only a delta is held back, at most one, of at most [`MAX_DELTA_BYTES`](Self::MAX_DELTA_BYTES) if it was joined.
/// Deltas with a `rawEvent`, another owner or members that this version does not know are not joined to others. The
/// metadata of joined ones is merged, of their timestamps the first stays.
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
    /// How long a joined delta becomes at most, in bytes.
    pub const MAX_DELTA_BYTES: usize = 64 * 1024;

    /// Takes the next event and appends to `out` what need not wait.
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

    /// Gives the delta that is held back.
    pub fn flush(&mut self) -> Option<Event> {
        self.held.take()
    }
}

/// What a delta consists of, beside what it goes to.
struct Parts<'a> {
    delta: &'a mut String,
    metadata: &'a mut Option<Metadata>,
    /// Whether it has nothing else that would be lost.
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

/// Whether two events are deltas of the same thing.
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

/// Joins a delta to an earlier one, if nothing but its timestamp is lost and the sum has at most `limit` bytes.
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
