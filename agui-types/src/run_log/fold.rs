//! Compaction of the older events of a log.
use super::RunLog;
use crate::compact::compact;
use crate::event::{Event, StateSnapshotEvent};
use crate::sse;
use alloc::vec::Vec;
use bytes::Bytes;
use jsonrpc_core::wire::Raw;

impl RunLog {
    pub(super) fn fold_if_over(&mut self) {
        if self.recent_bytes > self.limits.bytes || self.recent.len() > self.limits.events {
            self.fold();
        }
    }

    /// Moves the older half of the recent events to the compacted ones.
    fn fold(&mut self) {
        while (self.recent_bytes > self.limits.bytes / 2
            || self.recent.len() > self.limits.events / 2)
            && let Some(frame) = self.recent.pop_front()
        {
            self.recent_bytes -= frame.len();
            self.folded += 1;
            self.old.push(frame);
        }
        // Events that cannot be compacted stay as they are.
        if let Some(compacted) = compacted(&self.old, self.state.as_ref()) {
            self.old = compacted;
        }
        self.old_bytes = self.old.iter().map(Bytes::len).sum();
    }
}

/// The same conversation and state in fewer frames; `state` is the one before the run.
fn compacted(frames: &[Bytes], state: Option<&Raw>) -> Option<Vec<Bytes>> {
    let mut events = frames.iter().map(decode).collect::<Option<Vec<_>>>()?;
    let first =
        events.iter().position(|it| matches!(it, Event::StateSnapshot(_) | Event::StateDelta(_)));
    // A state delta can be compacted, and repeated, behind a snapshot only.
    if let Some(place) = first
        && let Some(Event::StateDelta(_)) = events.get(place)
    {
        let state = state.cloned().or_else(|| Raw::from_text("{}").ok())?;
        events.insert(place, StateSnapshotEvent::new(state).into());
    }
    compact(events).ok()?.iter().map(encode).collect()
}

/// An event as a frame without a number.
pub(super) fn encode(event: &Event) -> Option<Bytes> {
    let mut bytes = Vec::new();
    sse::write_event(&mut bytes, event).ok()?;
    Some(bytes.into())
}

/// The event of a frame.
pub(super) fn decode(frame: &Bytes) -> Option<Event> {
    let mut decoder = sse::Decoder::with_limit(usize::MAX);
    decoder.push(frame);
    decoder.next_frame()?.ok()?.decode().ok()
}
